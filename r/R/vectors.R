# Converts vectors to columns: chooses a kind that is exact, and describes the attributes that the
# kind does not imply.

# The kind of column for vectors of a type with some attributes: a list of arguments for `plan_add`,
# and `implied_attrs`, the attributes that the kind implies. It has a `scale` if the kind also
# depends on values (`fit_kind`).
kind_by <- function(type, attrs, is_s4) {
  class <- unclass_all(.subset2(attrs, "class"))
  levels <- .subset2(attrs, "levels")
  if (type == "integer" && "factor" %in% class && is.character(levels) && is.null(attributes(levels))) {
    ordered <- "ordered" %in% class
    return(list(kind = CODES, ordered = as.integer(ordered), implied_attrs = implied(CODES, ordered)))
  }
  chosen <- if (is.null(class)) NULL else time_by(type, class, attrs)
  if (!is.null(chosen)) {
    return(chosen)
  }
  if (type == "double" && "integer64" %in% class) {
    return(list(kind = INTEGER64, implied_attrs = implied(INTEGER64)))
  }
  if (type == "double" && "nanotime" %in% class && is_s4) {
    return(list(kind = INTEGER64, unit = UNIT_NANOSECOND, variant = VARIANT_INTEGER64, zone = "UTC"))
  }
  list(kind = BY_TYPE[[type]])
}

# The kind of dates, times and durations, which integers of a time unit may represent exactly. NULL
# for others.
time_by <- function(type, class, attrs) {
  if (type != "integer" && type != "double") {
    return(NULL)
  }
  if ("Date" %in% class) {
    kinds <- c(DAYS, DAYS_INTEGER)
    scale <- -1L
    implied_attrs <- implied(DAYS)
    unit <- 4L
    zone <- ""
  } else if ("POSIXct" %in% class) {
    kinds <- c(INSTANT, INSTANT_INTEGER)
    scale <- 0L
    zone <- zone_of(.subset2(attrs, "tzone"))
    implied_attrs <- implied(INSTANT, zone = zone)
    unit <- UNIT_SECOND
  } else if ("difftime" %in% class && is_string(units <- .subset2(attrs, "units")) && units %in% names(DIFFTIME_SECONDS)) {
    kinds <- c(SPAN, SPAN_INTEGER)
    scale <- DIFFTIME_SECONDS[[units]]
    implied_attrs <- implied(SPAN)
    unit <- DIFFTIME_UNITS[[units]]
    zone <- ""
  } else {
    return(NULL)
  }
  if (type == "integer") {
    return(list(kind = kinds[2L], unit = unit, variant = VARIANT_INTEGER, zone = zone, implied_attrs = implied_attrs))
  }
  is_span <- kinds[1L] == SPAN && !"hms" %in% class
  list(kind = kinds[1L], seconds = max(scale, 1L), zone = zone, implied_attrs = implied_attrs, scale = scale, is_span = is_span)
}

# Completes the kind of vectors by their values: the time unit, and the sentinel of missing doubles.
# `fits` is whether a vector is of the kind; other vectors are stored as plain doubles. Vectors that
# are appended to a file get its forms (`stored_forms`), if these are exact. `times` is
# "first" for the coarsest exact unit, "finest" for the finest one, or "double".
fit_kind <- function(chosen, values, forms = NULL, times = "first") {
  scale <- chosen$scale
  finest <- times == "finest"
  # Differences of times seldom are whole nanoseconds.
  as_doubles <- times == "double" || finest && isTRUE(chosen$is_span)
  chosen$scale <- chosen$is_span <- NULL
  chosen$fits <- TRUE
  if (!is.null(scale)) {
    chosen$unit <- if (as_doubles) rep_len(0L, length(values)) else core(.Call(C_exact_unit, values, scale, finest))
    if (!is.null(forms)) chosen$unit <- ifelse(chosen$unit == 0L | forms$unit == 0L, 0L, pmax(chosen$unit, forms$unit))
    if (any(chosen$unit == 0L)) {
      fits <- chosen$unit > 0L
      chosen$fits <- fits
      chosen$kind <- c(DOUBLE, chosen$kind)[fits + 1L]
      chosen$seconds <- c(1L, chosen$seconds)[fits + 1L]
      chosen$zone <- c("", chosen$zone)[fits + 1L]
    }
  }
  if (!is.null(scale) || chosen$kind[1L] == DOUBLE) {
    chosen$na <- if (is.null(forms)) core(.Call(C_na_kind, values)) else forms$na
    if (any(chosen$na == 2L)) chosen$variant <- c(0L, VARIANT_QUIET)[(chosen$na == 2L) + 1L]
  }
  chosen
}

# Adds a vector as `parts` columns of equal length. Returns the number of the first column, and a
# description of the attributes that the kind does not imply, or NULL.
plan_vector <- function(plan, extra, x, names, path, parts = 1L) {
  chosen <- kind_by(typeof(x), attributes(x), isS4(x))
  n <- if (parts == 0L) 0 else length_of(x) / parts
  offsets <- if (parts == 0L) double() else n * (seq_len(parts) - 1)
  if (chosen$kind == LIST) {
    # The values of a list are cells.
    bare <- unclass_all(x)
    first <- NULL
    for (k in seq_len(parts)) {
      part <- if (parts == 1L) bare else bare[offsets[k] + seq_len(n)]
      cell <- document_walk(plan$doc, part, path)
      number <- plan_add(plan, extra, names[k], list(part), LIST, n, cell = cell)
      first <- if (is.null(first)) number else first
    }
  } else {
    chosen <- fit_kind(chosen, list(x), if (!extra) stored_forms(plan, plan$n_columns + 1L), if (extra) "first" else plan$times)
    if (!chosen$fits) chosen$implied_attrs <- NULL
    if (chosen$kind == CODES) {
      levels <- attr(x, "levels", exact = TRUE)
      chosen$levels <- plan_add(plan, TRUE, "", list(levels), CHARACTER, length(levels))
      chosen$n_levels <- length(levels)
    }
    columns <- chosen[setdiff(names(chosen), c("implied_attrs", "fits"))]
    first <- do.call(plan_add, c(list(plan, extra, names, rep_len(list(x), parts), n = n, offset = offsets), columns))
  }
  list(first = first, description = describe(plan, x, chosen$implied_attrs, path))
}

# The description of a vector: what the kind of its column does not imply.
describe <- function(plan, x, implied_attrs, path) {
  attrs <- attributes(x)
  description <- list()
  same <- identical(names(attrs), names(implied_attrs)) &&
    all(vapply(names(implied_attrs), function(name) is.null(implied_attrs[[name]]) || identical(attrs[[name]], implied_attrs[[name]]), NA))
  if (!same) {
    description$attributes <- encode_attributes(plan, attrs, path, skip = if ("levels" %in% names(implied_attrs)) "levels")
  }
  if (isS4(x)) {
    description$s4 <- TRUE
  }
  if (length(description) > 0L) description
}
