# Evaluates parts of a call of `[` on rows and columns that were read.

# Some rows and columns as a data.table. Without columns, one that no call can name carries the
# number of rows.
read_queried <- function(file, columns, rows, n_rows = NULL) {
  n <- file$facts$n_rows
  if (length(columns) > 0L) {
    return(read_frame(file, columns, if (is.null(rows)) ALL_ROWS else rows_at(rows, n)))
  }
  if (is.null(n_rows)) n_rows <- if (is.null(rows)) n else length(rows)
  data.table::setDT(list(` ` = seq_len(n_rows)))
}

# Evaluates `[` with some arguments on a table. A function returns the table, because errors show
# the call.
evaluate_on <- function(table, arguments, caller) {
  the_table <- function() table
  eval(as.call(c(list(as.name("["), call_of(the_table)), arguments)), caller)
}

call_of <- function(f) as.call(list(f))

# The value of an `i` without columns.
value_of_i <- function(query, i) {
  if (!is.language(i)) {
    return(i)
  }
  scope <- new.env(parent = query$caller)
  scope$.N <- if (query$n <= .Machine$integer.max) as.integer(query$n) else query$n
  or_message(query, eval(i, scope))
}

# Evaluates a part of `i`. After an error, data.table gives its own message, which needs no rows.
or_message <- function(query, expr) {
  tryCatch(expr, entasis_error = function(e) stop(e), error = function(e) {
    none <- read_frame(query$file, seq_along(query$names), row_range(0, 0, -1))
    evaluate_on(none, list(i = query$given$i, which = TRUE), query$caller)
    stop(e)
  })
}
