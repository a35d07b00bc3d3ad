# Converts values of Python to values of R; docs/fidelity.md has the table.

# Unknown parts of a kind, such as those a later version adds, have no counterpart in R. Any other
# error of R is a defect.
assemble_foreign <- function(session, what, parts) {
  make <- FOREIGN[[what]]
  if (is.null(make)) {
    return(structure(what, class = "entasis_refused"))
  }
  note <- function(e) note_zone(session$file, conditionMessage(e))
  tryCatch(withCallingHandlers(make(parts), entasis_zone = note), entasis_other_parts = function(e) {
    no_counterpart("a value of kind ", what, " with these parts (", conditionMessage(e), ")")
  })
}

other_parts <- function(...) signal_inside("entasis_other_parts", ...)

# A part of a list or plain vector, without methods of its class.
part_at <- function(parts, k) {
  if (is.object(parts) || !is.vector(parts)) other_parts("the parts are not a list")
  if (length(parts) < k) other_parts("a part is missing")
  .subset2(parts, k)
}

number_at <- function(parts, k) {
  x <- part_at(parts, k)
  if (length_of(x) != 1L || !(is.double(x) || is.integer(x)) || is.object(x) && !identical(oldClass(x), "integer64")) {
    other_parts("a part is not a number")
  }
  if (is.object(x)) double_of_int64(x) else as.double(x)
}

# The value of an integer64, also without the package bit64.
double_of_int64 <- function(x) {
  halves <- readBin(writeBin(as.double(unclass(x)), raw(), endian = "little"), "integer", 2L, endian = "little")
  # readBin() returns NA for a half with the bits of NA.
  halves <- ifelse(is.na(halves), -2^31, as.double(halves))
  halves[2L] * 2^32 + halves[1L] %% 2^32
}

# The numbers in a list or vector of length `n`.
numbers_in <- function(x, n) {
  if (length_of(x) != n) other_parts("another number of parts")
  vapply(seq_len(n), function(k) number_at(x, k), 0)
}

string_at <- function(parts, k) {
  x <- part_at(parts, k)
  if (!is_string(x) || is.object(x)) other_parts("a part is not a string")
  x
}

first_part <- function(parts) part_at(parts, 1L)
second_part <- function(parts) part_at(parts, 2L)
third_part <- function(parts) part_at(parts, 3L)

since_1970 <- function(seconds, zone = "UTC") structure(
  as.double(seconds), class = c("POSIXct", "POSIXt"), tzone = zone
)
lasting <- function(seconds) structure(as.double(seconds), class = "difftime", units = "secs")

# A datetime with a zone. Its parts are the local time, the zone, and whether a repeated local time
# is the second one.
zoned <- function(parts) {
  clock <- part_at(parts, 1L)
  zone <- part_at(parts, 2L)
  if (!inherits(clock, "POSIXct") || !is.double(clock) || length_of(clock) != 1L) {
    other_parts("a clock that is not a time")
  }
  if (is.null(zone)) {
    return(clock)
  }
  if (is_string(zone)) {
    if (!zone %in% olson()) other_parts("a time zone that is not known here")
    local <- as.double(clock)
    return(since_1970(local - east_of_utc(local, zone, number_at(parts, 3L) != 0), zone))
  }
  offset <- number_at(zone, 1L) / 1e6
  since_1970(as.double(clock) - offset, zone_of_value(offset))
}

# The seconds east of UTC at a local time. A time that is repeated or skipped has those before the
# change of the clocks, or with `is_second` those after it.
east_of_utc <- function(local, zone, is_second) {
  at <- function(seconds) {
    there <- as.POSIXlt(floor(seconds), origin = "1970-01-01", tz = zone)
    shown <- ISOdatetime(there$year + 1900, there$mon + 1, there$mday, there$hour, there$min, there$sec, tz = "UTC")
    as.double(shown) - floor(seconds)
  }
  # The rules of zones change at most once in two days.
  before <- at(local - 86400)
  after <- at(local + 86400)
  holds <- c(at(local - before) == before, at(local - after) == after)
  if (holds[1L] == holds[2L]) {
    return(if (is_second) after else before)
  }
  if (holds[1L]) before else after
}

seconds_in <- function(unit) {
  switch(unit, s = 1, ms = 1e3, us = 1e6, ns = 1e9, other_parts("a unit that is not known"))
}

