# write_entasis(), and the plans of frames.
write_entasis <- function(x, path, compress = 50, functions = FALSE, edition = NULL, ...) {
  given <- other_arguments(c("object", "file"), ...)
  if ("object" %in% names(given)) {
    if (missing(path) && !missing(x)) path <- x
    x <- given$object
  }
  if ("file" %in% names(given)) path <- given$file
  is_path <- is_string(x)
  path <- check_path(path, if (is_path) "; did you swap 'x' and 'path'?" else "")
  compress <- check_compression(compress)
  check_flag(functions, "functions")
  write_value(read_lazy(x), path, functions, write_options(compress, edition = check_edition(edition)))
  invisible(x)
}

# Writes a value to a file. With `change`, the value replaces the file's value, and the file's
# metadata stay.
write_value <- function(x, path, functions, options, change = NULL, operation = OPERATION$append,
                        metadata = if (!is.null(change)) stored_metadata(path)) {
  # Errors of the file's metadata must not look like errors of the value.
  force(metadata)
  doc <- tryCatch(document_of(x, functions, metadata), entasis_error_unsupported = function(e) {
    # Advise functions = TRUE only if it helps. This call raises the error of a value that can't be
    # stored either way.
    if (isTRUE(e$is_code) && !functions) document_of(x, TRUE, metadata)
    stop(e)
  })
  core(.Call(C_write, path, doc$made, doc$walker, c(doc$value, doc$environments_at, doc$metadata), options, change, operation))
  report_pointers(doc)
}

# The options of the core: compression (-1 to keep that of the file's last write), threads (0 for
# one per processor), whether to wait for the disk (-1 only if the file replaces one), seconds to
# wait for another writer, whether a file at the path is an error, and the edition (-1 for the
# newest).
write_options <- function(compress, threads = NULL, durable = NULL, wait = 10, must_be_new = FALSE, edition = NULL) {
  c(if (is.null(compress)) -1 else compress, if (is.null(threads)) 0 else threads, if (is.null(durable)) -1 else durable, wait, must_be_new,
    if (is.null(edition)) -1 else edition)
}

# The metadata of a file; NULL for none.
stored_metadata <- function(path) {
  file <- open_file(path)
  on.exit(close_file(file))
  if (file$facts$metadata >= 0) read_cell(file, file$facts$metadata)
}

# The document of a value and metadata to write.
document_of <- function(x, functions, metadata = NULL) {
  doc <- new_document(functions)
  doc$value <- -1
  if (is_frame(x) || is.atomic(x) && !is.null(x)) {
    document_frame(doc, x, "")
  } else {
    doc$value <- document_walk(doc, x, "")
  }
  doc$metadata <- if (is.null(metadata)) -1 else document_walk(doc, metadata, "metadata")
  doc$environments_at <- document_finish(doc)
  doc
}

# The table of a frame or a vector: its columns and its host map.
make_frame <- function(doc, x, root) {
  plan <- new_plan(doc)
  if (is_frame_like(x)) {
    plan_frame_made(plan, plan_frame(plan, x, root), .row_names_info(x, 2L))
  } else {
    plan_frame_made(plan, plan_atomic(plan, x), length_of(x))
  }
}

# Plans a vector as a table of one column.
plan_atomic <- function(plan, x) {
  planned <- plan_vector(plan, FALSE, x, "value", "x")
  host <- list(host = "r", form = "vector")
  names <- attributes(x)[["names"]]
  if (is.character(names) && is.atomic(x)) {
    # Other hosts read names as row labels; R reads them from the attributes.
    labels <- plan_vector(plan, TRUE, names, "names", "names(x)")
    host$index <- list(kind = "column", column = extra_ref(labels$first), name = NULL)
  }
  if (!is.null(planned$description)) {
    host$columns <- list(list(0L, planned$description))
  }
  host
}

