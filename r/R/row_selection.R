# Selections of rows, as lists for the core: kind (0 all, 1 range, 2 numbers from 0 on), start,
# stop, numbers.
ALL_ROWS <- list(0L, 0, 0, NULL)

row_range <- function(start, stop, n) {
  if (start == 0 && stop == n) ALL_ROWS else list(1L, start, stop, NULL)
}

row_numbers <- function(numbers) list(2L, 0, 0, as.double(numbers))

is_all <- function(rows) rows[[1L]] == 0L

count_rows <- function(rows, n) {
  switch(rows[[1L]] + 1L, n, rows[[3L]] - rows[[2L]], as.double(length(rows[[4L]])))
}

# The selected rows of a vector in memory.
take_rows <- function(x, rows) {
  switch(rows[[1L]] + 1L, x, x[rows[[2L]] + seq_len(rows[[3L]] - rows[[2L]])], x[rows[[4L]] + 1])
}

# Row names of selected rows, made unique as by `[`.
unique_labels <- function(labels, rows) {
  if (rows[[1L]] == 2L && anyDuplicated(labels)) make.unique(as.character(labels)) else labels
}

# Row numbers of a selection as `[` takes it: numbers, negative numbers, a mask or row names.
# Missing rows are NA.
row_numbers_of <- function(i, n, row_names) {
  if (is.character(i)) {
    found <- match(i, row_names())
    if (anyNA(found)) wrong("there is no row named '", i[is.na(found)][1L], "'")
    i <- found
  } else if (is.logical(i)) {
    if (length(i) != n && length(i) != 1L) wrong("a mask of rows must have length ", n, " or 1, not ", length(i))
    mask <- rep_len(i, n)
    i <- which(is.na(mask) | mask)
    i[is.na(mask[i])] <- NA
  } else if (is.numeric(i)) {
    if (!is.null(oldClass(i)) && !is.factor(i)) i <- as.double(i)
    i <- unclass_all(i)
    # R truncates numbers towards zero, and ignores row 0.
    there <- if (anyNA(i)) i[!is.na(i)] else i
    negative <- length(there) > 0L && min(there) <= -1
    if (negative) {
      if (max(there) >= 1) wrong("row numbers must be positive or negative, not both")
      if (anyNA(i)) wrong("negative row numbers must have no NA")
      i <- seq_len(n)[i]
    } else {
      i <- trunc(i)
      i <- if (anyNA(i)) i[is.na(i) | i >= 1] else i[i >= 1]
      if (length(there) > 0L && max(there) >= n + 1) {
        wrong("row numbers must be at most ", shown_number(n), ", not ", shown_number(max(there)))
      }
    }
  } else {
    wrong("rows must be numbers, a mask, or names, not ", what_is(i))
  }
  i
}

# The selection of row numbers without NA, for the core.
rows_at <- function(i, n) {
  k <- length(i)
  if (k == 0L) {
    return(row_range(0, 0, -1))
  }
  if (i[k] - i[1L] == k - 1 && (k == 1L || all(diff(i) == 1))) {
    return(row_range(i[1L] - 1, i[k], n))
  }
  row_numbers(i - 1)
}
