# Some rows of a column whose attributes or slots may depend on the rows. As in memory, the `[`
# method of the class decides what remains. It gets only the requested rows if other rows cannot
# matter, else the whole column.

# Classes whose attributes summarise or need all rows.
SUMMARISING <- c("ts", "vctrs_rcrd")

# How to read some of `n` rows of a column with a description: `whole` is whether all rows are
# needed. NULL for columns whose rows can be read directly.
slicing_of <- function(file, description, n) {
  if (is.null(description)) {
    return(NULL)
  }
  attrs <- lapply_pairs(file, description$attributes)
  class <- class_in(attrs)
  if ("parts" %in% names(description)) {
    if ("POSIXlt" %in% class || "vctrs_rcrd" %in% class) {
      others <- attrs[!names(attrs) %in% c(KNOWN_ATTRIBUTES, "tzone", "balanced")]
      is_whole <- any(vapply(others, depends_on_rows, NA, n))
    } else {
      # A frame in the frame. Frames of other classes have their own invariants. The class of the
      # outer frame makes row names unique.
      others <- attrs[!names(attrs) %in% KNOWN_ATTRIBUTES]
      is_whole <- !all(class %in% SIMPLE_FRAMES) || length(others) > 0L || !are_numbers(attrs[["row.names"]]) ||
        any(vapply(description$parts, function(part) !is.null(slicing_of(file, part, n)), NA))
    }
    return(if (is_whole) list(whole = TRUE))
  }
  others <- attrs[!names(attrs) %in% KNOWN_ATTRIBUTES]
  if (is.null(class) && length(others) == 0L && !isTRUE(description$s4) && length(attrs[["dim"]]) != 1L) {
    return(NULL)
  }
  # `[` turns an array of one dimension into a vector if it takes one value.
  is_array <- length(attrs[["dim"]]) == 1L && (is.null(class) || has_method(class))
  is_whole <- isTRUE(description$s4) || is_array || any(SUMMARISING %in% class) || !is.null(attrs[["tsp"]]) ||
    any(vapply(others, depends_on_rows, NA, n))
  list(whole = is_whole)
}

# Rows `i` of a value, cut as in a frame of class `frame_class`: by `[`, or by vctrs in a tibble.
# Tibbles and data.tables keep the attributes of columns without a method. `whole` is whether `x`
# has all rows.
slice_value <- function(x, i, frame_class, whole, origin) {
  keeps <- keeps_attributes(frame_class)
  class <- oldClass(x)
  has_own <- FALSE
  if (isS4(x)) {
    has_own <- load_s4_class(class)
    if (!has_own) {
      refuse_rows(origin, paste0("its class ", shown_class(class), " of package ", attr(class, "package"), " is not known here"),
                  paste0("call library(", attr(class, "package"), ")"))
    }
  } else if (!is.null(class)) {
    package <- load_class(class)
    # The `[` method of data.frame does not know the invariants of other classes.
    has_own <- if (is.data.frame(x)) all(class %in% SIMPLE_FRAMES) || has_method(setdiff(class, SIMPLE_FRAMES)) else has_method(class)
    if (!has_own && (whole && !isTRUE(rows_of(x) <= 1) || "sfc" %in% class)) {
      how <- if (is.null(package)) "load its package" else paste("install package", package)
      refuse_rows(
        origin,
        paste0("its class ", shown_class(class), " has attributes that depend on the rows, and no method of `[` here"),
        how
      )
    }
    # Without the package, attributes that don't depend on rows are kept.
    if (!has_own && !is.null(package)) keeps <- TRUE
  }
  if (!has_own && keeps && !whole) {
    return(x)
  }
  if (is.null(class) && KEEPING %in% frame_class && is.null(dim_of(x)) && is.null(attr(x, "tsp", exact = TRUE))) {
    # data.table keeps attributes whatever their length.
    return(decorate(unname(x[i]), row_independent(attributes(x))))
  }
  by_class(class, origin, x, length(i), if ("tbl_df" %in% frame_class) vctrs_slice(x, i) else subset_rows(x, i))
}
