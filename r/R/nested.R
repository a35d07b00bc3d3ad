# Nested columns of other hosts (docs/format/columns.md). Lists and maps become lists of vectors or
# data frames, structs become data frames. Children are columns, which are read like others.
# `child_request` lists the children and their rows to read, and `join_children` makes the values.

DEEPEST_COLUMN <- 64L

# Checks the number of children of a nested column, and the lengths of those of a struct.
check_children <- function(of, children) {
  if (!of$physical %in% c("struct", "union") && of$n_children != 1) nonsense("a nested column with the wrong children")
  if (of$physical == "struct" && any(children$n_values != of$n_values)) {
    nonsense("the fields of a struct differ in length")
  }
}

# The rows of a column's structure that some rows need. A start is the sum of all earlier lengths,
# so all rows up to the last one are read.
structure_rows <- function(of, rows) if (of$physical %in% c("fixed-size list", "struct")) rows else rows_upto(of, rows)

# The numbers of the rows from 1 on, and the range up to the last of them.
row_numbers_in <- function(of, rows) switch(
  rows[[1L]] + 1L, seq_len(of$n_values), rows[[2L]] + seq_len(rows[[3L]] - rows[[2L]]), rows[[4L]] + 1
)

rows_upto <- function(of, rows) row_range(0, max(row_numbers_in(of, rows), 0), -1)

# The request for the children of a nested column in some rows: a list with the positions of the
# `children`, the `rows` of each, and parts of the structure for `join_children`. `words` is the
# structure: lengths, type ids, run starts, or 1; NA for missing values.
child_request <- function(of, children, rows, words) {
  numbers <- row_numbers_in(of, rows)
  switch(of$physical,
    list = ,
    map = request_lists(words, numbers),
    `fixed-size list` = request_fixed_lists(words, numbers, of$value_len),
    struct = request_structs(children, rows, words),
    `run-end` = request_runs(words, numbers),
    union = request_unions(of, words, numbers)
  )
}

# The values of a nested column. `values` has the values of each child of the request.
join_children <- function(of, children, rows, request, values) {
  switch(of$physical,
    list = ,
    map = ,
    `fixed-size list` = .Call(C_split, values[[1L]], request$starts, request$lengths),
    struct = join_structs(of, children, rows, request$missing, values),
    `run-end` = if (is.null(request$at)) values[[1L]] else take_values(values[[1L]], request$at),
    union = join_unions(request, values)
  )
}

request_lists <- function(lengths, numbers) {
  counts <- as.double(lengths)
  counts[is.na(counts)] <- 0
  starts <- cumsum(counts) - counts
  request_pieces(starts[numbers], lengths[numbers])
}

request_fixed_lists <- function(lengths, numbers, value_len) {
  lengths[!is.na(lengths)] <- as.integer(value_len)
  request_pieces((numbers - 1) * value_len, lengths)
}

# Pieces of a child, by their starts and lengths.
request_pieces <- function(starts, lengths) {
  there <- !is.na(lengths) & lengths > 0L
  low <- if (any(there)) min(starts[there]) else 0
  high <- if (any(there)) max(starts[there] + lengths[there]) else 0
  starts[!there] <- low
  list(children = 1L, rows = list(row_range(low, high, -1)), starts = as.double(starts - low), lengths = lengths)
}

request_structs <- function(children, rows, words) {
  positions <- seq_along(children$number)
  list(children = positions, rows = rep(list(rows), length(positions)), missing = which(is.na(words)))
}

# A missing row has NA in each column.
join_structs <- function(of, children, rows, missing, values) {
  columns <- if (length(missing) > 0L) lapply(values, with_missing, missing) else values
  decorate(
    columns,
    list(names = children$name, class = "data.frame", row.names = c(NA, -as.integer(count_rows(rows, of$n_values))))
  )
}

request_runs <- function(words, numbers) {
  runs <- cumsum(words)[numbers]
  if (length(runs) == 0L) {
    return(list(children = 1L, rows = list(row_range(0, 0, -1))))
  }
  if (anyNA(runs) || min(runs) < 1) nonsense("a run-end column that does not start with a run")
  list(children = 1L, rows = list(row_range(min(runs) - 1, max(runs), -1)), at = runs - min(runs) + 1)
}

# A union, as a list of vectors of length 1. A value of a sparse union has the same position in its
# child. In a dense union it is the child's next value. The last child of a dense union, the child
# offsets, is not needed.
request_unions <- function(of, types, numbers) {
  is_sparse <- of$value_len == 1
  n_types <- of$n_children - if (is_sparse) 0 else 1
  if (length(types) > 0L && max(types) >= n_types) nonsense("a union with an unknown type id")
  of_rows <- types[numbers]
  used <- unique(of_rows)
  here <- lapply(used, function(k) which(of_rows == k))
  at <- Map(function(k, here) if (is_sparse) numbers[here] else cumsum(types == k)[numbers[here]], used, here)
  list(
    children = used + 1, rows = lapply(at, function(at) row_range(min(at) - 1, max(at), -1)),
    n = length(numbers), here = here, at = at
  )
}

join_unions <- function(request, values) {
  out <- vector("list", request$n)
  for (k in seq_along(values)) {
    of_child <- values[[k]]
    at <- request$at[[k]] - min(request$at[[k]])
    is_list <- typeof(of_child) == "list" && !is.data.frame(of_child)
    out[request$here[[k]]] <- if (is_list) of_child[at + 1] else .Call(C_split, of_child, as.double(at), rep_len(1L, length(at)))
  }
  out
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

take_values <- function(x, at) {
  if (!is.data.frame(x)) {
    kept <- attributes(x)
    x <- unclass_all(x)[at]
    attributes(x) <- kept
    return(x)
  }
  decorate(
    lapply(unclass(x), take_values, at),
    list(names = names(x), class = "data.frame", row.names = c(NA, -length(at)))
  )
}
