# Choices of rows in a call of `[` on a table of data.table.

# A choice of rows, with these parts:
# rows      the row numbers to read, in the order of the file; NULL for all
# n_rows    their number, if nothing has to be read
# i         a list with the `i` to evaluate on these rows, or NULL
# columns   the positions of the columns in that `i`; NULL for all
# may_join  whether `i` may be another table
# more      more arguments
rows_chosen <- function(rows = NULL, i = NULL, columns = integer(), may_join = FALSE, n_rows = NULL, more = NULL) {
  list(
    rows = rows, i = if (!is.null(i)) list(i = i), columns = columns, may_join = may_join, n_rows = n_rows,
    more = more
  )
}

# Rows in the order of the file. For data.table, selecting no rows differs from an empty table.
rows_in_order <- function(rows) rows_chosen(rows, if (length(rows) == 0L) integer())

# All rows, with the expression `i` or with its value.
rows_as_written <- function(query, i = query$given$i, may_join = TRUE) {
  given <- query$given
  of_call <- if (is.language(i)) all.names(i) else character()
  on <- given[["on"]]
  key <- if (may_join) query$key
  columns <- if (!finds_columns(i, on)) columns_named(query, c(of_call, key, unlist(names_of_on(on))))
  # An `on` that is not plain may name any column.
  if (!is.null(on) && is.null(names_of_on(on))) columns <- NULL
  chosen <- rows_chosen(columns = columns, may_join = may_join)
  chosen$i <- list(i = i)
  chosen
}

# The columns of `on`, if it is a plain list of their names; else NULL.
names_of_on <- function(on) {
  names <- if (is.character(on)) on else if (is_call_of(on, c("c", ".", "list"))) {
    parts <- as.list(on)[-1L]
    is_plain <- is.null(names(parts)) && all(vapply(parts, if (head_of(on) == "c") is_string else is.symbol, NA))
    if (is_plain) vapply(parts, as.character, "")
  }
  if (!is.null(names) && is.null(names(names)) && !any(grepl("[=<> `]", names))) names
}
