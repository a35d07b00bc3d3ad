# Comparisons of dates, times and durations. R compares doubles. The core finds the first stored
# count whose double is not less, and the first one whose double is greater.

compare_time <- function(column, op, value) {
  number <- time_value(column, value)
  # R compares two durations in seconds, and a duration with a number in its unit.
  factor <- if (is.object(value) && column$kind >= SPAN) DIFFTIME_SECONDS[[column$attrs$units]] else 1
  if (!is.null(number) && is.finite(number)) {
    list("time", column$number, op, number, column$kind, unit_seconds(column), factor)
  }
}

# The seconds in a unit of the column.
unit_seconds <- function(column) if (column$kind >= SPAN) DIFFTIME_SECONDS[[column$attrs$units]] else 1L

# The double with which R compares a column of times, or NULL.
time_value <- function(column, value) {
  class <- oldClass(value)
  is_number <- is.numeric(unclass(value))
  if (is.null(class)) {
    # R converts strings to dates by the form of the first one, and to times in the local zone.
    if (is_string(value) && column$kind <= DAYS_INTEGER) value <- tryCatch(as.Date(value), error = function(e) NA)
    if (is.numeric(unclass(value)) && !is.na(value)) as.double(value)
  } else if (!is_number || !identical(class, column$class)) {
    NULL
  } else if (class[1L] == "POSIXct") {
    if (have_one_zone(column$attrs$tzone, attr(value, "tzone"))) as.double(value)
  } else if (class[1L] == "difftime") {
    units <- attr(value, "units")
    if (is_string(units) && units %in% names(DIFFTIME_SECONDS)) DIFFTIME_SECONDS[[units]] * as.double(unclass(value))
  } else {
    as.double(value)
  }
}

# R warns when it compares times of different zones.
have_one_zone <- function(a, b) {
  zones <- unique(c(a[1L], b[1L]))
  length(zones[!is.na(zones) & nzchar(zones)]) < 2L
}

# The most dates on the right of `%in%` for which the core is asked.
MOST_DATES <- 1000L

date_members <- function(column, table) {
  days <- unique(as.double(table))
  there <- days[!is.na(days)]
  if (length(days) > MOST_DATES || any(is.nan(days)) || !all(is.finite(there) & there == trunc(there))) {
    return(NULL)
  }
  equal <- lapply(there, function(day) list("time", column$number, "==", day, column$kind, 1L, 1))
  is_missing <- list("missing", column$number)
  if (anyNA(days)) equal <- c(equal, list(is_missing))
  list("and", c(list("or"), equal), if (anyNA(days)) list("constant", TRUE) else list("not", is_missing))
}
