# Nested columns of other hosts (docs/format/columns.md). Lists and maps become lists of vectors or
# data frames, structs become data frames. Children are columns, which are read like others.

NESTED_TYPES <- c("list", "map", "fixed-size list", "struct", "run-end", "union")
DEEPEST_COLUMN <- 64L

# Reads a nested column, by its facts, in some rows.
read_nested <- function(file, of, rows, depth) {
  if (depth >= DEEPEST_COLUMN || of$n_children > 0 && of$first_child <= of$number) nonsense("a nested column that contains itself")
  children <- describe_columns(file, of$first_child + seq_len(of$n_children) - 1)
  if (!of$physical %in% c("struct", "union") && of$n_children != 1) nonsense("a nested column with the wrong children")
  switch(of$physical,
    list = ,
    map = read_lists(file, of, children, rows, depth),
    `fixed-size list` = read_fixed_lists(file, of, children, rows, depth),
    struct = read_structs(file, of, children, rows, depth),
    `run-end` = read_runs(file, of, children, rows, depth),
    union = read_unions(file, of, children, rows, depth)
  )
}

# A column's structure: lengths, type ids, run starts, or 1; NA for missing values.
read_words <- function(file, of, rows) {
  reader <- new_reader(file, rows, FALSE)
  reader_add(reader, of, 1L, WORDS)
  reader_run(reader)[[1L]]
}

# The values of a child in some of its rows.
read_child <- function(file, children, i, rows, depth) {
  if (rows[[1L]] == 1L && rows[[3L]] > children$n_values[i]) nonsense("a nested column needs more values than its child has")
  reader <- new_reader(file, rows, TRUE, depth + 1L)
  want <- reader_want(reader, children, i, NULL)
  reader_finish(reader, reader_run(reader), want)
}

# The numbers of the rows from 1 on, and the range up to the last of them.
rows_upto <- function(of, rows) {
  numbers <- switch(rows[[1L]] + 1L, seq_len(of$n_values), rows[[2L]] + seq_len(rows[[3L]] - rows[[2L]]), rows[[4L]] + 1)
  list(numbers = numbers, upto = row_range(0, max(numbers, 0), -1))
}

# Pieces of a child, by their starts and lengths.
split_child <- function(file, children, starts, lengths, depth) {
  there <- !is.na(lengths) & lengths > 0L
  low <- if (any(there)) min(starts[there]) else 0
  high <- if (any(there)) max(starts[there] + lengths[there]) else 0
  values <- read_child(file, children, 1L, row_range(low, high, -1), depth)
  starts[!there] <- low
  .Call(C_split, values, as.double(starts - low), lengths)
}

# A start is the sum of all earlier lengths, so all rows up to the last one are read.
read_lists <- function(file, of, children, rows, depth) {
  wanted <- rows_upto(of, rows)
  lengths <- read_words(file, of, wanted$upto)
  counts <- as.double(lengths)
  counts[is.na(counts)] <- 0
  starts <- cumsum(counts) - counts
  split_child(file, children, starts[wanted$numbers], lengths[wanted$numbers], depth)
}

read_fixed_lists <- function(file, of, children, rows, depth) {
  wanted <- rows_upto(of, rows)
  lengths <- read_words(file, of, rows)
  lengths[!is.na(lengths)] <- as.integer(of$value_len)
  split_child(file, children, (wanted$numbers - 1) * of$value_len, lengths, depth)
}

# A missing row has NA in each column.
read_structs <- function(file, of, children, rows, depth) {
  if (any(children$n_values != of$n_values)) nonsense("the fields of a struct differ in length")
  missing <- which(is.na(read_words(file, of, rows)))
  columns <- lapply(seq_along(children$number), function(i) {
    x <- read_child(file, children, i, rows, depth)
    if (length(missing) > 0L) with_missing(x, missing) else x
  })
  decorate(columns, list(names = children$name, class = "data.frame", row.names = c(NA, -as.integer(count_rows(rows, of$n_values)))))
}

with_missing <- function(x, which) {
  if (is.data.frame(x)) {
    x[] <- lapply(x, with_missing, which)
    return(x)
  }
  kept <- attributes(x)
  values <- unclass_all(x)
  # The least 64-bit integer has the bits of the double -0.
  values[which] <- if (is.list(x)) list(NULL) else if (inherits(x, "integer64")) -0 else NA
  attributes(values) <- kept
  values
}

read_runs <- function(file, of, children, rows, depth) {
  wanted <- rows_upto(of, rows)
  runs <- cumsum(read_words(file, of, wanted$upto))[wanted$numbers]
  if (length(runs) == 0L) {
    return(read_child(file, children, 1L, row_range(0, 0, -1), depth))
  }
  if (anyNA(runs) || min(runs) < 1) nonsense("a run-end column that does not start with a run")
  take_values(read_child(file, children, 1L, row_range(min(runs) - 1, max(runs), -1), depth), runs - min(runs) + 1)
}

# A union, as a list of vectors of length 1. A value of a sparse union has the same position in its
# child. In a dense union it is the child's next value. The last child of a dense union, the child
# offsets, is not needed.
read_unions <- function(file, of, children, rows, depth) {
  is_sparse <- of$value_len == 1
  wanted <- rows_upto(of, rows)
  types <- read_words(file, of, wanted$upto)
  n_types <- of$n_children - if (is_sparse) 0 else 1
  if (length(types) > 0L && max(types) >= n_types) nonsense("a union with an unknown type id")
  out <- vector("list", length(wanted$numbers))
  of_rows <- types[wanted$numbers]
  for (k in unique(of_rows)) {
    here <- which(of_rows == k)
    at <- if (is_sparse) wanted$numbers[here] else cumsum(types == k)[wanted$numbers[here]]
    values <- read_child(file, children, k + 1, row_range(min(at) - 1, max(at), -1), depth)
    at <- at - min(at)
    is_list <- typeof(values) == "list" && !is.data.frame(values)
    out[here] <- if (is_list) values[at + 1] else .Call(C_split, values, as.double(at), rep_len(1L, length(at)))
  }
  out
}

take_values <- function(x, at) {
  if (!is.data.frame(x)) {
    kept <- attributes(x)
    x <- unclass_all(x)[at]
    attributes(x) <- kept
    return(x)
  }
  decorate(lapply(unclass(x), take_values, at), list(names = names(x), class = "data.frame", row.names = c(NA, -length(at))))
}
