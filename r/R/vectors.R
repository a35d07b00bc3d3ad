# Vectors to columns: the kind that keeps all there is, and the attributes that the kind doesn't tell.

# What kind of column a vector becomes. A list of what `plan_add` takes, and `told`: the attributes that reading gives back
# without being told.
choose_kind <- function(x, path) {
  type <- typeof(x)
  class <- unclass_all(oldClass(x))
  attrs <- attributes(x)
  levels <- .subset2(attrs, "levels")
  if (type == "integer" && "factor" %in% class && is.character(levels) && is.null(attributes(levels))) {
    ordered <- "ordered" %in% class
    return(list(kind = CODES, levels = levels, ordered = as.integer(ordered), told = implied(CODES, ordered)))
  }
  chosen <- if (is.null(class)) NULL else choose_time(x, type, class, attrs)
  if (!is.null(chosen)) {
    return(chosen)
  }
  if (type == "double" && "integer64" %in% class) {
    return(list(kind = INTEGER64, told = implied(INTEGER64)))
  }
  if (type == "double" && "nanotime" %in% class && isS4(x)) {
    return(list(kind = INTEGER64, unit = UNIT_NANOSECOND, flavour = FLAVOUR_INTEGER64, zone = "UTC"))
  }
  kind <- BY_TYPE[[type]]
  if (kind == LIST) {
    return(list(kind = LIST))
  }
  if (kind == DOUBLE) with_na(list(kind = DOUBLE), x) else list(kind = kind)
}

# Adds which NA the doubles have.
with_na <- function(chosen, x) {
  na <- core(.Call(C_na_kind, x))
  chosen$na <- na
  if (na == 2L) {
    chosen$flavour <- FLAVOUR_QUIET
  }
  chosen
}

# Dates, times and durations, where integers of a unit keep them exactly. NULL where not.
choose_time <- function(x, type, class, attrs) {
  if (type != "integer" && type != "double") {
    return(NULL)
  }
  if ("Date" %in% class) {
    kinds <- c(DAYS, DAYS_INTEGER)
    scale <- -1L
    told <- implied(DAYS)
    unit <- 4L
    zone <- ""
  } else if ("POSIXct" %in% class) {
    kinds <- c(INSTANT, INSTANT_INTEGER)
    scale <- 0L
    zone <- zone_of(.subset2(attrs, "tzone"))
    told <- implied(INSTANT, zone = zone)
    unit <- UNIT_SECOND
  } else if ("difftime" %in% class && is_string(units <- .subset2(attrs, "units")) && units %in% names(DIFFTIME_SECONDS)) {
    kinds <- c(SPAN, SPAN_INTEGER)
    scale <- DIFFTIME_SECONDS[[units]]
    told <- implied(SPAN)
    unit <- DIFFTIME_UNITS[[units]]
    zone <- ""
  } else {
    return(NULL)
  }
  if (type == "integer") {
    return(list(kind = kinds[2L], unit = unit, flavour = FLAVOUR_INTEGER, zone = zone, told = told))
  }
  unit <- core(.Call(C_exact_unit, x, scale))
  if (unit == 0L) {
    return(NULL)
  }
  with_na(list(kind = kinds[1L], unit = unit, seconds = max(scale, 1L), zone = zone, told = told), x)
}

# The time zone that other hosts are told: R knows more of them than there are.
zone_of <- function(tzone) {
  if (is.character(tzone) && !is.object(tzone) && length(tzone) >= 1L && !is.na(tzone[1L]) && tzone[1L] %in% olson()) tzone[1L] else "UTC"
}

zones <- new.env(parent = emptyenv())

olson <- function() {
  if (is.null(zones$names)) {
    zones$names <- OlsonNames()
  }
  zones$names
}

# Adds a vector, in `parts` columns of equal length. Returns the number of the first column, and a description of what
# the columns don't tell, NULL when they tell all.
plan_vector <- function(plan, extra, x, names, path, parts = 1L) {
  chosen <- choose_kind(x, path)
  told <- chosen$told
  chosen$told <- NULL
  n <- if (parts == 0L) 0 else length_of(x) / parts
  offsets <- if (parts == 0L) double() else n * (seq_len(parts) - 1)
  if (chosen$kind == LIST) {
    # Values of any kinds are cells.
    bare <- unclass_all(x)
    first <- NULL
    for (k in seq_len(parts)) {
      part <- if (parts == 1L) bare else bare[offsets[k] + seq_len(n)]
      cell <- document_walk(plan$doc, part, path)
      number <- plan_add(plan, extra, names[k], list(part), LIST, n, cell = cell)
      first <- if (is.null(first)) number else first
    }
  } else if (chosen$kind == CHARACTER) {
    first <- NULL
    for (k in seq_len(parts)) {
      part <- if (parts == 1L) x else unclass(x)[offsets[k] + seq_len(n)]
      number <- plan_strings(plan, extra, part, names[k])
      first <- if (is.null(first)) number else first
    }
  } else {
    if (chosen$kind == CODES) {
      levels <- chosen$levels
      chosen$levels <- plan_strings(plan, TRUE, levels, "")
      chosen$n_levels <- length(levels)
    }
    values <- rep_len(list(x), parts)
    first <- do.call(plan_add, c(list(plan, extra, names, values, n = n, offset = offsets), chosen))
  }
  list(first = first, description = describe(plan, x, told, path))
}

# What the type of a column doesn't tell of a vector.
describe <- function(plan, x, told, path) {
  attrs <- attributes(x)
  description <- list()
  same <- identical(names(attrs), names(told)) &&
    all(vapply(names(told), function(name) is.null(told[[name]]) || identical(attrs[[name]], told[[name]]), NA))
  if (!same) {
    description$attributes <- encode_attributes(plan, attrs, path, skip = if ("levels" %in% names(told)) "levels")
  }
  if (isS4(x)) {
    description$s4 <- TRUE
  }
  if (length(description) > 0L) description
}
