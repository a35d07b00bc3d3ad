# Errors are conditions of class entasis_error_<kind>, entasis_error, error. The kinds are the kinds
# of the core (io, busy, exists, not_entasis, newer, corrupt, tampered, wrong_key, text,
# unsupported, limit, out_of_memory, argument) and defect. Errors of the kinds busy and exists are
# also of the class entasis_error_io.

# The result of a native call; raises its error.
core <- function(value) {
  if (inherits(value, "entasis_failure")) {
    abort(value$kind, value$message, unclass(value))
  }
  value
}

abort <- function(kind, message, fields = list()) {
  where <- list(file = NA_character_, section = NA_character_, column = NA_character_, block = NA_real_,
                page = NA_real_, offset = NA_real_)
  fields <- fields[intersect(names(fields), names(where))]
  where[names(fields)] <- fields
  condition <- c(list(message = message, call = users_call(), kind = kind), where)
  kinds <- c(kind, if (kind %in% c("busy", "exists")) "io")
  stop(structure(condition, class = c(paste0("entasis_error_", kinds), "entasis_error", "error", "condition")))
}

# The call that the user wrote, so that the error of a script shows which one failed: the outermost
# function of this package below the innermost function of other code. Functions of base R
# (tryCatch, lapply) may occur in between; user code begins at eval().
users_call <- function() {
  home <- topenv(environment())
  found <- NULL
  for (k in rev(seq_len(sys.nframe() - 1L))) {
    of <- sys.function(k)
    if (identical(of, base::eval)) break
    where <- environment(of)
    if (is.null(where)) next
    if (identical(where, home)) {
      found <- without_secrets(sys.call(k), of)
    } else {
      # Handlers are closures inside functions. Users themselves call only closures of a writer.
      where <- topenv(where)
      call <- sys.call(k)
      if (identical(where, home) && is.call(call[[1L]]) && identical(call[[1L]][[1L]], quote(`$`))) found <- call
      if (!identical(where, home) && !identical(where, .BaseNamespaceEnv)) break
    }
  }
  found
}

# Arguments whose values are never shown.
SECRET_ARGUMENTS <- c("key", "password", "new_key", "new_password", "bytes")

# A call with `...` in place of keys and passwords that are written out in it.
without_secrets <- function(call, of) {
  if (!any(SECRET_ARGUMENTS %in% names(formals(of)))) {
    return(call)
  }
  matched <- tryCatch(match.call(of, call), error = function(e) call[1L])
  is_shown <- names(matched) %in% SECRET_ARGUMENTS & !vapply(as.list(matched), is.symbol, NA)
  if (length(matched) == 1L || !any(is_shown)) {
    return(if (length(matched) == 1L) matched else call)
  }
  matched[is_shown] <- list(quote(...))
  matched
}

wrong <- function(...) abort("argument", paste0(...))

# C code calls this without memory.
exhausted <- function(message, where = "", fields = list()) {
  advice <- "; free some memory, or read or write fewer columns or rows at once"
  abort("out_of_memory", paste0("out of memory: ", message, where, advice), fields)
}

damaged <- function(file, ...) {
  message <- paste0("damaged: ", ..., " (file \"", file$path, "\"); restore the file from a copy")
  abort("corrupt", message, list(file = file$path))
}

# Reports contents that make no sense although their checksums hold. `interpret` adds the file.
nonsense <- function(...) signal_inside("entasis_nonsense", ...)

# Reports a value of a sound file that has no counterpart in R.
no_counterpart <- function(...) signal_inside("entasis_no_counterpart", ...)

signal_inside <- function(class, ...) {
  stop(structure(list(message = paste0(...), call = NULL), class = c(class, "error", "condition")))
}

# Wraps all code that interprets the contents of a file. Only errors of our checks mean damage. Any
# other error of R is a defect of the package or of a called method, and says nothing about the
# file.
interpret <- function(file, expr) {
  tryCatch(expr, error = function(e) {
    is_attribute <- .Call(C_was_setting)
    if (inherits(e, "entasis_error")) stop(e)
    said <- conditionMessage(e)
    if (inherits(e, "entasis_nonsense") || is_attribute) {
      damaged(file, "its data for R are invalid (", said, ")")
    }
    where <- list(file = file$path)
    in_file <- paste0(" (file \"", file$path, "\")")
    if (inherits(e, "entasis_no_counterpart")) {
      abort(
        "unsupported",
        paste0("not supported: ", said, " has no counterpart in R", in_file, "; read other parts with entasis()"),
        where
      )
    }
    if (grepl("cannot allocate", said)) exhausted(said, in_file, where)
    if (is_too_deep(e, said)) abort("limit", paste0("limit reached: ", said, in_file), where)
    abort("defect", paste0("a defect of entasis, please report it: ", said, in_file), where)
  })
}

# Whether the stack ran out, by class if R has one, else by message.
is_too_deep <- function(e, said) {
  inherits(e, "stackOverflowError") || grepl("C stack usage|nested too deeply", said)
}
