# Reads the columns and rows of a query as the frame that dplyr makes.

# The columns of a file in some rows (NULL for all), cut as vctrs cuts them.
cut_columns <- function(file, which, rows) {
  n <- file$facts$n_rows
  if (is.null(rows)) rows <- seq_len(n)
  is_whole <- is_read_whole(file, which, rows)
  columns <- vector("list", length(which))
  columns[is_whole] <- lapply(columns_of(file, which[is_whole], ALL_ROWS), vctrs::vec_slice, rows)
  columns[!is_whole] <- lapply(columns_of(file, which[!is_whole], rows_at(rows, n)), function(column) {
    # vctrs changes dates and times that are integers, and times without a zone.
    if (is.object(column) && !is.factor(column)) vctrs::vec_slice(column, seq_along(rows)) else column
  })
  columns
}

# Columns without methods of the class of the frame. `class` decides how some rows are cut.
columns_of <- function(file, which, rows, class = "tbl_df") {
  if (length(which) == 0L) {
    return(list())
  }
  if (!file$own) {
    return(unclass(read_frame(file, which, rows))[seq_along(which)])
  }
  in_session(file, interpret(file, read_columns(file, which, rows, class)))
}

# Whether to read columns whole before cutting: columns whose attributes may depend on the rows, and
# all columns if most rows are needed in another order.
is_read_whole <- function(file, which, rows) {
  n <- file$facts$n_rows
  if (length(rows) > n / 4 && is.unsorted(rows)) {
    return(rep_len(TRUE, length(which)))
  }
  if (!file$own) {
    return(rep_len(FALSE, length(which)))
  }
  interpret(file, vapply(layout_of(file)$descriptions[which], function(description) {
    isTRUE(slicing_of(file, description, n)$whole) || "parts" %in% names(description) || isTRUE(description$s4)
  }, NA))
}

# The frame of a query, without its groups. `is_cut` is whether vctrs cuts the columns.
gather <- function(query, rows = rows_of_query(query), is_cut = lazy_content(query)$is_cut) {
  parts <- lazy_content(query)
  file <- file_of_query(query)
  n <- if (is.null(rows)) file$facts$n_rows else length(rows)
  if (n > .Machine$integer.max) {
    abort("unsupported", "not supported: a data frame has at most 2^31 - 1 rows; leave fewer rows with filter() or slice_head()")
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
  if (inherits(frame, "data.table") && requireNamespace("data.table", quietly = TRUE)) frame <- data.table::setalloccol(frame)
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

# The most values that a verb reads without a warning.
MOST_CELLS <- 1e6

# The whole frame for a verb that is not lazy.
collect_for <- function(x, verb) {
  cells <- prod(as.double(dim(x)))
  if (cells > MOST_CELLS) {
    warning(verb, "() reads all rows and columns that are left, ", shown_number(cells),
            " values: select columns or filter rows first, or call collect() before it", call. = FALSE)
  }
  x[]
}

collect.entasis_table <- function(x, ...) x[]

compute.entasis_table <- function(x, path = tempfile(fileext = ".entasis"), ...) {
  write_entasis(x[], path)
  entasis(path)
}

pull.entasis_table <- function(.data, var = -1, name = NULL, ...) {
  # dplyr selects among column names in a frame whose values are those names.
  names <- names(.data)
  named <- structure(as.list(names), names = names, class = "data.frame", row.names = 1L)
  var <- dplyr::pull(named, {{ var }})
  query <- query_of(.data)
  if (is.null(query)) {
    return(dplyr::pull(.data[], !!var, {{ name }}))
  }
  name <- rlang::enquo(name)
  if (!rlang::quo_is_null(name)) name <- dplyr::pull(named, !!name) else name <- NULL
  frame <- gather(select_names(query, unique(c(var, name))))
  dplyr::pull(frame, !!var, !!name)
}
