# Joins columns of a file and columns of rows to append, which `fit_column` fitted.

join_columns_of <- function(old, new, label, rules) {
  if (is_frame_like(old)) {
    return(join_nested(old, new, label, rules))
  }
  if (is_lt_like(old)) {
    return(join_times(old, new, label, rules$file))
  }
  if (is.null(oldClass(old)) && length(dim_of(old)) == 2L) {
    return(join_matrices(old, new, label, rules))
  }
  if (is_parted(old)) {
    return(join_by_class(old, new, label, rules$file))
  }
  names <- if (!is.null(names_of(old))) list(names = joined_names(old, new))
  decorate(c(unclass_all(old), unclass_all(new)), c(names, row_independent(attributes(old))))
}

# The names of joined values.
joined_names <- function(old, new) {
  names <- lapply(list(old, new), function(x) if (is.null(names_of(x))) rep_len("", length_of(x)) else names_of(x))
  c(names[[1L]], names[[2L]])
}

# A data frame in a column. New rows continue row names that are numbers.
join_nested <- function(old, new, label, rules) {
  if (!all(oldClass(old) %in% SIMPLE_FRAMES)) refuse_class(old, label, rules$file)
  rules$fill <- FALSE
  fitted <- fit_frames(old, new, paste0(label, "$"), rules)
  n <- c(.row_names_info(old, 2L), .row_names_info(new, 2L))
  attrs <- attributes(old)
  attrs[["row.names"]] <- joined_row_names(old, new, n, rules$file)
  decorate(joined_columns(fitted, rules), attrs[!names(attrs) %in% c("sorted", "index", ".internal.selfref")])
}

# POSIXlt: each part is a vector.
join_times <- function(old, new, label, file) {
  parts <- unclass_all(old)
  of_new <- unclass_all(new)
  if (!identical(names_of(old), names_of(new))) refuse_types(old, new, label, file)
  decorate(Map(c, parts, of_new, USE.NAMES = FALSE), attributes(old))
}

join_matrices <- function(old, new, label, rules) {
  if (length(dim_of(new)) != 2L || dim_of(old)[2L] != dim_of(new)[2L]) refuse_types(old, new, label, rules$file)
  fitted <- fit_column(unclass_all(old), unclass_all(new), label, is_all_missing(unclass_all(old)), rules)
  bare <- function(x, dim) decorate(x, list(dim = dim))
  value <- rbind(bare(fitted$old, dim_of(old)), bare(fitted$new, dim_of(new)))
  names <- attr(old, "dimnames", exact = TRUE)
  rows <- c(list(names[[1L]]), list(attr(new, "dimnames", exact = TRUE)[[1L]]))
  if (!all(vapply(rows, is.null, NA))) {
    n <- c(dim_of(old)[1L], dim_of(new)[1L])
    names <- list(
      unlist(Map(function(of, n) if (is.null(of)) rep_len("", n) else of, rows, n), use.names = FALSE),
      names[[2L]]
    )
  }
  attrs <- attributes(old)
  attrs <- attrs[!names(attrs) %in% c("dim", "dimnames", "names")]
  decorate(unclass_all(value), c(list(dim = dim(value)), if (!is.null(names)) list(dimnames = names), attrs))
}

# Joins by the method of `c` of the class, or by vctrs.
join_by_class <- function(old, new, label, file) {
  class <- oldClass(old)
  is_vctrs <- FALSE
  if (isS4(old)) {
    known <- load_s4_class(class)
  } else {
    load_class(class)
    is_vctrs <- inherits(old, c("vctrs_rcrd", "vctrs_vctr")) && requireNamespace("vctrs", quietly = TRUE)
    known <- is_vctrs || has_method_of("c", class)
  }
  if (!known) refuse_class(old, label, file)
  value <- tryCatch(
    if (is_vctrs) vctrs::vec_c(old, new) else c(old, new), error = function(e) refuse_class(old, label, file, e)
  )
  n <- rows_of(old) + rows_of(new)
  is_same_class <- have_same_class(value, old) || is_geometry(old) && is_geometry(value)
  if (!is_same_class || typeof(value) != typeof(old) || !identical(rows_of(value), n)) refuse_class(old, label, file)
  value
}

# The columns of both frames, one after the other.
joined_columns <- function(fitted, rules) {
  labels <- if (is.null(fitted$names)) seq_along(fitted$old) else fitted$names
  Map(
    function(old, new, label) join_columns_of(old, new, label, rules), fitted$old, fitted$new, labels,
    USE.NAMES = FALSE
  )
}
