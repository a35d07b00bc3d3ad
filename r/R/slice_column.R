# Some rows of a column whose attributes or slots may depend on the rows. As in memory, the `[`
# method of the class decides what remains. It gets only the requested rows if other rows cannot
# matter, else the whole column.

# The packages with the methods of classes. Reading some rows of a column or frame of such a class
# loads the package. A file never causes other packages to be loaded.
CLASS_PACKAGES <- c(
  vctrs_vctr = "vctrs", vctrs_rcrd = "vctrs", vctrs_list_of = "vctrs", haven_labelled = "vctrs", hms = "hms", integer64 = "bit64",
  zoo = "zoo", xts = "xts", yearmon = "zoo", yearqtr = "zoo", units = "units", sfc = "sf", sf = "sf", Surv = "survival",
  ITime = "data.table", IDate = "data.table", nanotime = "nanotime", grouped_df = "dplyr", rowwise_df = "dplyr", tbl_df = "tibble",
  tbl_ts = "tsibble"
)
S4_PACKAGES <- c("lubridate", "nanotime", "bit64", "Matrix", "zoo")

# Attributes that `row_attributes` can cut, and attributes that never depend on rows.
KNOWN_ATTRIBUTES <- c("names", "dim", "dimnames", "levels", "class", "row.names")

# Classes whose attributes summarise or need all rows.
SUMMARISING <- c("ts", "vctrs_rcrd")

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

