# Bindings of environments other than plain values: promises, active bindings, the arguments in
# `...`. Also external pointers, which are null when read. Reading evaluates nothing: a promise from
# a file is forced when its variable is used, as in the session that wrote it.

# A promise is made with its binding. Until then a list represents the promise. The list's attribute
# is an object of this session, which no file can forge.
make_promise <- function(session, parts) {
  check_code(session, "a promise, which is code")
  # The empty symbol is not an expression, and R code cannot hold it in a variable.
  is_whole <- length(parts) == 3L && is.environment(parts[[3L]])
  if (!is_whole || identical(parts[[2L]], quote(expr = )) || is_promise(parts[[2L]], session)) {
    nonsense("a promise without its parts")
  }
  structure(parts[2:3], promise = session)
}

is_promise <- function(x, session) typeof(x) == "list" && identical(attr(x, "promise", exact = TRUE), session)

bind_promise <- function(promise, name, env) do.call(delayedAssign, list(name, promise[[1L]], promise[[2L]], env))

# Makes active bindings, and returns their names.
bind_active <- function(session, env, functions) {
  if (is.null(functions)) {
    return(NULL)
  }
  check_code(session, "an active binding, which is code")
  names <- names(functions)
  if (!is.list(functions) || is.null(names) || anyNA(names) || !all(nzchar(names)) || !all(vapply(functions, is.function, NA))) {
    nonsense("active bindings without functions")
  }
  if (anyDuplicated(names) || any(vapply(names, exists, NA, envir = env, inherits = FALSE))) {
    nonsense("an active binding of a name that has a value")
  }
  for (name in names) makeActiveBinding(name, functions[[name]], env)
  names
}

# Gives an environment its `...`: forced arguments for values, and promises. R makes a promise only
# by a call in the promise's environment.
bind_dots <- function(session, env, values) {
  forced <- function(...) {
    list(...)
    environment()
  }
  delayed <- function(...) environment()
  is_delayed <- vapply(values, is_promise, NA, session)
  frames <- vector("list", length(values))
  frames[is_delayed] <- lapply(values[is_delayed], function(promise) {
    # A call would replace this symbol by the arguments in its environment's `...`.
    if (identical(promise[[1L]], quote(...))) nonsense("a promise of dots")
    eval(as.call(list(delayed, promise[[1L]])), promise[[2L]])
  })
  is_missing <- vapply(values, identical, NA, quote(expr = ))
  frames[is_missing] <- list(NA)
  values[is_delayed | is_missing] <- list(NULL)
  .Call(C_dots, env, do.call(forced, values, quote = TRUE), frames)
}

# External pointers and weak references have no meaning in another session.
make_pointer <- function(what, parts) {
  attributes <- part_of(parts, 2L)
  if (length(parts) != 2L || !is.null(attributes) && (!is.list(attributes) || is.null(names(attributes)))) {
    nonsense("a pointer without its parts")
  }
  .Call(C_decorate, .Call(C_pointer, what == "r.weakref"), as.list(attributes), FALSE)
}

make_dots <- function(parts) {
  values <- parts[-(1:3)]
  names <- if (length(values) > 0L) parts[[3L]]
  if (length(values) == 0L || !is.null(names) && (!is.character(names) || length(names) != length(values))) {
    nonsense("dots without values")
  }
  structure(values, names = names, class = "entasis_dots")
}
