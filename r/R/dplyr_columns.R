# Verbs of dplyr that choose, name and order columns. They run on the frame without rows.

select.entasis_table <- function(.data, ...) {
  query <- query_of(.data)
  if (is.null(query) || !are_static_selections(rlang::enquos(...), names(.data))) {
    return(dplyr::select(collect_for(.data, "select"), ...))
  }
  with_columns(query, function(frame) dplyr::select(frame, ...))
}

relocate.entasis_table <- function(.data, ...) {
  query <- query_of(.data)
  if (is.null(query) || !are_static_selections(rlang::enquos(...), names(.data))) {
    return(dplyr::relocate(collect_for(.data, "relocate"), ...))
  }
  with_columns(query, function(frame) dplyr::relocate(frame, ...))
}

rename.entasis_table <- function(.data, ...) {
  query <- query_of(.data)
  if (is.null(query) || !are_static_selections(rlang::enquos(...), names(.data))) {
    return(dplyr::rename(collect_for(.data, "rename"), ...))
  }
  with_columns(query, function(frame) dplyr::rename(frame, ...))
}

rename_with.entasis_table <- function(.data, .fn, .cols = dplyr::everything(), ...) {
  query <- query_of(.data)
  columns <- rlang::enquo(.cols)
  if (is.null(query) || !are_static_selections(list(columns), names(.data))) {
    return(dplyr::rename_with(collect_for(.data, "rename_with"), .fn, !!columns, ...))
  }
  with_columns(query, function(frame) dplyr::rename_with(frame, .fn, !!columns, ...))
}

# The attribute with a column's number, which a selection keeps.
NUMBER <- "entasis_number"

# The query of the columns that a verb selects from the frame without rows.
with_columns <- function(query, verb) {
  parts <- lazy_content(query)
  columns <- unclass(parts$skeleton)[seq_along(parts$at)]
  marked <- lapply(seq_along(columns), function(k) `attr<-`(columns[[k]], NUMBER, k))
  chosen <- verb(decorate(marked, attributes(parts$skeleton)))
  # Names that occur twice are for dplyr to refuse.
  from <- vapply(unclass(chosen)[seq_along(chosen)], attr, 1L, NUMBER, exact = TRUE, USE.NAMES = FALSE)
  changed(query, skeleton = decorate(unname(columns[from]), attributes(chosen)), at = parts$at[from])
}

# The query of some columns and the grouping columns, in the order of the query.
select_names <- function(query, names) {
  parts <- lazy_content(query)
  k <- which(names(query) %in% c(names, group_names(query)))
  attrs <- attributes(parts$skeleton)
  attrs[["names"]] <- attrs[["names"]][k]
  changed(query, skeleton = decorate(unname(unclass(parts$skeleton)[k]), attrs), at = parts$at[k])
}

# Functions of tidyselect that look at names alone, and tests that look at types.
SELECTORS <- c("starts_with", "ends_with", "contains", "matches", "num_range", "all_of", "any_of", "one_of", "everything", "last_col",
               "group_cols")
SELECTION_OPERATORS <- c("c", "(", ":", "-", "!", "&", "|")
TYPE_TESTS <- c("is.numeric", "is.character", "is.logical", "is.integer", "is.double", "is.factor", "is.list", "is.ordered", "is.object")

are_static_selections <- function(quosures, names) {
  all(vapply(quosures, function(quosure) is_static_selection(rlang::quo_get_expr(quosure), rlang::quo_get_env(quosure), names), NA))
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

# The name of the function that a call names, also as pkg::name, or "".
called_name <- function(e) {
  head <- e[[1L]]
  if (is.symbol(head)) as.character(head) else if (is.call(head) && identical(head[[1L]], quote(`::`))) as.character(head[[3L]]) else ""
}

# Whether a name does not refer to a user's function.
is_of_package <- function(name, env) {
  found <- get0(name, envir = env, mode = "function")
  is.null(found) || is.primitive(found) || isNamespace(topenv(environment(found)))
}