range_of_numbers <- function(parts) {
  bounds <- numbers_in(part_at(parts, 1L), 3L)
  n <- max(0, ceiling((bounds[2L] - bounds[1L]) / bounds[3L]))
  if (!is.finite(n) || n > 1e8) other_parts("a range of too many numbers")
  numbers <- bounds[1L] + bounds[3L] * (seq_len(n) - 1)
  if (any(abs(bounds) > 2^53)) other_parts("numbers beyond 2^53")
  if (all(abs(numbers) < 2^31)) as.integer(numbers) else numbers
}

uuid_text <- function(parts) {
  bytes <- part_at(parts, 1L)
  if (!is.raw(bytes)) other_parts("a UUID that is not bytes")
  gsub("^(.{8})(.{4})(.{4})(.{4})(.{12})$", "\\1-\\2-\\3-\\4-\\5", paste(as.character(bytes), collapse = ""))
}

# An array from values stored by rows, and its shape.
turned_array <- function(parts) {
  x <- part_at(parts, 1L)
  shape <- part_at(parts, 2L)
  dim <- numbers_in(shape, length_of(shape))
  if (!is_vector_type(x) || length(dim) == 0L || anyNA(dim) || any(dim < 0) || prod(dim) != length_of(x)) {
    other_parts("an array of another shape")
  }
  kept <- attributes(x)
  turned <- aperm(array(unclass(x), rev(dim)))
  attributes(turned) <- c(kept, list(dim = dim(turned)))
  turned
}

is_vector_type <- function(x) typeof(x) %in% c("logical", "integer", "double", "complex", "character", "raw", "list")

masked_array <- function(parts) {
  x <- part_at(parts, 2L)
  mask <- part_at(parts, 3L)
  if (is.null(mask)) {
    return(x)
  }
  if (!is_vector_type(x) || !is.logical(mask) || is.object(mask) || length(mask) != length_of(x)) {
    other_parts("a mask that does not fit")
  }
  with_missing(x, which(as.vector(mask)))
}

# The parts of an object follow its name.
record_fields <- function(parts) {
  names <- unlist(part_at(parts, 4L))
  values <- parts[-(1:4)]
  if (length_of(names) != length(values) || !is.null(names) && !is.character(names)) {
    nonsense("a record whose fields do not match its names")
  }
  structure(values, names = names, record = parts[[3L]])
}

stamp_of_pandas <- function(parts) {
  zone <- part_at(parts, 4L)
  zone <- if (is_string(zone) && zone %in% olson()) zone else if (is.list(zone)) zone_of_value(number_at(zone, 1L) / 1e6) else "UTC"
  since_1970(number_at(parts, 2L) / seconds_in(string_at(parts, 3L)), zone)
}

FOREIGN <- list(
  `NA` = function(parts) NA,
  NaT = function(parts) since_1970(NA),
  numpy.False = function(parts) FALSE, numpy.True = function(parts) TRUE,
  numpy.int8 = first_part, numpy.int16 = first_part, numpy.int32 = first_part, numpy.int64 = first_part,
  numpy.uint8 = first_part,
  numpy.uint16 = first_part, numpy.uint32 = first_part,
  date = function(parts) structure(number_at(parts, 1L), class = "Date"),
  time = function(parts) structure(number_at(parts, 1L) / 1e6, class = c("hms", "difftime"), units = "secs"),
  datetime = function(parts) if (length(parts) == 1L && is.list(parts[[1L]])) zoned(parts[[1L]]) else since_1970(number_at(parts, 1L) / 1e6),
  timedelta = function(parts) {
    lasting(if (is.list(first_part(parts))) sum(numbers_in(parts[[1L]], 3L) * c(86400, 1, 1e-6)) else number_at(parts, 1L) / 1e6)
  },
  complex = function(parts) {
    numbers <- numbers_in(part_at(parts, 1L), 2L)
    complex(real = numbers[1L], imaginary = numbers[2L])
  },
  range = range_of_numbers,
  `array of objects` = first_part,
  `text 42` = first_part, `text 43` = first_part, `text 44` = first_part, `text 45` = first_part,
  `text 46` = first_part, `bytes 53` = first_part,
  `bytes 51` = uuid_text,
  `array by rows` = turned_array,
  record = record_fields,
  collections.OrderedDict = second_part,
  collections.Counter = second_part,
  collections.deque = second_part,
  collections.defaultdict = third_part,
  pandas.Timestamp = stamp_of_pandas,
  pandas.Timedelta = function(parts) lasting(number_at(parts, 2L) / seconds_in(string_at(parts, 3L))),
  class = second_part,
  numpy.metadata = second_part,
  numpy.dtype = second_part,
  pandas.dtype = second_part,
  numpy.ma = masked_array
)
