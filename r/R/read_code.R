# Functions and other code of a file, which are built and never called, and only if the caller asked
# for functions.

# Code is made only if the caller asked for functions.
check_code <- function(session, what) {
  if (!session$file$functions) {
    abort("unsupported", paste0("not supported: the file holds ", what, " (file \"", session$file$path,
                                "\"); read with functions = TRUE if you trust who wrote it"), list(file = session$file$path))
  }
}

make_closure <- function(session, parts) {
  check_code(session, "a function, which is code")
  formals <- part_of(parts, 2L)
  if (length(parts) != 6L || !is.null(formals) && typeof(formals) != "pairlist" || !is.environment(parts[[4L]])) {
    nonsense("a function without its parts")
  }
  # A body is code or a vector.
  body <- parts[[3L]]
  if (!is.language(body) && !is.vector(body) && !is.null(body) && !is.pairlist(body)) {
    nonsense("a function whose body is not code")
  }
  made <- as.function(c(as.list(formals), list(body)), envir = parts[[4L]])
  .Call(C_decorate, made, as.list(parts[[5L]]), isTRUE(parts[[6L]]))
}

make_primitive <- function(session, parts) {
  check_code(session, "a function, which is code")
  name <- part_of(parts, 2L)
  found <- if (is_string(name) && nzchar(name)) get0(name, baseenv(), mode = "function", inherits = FALSE)
  if (!is.primitive(found)) nonsense("there is no function of that name")
  found
}
