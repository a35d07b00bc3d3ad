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

check_count <- function(n, name) {
  if (!is.numeric(n) || length(n) != 1L || is.na(n) || n < 0) wrong("'", name, "' must be a number of at least 0")
  trunc(n)
}

# The numbers of the shown rows: the first and the last ones.
shown_rows <- function(n, n_rows) {
  if (n >= n_rows) {
    return(as.double(seq_len(n_rows)))
  }
  first <- ceiling(n / 2)
  c(seq_len(first), n_rows - (n - first) + seq_len(n - first))
}

# Row names, if the file has them, else row numbers.
row_labels <- function(frame, shown) {
  if (.row_names_info(frame) > 0L) cut_text(attr(frame, "row.names"), 20L) else format(shown, scientific = FALSE, trim = TRUE)
}

# Splits columns that are data frames or matrices, up to `most` columns in all.
flat_columns <- function(columns, n, most, prefix = "") {
  names <- names(columns)
  out <- list()
  for (k in seq_along(columns)) {
    if (length(out) >= most) break
    column <- columns[[k]]
    name <- paste0(prefix, if (is.null(names) || is.na(names[k])) "<NA>" else names[k])
    dims <- dim(column)
    if (is.data.frame(column)) {
      found <- flat_columns(unclass(column), n, most - length(out), paste0(name, "$"))
    } else if (length(dims) == 2L && is.atomic(column)) {
      parts <- seq_len(min(dims[2L], most - length(out)))
      found <- lapply(parts, function(j) column[, j])
      labels <- if (is.null(colnames(column))) parts else paste0("\"", colnames(column)[parts], "\"")
      names(found) <- paste0(rep_len(name, length(parts)), "[,", labels, rep_len("]", length(parts)))
    } else {
      found <- list(column)
      names(found) <- name
    }
    out <- c(out, found)
  }
  out
}

# The type and the formatted values of each column.
table_cells <- function(columns, n, digits) {
  cells <- lapply(columns, function(column) {
    texts <- cut_text(cell_texts(column, n, digits), 40L)
    structure(c(paste0("<", type_label(column), ">"), texts), is_left = is.character(column) || is.factor(column) || is.list(column))
  })
  names(cells) <- cut_text(names(columns), 40L)
  cells
}

cell_texts <- function(x, n, digits) {
  if (is.character(x) && !is.object(x) || is.factor(x)) {
    texts <- as.character(x)
    return(ifelse(is.na(texts), "<NA>", texts))
  }
  if (typeof(x) == "list" && !inherits(x, c("POSIXlt", "vctrs_rcrd"))) {
    return(vapply(unclass(x), value_label, "", USE.NAMES = FALSE))
  }
  # Without bit64, format() would show the bits as doubles.
  if (inherits(x, "integer64") && !requireNamespace("bit64", quietly = TRUE)) {
    return(rep_len("<int64>", n))
  }
  texts <- tryCatch(if (is.object(x)) format(x) else format(x, digits = digits), error = function(e) NULL)
  if (!is.character(texts) || length(texts) != n) texts <- rep_len(paste0("<", class(x)[1L], ">"), n)
  as.vector(texts)
}

# The type and size of a value in a list column.
value_label <- function(x) {
  if (is.null(x)) {
    return("<NULL>")
  }
  size <- if (length(dim(x)) > 0L) dim(x) else if (is.atomic(x) || typeof(x) == "list" && !is.object(x)) length(x)
  label <- if (is.data.frame(x)) sub("^tbl_df$", "tibble", class(x)[1L]) else type_label(x)
  paste0("<", label, if (!is.null(size)) paste0(" [", paste(format(size, trim = TRUE), collapse = " x "), "]"), ">")
}

# The type of a vector as one word.
type_label <- function(x) {
  if (is.data.frame(x)) {
    return("df")
  }
  if (is.object(x)) {
    known <- c(
      ordered = "ord", factor = "fct", Date = "date", POSIXct = "dttm", POSIXlt = "dttm", difftime = "drtn", integer64 = "int64",
      hms = "time", vctrs_list_of = "list", AsIs = ""
    )
    classes <- class(x)
    label <- known[match(classes[1L], names(known))]
    if (is.na(label)) {
      return(classes[1L])
    }
    if (label != "") {
      return(unname(label))
    }
  }
  switch(typeof(x), integer = "int", double = "dbl", character = "chr", logical = "lgl", complex = "cpl", closure = "fn", language = "call", typeof(x))
}

# Cuts texts to a width.
cut_text <- function(x, most) {
  x <- encodeString(as.character(x))
  long <- nchar(x, "width") > most
  x[long] <- paste0(strtrim(x[long], most - 3L), "...")
  x
}

# Lines with names, types and values of as many columns as fit, at least one.
lay_out <- function(cells, labels, width) {
  labels <- formatC(c("", "", labels), width = -max(nchar(labels, "width"), 0L), mode = "character")
  lines <- labels
  n_columns <- 0L
  for (name in seq_along(cells)) {
    texts <- c(names(cells)[name], cells[[name]])
    gap <- strrep(" ", max(nchar(texts, "width")) - nchar(texts, "width"))
    padded <- if (attr(cells[[name]], "is_left")) paste0(texts, gap) else paste0(gap, texts)
    together <- paste(lines, padded)
    if (n_columns > 0L && max(nchar(together, "width")) > width) break
    lines <- together
    n_columns <- n_columns + 1L
  }
  list(text = sub(" +$", "", lines), n_columns = n_columns)
}

# The first names, to fill some lines.
some_names <- function(names) {
  shown <- cut_text(utils::head(names, 100L), 40L)
  shown <- shown[seq_len(max(1L, sum(cumsum(nchar(shown) + 2L) <= 240)))]
  paste0(paste(shown, collapse = ", "), if (length(shown) < length(names)) ", ...")
}

# Shows the names and types of the first columns.
str.entasis_table <- function(object, list.len = 99L, ...) {
  file <- file_of(object)
  size <- dim(object)
  cat("entasis file of ", counted(size[1L], "row"), " and ", counted(size[2L], "column"), ": ", file$path, "\n", sep = "")
  shown <- seq_len(min(size[2L], list.len))
  columns <- unclass(shown_frame(file, shown, row_range(0, 0, -1)))
  names <- names(columns)
  names <- format(if (is.null(names)) rep_len("", length(columns)) else cut_text(names, 40L))
  if (length(columns) > 0L) cat(paste0(" $ ", names, ": ", vapply(columns, type_label, ""), "\n"), sep = "")
  if (size[2L] > length(shown)) cat(" ... and ", counted(size[2L] - length(shown), "more column"), "\n", sep = "")
  invisible(object)
}
