# dplyr on open tables. A query is an open file, the columns that are chosen, and the rows that are
# left. Verbs that choose columns or rows return another query. All others read the columns that
# they need and call the verb of dplyr on that frame, so that the results are those of dplyr.
#
# A query has these parts:
# - `skeleton`: what dplyr makes of the frame without its rows. It holds the names, attributes,
#   class and groups of the result. Verbs on columns run on it, so that their errors are dplyr's.
# - `at`: the position in the file of each column of the skeleton.
# - `rows`: row numbers in order of the result, or NULL for all.
# - `predicates`: conditions of the core that are still to be tested on these rows. They contain
#   values instead of variables, so a later assignment has no effect. dplyr evaluates all other
#   conditions at once.
# - `stamp`: identifies the file, because row numbers mean nothing in another one.
# - `tested`, `tests`, `evaluated`: all predicates so far, as they were written, and what dplyr
#   evaluated; for explain().
# - `is_cut`: whether rows were chosen, after which dplyr has cut the columns by vctrs.

new_query <- function(parts) {
  content <- list2env(parts, parent = emptyenv())
  lazy_object(content, c("entasis_query", "entasis_table"))
}

# The query of an open table, or NULL if dplyr has to get the whole frame.
query_of <- function(x) {
  if (inherits(x, "entasis_query")) {
    return(x)
  }
  file <- file_of(x)
  if (is.null(file$skeleton)) file$skeleton <- list(if (has_plain_names(frame_names(file))) skeleton_of(file))
  skeleton <- file$skeleton[[1L]]
  if (is.null(skeleton)) {
    return(NULL)
  }
  new_query(list(
    file = file, stamp = file$stamp, skeleton = skeleton, at = seq_along(skeleton), rows = NULL,
    predicates = list(), is_cut = FALSE,
    tests = list(), tested = list(), evaluated = list()
  ))
}

# A query with other parts.
changed <- function(query, ...) {
  old <- lazy_content(query)
  parts <- mget(
    c("file", "stamp", "skeleton", "at", "rows", "predicates", "is_cut", "tests", "evaluated", "tested"),
    envir = old
  )
  new <- list(...)
  parts[names(new)] <- new
  new_query(parts)
}

# The open file of a query, which may be opened again in another session.
file_of_query <- function(query) {
  parts <- lazy_content(query)
  handle_of(parts$file)
  if (!identical(parts$stamp, parts$file$stamp)) {
    wrong("the file \"", parts$file$path, "\" has changed since the query was saved: open it again with entasis()")
  }
  parts$file
}

group_names <- function(query) dplyr::group_vars(lazy_content(query)$skeleton)

# Whether a group can be empty. dplyr keeps such a group when its last row goes.
has_empty_groups <- function(query) {
  length(group_names(query)) > 0L && !dplyr::group_by_drop_default(lazy_content(query)$skeleton)
}
