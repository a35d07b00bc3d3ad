# Lazy tables: files whose columns and rows are read when they are selected.

entasis <- function(path, functions = FALSE, int64 = c("fit", "integer64", "double"), limits = list(), generation = NULL,
                    as = c("stored", "data.table"), source = NULL, size = NULL, key = NULL, password = NULL) {
  before <- use_secret(key, password)
  on.exit(restore_secret(before))
  as <- check_choice(as, "as", c("stored", "data.table"))
  if (is.null(source)) {
    if (!is.null(size)) wrong("'size' is for 'source', and the file is at a path")
    file <- open_file(path, functions, int64, limits, generation)
  } else {
    if (!missing(path)) wrong("'path' and 'source' both name a file: pass one of them")
    file <- open_file(NULL, functions, int64, limits, generation, checked_source(source, size))
  }
  if (is_tree(file)) {
    if (as != "stored") wrong("the file holds a tree of values: as = \"data.table\" is for files with one data frame")
    return(tree_part(file, file$facts$root, "x"))
  }
  if (file$own && identical(file$host$form, "vector")) {
    if (as != "stored") wrong("the file holds a vector: as = \"data.table\" is for files with one data frame")
    on.exit(close_file(file), add = TRUE)
    return(value_of(file))
  }
  layout_of(file)
  file$as_table <- as == "data.table" && !is_stored_table(file)
  if (file$as_table && !requireNamespace("data.table", quietly = TRUE)) {
    wrong("as = \"data.table\" needs the package data.table")
  }
  lazy_frame(file)
}

dim.entasis_table <- function(x) {
  file <- file_of(x)
  n <- file$facts$n_rows
  width <- frame_width(file)
  # A data.table without columns has no rows.
  if (width == 0L && is_data_table(file)) n <- 0
  c(if (n <= .Machine$integer.max) as.integer(n) else n, width)
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
    # x[columns], as for a list. A matrix selects elements of all columns.
    if (!missing(i) && is.matrix(i)) {
      return(x[][i])
    }
    which <- if (missing(i)) seq_along(names) else resolve_columns(names, i, is_tibble_file(file))
    return(read_frame(file, which, ALL_ROWS))
  }
  which <- if (missing(j)) seq_along(names) else resolve_columns(names, j, is_tibble_file(file))
  if (!missing(i)) {
    rows <- rows_of_mask(file, substitute(i), substitute(x), parent.frame())
    if (!is.null(rows)) i <- rows
  }
  if (check_flag(drop, "drop") && length(which) == 1L) {
    return(read_one(file, which, if (!missing(i)) list(i), function() row.names(x)))
  }
  if (missing(i)) {
    return(read_frame(file, which, ALL_ROWS))
  }
  frame <- read_selection(file, which, i, function() row.names(x))
  # R drops a single row of a data frame to a list.
  if (drop && identical(oldClass(frame), "data.frame")) frame[seq_len(nrow(frame)), , drop = TRUE] else frame
}

`[[.entasis_table` <- function(x, i, ..., exact = TRUE) {
  if (...length() > 0L) {
    if (is.null(resolve_position(frame_names(file_of(x)), ..1, "column", exact))) {
      return(NULL)
    }
    column <- x[i, ..1, drop = TRUE]
    if (is.data.frame(column) || length(column) != 1L) wrong("[[ must be given one row and one column")
    return(column[[1L]])
  }
  file <- file_of(x)
  names <- frame_names(file)
  if (length(i) > 1L && !is.logical(i)) {
    # x[[c(2, 3)]] is an element of a column, without its class.
    return(.subset2(read_column(file, resolve_position(names, i[1L], "column")), i[-1L]))
  }
  which <- resolve_position(names, i, "column", exact)
  if (!is.null(which)) read_column(file, which)
}

`$.entasis_table` <- function(x, name) {
  file <- file_of(x)
  # A tibble does not complete names.
  which <- resolve_position(frame_names(file), name, "column", is_tibble_file(file))
  if (!is.null(which)) read_column(file, which)
}

as.data.frame.entasis_table <- function(x, row.names = NULL, optional = FALSE, ...) {
  frame <- x[]
  as.data.frame(frame, row.names = row.names, optional = optional, ...)
}

as.list.entasis_table <- function(x, ...) as.list(x[])

head.entasis_table <- function(x, n = 6L, ...) {
  if (length(n) > 1L) {
    return(head(x[], n, ...))
  }
  last <- ends_at(n, dim(x)[1L])
  read_frame(file_of(x), seq_along(x), row_range(0, last, -1))
}

tail.entasis_table <- function(x, n = 6L, ...) {
  if (length(n) > 1L) {
    return(tail(x[], n, ...))
  }
  n_rows <- dim(x)[1L]
  read_frame(file_of(x), seq_along(x), row_range(n_rows - ends_at(n, n_rows), n_rows, -1))
}

# The number of rows that `n` means: a negative `n` leaves out that many.
ends_at <- function(n, n_rows) {
  if (!is.numeric(n) || length(n) != 1L || is.na(n)) must_be("n", "a number", n)
  n <- trunc(n)
  if (n < 0) max(n_rows + n, 0) else min(n, n_rows)
}
