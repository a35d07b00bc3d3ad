# Reads columns in some rows as vctrs cuts them.

# The columns of a file in some rows (NULL for all), cut as vctrs cuts them.
cut_columns <- function(file, which, rows) {
  n <- file$facts$n_rows
  if (is.null(rows)) rows <- seq_len(n)
  is_whole <- is_read_whole(file, which, rows)
  columns <- vector("list", length(which))
  columns[is_whole] <- lapply(columns_of(file, which[is_whole], ALL_ROWS), vctrs::vec_slice, rows)
  columns[!is_whole] <- lapply(columns_of(file, which[!is_whole], rows_at(rows, n)), function(column) {
    # vctrs changes dates and times that are integers, and times without a zone.
    if (is.object(column) && !is.factor(column)) vctrs::vec_slice(column, seq_along(rows)) else column
  })
  columns
}

# Columns without methods of the class of the frame. `class` decides how some rows are cut.
columns_of <- function(file, which, rows, class = "tbl_df") {
  if (length(which) == 0L) {
    return(list())
  }
  if (!file$own) {
    return(unclass(read_frame(file, which, rows))[seq_along(which)])
  }
  in_session(file, interpret(file, read_columns(file, which, rows, class)))
}

# Whether to read columns whole before cutting: columns whose attributes may depend on the rows, and
# all columns if most rows are needed in another order.
is_read_whole <- function(file, which, rows) {
  n <- file$facts$n_rows
  if (length(rows) > n / 4 && is.unsorted(rows)) {
    return(rep_len(TRUE, length(which)))
  }
  if (!file$own) {
    return(rep_len(FALSE, length(which)))
  }
  interpret(file, vapply(layout_of(file)$descriptions[which], function(description) {
    isTRUE(slicing_of(file, description, n)$whole) || "parts" %in% names(description) || isTRUE(description$s4)
  }, NA))
}
