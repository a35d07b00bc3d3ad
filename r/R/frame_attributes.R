# The attributes of a frame in a file of R.

# All attributes, with NULL for names and row names.
own_attributes <- function(file) {
  if (!is.null(file$attributes)) {
    return(file$attributes)
  }
  attrs <- if ("attributes" %in% names(file$host)) {
    lapply_pairs(file, file$host$attributes)
  } else {
    list(names = NULL, class = "data.frame", row.names = NULL)
  }
  # Small ones are kept for the next read.
  is_small <- function(x) is.null(x) || is.character(x) && is.null(attributes(x)) && length(x) < 100L
  if (all(vapply(attrs, is_small, NA))) file$attributes <- attrs
  attrs
}

# One attribute of the frame. Reading all of them may be slow: an index has a number for each row.
own_attribute <- function(file, name) {
  pairs <- file$host$attributes
  if (is.null(pairs) || are_decoded(pairs)) {
    return(own_attributes(file)[[name]])
  }
  lapply_pairs(file, pairs[names_of_pairs(pairs) == name])[[name]]
}

# The class of the frame that a file opens as.
class_of_file <- function(file) {
  if (isTRUE(file$as_table)) c("data.table", "data.frame") else if (file$own) interpret(file, class_in(list(class = own_attribute(file, "class")))) else "data.frame"
}

is_tibble_file <- function(file) "tbl_df" %in% class_of_file(file)
