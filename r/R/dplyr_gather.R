# Reads the columns and rows of a query as the frame that dplyr makes.

# The frame of a query, without its groups. `is_cut` is whether vctrs cuts the columns.
gather <- function(query, rows = rows_of_query(query), is_cut = lazy_content(query)$is_cut) {
  parts <- lazy_content(query)
  file <- file_of_query(query)
  n <- if (is.null(rows)) file$facts$n_rows else length(rows)
  if (n > .Machine$integer.max) {
    abort(
      "unsupported",
      "not supported: a data frame has at most 2^31 - 1 rows; leave fewer rows with filter() or slice_head()"
    )
  }
  columns <- if (is_cut) {
    cut_columns(file, parts$at, rows)
  } else {
    columns_of(file, parts$at, if (is.null(rows)) ALL_ROWS else rows_at(rows, file$facts$n_rows), class(parts$skeleton))
  }
  attrs <- attributes(parts$skeleton)
  attrs[c("groups", "row.names")] <- NULL
  attrs[["class"]] <- setdiff(attrs[["class"]], "grouped_df")
  labels <- if (identical(attrs[["class"]], "data.frame")) labels_of_rows(file, rows, is_cut)
  attrs[["row.names"]] <- if (is.null(labels)) c(NA, -as.integer(n)) else labels
  frame <- decorate(unname(columns), attrs)
  if (inherits(frame, "data.table") && requireNamespace("data.table", quietly = TRUE)) {
    frame <- data.table::setalloccol(frame)
  }
  frame
}

# The row names of some rows, or NULL if the file has none.
labels_of_rows <- function(file, rows, is_cut) {
  has_labels <- if (file$own) !is.null(file$host$index) else {
    labels <- labels_of(file)
    !is.null(labels$row_names) || !is.null(labels$range) && is.null(labels$names)
  }
  if (!has_labels) {
    return(NULL)
  }
  labels <- attr(shown_frame(file, integer(), ALL_ROWS), "row.names")
  if (!is_cut) {
    return(if (is.null(rows)) labels else labels[rows])
  }
  bare <- structure(list(), names = character(), class = "data.frame", row.names = labels)
  attr(vctrs::vec_slice(bare, if (is.null(rows)) seq_along(labels) else rows), "row.names")
}

# The frame of a query, with its groups.
gather_grouped <- function(query, rows = rows_of_query(query), is_cut = lazy_content(query)$is_cut) {
  frame <- gather(query, rows, is_cut)
  groups <- group_names(query)
  if (length(groups) == 0L) {
    return(frame)
  }
  dplyr::grouped_df(frame, groups, dplyr::group_by_drop_default(lazy_content(query)$skeleton))
}

# The frame of a query's rows at some positions.
some_of_query <- function(x, positions) {
  rows <- rows_of_query(x)
  gather_grouped(x, if (is.null(rows)) positions else rows[positions])
}
