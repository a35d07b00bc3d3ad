# Fits columns of new rows to the columns of a file: the types of the file, where these hold the
# rows. The result has the attributes of the file. `rules` are those of `append_rules`.

# The file, whether columns may be missing or new, and whether a column may get a wider type.
append_rules <- function(file, fill, widen) list(file = file, fill = fill, widen = widen)

# Fits two columns. `missing` is whether all values of the file's column are NA. Returns both
# columns with their common type; `grows` is whether the file's column has to be stored anew.
fit_column <- function(old, new, label, missing, rules) {
  # I() is how data.frame() takes lists. As in rbind(), the first class counts.
  if (has_class(new, "AsIs") && !has_class(old, "AsIs")) new <- without_as_is(new)
  if (is_plain_pair(old, new)) {
    return(list(old = old, new = new, grows = FALSE))
  }
  fitted <- fit_types(old, new, label, missing, rules)
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

fit_types <- function(old, new, label, missing, rules) {
  if (is_geometry(old) && is_geometry(new)) {
    return(list(old = old, new = new, grows = FALSE))
  }
  if (is_parted(old) || is_parted(new)) {
    if (!have_same_class(old, new)) refuse_types(old, new, label, rules$file)
    check_parameters(old, new, label, rules$file)
    return(list(old = old, new = new, grows = FALSE))
  }
  attr(new, "names") <- NULL
  is_alike <- have_same_class(old, new) && typeof(old) == typeof(new) && have_same_parameters(old, new)
  if (is_alike && !(is.ordered(old) && !identical(levels(old), levels(new)))) {
    return(fit_alike(old, new, label, rules))
  }
  if (has_no_values(new) && (!is.raw(old) || length_of(new) == 0L)) {
    return(fit_alike(old, missing_like(old, length_of(new)), label, rules))
  }
  converted <- convert_rows(old, new)
  if (!is.null(converted) && is.na(converted$misfit)) {
    return(fit_alike(old, converted$value, label, rules))
  }
  if (missing && is.null(oldClass(old)) && !is.raw(new)) {
    return(take_type(old, new, label, rules))
  }
  if (is.null(converted)) refuse_types(old, new, label, rules$file)
  fit_wider(old, new, converted$misfit, label, rules)
}

# Converts the values of new rows to the type of a column in the file. NULL if no value of the rows
# has a counterpart in that type. Otherwise the converted values, with the attributes that
# `fit_alike` compares, and the position of the first value that the type does not hold, or NA.
convert_rows <- function(old, new) {
  if (!is.atomic(old) || !is.atomic(new)) {
    return(NULL)
  }
  if (has_class(old, "difftime") && has_class(new, "difftime")) {
    return(convert_units(old, new))
  }
  if (are_like_numbers(old, new)) {
    return(convert_numbers(new, number_kind(old)))
  }
  convert_text(old, new)
}

# Gives a column of the file a wider type if the caller allows it. `misfit` is the position of the
# first value of the rows that the file's type does not hold.
fit_wider <- function(old, new, misfit, label, rules) {
  of_new <- if (has_class(new, "difftime")) "double" else number_kind(new)
  kind <- if (are_like_numbers(old, new)) wider_kind(number_kind(old), of_new)
  wide <- if (!is.null(kind) && kind != number_kind(old)) as_kind(old, kind)
  converted <- if (!is.null(wide)) convert_rows(wide, new)
  if (is.null(converted) || !is.na(converted$misfit)) refuse_misfit(old, new, misfit, label, rules$file)
  if (!rules$widen) refuse_misfit(old, new, misfit, label, rules$file, kind)
  fitted <- fit_alike(wide, converted$value, label, rules)
  fitted$grows <- TRUE
  fitted
}

# A column of the file without values takes the type of the rows.
take_type <- function(old, new, label, rules) {
  new <- decorate(unclass_all(new), c(attributes(new), attributes_besides(old, new)))
  old <- missing_like(new, length_of(old))
  fitted <- if (is.factor(new)) fit_factors(old, new, label, rules) else list(old = old, new = new)
  fitted$grows <- TRUE
  fitted
}

# Whether two columns have the same type and equal attributes, and need no other treatment.
is_plain_pair <- function(old, new) {
  typeof(old) == typeof(new) && isS4(old) == isS4(new) && identical(attributes(old), attributes(new)) &&
    is.null(attr(old, "names", exact = TRUE)) && !is_parted(old) && !any(ROW_BOUND %in% unclass_all(oldClass(old))) &&
    !(is.factor(old) && anyNA(levels(old)))
}

# Columns of one type and class.
fit_alike <- function(old, new, label, rules) {
  check_parameters(old, new, label, rules$file)
  check_rows_of_attributes(old, new, label, rules$file)
  if (is.factor(old)) {
    return(fit_factors(old, new, label, rules))
  }
  list(old = old, new = decorate(unclass_all(new), row_independent(attributes(old))), grows = FALSE)
}

attributes_besides <- function(old, new) {
  attrs <- row_independent(attributes(old))
  attrs[!names(attrs) %in% names(attributes(new))]
}

fit_vectors <- function(old, new, missing, rules) {
  if (!is.atomic(new)) must_be("x", "a vector like that in the file", new)
  if (length(dim_of(old)) > 1L || length(dim_of(new)) > 1L) {
    path <- rules$file$path
    abort("unsupported", paste0("not supported: rows cannot be appended to an array (file \"", path,
                                "\"); write it again, or store a data frame"), list(file = path))
  }
  fit_column(old, new, NULL, missing, rules)
}
