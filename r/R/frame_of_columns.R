# Makes frames of columns that were read, with the row names and attributes of the file.

own_frame <- function(file, columns, which, rows, attrs, has_row_names = TRUE) {
  host <- file$host
  n <- count_rows(rows, file$facts$n_rows)
  names <- layout_of(file)$names
  row_names <- if (!is.null(host$index) && has_row_names) {
    description <- if (is.list(host$row_names)) host$row_names
    labels <- extra_values(file, number_of(check_map(host$index)$column), NULL, rows)
    unique_labels(decorate(labels, lapply_pairs(file, description$attributes)), rows)
  } else {
    c(NA, if (identical(host$row_names, "numbers") && is_all(rows)) as.integer(n) else -as.integer(n))
  }
  is_all_columns <- identical(which, seq_len(length_of(names)))
  stored <- list(
    names = if (is_all_columns || is.null(names)) names else unclass_all(names)[which], row.names = row_names
  )
  for (name in intersect(names(stored), names(attrs))) {
    attrs[name] <- stored[name]
  }
  frame <- check_frame(decorate(columns, attrs), n)
  if (inherits(frame, "data.table") && requireNamespace("data.table", quietly = TRUE)) {
    frame <- data.table::setalloccol(frame)
  }
  frame
}

foreign_frame <- function(file, which, rows) {
  n <- count_rows(rows, file$facts$n_rows)
  n_labels <- length(label_names(file))
  is_label <- which <= n_labels
  columns <- vector("list", length(which))
  columns[is_label] <- label_columns(file, which[is_label], rows)
  columns[!is_label] <- read_columns(file, which[!is_label] - n_labels, rows)
  labels <- foreign_row_names(file, rows)
  row_names <- if (is.null(labels)) c(NA, -as.integer(n)) else unique_labels(labels, rows)
  decorate(columns, list(names = frame_names(file)[which], class = "data.frame", row.names = row_names))
}
