# Finds the rows for which a condition is true. The condition is split at `&`. The core tests the
# parts that have an exact predicate. R evaluates the other parts: row-wise parts on the remaining
# rows, and others on all rows, as `price > mean(price)` needs.

# The row numbers, or a mask, as `[` takes it.
rows_where <- function(file, condition, caller) {
  plan <- plan_condition(file, condition, caller)
  rows <- planned_rows(plan)
  if (is.null(rows)) rows_in_memory(plan) else rows
}

# The number of the rows.
count_where <- function(file, condition, caller) {
  plan <- plan_condition(file, condition, caller)
  n <- count_planned(plan)
  if (!is.null(n)) return(n)
  rows <- planned_rows(plan)
  if (is.null(rows)) rows <- rows_in_memory(plan)
  if (is.logical(rows)) sum(rep_len(rows, file$facts$n_rows)) else length(rows)
}

# The number of the rows if the core tests the whole condition, else NULL.
count_planned <- function(plan) {
  if (length(plan$by_row) + length(plan$whole) == 0L) {
    ask_core(.Call(C_count_rows, handle_of(plan$file), plan$predicate))
  }
}

# A condition on a file: its parts, and an environment with the columns. The columns `at` have the
# names `names`. Parts that name none of them are evaluated in `scope`.
plan_condition <- function(file, condition, caller, names = frame_names(file), at = seq_along(names),
                           scope = scope_of(names, function(k) read_column(file, at[k]), caller)) {
  plan <- list2env(
    list(file = file, names = names, at = at, caller = caller, scope = scope, columns = list()),
    parent = emptyenv()
  )
  plan$condition <- with_values(plan, condition)
  parts <- conjuncts(plan, plan$condition)
  predicates <- lapply(parts, predicate_of, plan = plan)
  is_core <- !vapply(predicates, is.null, NA)
  by_row <- !is_core & any(is_core) & vapply(parts, is_by_row, NA, plan = plan)
  plan$core <- parts[is_core]
  plan$by_row <- parts[by_row]
  plan$whole <- parts[!is_core & !by_row]
  plan$predicate <- if (any(is_core)) c(list("and"), predicates[is_core])
  plan
}

# The parts of a condition that are joined by `&`.
conjuncts <- function(plan, e) {
  if (is_known_call(plan, e, "(")) {
    conjuncts(plan, e[[2L]])
  } else if (is_known_call(plan, e, "&")) {
    c(conjuncts(plan, e[[2L]]), conjuncts(plan, e[[3L]]))
  } else {
    list(e)
  }
}

# The row numbers, or NULL if the condition has to be evaluated as a whole.
planned_rows <- function(plan) {
  n <- plan$file$facts$n_rows
  is_single <- length(plan$core) + length(plan$by_row) + length(plan$whole) == 1L
  rows <- NULL
  if (!is.null(plan$predicate)) {
    rows <- ask_core(.Call(C_find_rows, handle_of(plan$file), plan$predicate))
    if (is.null(rows)) return(NULL)
  }
  for (part in plan$whole) {
    passes <- truth_of(eval(part, plan$scope), n, is_single)
    if (is.null(passes)) return(NULL)
    rows <- if (is.null(rows)) which(rep_len(passes, n)) else if (length(passes) == 1L) rows[rep_len(passes, length(rows))] else rows[passes[rows]]
  }
  if (length(plan$by_row) > 0L) {
    k <- length(rows)
    chosen <- rows_at(rows, n)
    scope <- scope_of(plan$names, function(i) read_column(plan$file, plan$at[i], chosen), plan$caller)
    passes <- rep_len(TRUE, k)
    for (part in plan$by_row) {
      found <- truth_of(eval(part, scope), k, is_single)
      if (is.null(found)) return(NULL)
      passes <- passes & found
    }
    rows <- rows[passes]
  }
  rows
}

# Evaluates the whole condition in a data frame.
rows_in_memory <- function(plan) {
  found <- eval(plan$condition, plan$scope)
  if (!is.logical(found)) wrong("'subset' must be logical")
  if (length(found) == 0L) FALSE else found & !is.na(found)
}

# Which of `n` rows pass, from a part's value; NULL unless that is a plain vector with one value, or
# one for each row.
truth_of <- function(value, n, is_single) {
  if (is_single && !is.logical(value)) wrong("'subset' must be logical")
  is_plain <- (is.logical(value) || is.numeric(value)) && !is.object(value) && is.null(dim(value))
  if (!is_plain || length(value) != n && length(value) != 1L) {
    return(NULL)
  }
  value <- TRUE & as.vector(value)
  value & !is.na(value)
}

# The answer of the core; NULL if the core can't test the columns of a condition.
ask_core <- function(value) {
  if (inherits(value, "entasis_failure") && value$kind %in% c("argument", "unsupported")) NULL else core(value)
}
