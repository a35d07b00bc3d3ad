# Row labels of other hosts: row names if R allows them, else leading columns. The choice depends on
# all rows, so that every part of the file has the same columns.

# The names of the columns of a frame, with NA for missing names.
frame_names <- function(file) {
  names <- layout_of(file)$names
  c(label_names(file), if (is.null(names)) rep_len(NA_character_, length(layout_of(file)$first)) else names)
}

frame_width <- function(file) length(label_names(file)) + length(layout_of(file)$first)

# The names of the label columns.
label_names <- function(file) if (!file$own) labels_of(file)$names

labels_of <- function(file) {
  if (is.null(file$labels)) file$labels <- in_session(file, interpret(file, foreign_labels(file)))
  file$labels
}

# Label columns: `names`, `numbers`, and whether they `are_levels` of an index. Or `row_names`, a
# column number. Or a `range` for either.
foreign_labels <- function(file) {
  index <- check_map(file$host$index)
  if (is.null(index$kind)) {
    return(list())
  }
  kind <- string_of(index$kind)
  if (kind == "range") {
    range <- c(number_of(index$start), number_of(index$step))
    if (identical(range, c(0, 1))) {
      return(list())
    }
    last <- range[1L] + range[2L] * max(file$facts$n_rows - 1, 0)
    return(list(range = range, names = if (any(abs(c(range[1L], last)) >= 2^31)) "index"))
  }
  refs <- switch(
    kind, column = list(index$column), multi = index$columns, names = list(),
    nonsense("an index of kind ", kind)
  )
  facts <- describe_columns(file, vapply(refs, number_of, 0))
  if (kind == "column" && are_row_names(file, facts)) {
    return(list(row_names = facts$number))
  }
  list(names = facts$name, numbers = facts$number, are_levels = kind == "multi")
}

# Whether labels are distinct strings or integers. Labels of other types are not read.
are_row_names <- function(file, facts) {
  if (!reading_kinds(file, facts, 1L) %in% c(INTEGER, CHARACTER)) {
    return(FALSE)
  }
  labels <- extra_values(file, facts$number, NULL, ALL_ROWS)
  is.null(attributes(labels)) && (is.character(labels) || is.integer(labels)) && are_distinct(labels)
}

# Whether all values are distinct and none is NA. Most labels are ascending integers, which need no
# hash table.
are_distinct <- function(x) !anyNA(x) && (is.integer(x) && !is.unsorted(x, strictly = TRUE) || !anyDuplicated(x))

foreign_row_names <- function(file, rows) {
  labels <- labels_of(file)
  if (!is.null(labels$row_names)) {
    extra_values(file, labels$row_names, NULL, rows)
  } else if (!is.null(labels$range) && is.null(labels$names)) {
    as.integer(numbers_of_range(file, rows))
  }
}

label_columns <- function(file, which, rows) {
  labels <- labels_of(file)
  if (!is.null(labels$range)) {
    return(lapply(which, function(k) numbers_of_range(file, rows)))
  }
  lapply(labels$numbers[which], function(number) {
    if (isTRUE(labels$are_levels)) values_of_level(file, number, rows) else extra_values(file, number, NULL, rows)
  })
}

# The values of a level of an index, whose column has codes. They have the type of the level.
values_of_level <- function(file, number, rows) {
  facts <- describe_columns(file, number)
  if (facts$logical != "categorical") nonsense("a level of an index without codes")
  reader <- new_reader(file, rows, FALSE)
  reader_add(reader, facts, 1L, CODES)
  codes <- reader_run(reader)[[1L]]
  values <- take_values(extra_values(file, column_of_level(file, facts$dictionary)), codes)
  missing <- which(is.na(codes))
  if (length(missing) > 0L) with_missing(values, missing) else values
}

# The column with the values of a level. For a categorical level, the column with the codes of its
# categories.
column_of_level <- function(file, dictionary) {
  for (entry in file$host$categories) {
    index <- if (identical(number_of(part_of(entry, 1L)), as.double(dictionary))) check_map(part_of(entry, 2L))
    if (identical(index$kind, "column")) {
      return(number_of(index$column))
    }
  }
  dictionary
}

numbers_of_range <- function(file, rows) {
  range <- labels_of(file)$range
  take_rows(range[1L] + range[2L] * (seq_len(file$facts$n_rows) - 1), rows)
}