# The class among attributes of a file.
class_in <- function(attrs) {
  class <- attrs[["class"]]
  if (!is.null(class) && !is.character(class)) nonsense("a class that is not a string")
  class
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
      refuse_rows(origin, paste0("its class ", shown_class(class), " has attributes that depend on the rows, and no method of `[` here"), how)
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

# Evaluates a call of a method that cuts `n` rows of `of`. A method may be any code, so its result
# is checked.
by_class <- function(class, origin, of, n, expr, names = names_of(of)) {
  value <- tryCatch(expr, error = function(e) {
    if (inherits(e, "entasis_error")) stop(e)
    refuse_rows(origin, paste0("`[` of its class ", shown_class(class), " says: ", substr(conditionMessage(e), 1L, 200L)), NULL)
  })
  wrong <- wrong_part(value, of, n, names)
  if (!is.null(wrong)) refuse_rows(origin, paste0("`[` of its class ", shown_class(class), " gives ", wrong), NULL)
  value
}

# Why a value is not a part of `of` with `n` rows, or NULL. The class of a frame may add columns.
wrong_part <- function(value, of, n, names = names_of(of)) {
  if (typeof(value) != typeof(of) && !is_widened(value, of)) {
    return(paste("a value of type", typeof(value)))
  }
  if (!is_frame_like(of)) {
    return(if (!identical(rows_of(value), as.double(n))) "another number of rows")
  }
  if (!is_frame_like(value) || .row_names_info(value, 2L) != n || length(names_of(value)) != length_of(value)) {
    return("no frame of these rows")
  }
  if (!all(names %in% names_of(value))) {
    return("other columns")
  }
  from <- same_columns(value, of)
  for (k in seq_along(from)) {
    x <- .subset2(value, k)
    wrong <- wrong_part(x, if (is.na(from[k])) x else .subset2(of, from[k]), n)
    if (!is.null(wrong)) {
      return(paste0(wrong, ", in column \"", substr(names_of(value)[k], 1L, 100L), "\""))
    }
  }
}

# Whether numbers have a wider type than before: vctrs makes doubles of dates, times and durations
# that are integers or all missing.
is_widened <- function(value, of) {
  widths <- c("logical", "integer", "double")
  isTRUE(match(typeof(value), widths) > match(typeof(of), widths))
}

# For each column of a part of the frame `of`, the number of the same column in `of`, or NA.
same_columns <- function(part, of) {
  if (length_of(part) == length_of(of)) seq_len(length_of(of)) else match(names_of(part), names_of(of))
}

subset_rows <- function(x, i) {
  if (inherits(x, "vctrs_rcrd")) {
    return(vctrs_slice(x, i))
  }
  n_dims <- length(dim(x))
  if (n_dims == 2L) {
    value <- x[i, , drop = FALSE]
    fit_rows(value, x, i)
  } else if (n_dims > 2L) {
    do.call(`[`, c(list(x, i), rep(list(TRUE), n_dims - 1L), list(drop = FALSE)), quote = TRUE)
  } else {
    x[i]
  }
}

# Completes `value`, which `[` made of the rows `i` of the frame `of`. Row names that are numbers
# start again at 1. Arrays of more than two dimensions are cut along the first one here, because `[`
# of data.frame takes only as many of their values as there are rows.
fit_rows <- function(value, of, i) {
  if (!is_frame_like(value) || !is_frame_like(of)) {
    return(value)
  }
  if (is_numbered(of) && !anyNA(i)) attr(value, "row.names") <- .set_row_names(.row_names_info(value, 2L))
  fit_columns(value, of, i)
}

# Completes the columns of a frame. Its class may have chosen other columns.
fit_columns <- function(value, of, i) {
  from <- same_columns(value, of)
  columns <- unclass_all(value)
  is_deep <- vapply(unclass_all(of), function(x) is_frame_like(x) || !isS4(x) && length(dim_of(x)) > 2L, NA)
  at <- which(is_deep[from])
  if (length(at) == 0L) {
    return(value)
  }
  for (k in at) {
    x <- .subset2(of, from[k])
    columns[[k]] <- if (is_frame_like(x)) fit_rows(columns[[k]], x, i) else subset_rows(x, i)
  }
  attrs <- attributes(value)
  attrs[["row.names"]] <- .row_names_info(value, 0L)
  decorate(columns, attrs)
}

# Whether row names are 1, 2, 3 ..., which R stores compactly.
is_numbered <- function(x) are_numbers(.row_names_info(x, 0L))

are_numbers <- function(info) is.integer(info) && length(info) == 2L && is.na(info[1L])

# Rows by vctrs. Without that package, records have no `[` method, so their fields are cut.
vctrs_slice <- function(x, i) {
  if (requireNamespace("vctrs", quietly = TRUE)) {
    return(vctrs::vec_slice(x, i))
  }
  if (!inherits(x, "vctrs_rcrd")) {
    return(subset_rows(x, i))
  }
  fields <- lapply(unclass_all(x), function(field) subset_rows(field, i))
  attributes(fields) <- attributes(x)
  fields
}

# Whether vctrs changes some rows of a column besides cutting them: dates and times that are
# integers become doubles, and times without a zone get one.
is_changed_by_vctrs <- function(x) {
  if (!is.object(x) || isS4(x)) {
    return(FALSE)
  }
  class <- oldClass(x)
  "POSIXct" %in% class && is.null(attr(x, "tzone", exact = TRUE)) ||
    is.integer(x) && any(c("Date", "POSIXct", "difftime") %in% class)
}

# The number of rows of a column. Methods are used for S4 objects only. NA if there is none.
rows_of <- function(x) {
  if (is_frame_like(x)) {
    return(as.double(.row_names_info(x, 2L)))
  }
  if (isS4(x)) {
    n <- tryCatch(NROW(x), error = function(e) NULL)
    return(if (is.numeric(n) && length(n) == 1L) as.double(n) else NA_real_)
  }
  if (is_lt_like(x) || typeof(x) == "list" && has_class(x, "vctrs_rcrd")) {
    return(if (length_of(x) == 0L) NA_real_ else max(lengths_of(unclass_all(x))))
  }
  dim <- dim_of(x)
  as.double(if (is.null(dim)) length_of(x) else dim[1L])
}

# Tries to load the packages of known classes. Returns the first of them, or NULL.
load_class <- function(class) {
  packages <- unique(unname(CLASS_PACKAGES[intersect(class, names(CLASS_PACKAGES))]))
  for (package in packages) requireNamespace(package, quietly = TRUE)
  if (length(packages) > 0L) packages[1L]
}

load_s4_class <- function(class) {
  package <- attr(class, "package")
  if (is.character(package) && package %in% S4_PACKAGES) requireNamespace(package, quietly = TRUE)
  isClass(class)
}

# Whether a class has a `[` method.
has_method <- function(class) {
  "vctrs_rcrd" %in% class || any(vapply(class, function(name) !is.null(getS3method("[", name, optional = TRUE, envir = globalenv())), NA))
}

shown_class <- function(class) paste0("\"", substr(paste(class, collapse = "/"), 1L, 60L), "\"")

refuse_rows <- function(origin, why, how) {
  abort("unsupported", paste0("not supported: some rows of ", origin$what, " can't be read by themselves: ", why, " (file \"", origin$file, "\"); ",
                              if (!is.null(how)) paste0(how, ", or "), "read all rows"),
        list(file = origin$file, column = origin$column))
}

origin_of <- function(file, name) {
  if (is.null(name)) list(file = file$path, what = "the vector", column = NA_character_) else
    list(file = file$path, what = paste0("column \"", name, "\""), column = name)
}

# The numbers of the selected rows, from 1 on.
row_positions <- function(rows, n) {
  numbers <- switch(rows[[1L]] + 1L, seq_len(n), rows[[2L]] + seq_len(rows[[3L]] - rows[[2L]]), rows[[4L]] + 1)
  if (n <= .Machine$integer.max) as.integer(numbers) else numbers
}

# Whether a value is a vctrs_rcrd of `n_rows` rows. Its fields are stored as columns.
is_record <- function(x, n_rows) {
  typeof(x) == "list" && !isS4(x) && has_class(x, "vctrs_rcrd") && length_of(x) > 0L &&
    all(vapply(unclass_all(x), is.atomic, NA)) && all(lengths_of(unclass_all(x)) == n_rows)
}
