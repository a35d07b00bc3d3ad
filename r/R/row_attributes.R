# Attributes that have, or may have, a part for each row.

# Attributes that `row_attributes` can cut, and attributes that never depend on rows.
KNOWN_ATTRIBUTES <- c("names", "dim", "dimnames", "levels", "class", "row.names")

# Depth to which lists of attributes are searched.
DEEPEST_ATTRIBUTE <- 8L

# Whether an attribute may have a part for each of `n` rows.
depends_on_rows <- function(x, n, depth = 0L) {
  if (is.null(x) || depth > DEEPEST_ATTRIBUTE) {
    return(!is.null(x))
  }
  attrs <- attributes(x)
  if (is.atomic(x) || typeof(x) %in% c("list", "expression")) {
    if (length_of(x) == n || identical(as.double(attrs[["dim"]][1L]), as.double(n))) {
      return(TRUE)
    }
  }
  if (typeof(x) == "list") {
    items <- unclass_all(x)
    # Row numbers of groups.
    if (all(vapply(items, is.integer, NA)) && sum(lengths_of(items)) == n) {
      return(TRUE)
    }
    if (any(vapply(items, depends_on_rows, NA, n, depth + 1L))) {
      return(TRUE)
    }
  }
  any(vapply(attrs[!names(attrs) %in% c("names", "class")], depends_on_rows, NA, n, depth + 1L))
}

# Attributes, except those with a part for each row.
row_independent <- function(attrs) attrs[!names(attrs) %in% c("names", "dim", "dimnames")]

# Cuts attributes that have a part for each row.
row_attributes <- function(attrs, rows) {
  if (is_all(rows) || length(attrs) == 0L) {
    return(attrs)
  }
  if (!is.null(attrs$names)) {
    attrs$names <- take_rows(attrs$names, rows)
  }
  if (!is.null(attrs$dim)) {
    attrs$dim[1L] <- as.integer(count_rows(rows, attrs$dim[1L]))
  }
  if (!is.null(attrs$dimnames[[1L]])) {
    attrs$dimnames[[1L]] <- take_rows(attrs$dimnames[[1L]], rows)
  }
  if (!is.null(attrs$tsp)) {
    attrs$tsp <- NULL
    attrs$class <- setdiff(attrs$class, "ts")
    if (length(attrs$class) == 0L) attrs$class <- NULL
  }
  attrs
}

# Cuts the row names of a frame in a frame. One whose row names are not numbers is read whole: see
# `slicing_of`.
part_attributes <- function(attrs, rows) {
  if (!is_all(rows) && are_numbers(attrs$row.names)) {
    attrs$row.names <- c(NA, -as.integer(count_rows(rows, abs(attrs$row.names[2L]))))
  }
  attrs
}

# Whether row names are 1, 2, 3 ..., which R stores compactly.
is_numbered <- function(x) are_numbers(.row_names_info(x, 0L))

are_numbers <- function(info) is.integer(info) && length(info) == 2L && is.na(info[1L])
