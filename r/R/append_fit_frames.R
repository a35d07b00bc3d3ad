# Fits the columns of new rows to the columns of a frame in a file.

# Fits the columns of a frame. Returns lists of columns in the file's order, and whether a type in
# the file changes. `missing` has for each column of the file whether all values are NA; NULL to
# look.
fit_frames <- function(old, new, fill, within, file, missing = NULL) {
  names <- names_of(old)
  at <- column_positions(old, new, fill, within, file)
  n <- .row_names_info(new, 2L)
  of_old <- unclass_all(old)
  of_new <- unclass_all(new)
  grows <- FALSE
  columns <- vector("list", length(of_old))
  for (k in seq_along(of_old)) {
    label <- paste0(within, if (is.null(names)) k else names[k])
    x <- of_old[[k]]
    if (is.na(at[k])) {
      columns[[k]] <- filled(x, n, label, file)
      next
    }
    fitted <- fit_column(x, of_new[[at[k]]], label, if (is.null(missing)) is_all_missing(x) else missing[k], file)
    columns[[k]] <- fitted$new
    grows <- grows || fitted$grows
    of_old[[k]] <- fitted$old
  }
  list(old = of_old, new = columns, grows = grows, names = names)
}

# A column of NA.
filled <- function(like, n, label, file) {
  if (is_frame_like(like)) {
    attrs <- attributes(like)
    attrs[["row.names"]] <- c(NA, -n)
    return(decorate(lapply(unclass_all(like), filled, n, label, file), attrs))
  }
  if (is_parted(like) || is.raw(like)) {
    wrong_column(file, label, "column '", label, "' of type ", shown_type(like), " has no NA: the rows to append must have it")
  }
  missing_like(like, n)
}
