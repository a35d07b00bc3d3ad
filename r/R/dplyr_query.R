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
    file = file, stamp = file$stamp, skeleton = skeleton, at = seq_along(skeleton), rows = NULL, predicates = list(), is_cut = FALSE,
    tests = list(), tested = list(), evaluated = list()
  ))
}

# A query with other parts.
changed <- function(query, ...) {
  old <- lazy_content(query)
  parts <- mget(c("file", "stamp", "skeleton", "at", "rows", "predicates", "is_cut", "tests", "evaluated", "tested"), envir = old)
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

has_plain_names <- function(names) !anyNA(names) && all(names != "") && !anyDuplicated(names)

# Classes that dplyr cuts by the rules of data frames.
PLAIN_CLASSES <- list("data.frame", c("tbl_df", "tbl", "data.frame"), c("data.table", "data.frame"),
                      c("grouped_df", "tbl_df", "tbl", "data.frame"))

# The frame of a file without rows, or NULL for frames with their own rules.
skeleton_of <- function(file) {
  no_rows <- row_range(0, 0, -1)
  all <- seq_along(frame_names(file))
  if (!file$own) {
    return(read_frame(file, all, no_rows))
  }
  in_session(file, interpret(file, {
    attrs <- own_attributes(file)
    class <- class_in(attrs)
    groups <- attrs[["groups"]]
    is_grouped <- class[1L] == "grouped_df"
    is_plain <- any(vapply(PLAIN_CLASSES, identical, NA, class)) && (identical(class, "data.frame") || is.null(file$host$index)) &&
      is.null(attrs[["index"]]) && !(is_grouped && (length(attrs) > 4L || !follow_from_rows(groups)))
    if (is_plain) {
      attrs[["groups"]] <- NULL
      if (is_grouped) attrs[["class"]] <- class[-1L]
      frame <- own_frame(file, skeleton_columns(file, all), all, no_rows, attrs)
      if (is_grouped) frame <- dplyr::grouped_df(frame, setdiff(names(groups), ".rows"), !identical(attr(groups, ".drop"), FALSE))
      frame
    }
  }))
}

# Whether dplyr would make the groups of a frame from its rows. With `.preserve = TRUE` a
# group stays without its rows.
follow_from_rows <- function(groups) {
  if (!is.data.frame(groups) || !is.list(groups[[".rows"]])) {
    return(FALSE)
  }
  keys <- dplyr::as_tibble(groups[setdiff(names(groups), ".rows")])
  there <- keys[lengths(groups[[".rows"]]) > 0L, ]
  again <- tryCatch(dplyr::grouped_df(there, names(keys), !identical(attr(groups, ".drop"), FALSE)), error = function(e) NULL)
  !is.null(again) && identical(lapply(dplyr::group_keys(again), identity), lapply(keys, identity))
}

# Columns without rows.
skeleton_columns <- function(file, which) cut_columns(file, which, integer())

group_names <- function(query) dplyr::group_vars(lazy_content(query)$skeleton)

# Whether a group can be empty. dplyr keeps such a group when its last row goes.
has_empty_groups <- function(query) {
  length(group_names(query)) > 0L && !dplyr::group_by_drop_default(lazy_content(query)$skeleton)
}
