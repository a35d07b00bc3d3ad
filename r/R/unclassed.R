# What a value is, whatever methods there are for its class: only the functions of this file ask a user's value for its length,
# names, dimensions or class. A method may stop, or give something that isn't what the vector holds.

# The number of values.
length_of <- function(x) .Call(C_lengths, list(x))

# The numbers of values of the items of a list.
lengths_of <- function(x) .Call(C_lengths, x)

# The bare vector.
unclass_all <- function(x) {
  attributes(x) <- NULL
  x
}

dim_of <- function(x) unclass_all(attr(x, "dim", exact = TRUE))

names_of <- function(x) unclass_all(attr(x, "names", exact = TRUE))

# Whether the class attribute of a value says so. Unlike inherits(), this doesn't look at what a class of S4 extends.
has_class <- function(x, what) is.object(x) && match(what, unclass_all(oldClass(x)), 0L) > 0L

is_string <- function(x) is.character(x) && !is.object(x) && length(x) == 1L && !is.na(x)

# Whether a value has the type and class of a list of columns, which a frame keeps as columns: a data frame, or the parts of a POSIXlt.
is_frame_like <- function(x) typeof(x) == "list" && !isS4(x) && has_class(x, "data.frame")
is_lt_like <- function(x) typeof(x) == "list" && !isS4(x) && has_class(x, "POSIXlt")
