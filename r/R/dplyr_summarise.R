# Verbs of dplyr whose result has only the columns that the arguments name.

# The frame for a verb. It has the columns that the arguments use, or all columns if these are
# unknown.
frame_for <- function(x, name, arguments) {
  query <- query_of(x)
  needed <- if (!is.null(query)) needed_names(query, arguments)
  if (is.null(needed)) {
    return(collect_for(x, name))
  }
  # A data.table without columns has no rows.
  if (length(needed) == 0L && inherits(lazy_content(query)$skeleton, "data.table")) needed <- names(x)[1L]
  gather_grouped(select_names(query, needed))
}

summarise.entasis_table <- function(.data, ..., .groups = NULL) {
  arguments <- rlang::enquos(..., .ignore_empty = "all")
  if (has_options(arguments)) {
    return(dplyr::summarise(collect_for(.data, "summarise"), ..., .groups = .groups))
  }
  query <- query_of(.data)
  parts <- if (!is.null(query)) summarised_blocks(query, arguments)
  if (is.null(parts)) parts <- list(frame = frame_for(.data, "summarise", arguments), arguments = arguments)
  # dplyr reports the groups of the result if the caller is a script.
  caller <- list2env(c(parts, list(groups = .groups)), parent = parent.frame())
  eval(quote(dplyr::summarise(frame, !!!arguments, .groups = groups)), caller)
}

transmute.entasis_table <- function(.data, ...) {
  arguments <- rlang::enquos(..., .ignore_empty = "all")
  if (has_options(arguments)) {
    return(dplyr::transmute(collect_for(.data, "transmute"), ...))
  }
  dplyr::transmute(frame_for(.data, "transmute", arguments), !!!arguments)
}

count.entasis_table <- function(x, ..., wt = NULL, sort = FALSE, name = NULL) {
  wt <- rlang::enquo(wt)
  groups <- rlang::enquos(..., .ignore_empty = "all")
  if (has_options(groups)) {
    return(dplyr::count(collect_for(x, "count"), ..., wt = !!wt, sort = sort, name = name))
  }
  frame <- frame_for(x, "count", c(groups, list(wt)))
  # An empty list of groups would remove the groups of the frame.
  if (length(groups) == 0L) {
    return(dplyr::count(frame, wt = !!wt, sort = sort, name = name))
  }
  dplyr::count(frame, !!!groups, wt = !!wt, sort = sort, name = name)
}

tally.entasis_table <- function(x, wt = NULL, sort = FALSE, name = NULL) {
  wt <- rlang::enquo(wt)
  dplyr::tally(frame_for(x, "tally", list(wt)), wt = !!wt, sort = sort, name = name)
}

distinct.entasis_table <- function(.data, ..., .keep_all = FALSE) {
  arguments <- rlang::enquos(..., .ignore_empty = "all")
  is_narrow <- length(arguments) > 0L && isFALSE(.keep_all) && !has_options(arguments)
  frame <- if (is_narrow) frame_for(.data, "distinct", arguments) else collect_for(.data, "distinct")
  dplyr::distinct(frame, ..., .keep_all = .keep_all)
}
