# Numbers of new rows in the type of a column, and the wider types of columns.

# Whether two columns are numbers of one class. Dates are, whatever their type and further class.
are_like_numbers <- function(old, new) {
  class_of <- function(x) if (has_class(x, "Date")) "Date" else setdiff(as.character(oldClass(x)), "integer64")
  kinds <- c(number_kind(old), number_kind(new))
  all(nzchar(kinds)) && identical(class_of(old), class_of(new)) &&
    (!"integer64" %in% kinds || requireNamespace("bit64", quietly = TRUE))
}

# Converts numbers to a kind. A value fits if the converted value equals it. No number but NA fits
# logical values: 0 and 1 are not FALSE and TRUE.
convert_numbers <- function(x, kind) {
  from <- number_kind(x)
  bare <- bare_number(x)
  if (from == kind) {
    return(list(value = x, misfit = NA_integer_))
  }
  value <- to_kind(bare, from, kind)
  is_equal <- if (kind == "logical") FALSE else to_kind(value, kind, from) == bare & !loses_sign(bare, from, kind)
  # Fast path: without NA this is all.
  misfit <- if (isTRUE(all(is_equal))) NA_integer_ else {
    fits <- is_equal %in% TRUE | are_both_missing(bare, value)
    which(!fits)[1L]
  }
  list(value = decorate(unclass_all(value), attributes(x)), misfit = misfit)
}

# Where a number is -0, which no integer is, or has an imaginary part of -0.
loses_sign <- function(x, from, kind) {
  if (from == "double" && kind %in% c("integer", "integer64")) return(x == 0 & 1 / x < 0)
  if (from != "complex" || kind == "complex") return(FALSE)
  is_lost <- Im(x) == 0 & 1 / Im(x) < 0
  if (kind == "double") is_lost else is_lost | (Re(x) == 0 & 1 / Re(x) < 0)
}

# Where values are NA in both vectors. Only floats hold NaN.
are_both_missing <- function(x, y) {
  is_float <- c(typeof(x), typeof(y)) %in% c("double", "complex") & !c(is.object(x), is.object(y))
  is.na(x) & is.na(y) & (!is_float[1L] | is_float[2L] | !is.nan(x))
}

# Values that a kind does not hold become NA or lose digits, which the caller finds.
to_kind <- function(x, from, to) {
  if (from == "complex" && to == "integer64" || from == "integer64" && to == "complex") {
    x <- suppressWarnings(as.double(x))
  }
  suppressWarnings(switch(to, logical = as.logical(x), integer = as.integer(x), double = as.double(x), complex = as.complex(x),
                          integer64 = bit64::as.integer64(x)))
}

# The kind that rbind() gives, if it holds all values of both kinds; else NULL.
wider_kind <- function(old, new) {
  kinds <- c("logical", "integer", "double", "complex")
  with_integer64 <- c("logical", "integer", "integer64")
  for (order in list(kinds, with_integer64)) {
    if (all(c(old, new) %in% order)) {
      return(order[max(match(c(old, new), order))])
    }
  }
}

as_kind <- function(x, kind) {
  value <- convert_numbers(x, kind)$value
  if (kind == "integer64") decorate(value, list(class = c(oldClass(x), "integer64"))) else value
}
