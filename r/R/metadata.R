# What is in a file, without its values.

metadata_entasis <- function(path) {
  file <- open_file(path)
  if (is_tree(file)) {
    return(tree_metadata(file))
  }
  facts <- table_facts(file)
  host <- file$host$host
  columns <- data.frame(name = facts$name, type = facts$type, n_missing = facts$n_missing)
  key <- NULL
  for (pair in if (file$own) file$host$attributes) {
    if (identical(pair[[1L]], "sorted")) key <- interpret(file, decode_value(extras_of(file), pair[[2L]]))
  }
  structure(
    list(
      path = file$path, n_rows = file$facts$n_rows, n_columns = file$facts$n_columns, columns = columns, keys = key,
      written_by = if (is.character(host)) host else NA_character_, file_size = file$facts$file_len,
      format_version = file$facts$format_version
    ),
    class = "entasis_metadata"
  )
}

# The same of a tree of values: what it is made of, instead of columns.
tree_metadata <- function(file) {
  x <- tree_part_or_null(file)
  parts <- if (!is.null(x)) {
    if (is.null(names(x))) seq_len(length(x)) else names(x)
  }
  structure(
    list(
      path = file$path, n_rows = NA_real_, n_columns = NA_real_, columns = NULL, keys = NULL, parts = parts, n_tables = file$facts$n_tables,
      written_by = if (isTRUE(file$facts$is_own)) "r" else "python", file_size = file$facts$file_len,
      format_version = file$facts$format_version
    ),
    class = "entasis_metadata"
  )
}

print.entasis_metadata <- function(x, ...) {
  count <- function(n) format(n, big.mark = ",", scientific = FALSE)
  if (is.null(x$columns)) {
    cat("<entasis file> ", x$path, "\na tree of values", if (!is.null(x$parts)) paste0(", a list of ", count(length(x$parts))), ", ", count(x$n_tables),
        " tables, ", count(x$file_size), " bytes, written by ", x$written_by, "\n", sep = "")
    return(invisible(x))
  }
  cat("<entasis file> ", x$path, "\n", count(x$n_rows), " rows, ", count(x$n_columns), " columns, ", count(x$file_size),
      " bytes, written by ", x$written_by, "\n", sep = "")
  if (length(x$keys) > 0L) cat("key: ", paste(x$keys, collapse = ", "), "\n", sep = "")
  cat("\n")
  print(x$columns, row.names = FALSE, right = FALSE)
  invisible(x)
}

verify_entasis <- function(path) {
  path <- check_path(path)
  invisible(core(.Call(C_verify, path)))
}

threads_entasis <- function(n = NULL) {
  if (!is.null(n)) {
    if (!is.numeric(n) || length(n) != 1L || is.na(n) || n < 0) wrong("the number of threads is 0 (all processors) or more")
    n <- as.integer(n)
  }
  before <- .Call(C_threads, n)
  if (is.null(n)) before else invisible(before)
}
