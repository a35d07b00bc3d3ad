# Chooses the kind of column that stores vectors exactly.

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
  list(
    kind = kinds[1L], seconds = max(scale, 1L), zone = zone, implied_attrs = implied_attrs, scale = scale,
    is_span = is_span
  )
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
