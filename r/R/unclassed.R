# Properties of values without their classes' methods. A method may fail or report something else
# than the vector holds. So the package gets length, names, dimensions and class of users' values
# only by these functions.

# The number of values.
length_of <- function(x) .Call(C_lengths, list(x))

# The lengths of the items of a list.
lengths_of <- function(x) .Call(C_lengths, x)

# The vector without attributes.
unclass_all <- function(x) {
  attributes(x) <- NULL
  x
}

dim_of <- function(x) unclass_all(attr(x, "dim", exact = TRUE))

names_of <- function(x) unclass_all(attr(x, "names", exact = TRUE))

# Whether the class attribute names a class. Unlike inherits(), this ignores the classes that an S4
# class extends.
has_class <- function(x, what) is.object(x) && match(what, unclass_all(oldClass(x)), 0L) > 0L

is_string <- function(x) is.character(x) && !is.object(x) && length(x) == 1L && !is.na(x)

# Whether a value has the type and class of a data frame, or of a POSIXlt: lists that a frame stores
# as several columns.
is_frame_like <- function(x) typeof(x) == "list" && !isS4(x) && has_class(x, "data.frame")
is_lt_like <- function(x) typeof(x) == "list" && !isS4(x) && has_class(x, "POSIXlt")

# Sets the attributes of a new value in place.
decorate <- function(x, attrs, s4 = FALSE) {
  if (length(attrs) == 0L && !s4) {
    return(x)
  }
  .Call(C_decorate, x, attrs, s4)
}
