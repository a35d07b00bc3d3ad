# Prints lazy tables. Only the rows and columns that are shown are read.

print.entasis_table <- function(x, n = 10, width = getOption("width"), digits = NULL, ...) {
  file <- file_of(x)
  n <- check_count(n, "n")
  width <- check_count(width, "width")
  size <- dim(x)
  cat("<entasis file> ", file$path, "\n", counted(size[1L], "row"), ", ", counted(size[2L], "column"),
      if (inherits(x, "entasis_data_table")) ", data.table", "\n", sep = "")
  shown <- shown_rows(n, size[1L])
  # A column takes at least three characters and a space.
  most <- width %/% 4 + 1
  n_read <- min(size[2L], most)
  frame <- shown_frame(file, seq_len(n_read), if (length(shown) == size[1L]) ALL_ROWS else row_numbers(shown - 1))
  cells <- table_cells(flat_columns(unclass(frame), length(shown), most), length(shown), digits)
  lines <- lay_out(cells, row_labels(frame, shown), width)
  last_first <- which(diff(shown) > 1)
  if (length(last_first) > 0L) lines$text <- append(lines$text, "--", 2L + last_first)
  if (size[2L] > 0L) cat(lines$text, sep = "\n")
  n_rows_left <- size[1L] - length(shown)
  # Row labels of other hosts may be columns.
  names <- c(names(cells)[-seq_len(lines$n_columns)], names(x)[-seq_len(n_read)])
  rest <- c(
    if (n_rows_left > 0 && length(last_first) == 0L) counted(n_rows_left, "more row"),
    if (length(names) > 0L) paste0(counted(length(names), "more column"), ": ", some_names(names))
  )
  if (length(rest) > 0L) cat(strwrap(paste("... and", rest), width, exdent = 4L), sep = "\n")
  invisible(x)
}

# The numbers of the shown rows: the first and the last ones.
shown_rows <- function(n, n_rows) {
  if (n >= n_rows) {
    return(as.double(seq_len(n_rows)))
  }
  first <- ceiling(n / 2)
  c(seq_len(first), n_rows - (n - first) + seq_len(n - first))
}

# Shows the names and types of the first columns.
str.entasis_table <- function(object, list.len = 99L, ...) {
  file <- file_of(object)
  size <- dim(object)
  cat(
    "entasis file of ", counted(size[1L], "row"), " and ", counted(size[2L], "column"), ": ", file$path, "\n",
    sep = ""
  )
  shown <- seq_len(min(size[2L], list.len))
  columns <- unclass(shown_frame(file, shown, row_range(0, 0, -1)))
  names <- names(columns)
  names <- format(if (is.null(names)) rep_len("", length(columns)) else cut_text(names, 40L))
  if (length(columns) > 0L) cat(paste0(" $ ", names, ": ", vapply(columns, type_label, ""), "\n"), sep = "")
  if (size[2L] > length(shown)) cat(" ... and ", counted(size[2L] - length(shown), "more column"), "\n", sep = "")
  invisible(object)
}
