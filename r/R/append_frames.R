# Joins frames as `rbind()` does. The result has the attributes and class of the file.

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

# The columns of both frames, one after the other.
joined_columns <- function(fitted, file) {
  labels <- if (is.null(fitted$names)) seq_along(fitted$old) else fitted$names
  Map(function(old, new, label) join_columns_of(old, new, label, file), fitted$old, fitted$new, labels, USE.NAMES = FALSE)
}

# The frame of a file with the rows of another one after its own.
grown_frame <- function(old, new, fill, file) {
  if (!is_frame_like(new)) must_be("x", "a data frame like that in the file", new)
  class <- oldClass(old)
  special <- setdiff(class, c(SIMPLE_FRAMES, "spec_tbl_df"))
  if (class[1L] %in% c("grouped_df", "rowwise_df")) {
    return(grown_groups(old, new, fill, file))
  }
  load_class(special)
  if (has_method_of("rbind", special)) {
    return(grown_by_class(old, new, fill, file))
  }
  n <- c(.row_names_info(old, 2L), .row_names_info(new, 2L))
  extra <- attributes(old)[!names(attributes(old)) %in% c(KNOWN_ATTRIBUTES, "sorted", "index", ".internal.selfref")]
  depends <- n[1L] > 1 && any(vapply(extra, depends_on_rows, NA, n[1L]))
  if (length(special) > 0L && (depends || any(special %in% names(CLASS_PACKAGES)))) refuse_frame(old, file)
  plain_grown(old, fit_frames(old, new, fill, "", file), new, n, file)
}

# A data frame, tibble or data.table.
plain_grown <- function(old, fitted, new, n, file) {
  if (sum(as.double(n)) > .Machine$integer.max) {
    abort("unsupported", paste0("not supported: a data frame has at most 2^31 - 1 rows (file \"", file$path, "\"); begin another file"),
          list(file = file$path))
  }
  attrs <- grown_attributes(attributes(old), fitted, if (n[1L] > 0) last_rows(fitted$old, n[1L]))
  attrs[["row.names"]] <- joined_row_names(old, new, n, file)
  decorate(joined_columns(fitted, file), attrs)
}
