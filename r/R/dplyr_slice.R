# Verbs of dplyr that choose rows by their numbers, and arrange(). dplyr gets the columns that the
# arguments use, and a column of row numbers.

# A query of the rows that a verb keeps, or the verb's own result if it may use any column.
sliced <- function(.data, name, arguments, verb) {
  query <- query_of(.data)
  needed <- if (!is.null(query) && !has_options(arguments)) needed_names(query, arguments, TRUE)
  if (is.null(needed) || has_empty_groups(query)) verb(collect_for(.data, name)) else with_rows(query, rows_by(query, needed, verb))
}

slice.entasis_table <- function(.data, ..., .preserve = FALSE) {
  if (!isFALSE(.preserve)) {
    return(dplyr::slice(collect_for(.data, "slice"), ..., .preserve = .preserve))
  }
  sliced(.data, "slice", rlang::enquos(...), function(frame) dplyr::slice(frame, ...))
}

slice_head.entasis_table <- function(.data, ...) {
  sliced(.data, "slice_head", rlang::enquos(...), function(frame) dplyr::slice_head(frame, ...))
}

slice_tail.entasis_table <- function(.data, ...) {
  sliced(.data, "slice_tail", rlang::enquos(...), function(frame) dplyr::slice_tail(frame, ...))
}

slice_sample.entasis_table <- function(.data, ...) {
  sliced(.data, "slice_sample", rlang::enquos(...), function(frame) dplyr::slice_sample(frame, ...))
}

slice_min.entasis_table <- function(.data, ...) {
  sliced(.data, "slice_min", rlang::enquos(...), function(frame) dplyr::slice_min(frame, ...))
}

slice_max.entasis_table <- function(.data, ...) {
  sliced(.data, "slice_max", rlang::enquos(...), function(frame) dplyr::slice_max(frame, ...))
}

arrange.entasis_table <- function(.data, ..., .by_group = FALSE) {
  sliced(.data, "arrange", rlang::enquos(...), function(frame) dplyr::arrange(frame, ..., .by_group = .by_group))
}
