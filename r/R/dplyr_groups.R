# Groups of queries.

group_by.entasis_table <- function(.data, ..., .add = FALSE, .drop = dplyr::group_by_drop_default(.data)) {
  query <- query_of(.data)
  expressions <- lapply(rlang::enquos(..., .ignore_empty = "all"), rlang::quo_get_expr)
  are_columns <- all(names(expressions) == "") &&
    all(vapply(expressions, function(e) is.symbol(e) && as.character(e) %in% names(.data), NA))
  if (is.null(query) || !are_columns) {
    return(dplyr::group_by(collect_for(.data, "group_by"), ..., .add = .add, .drop = .drop))
  }
  changed(query, skeleton = dplyr::group_by(lazy_content(query)$skeleton, ..., .add = .add, .drop = .drop))
}

ungroup.entasis_table <- function(x, ...) {
  query <- query_of(x)
  if (is.null(query)) {
    return(dplyr::ungroup(collect_for(x, "ungroup"), ...))
  }
  changed(query, skeleton = dplyr::ungroup(lazy_content(query)$skeleton, ...))
}

group_vars.entasis_table <- function(x) dplyr::group_vars(frame_of_names(x))

groups.entasis_table <- function(x) dplyr::groups(frame_of_names(x))

tbl_vars.entasis_table <- function(x) dplyr::tbl_vars(frame_of_names(x))

group_by_drop_default.entasis_table <- function(.tbl) dplyr::group_by_drop_default(frame_of_names(.tbl))

# A frame with the names and groups of a table.
frame_of_names <- function(x) {
  query <- query_of(x)
  if (is.null(query)) x[] else lazy_content(query)$skeleton
}

group_data.entasis_table <- function(.data) dplyr::group_data(frame_of_groups(.data))

group_keys.entasis_table <- function(.tbl, ...) dplyr::group_keys(frame_of_groups(.tbl), ...)

group_indices.entasis_table <- function(.data, ...) dplyr::group_indices(frame_of_groups(.data), ...)

group_size.entasis_table <- function(x) dplyr::group_size(frame_of_groups(x))

n_groups.entasis_table <- function(x) dplyr::n_groups(frame_of_groups(x))

# The columns of the groups.
frame_of_groups <- function(x) {
  query <- query_of(x)
  if (is.null(query)) x[] else gather_grouped(select_names(query, character()))
}
