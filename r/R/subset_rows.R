# Rows of vectors and frames in memory, by `[` or by vctrs.

subset_rows <- function(x, i) {
  if (inherits(x, "vctrs_rcrd")) {
    return(vctrs_slice(x, i))
  }
  n_dims <- length(dim(x))
  if (n_dims == 2L) {
    value <- x[i, , drop = FALSE]
    fit_rows(value, x, i)
  } else if (n_dims > 2L) {
    do.call(`[`, c(list(x, i), rep(list(TRUE), n_dims - 1L), list(drop = FALSE)), quote = TRUE)
  } else {
    x[i]
  }
}

# Completes `value`, which `[` made of the rows `i` of the frame `of`. Row names that are numbers
# start again at 1. Arrays of more than two dimensions are cut along the first one here, because `[`
# of data.frame takes only as many of their values as there are rows.
fit_rows <- function(value, of, i) {
  if (!is_frame_like(value) || !is_frame_like(of)) {
    return(value)
  }
  if (is_numbered(of) && !anyNA(i)) attr(value, "row.names") <- .set_row_names(.row_names_info(value, 2L))
  fit_columns(value, of, i)
}

# Completes the columns of a frame. Its class may have chosen other columns.
fit_columns <- function(value, of, i) {
  from <- same_columns(value, of)
  columns <- unclass_all(value)
  is_deep <- vapply(unclass_all(of), function(x) is_frame_like(x) || !isS4(x) && length(dim_of(x)) > 2L, NA)
  at <- which(is_deep[from])
  if (length(at) == 0L) {
    return(value)
  }
  for (k in at) {
    x <- .subset2(of, from[k])
    columns[[k]] <- if (is_frame_like(x)) fit_rows(columns[[k]], x, i) else subset_rows(x, i)
  }
  attrs <- attributes(value)
  attrs[["row.names"]] <- .row_names_info(value, 0L)
  decorate(columns, attrs)
}

# For each column of a part of the frame `of`, the number of the same column in `of`, or NA.
same_columns <- function(part, of) {
  if (length_of(part) == length_of(of)) seq_len(length_of(of)) else match(names_of(part), names_of(of))
}

# Rows by vctrs. Without that package, records have no `[` method, so their fields are cut.
vctrs_slice <- function(x, i) {
  if (requireNamespace("vctrs", quietly = TRUE)) {
    return(vctrs::vec_slice(x, i))
  }
  if (!inherits(x, "vctrs_rcrd")) {
    return(subset_rows(x, i))
  }
  fields <- lapply(unclass_all(x), function(field) subset_rows(field, i))
  attributes(fields) <- attributes(x)
  fields
}

# Whether vctrs changes some rows of a column besides cutting them: dates and times that are
# integers become doubles, and times without a zone get one.
is_changed_by_vctrs <- function(x) {
  if (!is.object(x) || isS4(x)) {
    return(FALSE)
  }
  class <- oldClass(x)
  "POSIXct" %in% class && is.null(attr(x, "tzone", exact = TRUE)) ||
    is.integer(x) && any(c("Date", "POSIXct", "difftime") %in% class)
}

# The number of rows of a column. Methods are used for S4 objects only. NA if there is none.
rows_of <- function(x) {
  if (is_frame_like(x)) {
    return(as.double(.row_names_info(x, 2L)))
  }
  if (isS4(x)) {
    n <- tryCatch(NROW(x), error = function(e) NULL)
    return(if (is.numeric(n) && length(n) == 1L) as.double(n) else NA_real_)
  }
  if (is_lt_like(x) || typeof(x) == "list" && has_class(x, "vctrs_rcrd")) {
    return(if (length_of(x) == 0L) NA_real_ else max(lengths_of(unclass_all(x))))
  }
  dim <- dim_of(x)
  as.double(if (is.null(dim)) length_of(x) else dim[1L])
}
