# Reads trees of values. src/make_values.c builds values of cells, and asks this code for the kinds
# that it does not handle. Nothing of a file is evaluated: calls and functions are built and never
# called.

# Within a session, each environment and table of the file is built once. Environments are filled
# after everything else, because one may contain the table that is being read.
in_session <- function(file, expr) {
  is_outermost <- is.null(file$session)
  if (is_outermost) {
    .Call(C_has_made_integer64, FALSE)
    session <- new_session(file)
    file$session <- session
    on.exit({
      file$session <- NULL
      .Call(C_unload, session$loaded)
      if (!is.null(session$whole)) close_file(session$whole)
    })
  }
  value <- expr
  if (is_outermost) {
    finish_environments(file$session)
    load_bit64(file)
  }
  value
}

new_session <- function(file) {
  session <- new.env(parent = emptyenv())
  session$file <- file
  session$environments <- new.env(parent = emptyenv())
  session$pending <- NULL
  session$tables <- list()
  session
}

# Greatest depth of tables in tables.
DEEPEST_TABLE <- 40L

# The value of a file with a tree.
read_tree <- function(file) {
  in_session(file, interpret(file, {
    session <- file$session
    session$loaded <- load_cells(session, 0, NULL)
    read_cells(file, file$facts$root, file$facts$root + 1)[[1L]]
  }))
}

# The values of neighbouring cells, as a list.
read_cells <- function(file, start, end) {
  in_session(file, {
    session <- file$session
    loaded <- session$loaded
    if (is.null(loaded)) {
      loaded <- load_cells(session, start, end)
      on.exit(.Call(C_unload, loaded))
    }
    .Call(C_make, loaded, c(start, end), function(asked) assemble(session, asked[[1L]], asked[[2L]]))
  })
}

read_reference.entasis_cell <- function(node, file, description) read_cells(file, as.double(node), as.double(node) + 1)[[1L]]

read_reference.entasis_cells <- function(node, file, description) read_cells(file, node[[1L]], node[[2L]])

# Reads cells and all cells that they name; NULL for `end` means to the last one.
load_cells <- function(session, start, end) {
  opened <- core(.Call(C_load, handle_of(session$file), int64_code(session$file)))
  loaded <- opened[[1L]]
  if (is.null(end)) end <- opened[[2L]]
  needed <- core(.Call(C_close, loaded, start, end))
  if (length(needed$column) > 0L) .Call(C_pools, loaded, read_pools(session, needed))
  loaded
}

# The vectors of the pools that arrays are cut from. Their strings may be created on first access.
read_pools <- function(session, needed) {
  # A pool may hold arrays that do not need integer64.
  has_made <- .Call(C_has_made_integer64, FALSE)
  on.exit(.Call(C_has_made_integer64, has_made))
  vectors <- vector("list", length(needed$column))
  if (is.null(session$whole)) {
    session$whole <- view_of(session$file, -1)
    session$whole$own <- isTRUE(session$file$facts$is_own)
    session$whole$session <- session
    session$whole$is_pools <- TRUE
  }
  file <- session$whole
  facts <- describe_columns(file, needed$column)
  is_whole <- needed$start == 0 & needed$end == facts$n_values
  one_read <- function(which, rows) {
    reader <- new_reader(file, rows, TRUE)
    wants <- lapply(which, function(k) reader_want(reader, facts, k, NULL))
    found <- reader_run(reader)
    lapply(wants, function(want) reader_finish(reader, found, want))
  }
  if (any(is_whole)) vectors[is_whole] <- one_read(which(is_whole), ALL_ROWS)
  for (k in which(!is_whole)) {
    vectors[k] <- one_read(k, row_range(needed$start[k], needed$end[k], -1))
  }
  vectors
}

# The values of a column of lists in some rows. `cell` is the cell with the list of all values.
read_objects <- function(file, cell, n_values, rows) {
  in_session(file, {
    if (cell < 0) nonsense("a list without its values")
    found <- look_at_cell(file, cell)
    if (found$kind != CELL_LIST || found$count != n_values) nonsense("a column of lists has the wrong number of values")
    if (rows[[1L]] == 2L) {
      wanted <- rows[[4L]]
      from <- if (length(wanted) > 0L) min(wanted) else 0
      upto <- if (length(wanted) > 0L) max(wanted) + 1 else 0
      values <- read_reference(cells_ref(found$first + from, found$first + upto), file)
      values[wanted - from + 1]
    } else {
      range <- if (is_all(rows)) c(0, n_values) else c(rows[[2L]], rows[[3L]])
      if (range[2L] > n_values) nonsense("rows beyond the end of a column")
      if (range[1L] == range[2L]) list() else read_reference(cells_ref(found$first + range[1L], found$first + range[2L]), file)
    }
  })
}

CELL_TABLE <- 30L
CELL_LIST <- 64L
CELL_MAP <- 68L

# The kind and children of a cell.
look_at_cell <- function(file, cell) core(.Call(C_look, handle_of(file), cell))

