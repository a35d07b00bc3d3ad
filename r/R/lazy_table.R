# Lazy tables: files whose columns and rows are read when they are selected.

entasis <- function(path, functions = FALSE, int64 = c("fit", "integer64", "double"), limits = list(), generation = NULL,
                    as = c("stored", "data.table")) {
  as <- check_choice(as, "as", c("stored", "data.table"))
  file <- open_file(path, functions, int64, limits, generation)
  if (is_tree(file)) {
    if (as != "stored") wrong("the file holds a tree of values: as = \"data.table\" is for files with one data frame")
    return(tree_part(file, file$facts$root, "x"))
  }
  if (file$own && identical(file$host$form, "vector")) {
    wrong("the file holds a vector: read_entasis() reads it")
  }
  layout_of(file)
  file$as_table <- as == "data.table" && !is_stored_table(file)
  if (file$as_table && !requireNamespace("data.table", quietly = TRUE)) wrong("as = \"data.table\" needs the package data.table")
  lazy_frame(file)
}

# The open file of a lazy table, which is opened again in another session.
file_of <- function(x) {
  if (inherits(x, "entasis_query")) wrong("the rows of a query are not read yet: read them with collect(x) or x[], and use that")
  file <- lazy_content(x)
  handle_of(file)
  if (is_tree(file)) wrong("the file \"", file$path, "\" holds a list now: open it again with entasis()")
  file
}

dim.entasis_table <- function(x) {
  file <- file_of(x)
  n <- file$facts$n_rows
  c(if (n <= .Machine$integer.max) as.integer(n) else n, frame_width(file))
}

length.entasis_table <- function(x) frame_width(file_of(x))

names.entasis_table <- function(x) {
  file <- file_of(x)
  if (is.null(layout_of(file)$names)) NULL else frame_names(file)
}

dimnames.entasis_table <- function(x) list(row.names(x), names(x))

row.names.entasis_table <- function(x) {
  row.names(shown_frame(file_of(x), integer(), ALL_ROWS))
}

`[.entasis_table` <- function(x, i, j, drop = FALSE) {
  file <- file_of(x)
  n_arguments <- nargs() - !missing(drop)
  names <- frame_names(file)
  if (n_arguments < 3L) {
    # x[columns], as for a list.
    which <- if (missing(i)) seq_along(names) else resolve_columns(names, i)
    return(read_frame(file, which, ALL_ROWS))
  }
  which <- if (missing(j)) seq_along(names) else resolve_columns(names, j)
  if (!missing(i)) {
    rows <- rows_of_mask(file, substitute(i), substitute(x), parent.frame())
    if (!is.null(rows)) i <- rows
  }
  if (check_flag(drop, "drop") && length(which) == 1L) {
    return(read_one(file, which, if (missing(i)) NULL else i, function() row.names(x)))
  }
  if (missing(i)) read_frame(file, which, ALL_ROWS) else read_selection(file, which, i, function() row.names(x))
}

`[[.entasis_table` <- function(x, i, ...) {
  if (...length() > 0L) {
    return(x[i, ..1, drop = TRUE])
  }
  if (length(i) != 1L) wrong("[[ must be given one column")
  file <- file_of(x)
  read_column(file, resolve_columns(frame_names(file), i))
}

`$.entasis_table` <- function(x, name) {
  which <- match(name, names(x))
  if (!is.na(which)) read_column(file_of(x), which)
}

as.data.frame.entasis_table <- function(x, row.names = NULL, optional = FALSE, ...) {
  frame <- x[]
  as.data.frame(frame, row.names = row.names, optional = optional, ...)
}

as.list.entasis_table <- function(x, ...) as.list(x[])

head.entasis_table <- function(x, n = 6L, ...) {
  last <- ends_at(n, dim(x)[1L])
  read_frame(file_of(x), seq_along(x), row_range(0, last, -1))
}

tail.entasis_table <- function(x, n = 6L, ...) {
  n_rows <- dim(x)[1L]
  read_frame(file_of(x), seq_along(x), row_range(n_rows - ends_at(n, n_rows), n_rows, -1))
}

# The number of rows that `n` means: a negative `n` leaves out that many.
ends_at <- function(n, n_rows) {
  if (!is.numeric(n) || length(n) != 1L || is.na(n)) must_be("n", "a number", n)
  n <- trunc(n)
  if (n < 0) max(n_rows + n, 0) else min(n, n_rows)
}
