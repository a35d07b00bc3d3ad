# Reads trees of values. src/make_values.c builds values of cells, and asks this code for the kinds
# that it does not handle. Nothing of a file is evaluated: calls and functions are built and never
# called.

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

read_reference.entasis_cell <- function(node, file, description) read_cells(
  file, as.double(node), as.double(node) + 1
)[[1L]]

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
  `beyond integer64` = "-9223372036854775808, the NA of integer64,", `text 41` = "a Decimal",
  `bytes 50` = "an integer beyond 64 bits", `bytes 52` = "a string with lone surrogates",
  Ellipsis = "an Ellipsis", Fraction = "a Fraction", slice = "a slice", numpy.uint64 = "a uint64 of NumPy"
)

read_cell <- function(file, cell) interpret(file, read_cells(file, cell, cell + 1)[[1L]])
