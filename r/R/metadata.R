# What is in a file, without its values.

metadata_entasis <- function(path) {
  file <- open_file(path)
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

print.entasis_metadata <- function(x, ...) {
  count <- function(n) format(n, big.mark = ",", scientific = FALSE)
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
