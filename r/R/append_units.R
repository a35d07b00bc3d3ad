# Differences of times in the unit of a column.

# Converts differences of times to the unit of a column. A value fits if it is exact there, and
# thus the same duration.
convert_units <- function(old, new) {
  seconds <- DIFFTIME_SECONDS[c(units_of(old), units_of(new))]
  if (length(seconds) != 2L || anyNA(seconds)) {
    return(NULL)
  }
  x <- as.double(unclass_all(new))
  if (seconds[[2L]] >= seconds[[1L]]) {
    ratio <- seconds[[2L]] / seconds[[1L]]
    value <- x * ratio
    is_exact <- is_product(value, x, ratio)
  } else {
    ratio <- seconds[[1L]] / seconds[[2L]]
    value <- x / ratio
    is_exact <- is_product(x, value, ratio)
  }
  # Arithmetic changes the bits of NA.
  value[is.na(x)] <- x[is.na(x)]
  value <- decorate(value, list(class = oldClass(old), units = units_of(old)))
  converted <- convert_numbers(value, typeof(old))
  inexact <- which(is.finite(x) & !is_exact)
  list(value = converted$value, misfit = sort(c(inexact, converted$misfit))[1L])
}

# Whether x * ratio is exactly the product. The halves of `x` have few enough bits for exact
# products with a ratio below 2^20.
is_product <- function(product, x, ratio) {
  high <- 134217729 * x
  high <- high - (high - x)
  high * ratio - product == -((x - high) * ratio)
}