plan_frame <- function(plan, x, root = "") {
  whole <- if (root == "") "x" else root
  attrs <- attributes(x)
  n_rows <- .row_names_info(x, 2L)
  names <- .subset2(attrs, "names")
  columns <- plan_columns(plan, x, names, n_rows, root)
  host <- list(host = "r", form = "data.frame")
  if (length(columns$descriptions) > 0L) {
    host$columns <- columns$descriptions
  }
  if (!columns$named) {
    host$names <- encode_value(plan, names, paste0("names(", whole, ")"))
  }
  host <- c(host, plan_row_names(plan, x, paste0("row.names(", whole, ")")))
  if (!identical(names(attrs), c("names", "class", "row.names")) || !identical(.subset2(attrs, "class"), "data.frame")) {
    host$attributes <- encode_attributes(plan, attrs, whole, skip = c("names", "row.names"))
  }
  host
}

# Row names other than 1, 2, 3 ... become a column, which other hosts read as row labels.
plan_row_names <- function(plan, x, path) {
  info <- .row_names_info(x, 0L)
  if (is.integer(info) && !is.object(info) && length(info) == 2L && is.na(info[1L])) {
    return(if (info[2L] > 0L) list(row_names = "numbers"))
  }
  # A frame without rows, such as a writer's first batch, can't record that its row names are
  # consecutive numbers.
  if (!is.null(plan$doc$times) && identical(info, integer())) {
    return(NULL)
  }
  planned <- plan_vector(plan, TRUE, info, "row.names", path)
  index <- list(kind = "column", column = extra_ref(planned$first), name = NULL)
  c(list(index = index), if (!is.null(planned$description)) list(row_names = planned$description))
}

# Adds the columns of a list. Returns pairs of a column number and a description, for the columns
# that need one, and whether the columns have the names of the list.
plan_columns <- function(plan, x, names, n_rows, path) {
  x <- unclass(x)
  k <- length(x)
  stored <- stored_names(names, k)
  labels <- stored$labels
  groups <- .Call(C_groups, x, n_rows)
  grouped <- plan_groups(plan, x, groups, function(i) paste0(path, "$", labels[i]))
  descriptions <- NULL
  nested <- FALSE
  i <- 1L
  # Columns outside of groups are added one by one, and neighbouring columns in groups together.
  alone <- c(which(groups$group == 0L), k + 1L)
  for (next_alone in alone) {
    which <- seq.int(i, length.out = next_alone - i)
    if (length(which) > 0L) {
      of <- if (length(which) == k) grouped$columns else lapply(grouped$columns, `[`, which)
      first <- do.call(plan_add, c(list(plan, FALSE, labels[which], unname(x[which]), n = n_rows), of))
      described <- which[grouped$description[which] > 0L]
      descriptions <- chain(descriptions, lapply(described, function(at) {
        list(first + (at - which[1L]), grouped$descriptions[[grouped$description[at]]])
      }))
    }
    if (next_alone > k) break
    planned <- plan_column(plan, x[[next_alone]], labels[next_alone], n_rows, paste0(path, "$", labels[next_alone]))
    nested <- nested || planned$nested
    if (!is.null(planned$description)) {
      descriptions <- chain(descriptions, list(list(as.integer(planned$first), planned$description)))
    }
    i <- next_alone + 1L
  }
  descriptions <- unlist(unchain(descriptions), recursive = FALSE)
  list(descriptions = descriptions, named = stored$named && !nested)
}

# The labels of `k` columns in the file, and whether they are the names.
stored_names <- function(names, k) {
  shown <- if (is.null(names)) rep_len("", k) else as_utf8(unclass_all(names))
  known <- !is.na(shown) & (is_ascii(shown) | Encoding(shown) == "UTF-8" & validUTF8(shown))
  labels <- shown
  labels[!known] <- ifelse(is.na(shown[!known]), "NA", iconv(shown[!known], to = "UTF-8", sub = "byte"))
  labels[is.na(labels)] <- "?"
  list(labels = labels, named = !is.null(names) && is.null(attributes(names)) && all(known))
}

