# Fits columns of new rows to the columns of a file: equal types, or types that hold all values of
# both. The result has the attributes of the file.

# Fits two columns. `missing` is whether all values of the file's column are NA. Returns both
# columns with their common type; `grows` is whether the type of the file's column changes.
fit_column <- function(old, new, label, missing, file) {
  # I() is how data.frame() takes lists. As in rbind(), the first class counts.
  if (has_class(new, "AsIs") && !has_class(old, "AsIs")) new <- without_as_is(new)
  if (is_plain_pair(old, new)) {
    return(list(old = old, new = new, grows = FALSE))
  }
  fitted <- fit_types(old, new, label, missing, file)
  # Values keep their names if the values of the file have names.
  if (!is_parted(new) && !is.null(names_of(new)) && !is.null(names_of(old))) attr(fitted$new, "names") <- names_of(new)
  fitted
}

without_as_is <- function(x) {
  attrs <- attributes(x)
  attrs[["class"]] <- setdiff(attrs[["class"]], "AsIs")
  if (length(attrs[["class"]]) == 0L) attrs[["class"]] <- NULL
  decorate(unclass_all(x), attrs)
}

fit_types <- function(old, new, label, missing, file) {
  refused <- function() refuse_types(old, new, label, file)
  if (is_geometry(old) && is_geometry(new)) {
    return(list(old = old, new = new, grows = FALSE))
  }
  if (is_parted(old) || is_parted(new)) {
    if (!have_same_class(old, new)) refused()
    check_parameters(old, new, label, file)
    return(list(old = old, new = new, grows = FALSE))
  }
  attr(new, "names") <- NULL
  if (have_same_class(old, new) && typeof(old) == typeof(new)) {
    return(fit_alike(old, new, label, file))
  }
  are_numbers <- have_same_class(old, new) && all(c(typeof(old), typeof(new)) %in% c("integer", "double")) && !is.factor(old)
  if (are_numbers) {
    return(fit_numbers(old, new, label, file))
  }
  if (is.null(oldClass(new)) && is_all_missing(new) && !is.raw(old)) {
    new <- missing_like(old, length_of(new))
    return(if (is.factor(old)) fit_factors(old, new, label, file) else list(old = old, new = new, grows = FALSE))
  }
  if (is.null(oldClass(old)) && missing && !is.raw(new)) {
    new <- decorate(unclass_all(new), c(attributes(new), attributes_besides(old, new)))
    old <- missing_like(new, length_of(old))
    fitted <- if (is.factor(new)) fit_factors(old, new, label, file) else list(old = old, new = new)
    fitted$grows <- TRUE
    return(fitted)
  }
  if (is.factor(old) && !is.ordered(old) && is.character(new) && !is.object(new)) {
    values <- structure(factor(new, unique(new[!is.na(new)])), class = oldClass(old))
    return(fit_alike(old, values, label, file))
  }
  refused()
}

# An integer column and one of doubles become doubles. A column without rows changes no type.
fit_numbers <- function(old, new, label, file) {
  if (length_of(new) == 0L) {
    check_parameters(old, new, label, file)
    return(list(old = old, new = missing_like(old, 0L), grows = FALSE))
  }
  fitted <- fit_alike(as_doubles(old), as_doubles(new), label, file)
  fitted$grows <- typeof(old) == "integer"
  fitted
}

# Whether two columns have the same type and equal attributes, and need no other treatment.
is_plain_pair <- function(old, new) {
  typeof(old) == typeof(new) && isS4(old) == isS4(new) && identical(attributes(old), attributes(new)) &&
    is.null(attr(old, "names", exact = TRUE)) && !is_parted(old) && !any(ROW_BOUND %in% unclass_all(oldClass(old))) &&
    !(is.factor(old) && anyNA(levels(old)))
}

# Classes of vectors with a time for each value.
ROW_BOUND <- c("ts", "zoo", "xts")

# Whether a column has more than one value for each row, or values with parts: a matrix, a frame,
# times as lists, a record, geometries, an object of S4.
is_parted <- function(x) {
  length(dim_of(x)) > 1L || isS4(x) || is_frame_like(x) || is_lt_like(x) || typeof(x) == "list" && has_class(x, "vctrs_rcrd") ||
    !is.null(attr(x, "tsp", exact = TRUE)) || is_geometry(x)
}

