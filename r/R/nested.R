# Nested columns of other hosts: lists and maps are lists, of vectors or of data frames; structs are data frames. What is in one is a
# column too (docs/format/columns.md), so it is read as any.

NESTED_TYPES <- c("list", "map", "fixed-size list", "struct", "run-end", "union")
DEEPEST_COLUMN <- 64L

# A column, by its facts, in some rows.
read_nested <- function(file, of, rows, depth) {
  if (depth >= DEEPEST_COLUMN || of$n_children > 0 && of$first_child <= of$number) nonsense("columns are nested in a circle")
  children <- describe_columns(file, of$first_child + seq_len(of$n_children) - 1)
  if (!of$physical %in% c("struct", "union") && of$n_children != 1) nonsense("a nested column of other columns")
  switch(of$physical,
    list = ,
    map = read_lists(file, of, children, rows, depth),
    `fixed-size list` = read_fixed_lists(file, of, children, rows, depth),
    struct = read_structs(file, of, children, rows, depth),
    `run-end` = read_runs(file, of, children, rows, depth),
    union = read_unions(file, of, children, rows, depth)
  )
}

# What the words of the column itself say: lengths, whether a run begins, or 1; NA where the value is missing.
read_words <- function(file, of, rows) {
  reader <- new_reader(file, rows, FALSE)
  reader_add(reader, of, 1L, WORDS)
  reader_run(reader)[[1L]]
}

# Values of a child.
read_child <- function(file, children, i, rows, depth) {
  if (rows[[1L]] == 1L && rows[[3L]] > children$n_values[i]) nonsense("a column has more values in another than that has")
  reader <- new_reader(file, rows, TRUE, depth + 1L)
  want <- reader_want(reader, children, i, NULL)
  reader_finish(reader, reader_run(reader), want)
}

# The numbers of the rows, from 1, and the rows up to the last of them.
rows_upto <- function(of, rows) {
  numbers <- switch(rows[[1L]] + 1L, seq_len(of$n_values), rows[[2L]] + seq_len(rows[[3L]] - rows[[2L]]), rows[[4L]] + 1)
  list(numbers = numbers, upto = row_range(0, max(numbers, 0), -1))
}

# Pieces of a child, by where in it each begins and how long it is.
split_child <- function(file, children, starts, lengths, depth) {
  there <- !is.na(lengths) & lengths > 0L
  low <- if (any(there)) min(starts[there]) else 0
  high <- if (any(there)) max(starts[there] + lengths[there]) else 0
  values <- read_child(file, children, 1L, row_range(low, high, -1), depth)
  starts[!there] <- low
  .Call(C_split, values, as.double(starts - low), lengths)
}

# A length counts from the first row on.
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

# A row that is missing has NA in each column.
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
  # The least integer of 64 bits is the double -0.
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
  if (anyNA(runs) || min(runs) < 1) nonsense("a column of runs does not begin with one")
  take_values(read_child(file, children, 1L, row_range(min(runs) - 1, max(runs), -1), depth), runs - min(runs) + 1)
}

# A list of vectors of one value each. In a sparse union a value stands in the same place of its child; in a dense one it is the next of
# that, and the last child, which tells where each block begins, is not needed.
read_unions <- function(file, of, children, rows, depth) {
  is_sparse <- of$value_len == 1
  wanted <- rows_upto(of, rows)
  types <- read_words(file, of, wanted$upto)
  n_types <- of$n_children - if (is_sparse) 0 else 1
  if (length(types) > 0L && max(types) >= n_types) nonsense("a value of a union is of a type that it has not")
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
