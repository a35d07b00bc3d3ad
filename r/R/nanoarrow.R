# Open files as streams of Arrow arrays, which arrow, duckdb and polars take.

# The rows of one array of a stream.
ARRAY_ROWS <- 2^20

# Reads the rows of one array at a time, so R never holds a copy of all rows; the arrays do.
as_nanoarrow_array_stream.entasis_table <- function(x, ..., schema = NULL) {
  file <- file_of(x)
  if (is.null(schema)) schema <- infer_nanoarrow_schema.entasis_table(x)
  n <- file$facts$n_rows
  rows_from <- function(start) read_frame(file, seq_along(x), row_range(start, min(start + ARRAY_ROWS, n), n))
  starts <- seq(0, max(n - 1, 0), by = ARRAY_ROWS)
  arrays <- lapply(starts, function(start) nanoarrow::as_nanoarrow_array(rows_from(start), schema = schema))
  nanoarrow::basic_array_stream(arrays, schema)
}

as_nanoarrow_array_stream.entasis_query <- function(x, ..., schema = NULL) {
  nanoarrow::as_nanoarrow_array_stream(as.data.frame(x), ..., schema = schema)
}

infer_nanoarrow_schema.entasis_table <- function(x, ...) {
  nanoarrow::infer_nanoarrow_schema(read_frame(file_of(x), seq_along(x), row_range(0, 0, -1)), ...)
}
