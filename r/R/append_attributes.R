# Attributes that columns to append must share with the columns of the file, and those with a part
# for each row.

# Attributes that decide what values mean.
PARAMETERS <- c("units", "tzone", "ptype")

check_parameters <- function(old, new, label, file) {
  if (!have_same_parameters(old, new)) refuse_types(old, new, label, file)
}

have_same_parameters <- function(old, new) {
  all(vapply(PARAMETERS, function(name) identical(parameter_of(old, name), parameter_of(new, name)), NA))
}

# Classes of vectors with a time for each value.
ROW_BOUND <- c("ts", "zoo", "xts")

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
