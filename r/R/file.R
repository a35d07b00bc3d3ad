# Open files: the handle, and facts about the columns.

open_file <- function(path, functions = FALSE, int64 = "fit", limits = list(), generation = NULL, source = NULL) {
  file <- unopened(path, functions, int64, limits, source)
  file$generation <- if (!is.null(generation)) check_whole(generation, "generation", 1)
  reopen(file)
  file
}

# A file with checked options, without a handle.
unopened <- function(path, functions, int64, limits, source = NULL) {
  file <- new.env(parent = emptyenv())
  file$source <- source
  file$path <- if (is.null(source)) check_path(path) else source$name
  # A session that restores a saved table may run in another directory.
  file$whole_path <- if (is_absolute(file$path)) file$path else file.path(getwd(), file$path)
  file$functions <- check_flag(functions, "functions")
  file$int64 <- check_choice(int64, "int64", INT64)
  file$limits <- check_limits(limits)
  file$secret <- secret_in_force()
  file
}

# Some columns and rows of a table of fst, which has no others. NULL for other files, for columns by
# number, and for what the table does not have: then the whole file is opened.
open_fst <- function(path, columns, from, to, functions, int64, limits) {
  file <- unopened(path, functions, int64, limits)
  is_number <- function(x) is.numeric(x) && is.null(oldClass(x)) && length(x) == 1L && isTRUE(x >= 1 && x == trunc(x))
  is_named <- is.null(columns) || (is.character(columns) && length(columns) > 0L && !anyNA(columns))
  if (!is_named || !is_number(from) || !(is.null(to) || is_number(to))) {
    return(NULL)
  }
  to <- if (is.null(to)) NaN else as.double(to)
  file$handle <- core(.Call(C_open_fst, file$path, file$limits, enc2utf8(as.character(columns)), as.double(from), to))
  if (is.null(file$handle)) {
    return(NULL)
  }
  look_at(file)
  file
}

is_absolute <- function(path) grepl("^(/|[A-Za-z]:|\\\\\\\\)", path)

reopen <- function(file) {
  # Cell numbers are valid for one file only.
  is_part <- !is.null(file$table) || isTRUE(file$is_held)
  opened <- if (!is.null(file$source)) open_source(file$source, file$limits)
  stamp <- if (is.null(opened)) stamp_of(file$whole_path) else opened$stamp
  if (is_part && !is.null(file$stamp) && !identical(stamp, file$stamp)) {
    wrong("the file \"", file$path, "\" has changed since the object was saved: open it again with entasis()")
  }
  file$stamp <- stamp
  from <- if (is.null(file$handle)) file$path else file$whole_path
  handle <- if (is.null(opened)) open_handle(from, file$limits, !is.null(file$generation)) else opened$handle
  if (!is.null(file$generation)) handle <- at_generation(handle, file$generation)
  file$handle <- if (is.null(file$table)) handle else core(.Call(C_table, handle, file$table))
  look_at(file)
}

# The handle of a file or a folder.
open_handle <- function(path, limits, whole) {
  if (!dir.exists(path)) {
    return(core(.Call(C_open, path, limits, whole)))
  }
  tryCatch(core(.Call(C_open, path, limits, whole)), entasis_error_argument = function(e) {
    if (whole) stop(e)
    folder_by_value(structure(path, class = "entasis_folder"), limits, e)
  })
}

# Opens a folder whose files the core does not join, for a reason.
folder_by_value <- function(path, limits, reason) UseMethod("folder_by_value")

# An open file at an earlier generation. Warns if the current one cannot be opened.
at_generation <- function(handle, number) {
  on.exit(.Call(C_shut, handle))
  lost <- .Call(C_lost, handle)
  if (!is.null(lost)) warning("the newest generation is damaged: ", lost$message, call. = FALSE)
  core(.Call(C_at_generation, handle, number))
}

# Identifies the file at a path, so that a replaced file is noticed.
stamp_of <- function(path) {
  info <- file.info(path, extra_cols = FALSE)
  c(info$size, as.double(info$mtime))
}

# Closes a file or view now instead of at the next garbage collection.
close_file <- function(file) .Call(C_shut, file$handle)

# A view of an open file: a table by its number, or all columns (-1).
view_of <- function(file, number) {
  view <- new.env(parent = emptyenv())
  view$path <- file$path
  view$source <- file$source
  view$whole_path <- file$whole_path
  view$functions <- file$functions
  view$int64 <- file$int64
  view$limits <- file$limits
  view$secret <- file$secret
  view$generation <- file$generation
  view$table <- as.double(number)
  view$stamp <- file$stamp
  view$handle <- core(.Call(C_table, handle_of(file), view$table))
  look_at(view)
  view
}

look_at <- function(file) {
  note_locale()
  file$facts <- .Call(C_facts, file$handle)
  file$host <- core(.Call(C_host, file$handle))
  if (!is.list(file$host)) {
    file$host <- list()
  }
  file$own <- identical(file$host$host, "r")
  file$string_encodings <- if (file$own) interpret(file, string_encodings_of(file$host))
  file$layout <- NULL
  file$labels <- NULL
  file$attributes <- NULL
  file$table_facts <- NULL
  file$fits <- NULL
  file$skeleton <- NULL
  file$object_classes <- list()
}

# The handle. Opens the file again if the object comes from another session.
handle_of <- function(file) {
  if (!.Call(C_is_open, file$handle)) {
    with_secret(file$secret, reopen(file))
  }
  file$handle
}

# Whether a file holds a tree of values instead of one table.
is_tree <- function(file) file$facts$root >= 0 && is.null(file$table)

# Column numbers: `of` has string columns, `by` the columns that record their encodings.
string_encodings_of <- function(host) {
  pairs <- host$encodings
  if (length(pairs) == 0L) {
    return(NULL)
  }
  of <- vapply(pairs, function(pair) number_of(part_of(pair, 1L)), 0)
  list(of = of, by = vapply(pairs, function(pair) number_of(part_of(pair, 2L)), 0))
}

# Facts about columns by their numbers; NULL for all columns of the table.
describe_columns <- function(file, numbers = NULL) {
  core(.Call(C_describe, handle_of(file), if (!is.null(numbers)) as.double(numbers)))
}

table_facts <- function(file) {
  if (is.null(file$table_facts)) {
    file$table_facts <- describe_columns(file)
  }
  file$table_facts
}

INT64 <- c("fit", "integer64", "double")

# Whether R wrote a file.
is_own_file <- function(file) if (is_tree(file)) isTRUE(file$facts$is_own) else file$own
