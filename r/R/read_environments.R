# Environments of a file. Each is built once in a session, empty at first. They are filled after
# everything else, because one may contain the table that is being read.

# An environment by its name or number. One with a number is empty until `finish_environments` fills
# it.
session_environment <- function(session, parts) {
  which <- part_of(parts, 2L)
  if (is.integer(which)) {
    return(numbered_environment(session, which))
  }
  string_of(which)
  name <- if (length(parts) > 2L) parts[[3L]] else ""
  if (!is.character(name) || length(name) != 1L || is.na(name)) nonsense("an environment without a name")
  switch(which,
    global = globalenv(),
    base = baseenv(),
    empty = emptyenv(),
    namespace = if (name == "base") .BaseNamespaceEnv else if (isNamespaceLoaded(name)) asNamespace(name) else
      not_there(session, "namespace of package", name, paste0("loadNamespace(\"", name, "\")")),
    package = if (paste0("package:", name) %in% search()) as.environment(paste0("package:", name)) else
      not_there(session, "package", name, paste0("library(", name, ")")),
    nonsense("an environment of an unknown kind")
  )
}

# A file never causes a package to be loaded.
not_there <- function(session, what, name, how) {
  abort("unsupported", paste0("not supported: a value is of the ", what, " \"", name, "\", which is not loaded (file \"", session$file$path,
                              "\"); call ", how, " and read again"), list(file = session$file$path))
}

numbered_environment <- function(session, number) {
  if (length(number) != 1L || is.na(number) || number < 0L) nonsense("an environment without a number")
  key <- as.character(number)
  known <- session$environments[[key]]
  if (is.null(known)) {
    known <- new.env(parent = emptyenv())
    session$environments[[key]] <- known
    session$pending <- chain(session$pending, list(known, number))
  }
  known
}

# Fills the pending environments, which may contain others. Records of consecutive numbers are read
# together.
finish_environments <- function(session) {
  interpret(session$file, while (!is.null(session$pending)) {
    all <- unchain(session$pending)
    session$pending <- NULL
    numbers <- vapply(all, `[[`, 0L, 2L)
    from <- 0L
    for (n in rle(numbers - seq_along(numbers))$lengths) {
      records <- environment_records(session, numbers[from + 1L], n)
      for (k in seq_len(n)) fill_environment(session, all[[from + k]][[1L]], records[[k]])
      from <- from + n
    }
  })
}

# The records of `n` environments with consecutive numbers.
environment_records <- function(session, number, n) {
  if (is.null(session$records)) {
    cell <- session$file$facts$environments
    if (cell < 0) nonsense("a reference to an environment in a file without environments")
    session$records <- look_at_cell(session$file, cell)
    if (session$records$kind != CELL_LIST) nonsense("the environments are not a list")
  }
  number <- as.double(number)
  if (number + n > session$records$count) nonsense("a reference to an environment that does not exist")
  at <- session$records$first + number
  read_reference(cells_ref(at, at + n), session$file)
}

fill_environment <- function(session, env, record) {
  if (!is.list(record)) nonsense("an environment that is not a map")
  values <- record$values
  if (!is.list(values) || length(values) > 0L && (is.null(names(values)) || anyNA(names(values)) || !all(nzchar(names(values))))) {
    nonsense("an environment of values without names")
  }
  parent <- record$parent
  # The environment had no enclosure when it was written.
  if (is.null(parent) && "parent" %in% names(record)) parent <- emptyenv()
  if (!is.environment(parent)) nonsense("an environment without an enclosure")
  around <- parent
  # No environment of the file encloses the global one.
  while (!identical(around, globalenv()) && !identical(around, emptyenv())) {
    if (identical(around, env)) nonsense("an environment that encloses itself")
    around <- parent.env(around)
  }
  parent.env(env) <- parent
  # Only an environment can hold the arguments in `...`; elsewhere they are a list.
  dots <- which(names(values) == "...")
  if (length(dots) > 0L) {
    dots <- dots[vapply(values[dots], inherits, NA, "entasis_dots")]
    if (length(dots) > 0L) bind_dots(session, env, unclass(values[[dots[1L]]]))
  }
  delayed <- which(vapply(values, is_promise, NA, session, USE.NAMES = FALSE))
  if (length(delayed) > 0L || length(dots) > 0L) {
    delayed <- setdiff(delayed, dots)
    list2env(values[setdiff(seq_along(values), c(dots, delayed))], env)
    for (i in delayed) bind_promise(values[[i]], names(values)[i], env)
  } else {
    list2env(values, env)
  }
  active <- bind_active(session, env, record$active)
  locked <- record$bindings
  if (!is.character(locked) || length(locked) > 0L && !all(locked %in% c(names(values), active))) {
    nonsense("locked bindings that do not exist")
  }
  for (name in locked) lockBinding(name, env)
  if (isTRUE(record$locked)) lockEnvironment(env)
  decorate_environment(env, record$attributes, isTRUE(record$s4))
}

# Sets the attributes of an environment in place.
decorate_environment <- function(env, attributes, s4) {
  if (!is.null(attributes) && (!is.list(attributes) || is.null(names(attributes)))) nonsense("attributes are not a map")
  if (length(attributes) > 0L || s4) .Call(C_decorate, env, as.list(attributes), s4)
}
