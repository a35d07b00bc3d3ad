# Texts of the values of tables, laid out in columns.

check_count <- function(n, name) {
  if (!is.numeric(n) || length(n) != 1L || is.na(n) || n < 0) wrong("'", name, "' must be a number of at least 0")
  trunc(n)
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
    structure(
      c(paste0("<", type_label(column), ">"), texts),
      is_left = is.character(column) || is.factor(column) || is.list(column)
    )
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
      ordered = "ord", factor = "fct", Date = "date", POSIXct = "dttm", POSIXlt = "dttm", difftime = "drtn",
      integer64 = "int64",
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
  switch(
    typeof(x), integer = "int", double = "dbl", character = "chr", logical = "lgl", complex = "cpl",
    closure = "fn", language = "call", typeof(x)
  )
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
