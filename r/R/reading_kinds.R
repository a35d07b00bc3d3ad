# The kinds of vectors that columns are read as.

# The kinds of vectors for some columns.
reading_kinds <- function(file, facts, which) {
  kind <- kinds_or_na(file, facts, which)
  if (anyNA(kind)) {
    at <- which[is.na(kind)][1L]
    message <- paste0("not supported: type ", facts$type[at], " has no counterpart in R (file \"", file$path,
                      "\", column \"", facts$name[at], "\"); read other columns")
    abort("unsupported", message, list(file = file$path, column = facts$name[at]))
  }
  kind
}

# The kinds of vectors, with NA for types without counterpart in R. Without `look` at the values,
# all 64-bit integers of other hosts are INTEGER64.
kinds_or_na <- function(file, facts, which, look = TRUE) {
  logical <- facts$logical[which]
  physical <- facts$physical[which]
  kind <- unname(PLAIN_KINDS[physical])
  if (file$own) {
    kind[physical == "u8"] <- RAW
    is_time <- logical %in% c("date", "timestamp", "duration")
    if (any(is_time)) kind[is_time] <- own_time_kinds(logical[is_time], facts$variant[which[is_time]])
  } else {
    kind[logical == "date"] <- DAYS
    kind[logical == "timestamp"] <- INSTANT
    kind[logical %in% c("duration", "time")] <- SPAN
    small <- facts$precision[which] <= 15L & physical %in% c("i32", "i64")
    kind[logical == "decimal"] <- ifelse(small, DOUBLE, NA)[logical == "decimal"]
    kind[logical %in% c("period", "interval", "uuid")] <- NA
    kind[logical == "duration" & facts$unit[which] %in% c("", "Y", "M")] <- NA
    kind[logical == "timestamp" & facts$unit[which] %in% c("Y", "M")] <- NA
    if (look) kind <- integer_kinds(file, facts, which, kind)
  }
  kind[logical == "categorical"] <- CODES
  kind[logical == "object"] <- LIST
  if (!file$own) kind[physical %in% NESTED_TYPES] <- NESTED
  kind
}

# The kinds of time columns of R.
own_time_kinds <- function(logical, variant) {
  is_integer <- bitwAnd(variant, VARIANT_INTEGER) > 0L
  is_64 <- logical == "timestamp" & bitwAnd(variant, VARIANT_INTEGER64) > 0L
  doubles <- c(date = DAYS, timestamp = INSTANT, duration = SPAN)
  integers <- c(date = DAYS_INTEGER, timestamp = INSTANT_INTEGER, duration = SPAN_INTEGER)
  unname(ifelse(is_64, INTEGER64, ifelse(is_integer, integers[logical], doubles[logical])))
}

PLAIN_KINDS <- c(
  null = LOGICAL, bool = LOGICAL, i8 = INTEGER, i16 = INTEGER, i32 = INTEGER, u8 = INTEGER, u16 = INTEGER,
  u32 = DOUBLE, i64 = INTEGER64, u64 = INTEGER64, f16 = DOUBLE, f32 = DOUBLE, f64 = DOUBLE, complex64 = COMPLEX,
  complex128 = COMPLEX, utf8 = CHARACTER, binary = BYTES
)

NESTED_TYPES <- c("list", "map", "fixed-size list", "struct", "run-end", "union")
