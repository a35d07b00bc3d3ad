# The rows that `i` chooses in a call of `[` on a table of data.table.

# Arguments that need all rows: they look beyond the rows that match, or return row numbers.
WHOLE_ARGUMENTS <- c("roll", "rollends", "which", "allow.cartesian", "env")

select_rows <- function(query) {
  given <- query$given
  if (!"i" %in% names(given)) {
    return(if ("on" %in% names(given)) rows_chosen(columns = NULL, may_join = TRUE) else rows_chosen())
  }
  i <- given$i
  uses_numbers <- ".I" %in% unlist(lapply(given[c("j", "by", "keyby")], all.names))
  # With `i`, data.table takes a range of columns in `by` for another range.
  is_range <- is_call_of(given[["by"]], ":") || is_call_of(given[["keyby"]], ":")
  # After `!`, a variable is not a column, and `nomatch` is an error.
  is_other <- is_call_of(i, "!") && (is.symbol(i[[2L]]) || "nomatch" %in% names(given))
  if (is.null(i) || any(WHOLE_ARGUMENTS %in% names(given)) || finds_columns(i) || uses_numbers || is_range || is_other) {
    return(rows_as_written(query))
  }
  if (is_call_of(i, c(".", "J", "list"))) {
    return(look_up_call(query, i))
  }
  if (is.call(i) && any(all.vars(i) %in% query$names)) {
    return(rows_of_condition(query, i))
  }
  if (is_call_of(i, c("order", "!"))) {
    return(rows_as_written(query, i, is_call_of(i, "!")))
  }
  # data.table has a message for a variable that is not found.
  if (is.symbol(i) && !identical(i, quote(.N)) && !exists(as.character(i), envir = query$caller)) {
    return(rows_as_written(query, i, FALSE))
  }
  value <- value_of_i(query, i)
  rows_of_value(query, value, if (is.symbol(i)) i else value)
}

# A condition on columns. The core tests the parts that it can, if R can evaluate all other parts on
# the remaining rows. Otherwise data.table evaluates the whole condition on all rows.
rows_of_condition <- function(query, i) {
  if ("on" %in% names(query$given)) {
    return(rows_as_written(query))
  }
  is_special <- any(startsWith(all.vars(i), "."))
  if (!is_special && head_of(i) %in% c(names(PREDICATES), BY_ROW) && data.table::getNumericRounding() == 0L) {
    plan <- or_message(query, plan_condition(query$file, i, query$caller))
    # Values are evaluated once.
    i <- plan$condition
    if (!is.null(plan$predicate) && length(plan$whole) == 0L) {
      n <- if (is_counted(query)) count_planned(plan)
      if (!is.null(n)) return(rows_chosen(double(), if (n == 0) integer(), n_rows = n))
      rows <- or_message(query, planned_rows(plan))
      if (!is.null(rows)) return(rows_in_order(rows))
    }
  }
  used <- columns_named(query, all.names(i))
  is_condition <- head_of(i) %in% CONDITIONS
  if (!is_condition || !is.null(query$columns) && all(query$columns %in% used)) {
    return(rows_as_written(query, i, !is_condition && head_of(i) != "order"))
  }
  # data.table finds the rows on the columns of the condition alone.
  table <- read_queried(query$file, used, NULL)
  rows_of_numbers(query, evaluate_on(table, list(i = i, which = TRUE), query$caller), i)
}

# Functions whose value is a mask.
CONDITIONS <- c("==", "!=", "<", "<=", ">", ">=", "&", "|", "%in%", "%chin%", "%like%", "%between%", "is.na")

# Whether the call needs only the number of rows.
is_counted <- function(query) {
  names_none <- length(query$columns) == 0L && !is.null(query$columns)
  names_none && !is_selection(query) && !may_have_key(query, query$key)
}
