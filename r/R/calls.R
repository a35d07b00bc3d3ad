# Calls in expressions of the user: the functions that they name.

# The name of the function that a call calls, or "".
head_of <- function(e) if (is.call(e) && is.symbol(e[[1L]])) as.character(e[[1L]]) else ""

is_call_of <- function(e, names) is.call(e) && head_of(e) %in% names

# The name of the function that a call names, also as pkg::name, or "".
called_name <- function(e) {
  head <- e[[1L]]
  if (is.symbol(head)) as.character(head) else if (is.call(head) && identical(head[[1L]], quote(`::`))) as.character(head[[3L]]) else ""
}

# Whether a name stands for the function of base R in an environment. The `%in%` of bit64 calls base
# R except for its own class.
is_of_base <- function(name, env) {
  found <- get0(name, envir = env, mode = "function")
  if (identical(found, get(name, envir = baseenv()))) {
    return(TRUE)
  }
  name == "%in%" && isNamespaceLoaded("bit64") && identical(found, get0(name, envir = asNamespace("bit64")))
}

# Whether a name does not refer to a user's function.
is_of_package <- function(name, env) {
  found <- get0(name, envir = env, mode = "function")
  is.null(found) || is.primitive(found) || isNamespace(topenv(environment(found)))
}
