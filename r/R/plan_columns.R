# Plans the columns of a frame. Equal columns are planned together.

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
    kind = integer(k), variant = integer(k), unit = integer(k), seconds = rep_len(1L, k), na = integer(k),
    levels = rep_len(-1L, k),
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
    levels <- lapply(x[codes], attr, "levels", TRUE)
    distinct <- group_levels(levels, stored_forms(plan, codes)$dictionary)
    first <- plan_add(plan, TRUE, "", unname(levels[distinct$first]), CHARACTER, lengths(levels[distinct$first]))
    fields$levels[codes] <- first + distinct$group - 1L
    fields$n_levels[codes] <- lengths(levels)
  }
  list(columns = fields, description = found$description, descriptions = descriptions)
}

# Groups factors that share a dictionary column: those with equal levels, or those that share one in
# the file.
group_levels <- function(levels, dictionary) {
  if (is.null(dictionary)) {
    return(.Call(C_distinct, levels))
  }
  first <- which(!duplicated(dictionary))
  list(first = first, group = match(dictionary, dictionary[first]))
}

plan_column <- function(plan, x, label, n_rows, path) {
  if (is_frame_like(x) || is_lt_like(x) || is_record(x, n_rows)) {
    return(plan_parts(plan, x, label, n_rows, path))
  }
  if (!is.atomic(x) && typeof(x) != "list" || is.null(x)) {
    refuse(path, paste("a column of type", typeof(x), "can't be stored"))
  }
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
