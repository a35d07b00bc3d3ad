# Kinds of vectors as in src/entasis.h, and units of time as in docs/format/columns.md.
LOGICAL <- 1L
INTEGER <- 2L
DOUBLE <- 3L
COMPLEX <- 4L
RAW <- 5L
CHARACTER <- 6L
CODES <- 7L
INTEGER64 <- 8L
DAYS <- 9L
DAYS_INTEGER <- 10L
INSTANT <- 11L
INSTANT_INTEGER <- 12L
SPAN <- 13L
SPAN_INTEGER <- 14L
LIST <- 15L
WORDS <- 16L # structure values of a nested column
BYTES <- 17L # a list of raw vectors
WHOLE <- 18L # doubles: integers of another host
NESTED <- 19L # in R only: a column with children

BY_TYPE <- c(
  logical = LOGICAL, integer = INTEGER, double = DOUBLE, complex = COMPLEX, raw = RAW, character = CHARACTER,
  list = LIST
)

UNIT_SECOND <- 7L
UNIT_NANOSECOND <- 10L

# The variant of a column of R is a sum of these.
VARIANT_INTEGER <- 1L # times that are integers
VARIANT_QUIET <- 2L # missing doubles are the quiet NA, as arithmetic returns it
VARIANT_INTEGER64 <- 4L # timestamps that are 64-bit integers

# Units of difftime: their seconds, and their codes in the format.
DIFFTIME_SECONDS <- c(secs = 1L, mins = 60L, hours = 3600L, days = 86400L, weeks = 604800L)
DIFFTIME_UNITS <- c(secs = 7L, mins = 6L, hours = 5L, days = 4L, weeks = 3L)

# The attributes that a kind implies, in R's order. Levels are NULL: they are in a dictionary
# column.
implied <- function(kind, ordered = FALSE, zone = "") {
  if (kind == CODES) {
    list(levels = NULL, class = if (ordered) c("ordered", "factor") else "factor")
  } else if (kind == DAYS || kind == DAYS_INTEGER) {
    list(class = "Date")
  } else if (kind == INSTANT || kind == INSTANT_INTEGER) {
    list(class = c("POSIXct", "POSIXt"), tzone = zone)
  } else if (kind == SPAN || kind == SPAN_INTEGER) {
    list(class = "difftime", units = "secs")
  } else if (kind == INTEGER64) {
    list(class = "integer64")
  }
}

# The codes of time units by their names in the file.
UNIT_CODES <- c(W = 3L, D = 4L, h = 5L, m = 6L, s = 7L, ms = 8L, us = 9L, ns = 10L)
