# Columns of a text as vectors of R.

# The vectors of all columns, and of `classes` that were given.
csv_vectors <- function(csv, classes, integer64, threads) {
  of <- csv$types
  classes <- classes[match(csv$names, names(classes))]
  wide <- function(is_given) if (is_given) INTEGER64 else c(integer64 = INTEGER64, double = DOUBLE, character = CHARACTER)[[integer64]]
  kinds <- vapply(seq_along(of), function(i) {
    is_given <- classes[i] %in% "integer64"
    fits <- csv$fits[i]
    switch(of[i],
      null = , bool = LOGICAL, int32 = INTEGER, float64 = DOUBLE, date = DAYS, categorical = CODES, string = CHARACTER,
      int64 = if (fits == 0 && !is_given) INTEGER else if (fits == 3 && !is_given && integer64 != "double") CHARACTER else wide(is_given),
      uint64 = if (integer64 == "double") DOUBLE else CHARACTER,
      if (startsWith(of[i], "datetime")) INSTANT else NA_integer_
    )
  }, 0L)
  if (anyNA(kinds)) {
    abort(
      "unsupported",
      paste0("not supported: column '", csv$names[is.na(kinds)][1L], "' of type ", of[is.na(kinds)][1L])
    )
  }
  beyond <- kinds == INTEGER64 & csv$fits == 3
  if (any(beyond)) {
    abort(
      "text",
      paste0(
        "column '", csv$names[beyond][1L],
        "' has -9223372036854775808, which is NA in integer64; read it as \"character\""
      )
    )
  }
  rounded <- kinds == DOUBLE & !is.na(csv$rounded)
  if (any(rounded)) {
    warn_of_text(
      paste0(
        "integers beyond 2^53 lost digits as doubles in ", listed(csv$names[rounded]), ", the first is ",
        csv$rounded[rounded][1L]
      )
    )
  }
  columns <- core(.Call(C_csv_fill, csv$table, kinds, if (is.null(threads)) 0L else as.integer(threads)))
  if (any(kinds == INTEGER64) && !requireNamespace("bit64", quietly = TRUE)) {
    warn_of_text("values of class integer64 print and compute as other numbers without the package bit64: install it, or pass integer64 = \"double\"")
  }
  for (i in which(kinds %in% c(INTEGER64, DAYS, INSTANT))) columns[[i]] <- decorate(
    columns[[i]], implied(kinds[i], zone = "UTC")
  )
  for (i in which(classes %in% c("IDate", "POSIXct"))) columns[[i]] <- csv_times(
    columns[[i]], classes[[i]], of[i], csv$names[i]
  )
  as_given <- which(of == "null" & !is.na(classes))
  for (i in as_given) columns[[i]] <- missing_of(classes[[i]], length(columns[[i]]), columns[[i]])
  columns
}

# A column of only missing values in the class that was asked for.
missing_of <- function(class, n, otherwise) {
  switch(class, POSIXct = .POSIXct(rep_len(NA_real_, n), "UTC"), otherwise)
}

# A column in the class of a time that was asked for.
csv_times <- function(x, class, of, name) {
  if (class == "IDate") {
    return(structure(as.integer(x), class = c("IDate", "Date")))
  }
  if (of == "date") {
    return(.POSIXct(86400 * as.double(x), "UTC"))
  }
  if (of != "null" && !inherits(x, "POSIXct")) {
    abort(
      "text",
      paste0(
        "column '", name, "' is not times by ISO 8601 but ", of,
        ": pass their format in 'dates', or read it as \"character\""
      )
    )
  }
  x
}

warn_of_text <- function(text) {
  warning(structure(list(message = text, call = NULL), class = c("entasis_warning_text", "warning", "condition")))
}

# Some values of a vector whose class has no other attributes than those of CSV.
some_of_vector <- function(x, i) decorate(unclass_all(x)[i], attributes(x))
