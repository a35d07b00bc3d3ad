# Open tables whose `[` answers as the `[` of data.table does. Only the rows that `i` chooses and
# the columns that the call names are read. On these, data.table itself evaluates `j` and `by`, in
# the frame of the caller.

`[.entasis_data_table` <- function(x, ...) {
  caller <- parent.frame()
  if (!requireNamespace("data.table", quietly = TRUE) || !is_table_aware(caller)) {
    return(NextMethod())
  }
  answer_as_table(x, sys.call(), caller)
}

# Whether data.table's `[` follows its own rules for a caller. Code outside of packages always gets
# these rules. Packages that do not know data.table get the rules of data frames.
is_table_aware <- function(caller) {
  if (!isNamespace(topenv(caller))) {
    return(TRUE)
  }
  probe <- data.table::setDT(list(a = 1L, b = 1L))
  length(evaluate_on(probe, list(i = 1L), caller)) == 2L
}

# The answer to a call of `[`.
answer_as_table <- function(x, call, caller) {
  file <- file_of(x)
  given <- table_arguments(call)
  names <- frame_names(file)
  if (is.null(given)) {
    return(evaluate_on(read_frame(file, seq_along(names), ALL_ROWS), as.list(call)[-(1:2)], caller))
  }
  if (length(given) == 0L) {
    return(read_frame(file, seq_along(names), ALL_ROWS))
  }
  given <- with_files_read(given, caller)
  query <- list2env(list(file = file, names = names, n = file$facts$n_rows, key = attr(x, "sorted"), caller = caller, given = given),
                    parent = emptyenv())
  refuse_assignment(given[["j"]])
  if (length(names) == 0L) {
    # A column that only carries the number of rows would appear in the result.
    return(evaluate_on(data.table::data.table(), given, caller))
  }
  query$columns <- columns_of_call(query)
  chosen <- select_rows(query)
  if (is_selection(query)) {
    empty <- if (!chosen$may_join && !anyDuplicated(names)) select_columns(query)
    if (is.null(empty)) query$columns <- NULL else if (length(empty) == 0L) return(empty)
  }
  evaluate_chosen(query, chosen)
}

# Reads the rows and columns, and evaluates the call on them.
evaluate_chosen <- function(query, chosen) {
  columns <- columns_to_read(query, chosen)
  table <- read_queried(query$file, columns, chosen$rows, chosen$n_rows)
  if (loses_key(query, columns)) data.table::setattr(table, "sorted", NULL)
  left <- query$given[setdiff(names(query$given), "i")]
  # `chosen$i` selects again among the rows that were read, for example none or in another order.
  if (!is.null(chosen$i)) left <- c(chosen$i, left, chosen$more)
  # data.table warns about arguments without `i` and `j`.
  if (length(left) > 0L && !any(c("i", "j", "on") %in% names(left))) left <- c(list(i = TRUE), left)
  if (length(left) == 0L) table else evaluate_on(table, left, query$caller)
}
