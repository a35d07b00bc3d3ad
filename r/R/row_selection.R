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
row_numbers_of <- function(i, n, row_names, is_tibble = FALSE) {
  i <- plain_index(i, is_tibble)
  if (is.character(i)) {
    return(rows_named(i, row_names(), is_tibble))
  }
  if (is.logical(i)) {
    check_mask(i, n, "rows", is_tibble)
    if (length(i) == 0L) {
      return(integer())
    }
    mask <- rep_len(i, n)
    i <- which(is.na(mask) | mask)
    i[is.na(mask[i])] <- NA
    return(i)
  }
  if (is.null(i)) {
    return(integer())
  }
  if (!is.numeric(i)) wrong("rows must be numbers, a mask, or names, not ", what_is(i))
  i <- unclass_all(i)
  # R truncates numbers towards zero, and ignores row 0.
  there <- if (anyNA(i)) i[!is.na(i)] else i
  if (length(there) > 0L && min(there) <= -1) {
    if (max(there) >= 1) wrong("row numbers must be positive or negative, not both")
    if (anyNA(i)) wrong("negative row numbers must have no NA")
    return(seq_len(n)[i])
  }
  if (length(there) > 0L && max(there) >= n + 1) {
    wrong("row numbers must be at most ", shown_number(n), ", not ", shown_number(max(there)))
  }
  i <- trunc(i)
  if (anyNA(i)) i[is.na(i) | i >= 1] else i[i >= 1]
}

# Rows by their names. Except in a tibble, the start of a name is enough if no other name has it.
rows_named <- function(i, names, is_tibble) {
  found <- match(i, names)
  left <- which(is.na(found))
  if (length(left) > 0L && !is_tibble) found[left] <- pmatch(i[left], names, duplicates.ok = TRUE)
  if (anyNA(found)) wrong("there is no row named '", i[is.na(found)][1L], "'")
  found
}

# The selection of row numbers without NA, for the core. `n` is the number of all rows, so that
# selecting all becomes no selection; -1 if R must cut the columns even then.
rows_at <- function(i, n = -1) {
  k <- length(i)
  if (k == 0L) {
    return(row_range(0, 0, -1))
  }
  if (i[k] - i[1L] == k - 1 && (k == 1L || all(diff(i) == 1))) {
    return(row_range(i[1L] - 1, i[k], n))
  }
  row_numbers(i - 1)
}

# The numbers of the selected rows, from 1 on.
row_positions <- function(rows, n) {
  numbers <- switch(rows[[1L]] + 1L, seq_len(n), rows[[2L]] + seq_len(rows[[3L]] - rows[[2L]]), rows[[4L]] + 1)
  if (n <= .Machine$integer.max) as.integer(numbers) else numbers
}
