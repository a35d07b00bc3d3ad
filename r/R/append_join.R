# Joins columns of a file and columns of rows to append, which `fit_column` fitted.

join_columns_of <- function(old, new, label, file) {
  if (is_frame_like(old)) {
    return(join_nested(old, new, label, file))
  }
  if (is_lt_like(old)) {
    return(join_times(old, new, label, file))
  }
  if (is.null(oldClass(old)) && length(dim_of(old)) == 2L) {
    return(join_matrices(old, new, label, file))
  }
  if (is_parted(old)) {
    return(join_by_class(old, new, label, file))
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
join_nested <- function(old, new, label, file) {
  if (!all(oldClass(old) %in% SIMPLE_FRAMES)) refuse_class(old, label, file)
  fitted <- fit_frames(old, new, FALSE, paste0(label, "$"), file)
  n <- c(.row_names_info(old, 2L), .row_names_info(new, 2L))
  attrs <- attributes(old)
  attrs[["row.names"]] <- joined_row_names(old, new, n, file)
  decorate(joined_columns(fitted, file), attrs[!names(attrs) %in% c("sorted", "index", ".internal.selfref")])
}

# POSIXlt: each part is a vector.
join_times <- function(old, new, label, file) {
  parts <- unclass_all(old)
  of_new <- unclass_all(new)
  if (!identical(names_of(old), names_of(new))) refuse_types(old, new, label, file)
  decorate(Map(c, parts, of_new, USE.NAMES = FALSE), attributes(old))
}

join_matrices <- function(old, new, label, file) {
  if (length(dim_of(new)) != 2L || dim_of(old)[2L] != dim_of(new)[2L]) refuse_types(old, new, label, file)
  fitted <- fit_column(unclass_all(old), unclass_all(new), label, is_all_missing(unclass_all(old)), file)
  bare <- function(x, dim) decorate(x, list(dim = dim))
  value <- rbind(bare(fitted$old, dim_of(old)), bare(fitted$new, dim_of(new)))
  names <- attr(old, "dimnames", exact = TRUE)
  rows <- c(list(names[[1L]]), list(attr(new, "dimnames", exact = TRUE)[[1L]]))
  if (!all(vapply(rows, is.null, NA))) {
    n <- c(dim_of(old)[1L], dim_of(new)[1L])
    names <- list(unlist(Map(function(of, n) if (is.null(of)) rep_len("", n) else of, rows, n), use.names = FALSE), names[[2L]])
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
  value <- tryCatch(if (is_vctrs) vctrs::vec_c(old, new) else c(old, new), error = function(e) refuse_class(old, label, file, e))
  n <- rows_of(old) + rows_of(new)
  is_same_class <- have_same_class(value, old) || is_geometry(old) && is_geometry(value)
  if (!is_same_class || typeof(value) != typeof(old) || !identical(rows_of(value), n)) refuse_class(old, label, file)
  value
}

# Refuses a class whose attributes have a part for each row. They would not fit the joined values.
check_rows_of_attributes <- function(old, new, label, file) {
  class <- oldClass(old)
  if (is.null(class)) {
    return(invisible())
  }
  n <- c(length_of(old), length_of(new))
  attrs <- row_independent(attributes(old))
  attrs <- attrs[!names(attrs) %in% c("class", "levels", PARAMETERS)]
  by_rows <- n[1L] > 1 && any(vapply(names(attrs), function(name) {
    of_new <- attr(new, name, exact = TRUE)
    depends_on_rows(attrs[[name]], n[1L]) && depends_on_rows(of_new, n[2L]) && !identical(attrs[[name]], of_new)
  }, NA))
  if (by_rows || any(ROW_BOUND %in% class)) refuse_class(old, label, file)
}

# Refuses a column whose values cannot be joined. `error` comes from the method of its class.
refuse_class <- function(x, label, file, error = NULL) {
  class <- oldClass(x)
  if (is.null(class)) {
    what <- paste0(", an array of ", length(dim_of(x)), " dimensions")
    why <- "only matrices are joined"
  } else {
    what <- paste0(" of class ", shown_class(class))
    why <- if (is.null(error)) "its values depend on all rows, and there is no known way to join them" else
      paste0("`c` of its class says: ", substr(conditionMessage(error), 1L, 200L))
  }
  abort("unsupported", paste0("not supported: rows cannot be appended to column '", substr(label, 1L, 60L), "'", what, ": ", why,
                              " (file \"", file$path, "\"); read the file, join the values, and write it again"),
        list(file = file$path, column = label))
}
