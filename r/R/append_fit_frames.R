# Fits the columns of new rows to the columns of a frame in a file.

# Fits the columns of a frame. Returns lists of columns in the file's order, and then new columns:
# `old` of the file, `new` of the rows, `grows` whether the file's column has to be stored anew, and
# whether it `is_new`. `missing` has for each column of the file whether all values are NA; NULL to
# look.
fit_frames <- function(old, new, within, rules, missing = NULL) {
  names <- names_of(old)
  at <- column_positions(old, new, within, rules)
  n <- .row_names_info(new, 2L)
  of_old <- unclass_all(old)
  of_new <- unclass_all(new)
  is_new <- seq_along(at) > length(of_old)
  columns <- vector("list", length(at))
  grows <- logical(length(at))
  for (k in which(!is_new)) {
    label <- paste0(within, if (is.null(names)) k else names[k])
    x <- of_old[[k]]
    if (is.na(at[k])) {
      columns[[k]] <- filled(x, n, label, rules$file)
      next
    }
    fitted <- fit_column(x, of_new[[at[k]]], label, if (is.null(missing)) is_all_missing(x) else missing[k], rules)
    columns[[k]] <- fitted$new
    grows[k] <- fitted$grows
    of_old[[k]] <- fitted$old
  }
  columns[is_new] <- lapply(of_new[at[is_new]], added_column)
  if (any(is_new)) names <- c(names, names_of(new)[at[is_new]])
  earlier <- Map(
    earlier_rows, columns[is_new], paste0(within, names[is_new]),
    MoreArgs = list(n = .row_names_info(old, 2L), file = rules$file)
  )
  list(old = c(of_old, unname(earlier)), new = columns, grows = grows, is_new = is_new, names = names)
}

# A column of NA.
filled <- function(like, n, label, file) {
  if (is_frame_like(like)) {
    attrs <- attributes(like)
    attrs[["row.names"]] <- c(NA, -n)
    return(decorate(lapply(unclass_all(like), filled, n, label, file), attrs))
  }
  if (is_parted(like) || is.raw(like)) {
    wrong_column(
      file, label, "column '", label, "' of type ", shown_type(like),
      " has no NA: the rows to append must have it"
    )
  }
  missing_like(like, n)
}

# A column that the file lacks, as the file is going to have it.
added_column <- function(x) {
  if (has_class(x, "AsIs")) x <- without_as_is(x)
  if (is_parted(x) || is.null(names_of(x))) {
    return(x)
  }
  attr(x, "names") <- NULL
  x
}

# The earlier rows of a column that the file lacks. Types without NA are refused unless the file has
# no rows.
earlier_rows <- function(new, label, n, file) {
  if (is_parted(new) && !is_frame_like(new) || is.raw(new) && file$facts$n_rows > 0) {
    wrong_column(
      file, label, "column '", label, "' of type ", shown_type(new),
      " has no NA for the rows in the file: use add_columns_entasis()"
    )
  }
  if (is.raw(new)) missing_like(new, n) else filled(new, n, label, file)
}
