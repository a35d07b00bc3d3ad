# Facts about a file, without its values.

metadata_entasis <- function(path, limits = list(), key = NULL, password = NULL) {
  before <- use_secret(key, password)
  on.exit(restore_secret(before))
  file <- open_file(path, limits = limits)
  if (is_tree(file)) {
    return(tree_metadata(file))
  }
  facts <- table_facts(file)
  host <- file$host$host
  # A column of objects does not record which of them are missing.
  n_missing <- ifelse(facts$logical == "object", NA_real_, facts$n_missing)
  columns <- data.frame(
    name = facts$name, type = facts$type, class = column_classes(file, facts), n_missing = n_missing
  )
  key <- NULL
  for (pair in if (file$own) file$host$attributes) {
    if (identical(pair[[1L]], "sorted")) key <- interpret(file, decode_value(file, pair[[2L]]))
  }
  structure(
    list(
      path = file$path, n_rows = file$facts$n_rows, n_columns = file$facts$n_columns, columns = columns, keys = key,
      written_by = if (is.character(host)) host else NA_character_, file_size = file$facts$file_len,
      format_version = file$facts$format_version, edition = file$facts$edition, generation = file$facts$generation,
      metadata = shown_metadata(file)
    ),
    class = "entasis_metadata"
  )
}

# Facts about a file with a tree: its parts instead of columns.
tree_metadata <- function(file) {
  x <- tree_part_or_null(file)
  parts <- if (!is.null(x)) {
    if (is.null(names(x))) seq_len(length(x)) else names(x)
  }
  structure(
    list(
      path = file$path, n_rows = NA_real_, n_columns = NA_real_, columns = NULL, keys = NULL, parts = parts,
      n_tables = file$facts$n_tables,
      written_by = if (isTRUE(file$facts$is_own)) "r" else "python", file_size = file$facts$file_len,
      format_version = file$facts$format_version, edition = file$facts$edition, generation = file$facts$generation,
      metadata = shown_metadata(file)
    ),
    class = "entasis_metadata"
  )
}

# The class in R of each column of the file, as far as types determine it.
column_classes <- function(file, facts) {
  all <- seq_along(facts$name)
  kind <- kinds_or_na(file, facts, all, look = FALSE)
  class <- KIND_CLASSES[kind]
  class[facts$ordered[all] > 0L & kind == CODES] <- "ordered"
  class[!is.na(kind) & kind == NESTED & facts$physical == "struct"] <- "data.frame"
  class[is.na(kind)] <- ""
  if (!file$own) class[kind %in% INTEGER64] <- "integer, integer64"
  if (file$own) {
    layout <- layout_of(file)
    for (k in which(!vapply(layout$descriptions, is.null, NA))) {
      of <- layout$descriptions[[k]]
      at <- layout$first[k] + seq_len(width_of(of))
      kept <- interpret(file, lapply_pairs(file, of$attributes))$class
      if (is.character(kept) && length(kept) > 0L) class[at] <- kept[1L] else if (!is.null(of$matrix)) class[at] <- "matrix"
    }
  }
  class
}

KIND_CLASSES <- character()
KIND_CLASSES[c(LOGICAL, INTEGER, DOUBLE, COMPLEX, RAW, CHARACTER, CODES, INTEGER64, DAYS, DAYS_INTEGER, INSTANT, INSTANT_INTEGER,
               SPAN, SPAN_INTEGER, LIST, BYTES, NESTED)] <-
  c("logical", "integer", "numeric", "complex", "raw", "character", "factor", "integer64", "Date", "Date", "POSIXct", "POSIXct",
    "difftime", "difftime", "list", "list", "list")

print.entasis_metadata <- function(x, ...) {
  count <- shown_number
  several <- function(n, what) paste0(count(n), " ", what, if (n != 1) "s")
  if (is.null(x$columns)) {
    cat("<entasis file> ", x$path, "\na tree of values", if (!is.null(x$parts)) paste0(", a list of ", count(length(x$parts))), ", ", several(x$n_tables, "table"),
        ", ", count(x$file_size), " bytes, written by ", x$written_by, "\n", sep = "")
    if (is.character(x$parts)) {
      cat(strwrap(paste("parts:", paste(shown_parts(x$parts), collapse = ", ")), exdent = 2L), sep = "\n")
    }
    print_metadata(x$metadata)
    return(invisible(x))
  }
  cat("<entasis file> ", x$path, "\n", several(x$n_rows, "row"), ", ", several(x$n_columns, "column"), ", ", count(x$file_size),
      " bytes, written by ", x$written_by, "\n", sep = "")
  if (length(x$keys) > 0L) cat("key: ", paste(x$keys, collapse = ", "), "\n", sep = "")
  print_metadata(x$metadata)
  cat("\n")
  print(x$columns, row.names = FALSE, right = FALSE)
  invisible(x)
}

# A line about metadata: the names of a list, else the type.
print_metadata <- function(metadata) {
  if (is.null(metadata)) {
    return(invisible())
  }
  names <- if (is.list(metadata)) names_of(metadata)
  shown <- if (is.null(names)) what_is(metadata) else paste(shown_parts(names), collapse = ", ")
  cat(strwrap(paste("metadata:", shown), exdent = 2L), sep = "\n")
}

# The first names of a long list, to print.
shown_parts <- function(parts, most = 30L) {
  shown <- encodeString(parts[seq_len(min(length(parts), most))])
  c(shown, if (length(parts) > most) paste(shown_number(length(parts) - most), "more"))
}

# The metadata of a file for its facts. A value of Python may have no counterpart in R.
shown_metadata <- function(file) {
  if (file$facts$metadata < 0) {
    return(NULL)
  }
  tryCatch(read_cell(file, file$facts$metadata), entasis_error_unsupported = function(e) {
    warning("the metadata cannot be read: ", conditionMessage(e), call. = FALSE)
    NULL
  })
}
