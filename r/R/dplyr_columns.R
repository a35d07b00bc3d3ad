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
