# Time zones of R and of other hosts.

# The time zone for other hosts. R accepts names that are not time zones.
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

# The zone of R that shows the clock times of another host's zone, for the column `of`. R reads
# names such as "UTC+02:00" as POSIX does, where the sign means west.
zone_shown <- function(file, zone, of) {
  if (is.na(zone) || zone == "") {
    return("UTC")
  }
  if (zone %in% olson()) {
    return(zone)
  }
  found <- zone_of_offset(offset_in(zone))
  if (is.na(found)) {
    note_zone(file, zone, if (nzchar(of)) paste0(" of column \"", substr(of, 1L, 100L), "\""))
    found <- "UTC"
  }
  found
}

# The seconds east of UTC in a name such as "+02:00" or "UTC-03:30"; NA for other names.
offset_in <- function(zone) {
  parts <- regmatches(
    zone, regexec("^(?:UTC|GMT)?([+-])([0-9]{1,2})(?::?([0-9]{2}))?(?::?([0-9]{2}))?$", zone, perl = TRUE)
  )[[1L]]
  if (length(parts) == 0L) {
    return(NA_real_)
  }
  numbers <- as.double(parts[3:5])
  sum(numbers * c(3600, 60, 1), na.rm = TRUE) * if (parts[2L] == "-") -1 else 1
}

# The zone with a fixed offset in seconds east of UTC. NA if there is none, as for parts of hours.
zone_of_offset <- function(seconds) {
  if (is.na(seconds) || seconds %% 3600 != 0) {
    return(NA_character_)
  }
  zone <- if (seconds == 0) "UTC" else sprintf("Etc/GMT%s%.0f", if (seconds > 0) "-" else "+", abs(seconds) / 3600)
  if (zone %in% c("UTC", olson())) zone else NA_character_
}

# The zone of a value in a tree. The handler in R/python_values.R reports an offset without a zone.
zone_of_value <- function(seconds) {
  zone <- zone_of_offset(seconds)
  if (!is.na(zone)) {
    return(zone)
  }
  minutes <- abs(seconds) / 60
  shown <- sprintf("%s%02.0f:%02.0f", if (seconds < 0) "-" else "+", minutes %/% 60, minutes %% 60)
  signalCondition(structure(class = c("entasis_zone", "condition"), list(message = shown, call = NULL)))
  "UTC"
}

# Reports, once for each file and zone, that times are shown in UTC.
note_zone <- function(file, zone, of = NULL) {
  if (!zone %in% file$noted_zones) {
    file$noted_zones <- c(file$noted_zones, zone)
    message(
      "note: times", of, " are shown in UTC, because R has no time zone \"", substr(zone, 1L, 60L),
      "\" (file \"", file$path, "\")"
    )
  }
}
