# Properties of columns that decide how they are joined.

# Whether a column has more than one value for each row, or values with parts: a matrix, a frame,
# times as lists, a record, geometries, an object of S4.
is_parted <- function(x) {
  length(dim_of(x)) > 1L || isS4(x) || is_frame_like(x) || is_lt_like(x) || typeof(x) == "list" && has_class(x, "vctrs_rcrd") ||
    !is.null(attr(x, "tsp", exact = TRUE)) || is_geometry(x)
}

# Geometries of sf have attributes about all rows. Their method of `c` joins several kinds.
is_geometry <- function(x) typeof(x) == "list" && !isS4(x) && has_class(x, "sfc")

have_same_class <- function(old, new) {
  identical(
    unclass_all(oldClass(old)), unclass_all(oldClass(new))
  ) && isS4(old) == isS4(new) && identical(is_parted(old), is_parted(new))
}

# Whether all values are NA. NaN is a value.
is_all_missing <- function(x) {
  typeof(x) %in% c(
    "logical", "integer", "double", "character"
  ) && is.null(oldClass(x)) && all(is.na(x)) && !(is.double(x) && any(is.nan(x)))
}

# Whether all values are NA, of any type.
has_no_values <- function(x) {
  if (!is.atomic(x) || is_parted(x) || is.raw(x) && length_of(x) > 0L) {
    return(FALSE)
  }
  bare <- unclass_all(x)
  # The least 64-bit integer, which has the bits of -0, is NA.
  if (has_class(x, "integer64")) isTRUE(all(bare == 0 & 1 / bare == -Inf)) else all(is.na(bare)) && !(is.double(bare) && any(is.nan(bare)))
}

# Missing values of the type of a column. The least 64-bit integer has the bits of -0.
missing_like <- function(like, n) {
  values <- if (typeof(like) == "list") vector("list", n) else
    rep_len(if (has_class(like, "integer64")) -0 else unclass_all(like)[NA_integer_], n)
  decorate(values, row_independent(attributes(like)))
}

# The kind of the numbers of a vector; "" for others.
number_kind <- function(x) {
  type <- typeof(x)
  if (is.factor(x) || isS4(x) || !type %in% c("logical", "integer", "double", "complex")) {
    return("")
  }
  if (type == "double" && has_class(x, "integer64")) "integer64" else type
}

# Without attributes, but with the class of 64-bit integers.
bare_number <- function(x) decorate(unclass_all(x), if (number_kind(x) == "integer64") list(class = "integer64"))

units_of <- function(x) {
  units <- attr(x, "units", exact = TRUE)
  if (is_string(units)) units else NA_character_
}

# Whether a file holds a vector alone.
is_vector_file <- function(file) identical(file$host$form, "vector")
