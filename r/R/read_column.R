# Reads single columns, and columns to print, without methods of the class of the frame.

read_column <- function(file, which, rows = ALL_ROWS) {
  if (!file$own) {
    # Label columns come first, so the requested column is the last one.
    frame <- read_frame(file, which, rows)
    return(.subset2(frame, length(frame)))
  }
  in_session(file, interpret(file, read_columns(file, which, rows, own_attributes(file)[["class"]])[[1L]]))
}

# A column in the rows of a selection as `[` takes it, in a list; NULL for all.
read_one <- function(file, which, selection, row_names) {
  if (is.null(selection)) {
    return(read_column(file, which))
  }
  i <- fit_mask(file, selection[[1L]])
  numbers <- row_numbers_of(i, file$facts$n_rows, row_names, is_tibble_file(file))
  if (!anyNA(numbers)) {
    return(read_column(file, which, rows_at(numbers)))
  }
  frame <- read_selection(file, which, i, row_names)
  .subset2(frame, length(frame))
}

# Columns and row labels to print. If only a class whose package is missing could choose the rows of
# a column, its values are shown without the class.
shown_frame <- function(file, which, rows) {
  if (isTRUE(file$as_table) || !file$own) {
    return(read_frame(file, which, rows))
  }
  read_unclassed(file, which, rows, tryCatch(read_columns(file, which, rows, KEEPING), entasis_error_unsupported = function(e) {
    lapply(which, function(k) shown_column(file, k, rows))
  }))
}

shown_column <- function(file, k, rows) {
  tryCatch(read_columns(file, k, rows, KEEPING)[[1L]], entasis_error_unsupported = function(e) {
    x <- read_columns(file, k, ALL_ROWS)[[1L]]
    dim <- dim_of(x)
    x <- asS4(unclass_all(x), FALSE)
    if (length(dim) > 1L) dim(x) <- dim
    subset_rows(x, row_positions(rows, file$facts$n_rows))
  })
}