# Geometries of sf have attributes about all rows. Their method of `c` joins several kinds.
is_geometry <- function(x) typeof(x) == "list" && !isS4(x) && has_class(x, "sfc")

have_same_class <- function(old, new) {
  identical(unclass_all(oldClass(old)), unclass_all(oldClass(new))) && isS4(old) == isS4(new) && identical(is_parted(old), is_parted(new))
}

# Columns of one type and class.
fit_alike <- function(old, new, label, file) {
  check_parameters(old, new, label, file)
  check_rows_of_attributes(old, new, label, file)
  if (is.factor(old)) {
    return(fit_factors(old, new, label, file))
  }
  list(old = old, new = decorate(unclass_all(new), row_independent(attributes(old))), grows = FALSE)
}

# Factors get the levels of both, the levels of the file first. Ordered ones must have equal levels.
# If one level is NA, missing values get it, as in rbind().
fit_factors <- function(old, new, label, file) {
  levels <- levels(old)
  more <- setdiff(levels(new), levels)
  if (is.ordered(old) && !identical(levels, levels(new))) refuse_types(old, new, label, file)
  all <- c(levels, more)
  codes <- match(levels(new), all)[unclass_all(new)]
  attrs <- row_independent(attributes(old))
  attrs$levels <- all
  if (length(more) > 0L) attr(old, "levels") <- all
  grows <- FALSE
  if (anyNA(all)) {
    codes[is.na(codes)] <- match(NA, all)
    missing <- which(is.na(unclass_all(old)))
    grows <- length(missing) > 0L
    if (grows) old <- decorate(replace(unclass_all(old), missing, match(NA, all)), attributes(old))
  }
  list(old = old, new = decorate(codes, attrs), grows = grows)
}

attributes_besides <- function(old, new) {
  attrs <- row_independent(attributes(old))
  attrs[!names(attrs) %in% names(attributes(new))]
}

as_doubles <- function(x) if (is.double(x)) x else decorate(as.double(unclass_all(x)), attributes(x))

# Whether all values are NA. NaN is a value.
is_all_missing <- function(x) {
  typeof(x) %in% c("logical", "integer", "double", "character") && is.null(oldClass(x)) && all(is.na(x)) && !(is.double(x) && any(is.nan(x)))
}

# Missing values of the type of a column. The least 64-bit integer has the bits of -0.
missing_like <- function(like, n) {
  values <- if (typeof(like) == "list") vector("list", n) else
    rep_len(if (has_class(like, "integer64")) -0 else unclass_all(like)[NA_integer_], n)
  decorate(values, row_independent(attributes(like)))
}

# Attributes that decide what values mean.
PARAMETERS <- c("units", "tzone", "ptype")

check_parameters <- function(old, new, label, file) {
  for (name in PARAMETERS) {
    if (!identical(parameter_of(old, name), parameter_of(new, name))) refuse_types(old, new, label, file)
  }
}

# Times without a zone, or with an empty one, are local times.
parameter_of <- function(x, name) {
  value <- attr(x, name, exact = TRUE)
  if (name != "tzone") value else if (is.null(value)) "" else unclass_all(value)[1L]
}

refuse_types <- function(old, new, label, file) {
  what <- if (is.null(label)) "the vector" else paste0("column '", substr(label, 1L, 60L), "'")
  wrong_column(file, if (is.null(label)) NA_character_ else label, what, " is ", shown_type(old), " in the file and ", shown_type(new),
               " in the rows to append: convert one of them")
}

# The type of a column for messages.
shown_type <- function(x) {
  if (is_frame_like(x)) {
    return("a data frame")
  }
  # oldClass() of an object of S4 may be the class that it extends.
  class <- unclass_all(attr(x, "class", exact = TRUE))
  what <- if (is.ordered(x)) paste0("ordered (", substr(paste(levels(x), collapse = " < "), 1L, 60L), ")") else
    if (length(class) > 0L) class[1L] else typeof(x)
  parameter <- c(units = attr(x, "units", exact = TRUE)[1L], tzone = if (has_class(x, "POSIXt")) parameter_of(x, "tzone"))
  if (is.character(parameter)) what <- paste0(what, " in ", if (parameter[[1L]] == "") "local time" else substr(parameter[[1L]], 1L, 60L))
  dim <- dim_of(x)
  if (length(dim) > 1L) paste0(what, " matrix of ", paste(dim[-1L], collapse = " x "), " columns") else what
}