# Plans the columns in groups of `C_groups`. Returns the arguments of `plan_add` for each column,
# the descriptions, and for each column the number of its description, or 0. `path_of` returns the
# path of a column.
plan_groups <- function(plan, x, groups, path_of) {
  k <- length(x)
  fields <- list(
    kind = integer(k), variant = integer(k), unit = integer(k), seconds = rep_len(1L, k), na = integer(k), levels = rep_len(-1L, k),
    n_levels = integer(k), ordered = integer(k), zone = character(k)
  )
  kinds <- c(0L, groups$kind)[groups$group + 1L]
  n_kinds <- max(groups$kind, 0L)
  implied_attrs <- vector("list", n_kinds)
  fits <- logical(k)
  sizes <- tabulate(kinds, n_kinds)
  in_order <- sort.list(kinds, method = "radix")
  end <- k - sum(sizes)
  for (kind in seq_len(n_kinds)) {
    at <- in_order[end + seq_len(sizes[kind])]
    end <- end + sizes[kind]
    like <- x[[at[1L]]]
    chosen <- kind_by(typeof(like), groups$attributes[[groups$group[at[1L]]]], isS4(like))
    chosen <- fit_kind(chosen, x[at], stored_forms(plan, at), plan$times)
    for (name in intersect(names(chosen), names(fields))) fields[[name]][at] <- chosen[[name]]
    implied_attrs[kind] <- list(chosen$implied_attrs)
    fits[at] <- chosen$fits
  }
  found <- .Call(C_describe_groups, x, groups, implied_attrs, fits)
  descriptions <- found$descriptions
  for (i in found$left) {
    descriptions[[found$description[i]]] <- describe(plan, x[[i]], if (fits[i]) implied_attrs[[kinds[i]]], path_of(i))
  }
  codes <- which(fields$kind == CODES)
  if (length(codes) > 0L) {
    # Factors with equal levels share a dictionary column.
    levels <- lapply(x[codes], attr, "levels", TRUE)
    distinct <- .Call(C_distinct, levels)
    first <- plan_add(plan, TRUE, "", unname(levels[distinct$first]), CHARACTER, lengths(levels[distinct$first]))
    fields$levels[codes] <- first + distinct$group - 1L
    fields$n_levels[codes] <- lengths(levels)
  }
  list(columns = fields, description = found$description, descriptions = descriptions)
}

plan_column <- function(plan, x, label, n_rows, path) {
  if (is_frame_like(x) || is_lt_like(x) || is_record(x, n_rows)) {
    return(plan_parts(plan, x, label, n_rows, path))
  }
  if (!is.atomic(x) && typeof(x) != "list" || is.null(x)) refuse(path, paste("a column of type", typeof(x), "can't be stored"))
  dim <- dim_of(x)
  if (length(dim) > 1L) {
    if (dim[1L] != n_rows) refuse(path, paste("a matrix of", dim[1L], "rows in a table of", n_rows))
    return(plan_matrix(plan, x, label, n_rows, path))
  }
  if (length_of(x) != n_rows) {
    refuse(path, paste("a column of", length_of(x), "values in a table of", n_rows, "rows"))
  }
  planned <- plan_vector(plan, FALSE, x, label, path)
  c(planned, nested = FALSE)
}

# Plans a matrix or array as a column for each of its columns.
plan_matrix <- function(plan, x, label, n_rows, path) {
  dim <- dim_of(x)
  parts <- as.integer(prod(dim[-1L]))
  columns <- if (length(dim) == 2L) unclass_all(.subset2(attr(x, "dimnames", exact = TRUE), 2L))
  suffixes <- if (is.null(columns)) seq_len(parts) else enc2utf8(columns)
  first <- plan$n_columns
  planned <- plan_vector(plan, FALSE, x, paste0(label, rep_len(".", parts), suffixes), path, parts)
  description <- c(list(matrix = parts, of = typeof(x)), planned$description)
  list(first = first, description = description, nested = TRUE)
}

# Plans a list of columns: a data frame in a data frame, or the parts of a POSIXlt.
plan_parts <- function(plan, x, label, n_rows, path) {
  first <- plan$n_columns
  attrs <- attributes(x)
  if (is_frame_like(x)) {
    attrs[["row.names"]] <- .row_names_info(x, 0L)
  }
  names <- unclass_all(.subset2(attrs, "names"))
  shown <- paste0(label, rep_len(".", length(names)), if (!is.null(names)) enc2utf8(names))
  x <- unclass(x)
  parts <- lapply(seq_along(x), function(i) {
    part <- plan_column(plan, x[[i]], shown[i], n_rows, paste0(path, "$", names[i]))
    if (is.null(part$description)) NULL else part$description
  })
  description <- list(parts = parts, attributes = encode_attributes(plan, attrs, path))
  list(first = first, description = description, nested = TRUE)
}
