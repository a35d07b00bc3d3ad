# Selections of columns that depend on their names and types alone.

# Functions of tidyselect that look at names alone, and tests that look at types.
SELECTORS <- c("starts_with", "ends_with", "contains", "matches", "num_range", "all_of", "any_of", "one_of", "everything", "last_col",
               "group_cols")
SELECTION_OPERATORS <- c("c", "(", ":", "-", "!", "&", "|")
TYPE_TESTS <- c(
  "is.numeric", "is.character", "is.logical", "is.integer", "is.double", "is.factor", "is.list", "is.ordered",
  "is.object"
)

are_static_selections <- function(quosures, names) {
  all(
    vapply(
      quosures,
      function(quosure) is_static_selection(rlang::quo_get_expr(quosure), rlang::quo_get_env(quosure), names),
      NA
    )
  )
}

# Whether a selection depends on the names and types of columns, and not on their values.
is_static_selection <- function(e, env, names) {
  if (rlang::is_quosure(e)) {
    return(is_static_selection(rlang::quo_get_expr(e), rlang::quo_get_env(e), names))
  }
  if (is.symbol(e)) {
    name <- as.character(e)
    return(name %in% names || !nzchar(name) || !is.function(get0(name, env)))
  }
  if (!is.call(e)) {
    return(!is.function(e))
  }
  name <- called_name(e)
  if (name %in% SELECTION_OPERATORS) {
    return(all(vapply(as.list(e)[-1L], is_static_selection, NA, env, names)))
  }
  if (name == "where") {
    test <- if (length(e) == 2L) e[[2L]]
    return(is.symbol(test) && as.character(test) %in% TYPE_TESTS && is_of_base(as.character(test), env))
  }
  name %in% c(SELECTORS, "$", "[[") && is_of_package(name, env)
}