# Builds the value of a kind or name from its parts, for src/make_values.c.
assemble <- function(session, what, parts) {
  switch(what,
    table = session_table(session, parts[[1L]]),
    r.environment = session_environment(session, parts),
    data.table = if (requireNamespace("data.table", quietly = TRUE)) data.table::setalloccol(parts[[1L]]) else parts[[1L]],
    r.family = if (is.null(found <- standard_family(part_of(parts, 2L), part_of(parts, 3L)))) nonsense("there is no such family") else found,
    r.dots = make_dots(parts),
    r.closure = make_closure(session, parts),
    r.promise = make_promise(session, parts),
    r.pointer = ,
    r.weakref = make_pointer(what, parts),
    r.primitive = make_primitive(session, parts),
    key = ,
    `beyond integer64` = ,
    `zero character` = structure(what, class = "entasis_refused"),
    refused = refuse_foreign(session, parts[[1L]], parts[[2L]]),
    rounded = warn_rounded(session$file, NULL, NULL),
    `too deep` = abort("limit", "limit exceeded: values are nested too deeply"),
    assemble_foreign(session, what, parts)
  )
}

# A table of the file, which is read once per session.
session_table <- function(session, number) {
  key <- as.character(number)
  known <- session$tables[[key]]
  if (!is.null(known)) {
    if (identical(known, "being read")) nonsense("a table contains itself")
    return(known[[1L]])
  }
  if (length(session$tables) > 0L && session_depth(session) >= DEEPEST_TABLE) nonsense("tables are nested too deeply")
  session$tables[[key]] <- "being read"
  table <- table_of(session, number)
  on.exit(close_file(table))
  value <- read_table(table)
  session$tables[[key]] <- list(value)
  value
}

session_depth <- function(session) sum(vapply(session$tables, identical, NA, "being read"))

table_of <- function(session, number) {
  if (number < 0 || number >= session$file$facts$n_tables) nonsense("a reference to a table that does not exist")
  file <- view_of(session$file, number)
  file$session <- session
  file
}

read_table <- function(file) {
  if (file$own && identical(file$host$form, "vector")) read_vector(file, ALL_ROWS) else read_frame(file, seq_len(frame_width(file)), ALL_ROWS)
}

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
  if (!is.character(locked) || length(locked) > 0L && !all(locked %in% c(names(values), active))) nonsense("locked bindings that do not exist")
  for (name in locked) lockBinding(name, env)
  if (isTRUE(record$locked)) lockEnvironment(env)
  decorate_environment(env, record$attributes, isTRUE(record$s4))
}

# Sets the attributes of an environment in place.
decorate_environment <- function(env, attributes, s4) {
  if (!is.null(attributes) && (!is.list(attributes) || is.null(names(attributes)))) nonsense("attributes are not a map")
  if (length(attributes) > 0L || s4) .Call(C_decorate, env, as.list(attributes), s4)
}

make_dots <- function(parts) {
  values <- parts[-(1:3)]
  names <- if (length(values) > 0L) parts[[3L]]
  if (length(values) == 0L || !is.null(names) && (!is.character(names) || length(names) != length(values))) nonsense("dots without values")
  structure(values, names = names, class = "entasis_dots")
}

make_closure <- function(session, parts) {
  check_code(session, "a function, which is code")
  formals <- part_of(parts, 2L)
  if (length(parts) != 6L || !is.null(formals) && typeof(formals) != "pairlist" || !is.environment(parts[[4L]])) {
    nonsense("a function without its parts")
  }
  # A body is code or a vector.
  body <- parts[[3L]]
  if (!is.language(body) && !is.vector(body) && !is.null(body) && !is.pairlist(body)) nonsense("a function whose body is not code")
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

# Refuses a value without counterpart in R, by its kind and path.
refuse_foreign <- function(session, kind, path) {
  kind <- unclass(kind)
  what <- if (kind %in% names(REFUSED)) REFUSED[[kind]] else paste("a value of kind", substr(kind, 1L, 60L))
  at <- if (nzchar(path)) paste0(" at ", path)
  column <- session$file$column
  of <- if (!is.null(column) && nzchar(column)) paste0(", column \"", substr(column, 1L, 100L), "\"")
  others <- if (is.null(of)) "entasis(path) reads the other parts" else "read other columns"
  abort("unsupported", paste0("not supported: ", what, at, " has no counterpart in R (file \"", session$file$path, "\"", of, "); ", others),
        c(list(file = session$file$path), if (!is.null(of)) list(column = column)))
}

REFUSED <- c(
  `zero character` = "a string with a zero character", key = "a dict with a key that is neither a string nor a number",
  `beyond integer64` = "-9223372036854775808, the NA of integer64,", `text 41` = "a Decimal", `bytes 50` = "an integer beyond 64 bits", `bytes 52` = "a string with lone surrogates",
  Ellipsis = "an Ellipsis", Fraction = "a Fraction", slice = "a slice", numpy.uint64 = "a uint64 of NumPy"
)
