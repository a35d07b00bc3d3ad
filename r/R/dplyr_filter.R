# filter() of dplyr on open tables. The core tests the conditions that it knows, when the rows are
# first needed. dplyr evaluates all others at once, with only the columns that they use.

filter.entasis_table <- function(.data, ..., .preserve = FALSE) {
  query <- query_of(.data)
  conditions <- rlang::enquos(..., .ignore_empty = "all")
  # dplyr ignores the names of masks.
  is_mask <- vapply(conditions, function(condition) is.logical(rlang::quo_get_expr(condition)), NA)
  names(conditions)[is_mask] <- ""
  if (any(names(conditions) != "")) {
    # dplyr refuses names of conditions without looking at rows.
    if (!is.null(query)) dplyr::filter(lazy_content(query)$skeleton, ..., .preserve = .preserve)
    return(dplyr::filter(collect_for(.data, "filter"), ..., .preserve = .preserve))
  }
  needed <- if (!is.null(query)) lapply(conditions, function(condition) needed_names(query, list(condition), TRUE))
  if (is.null(query) || any(vapply(needed, is.null, NA)) || !isFALSE(.preserve) || has_empty_groups(query)) {
    return(dplyr::filter(collect_for(.data, "filter"), !!!conditions, .preserve = .preserve))
  }
  conditions <- unclass(conditions)
  plans <- lapply(conditions, plan_of, query)
  # If a part fails, dplyr evaluates the whole condition, because its error is another one.
  left <- tryCatch(planned_query(query, conditions, plans, needed), error = function(e) NULL)
  if (is.null(left)) left <- evaluated_by_dplyr(query, conditions, rep_len(TRUE, length(conditions)), needed)
  changed(left, skeleton = cut_skeleton(left), is_cut = TRUE)
}

# The query after conditions with plans. Row-wise conditions are evaluated on the rows that pass in
# the core.
planned_query <- function(query, conditions, plans, needed) {
  has_tests <- !vapply(plans, function(plan) is.null(plan$predicate), NA)
  is_core <- has_tests & vapply(plans, function(plan) is.null(plan$rest), NA)
  is_narrowed <- any(has_tests) || length(lazy_content(query)$predicates) > 0L
  is_by_row <- !is_core & is_narrowed & vapply(plans, function(plan) isTRUE(plan$is_by_row), NA)
  is_whole <- !is_core & !is_by_row
  for (k in which(!vapply(plans, is.null, NA))) {
    # Parts without a column are not evaluated again.
    conditions[[k]] <- rlang::new_quosure(plans[[k]]$rest, rlang::quo_get_env(conditions[[k]]))
    needed[[k]] <- intersect(needed[[k]], all.vars(plans[[k]]$rest))
  }
  if (any(is_whole)) query <- evaluated_by_dplyr(query, conditions, is_whole, needed)
  if (any(has_tests)) query <- tested_by_core(query, plans[has_tests])
  if (any(is_by_row)) query <- evaluated_by_dplyr(query, conditions, is_by_row, needed)
  query
}

# How to test a condition: the part for the core (`predicate`, `core`), and the condition of the
# `rest`, which may treat each row by itself (`is_by_row`). NULL if dplyr has to evaluate the
# condition as it was written.
plan_of <- function(condition, query) {
  parts <- lazy_content(query)
  env <- rlang::quo_get_env(condition)
  e <- without_pronouns(rlang::quo_get_expr(condition), env, names(query))
  if (is.null(e) || !is.call(e) && !is.symbol(e) && !is.logical(e) || any(CONTEXT %in% all.names(e))) {
    return(NULL)
  }
  plan <- tryCatch(plan_condition(parts$file, e, env, names(query), parts$at, env), error = function(e) NULL)
  if (is.null(plan)) {
    return(NULL)
  }
  left <- c(plan$by_row, plan$whole)
  is_tested <- !is.null(plan$predicate) && !is.null(ask_core(.Call(C_plan_rows, handle_of(parts$file), plan$predicate)))
  are_by_row <- all(vapply(left, is_by_row, NA, plan))
  if (!is_tested || !are_by_row) {
    return(list(rest = plan$condition, is_by_row = are_by_row))
  }
  # A part that `&` joins may be a number.
  rest <- if (length(left) > 0L) Reduce(function(a, b) call("&", a, b), left, TRUE)
  list(predicate = plan$predicate, core = plan$core, rest = rest, is_by_row = TRUE)
}

# Functions whose value depends on the groups or on all rows: their values are not constants.
CONTEXT <- c("n", "row_number", "cur_group", "cur_group_id", "cur_group_rows", "cur_column")

# Replaces .data$name by columns and .env$name by values, and unwraps quosures around columns. NULL
# for an expression with other quosures.
without_pronouns <- function(e, env, names) {
  if (rlang::is_quosure(e)) {
    inner <- without_pronouns(rlang::quo_get_expr(e), rlang::quo_get_env(e), names)
    if (is.symbol(inner) && as.character(inner) %in% names || is.atomic(inner) && !is.null(inner)) {
      return(inner)
    }
    return(NULL)
  }
  if (is_data_pronoun(e)) {
    name <- pronoun_name(e)
    return(if (!is.null(name) && name %in% names) as.name(name))
  }
  if (is.symbol(e) && as.character(e) %in% c(".data", ".env") || is.call(e) && identical(e[[1L]], quote(`~`))) {
    return(NULL)
  }
  if (is.call(e) && length(e) == 3L && identical(e[[1L]], quote(`$`)) && identical(e[[2L]], quote(.env))) {
    value <- get0(as.character(e[[3L]]), envir = env)
    return(if (is.atomic(value) && !is.null(value)) value)
  }
  if (is.call(e)) {
    is_there <- !vapply(as.list(e), identical, NA, quote(expr = ))
    for (k in which(is_there & vapply(as.list(e), is.language, NA))) {
      part <- without_pronouns(e[[k]], env, names)
      if (is.null(part)) {
        return(NULL)
      }
      e[[k]] <- part
    }
  }
  e
}

# The query with conditions that the core tests later.
tested_by_core <- function(query, plans) {
  parts <- lazy_content(query)
  predicates <- unname(lapply(plans, `[[`, "predicate"))
  changed(query,
    predicates = c(parts$predicates, predicates), tested = c(parts$tested, predicates),
    tests = c(parts$tests, unlist(lapply(plans, `[[`, "core"), recursive = FALSE))
  )
}

# The query of the rows for which some of the conditions are true. Other conditions become TRUE, so
# that an error has the number of its condition.
evaluated_by_dplyr <- function(query, conditions, which, needed) {
  conditions[!which] <- list(rlang::quo(TRUE))
  names <- unique(unlist(needed[which]))
  rows <- rows_by(query, names, function(frame) dplyr::filter(frame, !!!conditions))
  evaluated <- list(
    list(conditions = lapply(conditions[which], rlang::quo_squash), columns = union(names, group_names(query)))
  )
  with_rows(query, rows, evaluated = c(lazy_content(query)$evaluated, evaluated))
}
