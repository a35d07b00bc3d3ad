# The rows of a query.

# The row numbers that are left, or NULL for all. They are kept until the query changes.
rows_of_query <- function(query) {
  parts <- lazy_content(query)
  if (length(parts$predicates) > 0L) {
    found <- core(.Call(C_find_rows, handle_of(file_of_query(query)), joined_predicates(parts$predicates)))
    if (is.null(parts$rows)) {
      parts$rows <- found
    } else {
      passes <- logical(parts$file$facts$n_rows)
      passes[found] <- TRUE
      parts$rows <- parts$rows[passes[parts$rows]]
    }
    parts$predicates <- list()
  }
  parts$rows
}

joined_predicates <- function(predicates) c(list("and"), predicates)

count_of_query <- function(query) {
  parts <- lazy_content(query)
  if (is.null(parts$rows) && length(parts$predicates) > 0L) {
    if (is.null(parts$n)) {
      parts$n <- core(.Call(C_count_rows, handle_of(file_of_query(query)), joined_predicates(parts$predicates)))
    }
    return(parts$n)
  }
  rows <- rows_of_query(query)
  if (is.null(rows)) parts$file$facts$n_rows else length(rows)
}

# A query of other rows, as dplyr cuts a frame.
with_rows <- function(query, rows, ...) {
  changed(query, rows = rows, predicates = list(), skeleton = cut_skeleton(query), is_cut = TRUE, ...)
}

cut_skeleton <- function(query) {
  parts <- lazy_content(query)
  # A data.table that was grouped since then loses the address in `.internal.selfref`.
  is_done <- parts$is_cut && is.null(attr(parts$skeleton, ".internal.selfref"))
  if (is_done) parts$skeleton else dplyr::dplyr_row_slice(parts$skeleton, integer())
}
