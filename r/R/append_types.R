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

fit_vectors <- function(old, new, missing, file) {
  if (!is.atomic(new)) must_be("x", "a vector like that in the file", new)
  if (length(dim_of(old)) > 1L || length(dim_of(new)) > 1L) {
    abort("unsupported", paste0("not supported: rows cannot be appended to an array (file \"", file$path,
                                "\"); write it again, or store a data frame"), list(file = file$path))
  }
  fit_column(old, new, NULL, missing, file)
}
