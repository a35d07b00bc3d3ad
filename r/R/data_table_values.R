# The rows that a value of `i` chooses in a call of `[` on a table of data.table: numbers, masks and
# strings.

# Rows by the value of `i`. `written` is what data.table gets for other values.
rows_of_value <- function(query, value, written) {
  if (is.character(value)) {
    return(look_up(query, list(value), value))
  }
  is_plain <- (is.logical(value) || is.numeric(value)) && !is.object(value) && is.null(dim(value))
  if (!is_plain || "on" %in% names(query$given)) {
    return(rows_as_written(query, written))
  }
  # `x[NA]` is a row of NA, whereas a variable that is NA chooses no rows.
  if (identical(query$given$i, NA)) value <- NA_integer_
  if (!is.logical(value)) {
    return(rows_of_numbers(query, value, written))
  }
  if (length(value) == 1L && isTRUE(unname(value))) {
    rows_chosen()
  } else if (length(value) <= 1L) {
    rows_in_order(double())
  } else if (length(value) == query$n) {
    rows_in_order(which(value))
  } else {
    # data.table has a message.
    rows_as_written(query, written, FALSE)
  }
}

rows_of_numbers <- function(query, numbers, written) {
  numbers <- as.integer(numbers)
  n <- query$n
  there <- if (anyNA(numbers)) numbers[!is.na(numbers)] else numbers
  if (length(there) > 0L && min(there) < 0L) {
    is_plain <- max(there) < 0L && length(there) == length(numbers) && min(there) >= -n && !anyDuplicated(there)
    return(if (is_plain) rows_in_order(seq_len(n)[numbers]) else rows_as_written(query, written, FALSE))
  }
  numbers <- numbers[is.na(numbers) | numbers != 0L]
  # Numbers after the last row are rows of NA.
  numbers[numbers > n] <- NA
  if (!anyNA(numbers) && !is.unsorted(numbers, strictly = TRUE)) {
    return(rows_in_order(numbers))
  }
  rows <- sort(unique(numbers))
  rows_chosen(rows, match(numbers, rows))
}
