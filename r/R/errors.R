# Errors are conditions of class entasis_error_<kind>, entasis_error, error. The kinds are those of the core: io, not_entasis,
# newer, corrupt, unsupported, limit, argument; and defect.

# What a native call gives, or its error.
core <- function(value) {
  if (inherits(value, "entasis_failure")) {
    abort(value$kind, value$message, unclass(value))
  }
  value
}

abort <- function(kind, message, fields = list()) {
  place <- list(file = NA_character_, section = NA_character_, column = NA_character_, block = NA_real_,
                page = NA_real_, offset = NA_real_)
  fields <- fields[intersect(names(fields), names(place))]
  place[names(fields)] <- fields
  condition <- c(list(message = message, call = NULL, kind = kind), place)
  stop(structure(condition, class = c(paste0("entasis_error_", kind), "entasis_error", "error", "condition")))
}

wrong <- function(...) abort("argument", paste0("wrong argument: ", ...))

# What can't be kept; `path` says where in the value it is.
refuse <- function(path, what) {
  abort("unsupported", paste0("not supported: ", path, ": ", what))
}

damaged <- function(file, ...) {
  message <- paste0("damaged: ", ..., " (file \"", file$path, "\"); restore the file from a copy")
  abort("corrupt", message, list(file = file$path))
}

# Around all that makes something of what a file keeps for R: checksums don't say that it makes sense.
interpret <- function(file, expr) {
  tryCatch(expr, error = function(e) {
    if (inherits(e, "entasis_error")) stop(e)
    damaged(file, "what the file keeps for its host makes no sense (", conditionMessage(e), ")")
  })
}
