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
  condition <- c(list(message = message, call = users_call(), kind = kind), place)
  stop(structure(condition, class = c(paste0("entasis_error_", kind), "entasis_error", "error", "condition")))
}

# The call of this package that the user wrote, so that a script shows which one failed: the outermost function of the package
# before the first function of somebody else. Functions of base R (tryCatch, lapply) may stand between; eval() is where a user's
# code begins.
users_call <- function() {
  home <- topenv(environment())
  found <- NULL
  for (k in rev(seq_len(sys.nframe() - 1L))) {
    of <- sys.function(k)
    if (identical(of, base::eval)) break
    where <- environment(of)
    if (is.null(where)) next
    if (identical(where, home)) {
      found <- sys.call(k)
    } else {
      # Handlers and the like are functions inside of functions.
      where <- topenv(where)
      if (!identical(where, home) && !identical(where, .BaseNamespaceEnv)) break
    }
  }
  found
}

wrong <- function(...) abort("argument", paste0(...))

damaged <- function(file, ...) {
  message <- paste0("damaged: ", ..., " (file \"", file$path, "\"); restore the file from a copy")
  abort("corrupt", message, list(file = file$path))
}

# The file says what makes no sense, in a place of which `interpret` knows the file. Checksums don't find this.
nonsense <- function(...) signal_inside("entasis_nonsense", ...)

# The file is sound and holds what R has no value for.
no_counterpart <- function(...) signal_inside("entasis_no_counterpart", ...)

signal_inside <- function(class, ...) {
  stop(structure(list(message = paste0(...), call = NULL), class = c(class, "error", "condition")))
}

# Around all that makes something of what a file keeps for R. Only what a check found is damage: any other error of R is a fault of
# the package, or of a method that it called, and no reason to throw a file away.
interpret <- function(file, expr) {
  tryCatch(expr, error = function(e) {
    is_attribute <- .Call(C_was_setting)
    if (inherits(e, "entasis_error")) stop(e)
    said <- conditionMessage(e)
    if (inherits(e, "entasis_nonsense") || is_attribute) {
      damaged(file, "what the file keeps for its host makes no sense (", said, ")")
    }
    place <- list(file = file$path)
    in_file <- paste0(" (file \"", file$path, "\")")
    if (inherits(e, "entasis_no_counterpart")) {
      abort("unsupported", paste0("not supported: ", said, " has no counterpart in R", in_file, "; read other parts with entasis()"), place)
    }
    if (is_exhausted(e, said)) abort("limit", paste0("limit reached: ", said, in_file), place)
    abort("defect", paste0("a defect of entasis, please report it: ", said, in_file), place)
  })
}

# Memory or stack that ran out, by class where R has one.
is_exhausted <- function(e, said) {
  inherits(e, "stackOverflowError") || grepl("cannot allocate|C stack usage|nested too deeply", said)
}
