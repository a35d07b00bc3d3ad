# Checks of arguments. Messages follow R's form: "'path' must be a string, not a data frame".

must_be <- function(name, what, x, hint = "") {
  wrong("'", name, "' must be ", what, ", not ", what_is(x), hint)
}

check_flag <- function(x, name) {
  if (!is.logical(x) || length(x) != 1L || is.na(x)) must_be(name, "TRUE or FALSE", x)
  x
}

# Checks whether a file at `path` may be replaced. The core checks again when it writes.
check_overwrite <- function(overwrite, path) {
  check_flag(overwrite, "overwrite")
  if (!overwrite && file.exists(path)) abort_exists(path)
  overwrite
}

abort_exists <- function(path) {
  abort(
    "exists", paste0("cannot create '", path, "': the file exists; name another file, or allow to replace it"),
    list(file = path)
  )
}

# Checks one of several strings; all of them, as in the usage, mean the first.
check_choice <- function(x, name, choices) {
  if (identical(x, choices)) {
    return(choices[1L])
  }
  if (!is.character(x) || length(x) != 1L || !x %in% choices) {
    quoted <- paste0("\"", choices, "\"")
    wrong("'", name, "' must be ", paste(quoted[-length(quoted)], collapse = ", "), " or ", quoted[length(quoted)])
  }
  x
}

# Checks a whole number, and returns it as a double.
check_whole <- function(x, name, from, to = 2^53) {
  is_number <- is.numeric(x) && is.null(oldClass(x)) && length(x) == 1L && !is.na(x)
  if (!is_number || x < from || x > to || x != trunc(x)) {
    must_be(
      name, paste0("a whole number from ", shown_number(from), if (to < 2^53) paste0(" to ", shown_number(to))),
      x
    )
  }
  as.double(x)
}

# Checks limits, and returns them as a named vector of doubles. The core checks the names.
check_limits <- function(limits) {
  is_named <- length(limits) == 0L || (!is.null(names(limits)) && !anyNA(names(limits)) && all(nzchar(names(limits))))
  if (!(is.list(limits) || is.numeric(limits)) || is.object(limits) || !is_named) {
    must_be("limits", "a list of numbers by name, such as list(n_columns = 1000)", limits)
  }
  vapply(limits, check_whole, 0, name = "limits", from = 0)
}

# Checks a number in a range.
check_number <- function(x, name, from, to) {
  if (!is.numeric(x) || length(x) != 1L || is.na(x) || x < from || x > to) {
    must_be(name, paste0("a number from ", shown_number(from), " to ", shown_number(to)), x)
  }
  as.double(x)
}

# Checks a compression. As for saveRDS(), FALSE means no compression, and TRUE the default.
check_compression <- function(x) {
  if (is.logical(x) && length(x) == 1L && !is.na(x)) x <- if (x) 50 else 0
  if (!is.numeric(x)) must_be("compress", "a number from 0 to 100, TRUE or FALSE", x)
  check_number(x, "compress", 0, 100)
}

# Checks the number of an edition. The core checks that it is known.
check_edition <- function(x) {
  if (!is.null(x)) check_whole(x, "edition", 0, 255)
}

# Checks seconds to wait, which may be Inf.
check_wait <- function(x) {
  if (!is.numeric(x) || length(x) != 1L || is.na(x) || x < 0) must_be("wait", "a number of seconds, 0 or more", x)
  as.double(x)
}

check_raw <- function(x) {
  if (!is.raw(x)) must_be("x", "a raw vector", x, "; serialize() makes one of any object")
}

check_path <- function(path, hint = "", name = "path") {
  if (!is.character(path) || length(path) != 1L || is.na(path)) must_be(name, "a string", path, hint)
  enc2native(path.expand(path))
}

# Refuses a call with the path before the value. Two strings pass, because a value can be text.
check_order <- function(own, name, value, path) {
  is_text <- function(x) is.character(x) && length(x) == 1L && !is.na(x)
  if (!is_text(value) || is_text(path)) {
    return(invisible())
  }
  shown <- encodeString(value, quote = "\"")
  wrong(own, "() takes '", name, "' first, then 'path': ", own, "(", name, ", ", shown, ")")
}
