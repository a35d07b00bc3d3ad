# Conditions in `[` as base R writes them: x[x$price > 9, ]. They are masks, whose missing values
# select rows of NA.

# Functions that may compute the values that columns are compared with.
VALUE_FUNCTIONS <- c("c", "-", "+", "*", "/", ":", "as.Date", "as.POSIXct", "as.integer", "as.numeric")

# The rows of the condition: row numbers, or a mask if some of its values are missing. NULL if the
# core can't test all of it, so that R evaluates it. `table` is the name of the table in it.
rows_of_mask <- function(file, condition, table, caller) {
  if (!is.call(condition) || !is.symbol(table) || file$facts$n_rows == 0) {
    return(NULL)
  }
  found <- list2env(
    list(names = frame_names(file), table = table, caller = caller, is_known = TRUE, columns = character()),
    parent = emptyenv()
  )
  condition <- by_names(found, condition)
  if (!found$is_known || length(found$columns) == 0L) {
    return(NULL)
  }
  plan <- plan_condition(file, condition, caller)
  if (length(plan$by_row) + length(plan$whole) > 0L) {
    return(NULL)
  }
  rows_of_plan(plan, lapply(unique(found$columns), function(name) missing_predicate(column_of(plan, as.name(name)))))
}

# Replaces `table$name` and `table[["name"]]` by `name`. `is_known` becomes false for anything that
# might mean something else.
by_names <- function(found, e) {
  if (!is.language(e)) {
    return(e)
  }
  if (is.symbol(e)) {
    if (identical(e, found$table) || as.character(e) %in% found$names) found$is_known <- FALSE
    return(e)
  }
  head <- head_of(e)
  if (!head %in% c(names(PREDICATES), VALUE_FUNCTIONS, "$", "[[") || !is_of_base(head, found$caller)) {
    found$is_known <- FALSE
    return(e)
  }
  if (head == "$" || head == "[[") {
    name <- if (length(e) == 3L) e[[3L]]
    is_name <- is_string(name) || head == "$" && is.symbol(name)
    if (is_name && identical(e[[2L]], found$table) && as.character(name) %in% found$names) {
      found$columns <- c(found$columns, as.character(name))
      return(as.name(name))
    }
    found$is_known <- FALSE
    return(e)
  }
  for (k in seq_along(e)[-1L]) e[k] <- list(by_names(found, e[[k]]))
  e
}

# A condition can only be missing where one of its columns is missing. With a single such column, R
# is as fast as the core.
rows_of_plan <- function(plan, missing) {
  ask <- function(predicate) ask_core(.Call(C_find_rows, handle_of(plan$file), predicate))
  any_missing <- c(list("or"), missing)
  n_missing <- ask_core(.Call(C_count_rows, handle_of(plan$file), any_missing))
  is_slow <- is.null(n_missing) || length(missing) == 1L && n_missing > 0
  is_true <- if (!is_slow) ask(plan$predicate)
  if (is.null(is_true) || n_missing == 0) {
    return(is_true)
  }
  is_missing <- ask(any_missing)
  mask <- rep_len(FALSE, plan$file$facts$n_rows)
  mask[is_missing] <- NA
  mask[ask(list("and", any_missing, list("not", plan$predicate)))] <- FALSE
  mask[is_true] <- TRUE
  mask
}
