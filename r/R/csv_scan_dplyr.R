# Verbs of dplyr on scans: those that need the rows once, and in order.

select.entasis_csv_scan <- function(.data, ...) by_columns(
  .data, "select", rlang::enquos(...), function(frame) dplyr::select(frame, ...)
)

relocate.entasis_csv_scan <- function(.data, ...) by_columns(
  .data, "relocate", rlang::enquos(...), function(frame) dplyr::relocate(frame, ...)
)

rename.entasis_csv_scan <- function(.data, ...) by_columns(
  .data, "rename", rlang::enquos(...), function(frame) dplyr::rename(frame, ...)
)

# The scan of the columns that a verb chooses and names in a frame without rows.
by_columns <- function(x, verb, selections, choose) {
  if (!are_static_selections(selections, names(x))) {
    wrong(
      verb,
      "() on a text selects columns by their names and types alone: read the rows with collect(x) for other functions"
    )
  }
  skeleton <- read_scan(limited_scan(x, 0))
  columns <- lapply(seq_along(skeleton), function(k) `attr<-`(skeleton[[k]], NUMBER, k))
  chosen <- choose(decorate(columns, attributes(skeleton)))
  which <- vapply(unclass(chosen)[seq_along(chosen)], attr, 1L, NUMBER, exact = TRUE, USE.NAMES = FALSE)
  scan_of_columns(x, which, names(chosen))
}

filter.entasis_csv_scan <- function(.data, ...) {
  conditions <- rlang::enquos(..., .ignore_empty = "all")
  if (any(names(conditions) != "")) {
    wrong(
      "filter() on a text takes conditions without names, not '",
      names(conditions)[names(conditions) != ""][1L], "'"
    )
  }
  for (condition in as.list(conditions)) {
    env <- rlang::quo_get_env(condition)
    e <- without_pronouns(rlang::quo_get_expr(condition), env, names(.data))
    .data <- filtered_scan(.data, if (is.null(e)) rlang::quo_squash(condition) else e, env)
  }
  .data
}

slice_head.entasis_csv_scan <- function(.data, ..., n = 1L, prop, by = NULL) {
  if (!missing(prop) || !is.null(by) || ...length() > 0L) {
    wrong("slice_head() on a text takes 'n' alone, because its rows are not counted")
  }
  limited_scan(.data, check_whole(n, "n", 0))
}

count.entasis_csv_scan <- function(x, ..., wt = NULL, sort = FALSE, name = NULL) {
  if (...length() > 0L) refuse_verb_of("count", " with groups")
  tally.entasis_csv_scan(x, {{ wt }}, sort, name)
}

tally.entasis_csv_scan <- function(x, wt = NULL, sort = FALSE, name = NULL) {
  if (!rlang::quo_is_null(rlang::enquo(wt))) refuse_verb_of("tally", " with weights")
  n <- count_scan(x)
  structure(
    list(if (n <= .Machine$integer.max) as.integer(n) else n), names = if (is.null(name)) "n" else name,
    class = "data.frame", row.names = 1L
  )
}

pull.entasis_csv_scan <- function(.data, var = -1, name = NULL, ...) {
  # dplyr selects among column names in a frame whose values are those names.
  names <- names(.data)
  named <- structure(as.list(names), names = names, class = "data.frame", row.names = 1L)
  var <- dplyr::pull(named, {{ var }})
  name <- rlang::enquo(name)
  name <- if (!rlang::quo_is_null(name)) dplyr::pull(named, !!name)
  frame <- read_scan(.data, lazy_content(.data)$columns[match(unique(c(var, name)), names)])
  dplyr::pull(frame, !!var, !!name)
}

collect.entasis_csv_scan <- function(x, ...) read_scan(x)

# All other verbs.
refuse_verb <- function(...) refuse_verb_of(.Generic)

refuse_verb_of <- function(verb, how = "") {
  abort("unsupported", paste0(
    "not supported: ", verb, "()", how,
    " on a text, whose rows are read once and in order; read them with collect(x) before it, or convert the ",
    "text: write_entasis(x, \"x.entasis\"), and use entasis(\"x.entasis\")"
  ))
}
