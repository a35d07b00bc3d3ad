# Files whose bytes a function gives: `function(offset, length)` returns a raw vector. Attributes
# "size" and "version" of it say how long the file is, and which version of it has these bytes.

# The bytes that are read at once at the beginning and at the end.
FIRST_READ <- 65536

# The fields of an open file whose bytes a function gives.
checked_source <- function(source, size) {
  if (!is.function(source)) must_be("source", "a function of an offset and a length", source)
  if (!is.null(size)) size <- check_whole(size, "size", 0)
  name <- attr(source, "name", exact = TRUE)
  list(read = source, size = size, name = if (is_string(name)) name else "<source>")
}

# Opens the file. Returns its handle, and what identifies it.
open_source <- function(source, limits) {
  known <- new.env(parent = emptyenv())
  known$size <- source$size
  first <- bytes_of_source(source$read, 0, FIRST_READ, known)
  if (is.null(known$size)) {
    wrong("'source' does not tell the size of the file: pass 'size', or set the attribute \"size\" of the bytes")
  }
  n <- length(first)
  if (n < min(FIRST_READ, known$size) || n > known$size) failed_source(0, min(FIRST_READ, known$size), n)
  last <- min(FIRST_READ, known$size - n)
  tail <- if (last > 0) bytes_of_source(source$read, known$size - last, last, known) else raw()
  # Errors are values, because the core calls the function.
  read <- function(offset, length) {
    tryCatch(
      as.vector(bytes_of_source(source$read, offset, length, known)),
      error = function(e) enc2utf8(conditionMessage(e))
    )
  }
  handle <- core(.Call(C_open_source, source$name, known$size, as.vector(first), as.vector(tail), read, limits))
  list(handle = handle, stamp = list(known$size, known$version))
}

# The bytes that a function gives. The first ones may be fewer, if the file is shorter.
bytes_of_source <- function(read, offset, length, known) {
  is_first <- is.null(known$is_open)
  # The function may not be asked for bytes that do not exist.
  if (!is.null(known$size)) length <- min(length, known$size - offset)
  bytes <- if (length > 0) read(offset, length) else raw()
  if (!is.raw(bytes)) stop("the source returned ", what_is(bytes), ", not a raw vector", call. = FALSE)
  size <- attr(bytes, "size", exact = TRUE)
  version <- attr(bytes, "version", exact = TRUE)
  if (is_first) {
    known$is_open <- TRUE
    known$version <- version
    if (is.null(known$size) && !is.null(size)) known$size <- check_whole(size, "size", 0)
  }
  is_other <- !is.null(size) && !is.null(known$size) && !isTRUE(size == known$size)
  if (is_other || !identical(version, known$version)) {
    stop("the file was replaced by another one while it was open: open it again with entasis()", call. = FALSE)
  }
  if (!is_first && length(bytes) != length) failed_source(offset, length, length(bytes))
  bytes
}

failed_source <- function(offset, length, n) {
  stop(
    "the source returned ", shown_number(n), " bytes from offset ", shown_number(offset), ", not ",
    shown_number(length), call. = FALSE
  )
}
