# The columns in R of a table: where they start in the file, their descriptions and their names.

# For each column in R: its first column in the file, its description, and its name.
layout_of <- function(file) {
  if (is.null(file$layout)) {
    file$layout <- if (file$own) interpret(file, own_layout(file)) else foreign_layout(file)
  }
  file$layout
}

own_layout <- function(file) {
  n <- file$facts$n_columns
  entries <- file$host$columns
  first <- double()
  descriptions <- list()
  if (length(entries) == 0L) {
    first <- seq_len(n) - 1
    descriptions <- vector("list", n)
  } else {
    starts <- vapply(entries, function(entry) number_of(part_of(entry, 1L)), 0)
    kept <- lapply(entries, part_of, 2L)
    widths <- rep_len(1, length(entries))
    has_more <- !vapply(kept, has_attributes_alone, NA)
    widths[has_more] <- vapply(kept[has_more], width_of, 0)
    ends <- c(0, starts + widths)
    if (is.unsorted(c(0, starts)) || any(c(starts, n) < ends)) nonsense("columns overlap")
    # Columns without a description fill the gaps.
    gaps <- c(starts, n) - ends
    first <- double(sum(gaps) + length(entries))
    at <- cumsum(gaps[seq_along(entries)] + 1)
    first[at] <- starts
    first[-at] <- rep.int(ends, gaps) + sequence(gaps) - 1
    descriptions <- vector("list", length(first))
    descriptions[at] <- kept
  }
  names <- if ("names" %in% names(file$host)) decode_value(file, file$host$names) else table_names(file, first)
  if (!is.null(names) && (!is.character(names) || length_of(names) != length(first))) {
    nonsense("names don't fit the columns")
  }
  list(first = first, descriptions = descriptions, names = names)
}

foreign_layout <- function(file) {
  first <- seq_len(file$facts$n_columns) - 1
  list(first = first, descriptions = vector("list", length(first)), names = table_names(file, first))
}

table_names <- function(file, first) {
  names <- table_facts(file)$name
  names[first + 1]
}

# How many columns of the file a column in R takes.
width_of <- function(description) {
  check_map(description)
  if (!is.null(description$matrix)) {
    width <- number_of(description$matrix)
    if (width < 0) nonsense("a matrix with a negative number of columns")
    width
  } else if ("parts" %in% names(description)) {
    sum(vapply(description$parts, width_of, 0), 0)
  } else {
    1
  }
}

has_attributes_alone <- function(description) identical(names(description), "attributes")
