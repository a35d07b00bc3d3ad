# Rows and columns of a frame, selected as `[` does.

# A frame of selected rows; missing rows are rows of NA.
read_selection <- function(file, which, i, row_names) {
  n <- file$facts$n_rows
  if (is.logical(i) && anyNA(i)) {
    # data.table treats a missing value in a mask as FALSE.
    if (is_data_table(file)) i[is.na(i)] <- FALSE
  }
  i <- fit_mask(file, i)
  numbers <- row_numbers_of(i, n, row_names, is_tibble_file(file))
  if (!anyNA(numbers)) {
    return(read_frame(file, which, rows_at(numbers)))
  }
  if (is.logical(i)) {
    # `[` methods may treat masks differently from numbers.
    mask <- rep_len(i, n)
    there <- two_rows(which(is.na(mask) | mask), n)
    again <- mask[there]
  } else {
    there <- two_rows(sort(unique(numbers)), n)
    again <- match(numbers, there)
    again[is.na(numbers)] <- NA
  }
  frame <- read_frame(file, which, rows_at(there, n))
  if (has_class(frame, "data.table")) {
    return(again_of_table(frame, again))
  }
  frame <- number_rows(frame, as.integer(there))
  class <- oldClass(frame)
  load_class(class)
  n_again <- if (is.logical(again)) sum(is.na(again) | again) else length(again)
  by_class(class, the_frame(file), frame, n_again, fit_columns(frame[again, , drop = FALSE], frame, again))
}

# In a data frame without rows, a mask of length 1 selects a row of NA.
fit_mask <- function(file, i) {
  is_longer <- file$facts$n_rows == 0 && is.logical(i) && length(i) == 1L && !isFALSE(as.vector(i))
  if (is_longer && !any(c("tbl_df", "data.table") %in% class_of_file(file))) NA_integer_ else i
}

# Extends a selection to two rows, if the file has two. Without rows `[` has no row names to
# match, and with one row it turns an array of one dimension into a plain vector.
two_rows <- function(there, n) {
  if (length(there) > 1L || n <= length(there)) {
    return(there)
  }
  if (length(there) == 0L) seq_len(min(n, 2)) else sort(c(there, if (there > 1) there - 1 else 2))
}

# Sets row names that are numbers to the file's row numbers, also in frames of the frame.
number_rows <- function(frame, numbers) {
  if (has_class(frame, "tbl_df")) {
    return(frame)
  }
  attrs <- attributes(frame)
  if (is_numbered(frame)) attrs[["row.names"]] <- numbers
  columns <- lapply(unclass(frame), function(x) if (is_frame_like(x)) number_rows(x, numbers) else x)
  decorate(unname(columns), attrs)
}

# Selects rows of a data.table again, without its `[` method, which depends on the caller.
again_of_table <- function(frame, again) {
  attrs <- attributes(frame)
  attrs[c(".internal.selfref", "index")] <- NULL
  # data.table sorts missing values first.
  if (is.unsorted(ifelse(is.na(again), 0L, again))) attrs["sorted"] <- NULL
  attrs[["row.names"]] <- c(NA, -length(again))
  columns <- lapply(unclass(frame), subset_rows, again)
  data.table::setalloccol(decorate(unname(columns), attrs))
}
