# Keys of data.tables with more rows.

# The attributes of a frame with more rows. The key of a data.table is kept if it still holds, and
# its indices are dropped. `last` has the last row of each column of the file.
grown_attributes <- function(attrs, fitted, last) {
  attrs <- attrs[!names(attrs) %in% c("index", ".internal.selfref")]
  key <- attrs[["sorted"]]
  if (!is.null(key) && !holds_key(key, fitted, last)) attrs[["sorted"]] <- NULL
  attrs
}

last_rows <- function(columns, n) lapply(columns, function(x) if (is_parted(x)) x else subset_bare(x, n))

subset_bare <- function(x, at) decorate(unclass_all(x)[at], row_independent(attributes(x)))

# Whether the new rows are in the order of the key, and not before the last row of the file.
holds_key <- function(key, fitted, last) {
  at <- match(key, fitted$names)
  if (!anyNA(at) && length_of(fitted$new[[at[1L]]]) == 0L) {
    return(TRUE)
  }
  if (anyNA(at) || !requireNamespace("data.table", quietly = TRUE)) {
    return(FALSE)
  }
  columns <- lapply(at, function(k) {
    new <- fitted$new[[k]]
    decorate(c(unclass_all(last[[k]]), unclass_all(new)), row_independent(attributes(new)))
  })
  names(columns) <- paste0("key", seq_along(columns))
  columns$position <- seq_along(columns[[1L]])
  table <- data.table::setDT(columns)
  # Sorting is stable, so rows in order keep their positions.
  data.table::setkeyv(table, setdiff(names(table), "position"))
  !is.unsorted(table$position)
}
