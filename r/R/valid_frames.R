# Whether a value is a valid data frame. R does not check lengths and names.

# Whether a value is a valid data frame: all columns have as many rows as row names.
is_frame <- function(x) {
  if (!is_frame_like(x)) {
    return(FALSE)
  }
  n <- .row_names_info(x, 2L)
  names <- names_of(x)
  x <- unclass(x)
  if (!is.null(names) && length(names) != length(x)) {
    return(FALSE)
  }
  all(vapply(x, function(column) {
    if (is_frame_like(column)) {
      return(is_frame(column) && .row_names_info(column, 2L) == n)
    }
    if (is_lt_like(column)) {
      return(is_times(column, n))
    }
    if (is_record(column, n)) {
      return(TRUE)
    }
    if (!(is.atomic(column) && !is.null(column) || typeof(column) == "list")) {
      return(FALSE)
    }
    dim <- dim_of(column)
    if (length(dim) > 1L) dim[1L] == n else length_of(column) == n
  }, NA))
}

# Whether all parts of a POSIXlt have `n` values. Parts may be shorter than the POSIXlt.
is_times <- function(x, n) {
  x <- unclass(x)
  all(lengths_of(x) == n) && all(vapply(x, function(part) is.atomic(part) && !is.null(part), NA))
}

# Whether a value is a vctrs_rcrd of `n_rows` rows. Its fields are stored as columns.
is_record <- function(x, n_rows) {
  typeof(x) == "list" && !isS4(x) && has_class(x, "vctrs_rcrd") && length_of(x) > 0L &&
    all(vapply(unclass_all(x), is.atomic, NA)) && all(lengths_of(unclass_all(x)) == n_rows)
}

# Checks that a data frame has as many row names as rows and as many names as columns, which R does
# not check.
check_frame <- function(x, n) {
  if (has_class(x, "data.frame")) {
    if (typeof(x) != "list" || .row_names_info(x, 2L) != n) nonsense("a data frame with the wrong number of rows")
    names <- names_of(x)
    if (!is.null(names) && length(names) != length_of(x)) nonsense("a data frame with the wrong number of names")
  }
  x
}
