# Open files: the handle, and the host map.

open_file <- function(path, functions = FALSE, int64 = "fit", limits = list(), generation = NULL) {
  file <- new.env(parent = emptyenv())
  file$path <- check_path(path)
  # A session that restores a saved table may run in another directory.
  file$whole_path <- if (is_absolute(file$path)) file$path else file.path(getwd(), file$path)
  file$functions <- check_flag(functions, "functions")
  file$int64 <- check_choice(int64, "int64", INT64)
  file$limits <- check_limits(limits)
  file$generation <- if (!is.null(generation)) check_whole(generation, "generation", 1)
  reopen(file)
  file
}

is_absolute <- function(path) grepl("^(/|[A-Za-z]:|\\\\\\\\)", path)

reopen <- function(file) {
  # Cell numbers are valid for one file only.
  is_part <- !is.null(file$table) || isTRUE(file$is_held)
  stamp <- stamp_of(file$whole_path)
  if (is_part && !is.null(file$stamp) && !identical(stamp, file$stamp)) {
    wrong("the file \"", file$path, "\" has changed since the object was saved: open it again with entasis()")
  }
  file$stamp <- stamp
  from <- if (is.null(file$handle)) file$path else file$whole_path
  handle <- core(.Call(C_open, from, file$limits, !is.null(file$generation)))
  if (!is.null(file$generation)) handle <- at_generation(handle, file$generation)
  file$handle <- if (is.null(file$table)) handle else core(.Call(C_table, handle, file$table))
  look_at(file)
}

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
  view$whole_path <- file$whole_path
  view$functions <- file$functions
  view$int64 <- file$int64
  view$limits <- file$limits
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
    reopen(file)
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

# Checks that a node is a number: of a column, or of a position in it.
number_of <- function(node) {
  if (!is.numeric(node) || length(node) != 1L || is.na(node)) nonsense("a column number that is not a number")
  as.double(node)
}

# Item `k` of a node that must be a list.
part_of <- function(node, k) {
  if (!is.list(node) || length(node) < k) nonsense("a list with too few items")
  node[[k]]
}

# Checks that a node is a string.
string_of <- function(node) {
  if (!is.character(node) || length(node) != 1L || is.na(node)) nonsense("a name that is not a string")
  node
}

# Checks that a description of a column or labels is a map, or NULL.
check_map <- function(node) {
  if (!is.null(node) && !is.list(node)) nonsense("a description that is not a map")
  node
}

# Facts about columns by their numbers; NULL for all columns of the table.
describe_columns <- function(file, numbers = NULL) {
  core(.Call(C_describe, handle_of(file), if (!is.null(numbers)) as.double(numbers)))
}

# For each column in R: its first column in the file, its description, and its name.
layout_of <- function(file) {
  if (is.null(file$layout)) {
    file$layout <- if (file$own) interpret(file, own_layout(file)) else foreign_layout(file)
  }
  file$layout
}

own_layout <- function(file) {
  n <- file$facts$n_columns
  entries <- file$host$columns
  first <- double()
  descriptions <- list()
  if (length(entries) == 0L) {
    first <- seq_len(n) - 1
    descriptions <- vector("list", n)
  } else {
    starts <- vapply(entries, function(entry) number_of(part_of(entry, 1L)), 0)
    kept <- lapply(entries, part_of, 2L)
    widths <- rep_len(1, length(entries))
    has_more <- !vapply(kept, has_attributes_alone, NA)
    widths[has_more] <- vapply(kept[has_more], width_of, 0)
    ends <- c(0, starts + widths)
    if (is.unsorted(c(0, starts)) || any(c(starts, n) < ends)) nonsense("columns overlap")
    # Columns without a description fill the gaps.
    gaps <- c(starts, n) - ends
    first <- double(sum(gaps) + length(entries))
    at <- cumsum(gaps[seq_along(entries)] + 1)
    first[at] <- starts
    first[-at] <- rep.int(ends, gaps) + sequence(gaps) - 1
    descriptions <- vector("list", length(first))
    descriptions[at] <- kept
  }
  names <- if ("names" %in% names(file$host)) decode_value(file, file$host$names) else table_names(file, first)
  if (!is.null(names) && (!is.character(names) || length_of(names) != length(first))) nonsense("names don't fit the columns")
  list(first = first, descriptions = descriptions, names = names)
}

foreign_layout <- function(file) {
  first <- seq_len(file$facts$n_columns) - 1
  list(first = first, descriptions = vector("list", length(first)), names = table_names(file, first))
}

table_names <- function(file, first) {
  names <- table_facts(file)$name
  names[first + 1]
}

table_facts <- function(file) {
  if (is.null(file$table_facts)) {
    file$table_facts <- describe_columns(file)
  }
  file$table_facts
}

# How many columns of the file a column in R takes.
width_of <- function(description) {
  check_map(description)
  if (!is.null(description$matrix)) {
    width <- number_of(description$matrix)
    if (width < 0) nonsense("a matrix with a negative number of columns")
    width
  } else if ("parts" %in% names(description)) {
    sum(vapply(description$parts, width_of, 0), 0)
  } else {
    1
  }
}
