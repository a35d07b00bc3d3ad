# Look-ups of keys in a call of `[` on a table of data.table: x["a"], x[.(1, 2)]. The core finds the
# rows with these values, and data.table joins them.

# A look-up by .(), J() or list(). The values may not depend on columns.
look_up_call <- function(query, i) {
  if (any(all.vars(i) %in% query$names)) {
    return(rows_as_written(query))
  }
  i[[1L]] <- quote(list)
  values <- value_of_i(query, i)
  look_up(query, values, values)
}

# The rows whose columns have one of the values, for `i` as data.table gets it.
look_up <- function(query, values, i) {
  on <- query$given[["on"]]
  columns <- if (is.null(on)) query$key[seq_len(min(length(query$key), length(values)))] else names_of_on(on)
  if (!is.null(on) && !is.null(names(values))) values <- values[match(columns, names(values))]
  n_given <- length(values)
  values <- values[seq_along(columns)]
  at <- match(columns, query$names)
  if (length(columns) == 0L || anyNA(at) || !all(vapply(values, is_plain_key, NA)) || anyDuplicated(query$names)) {
    return(rows_as_written(query, i))
  }
  plan <- list2env(
    list(file = query$file, names = query$names, at = seq_along(query$names), columns = list()),
    parent = emptyenv()
  )
  predicates <- Map(function(k, value) key_predicate(column_of(plan, as.name(query$names[k])), value), at, values)
  is_known <- !any(vapply(predicates, is.null, NA))
  rows <- if (is_known) ask_core(.Call(C_find_rows, handle_of(query$file), c(list("and"), unname(predicates))))
  # data.table refuses a join that repeats rows and is longer than both tables. Only some rows are
  # read, so this function decides it for the file.
  longest <- values[[which.max(lengths(values))]]
  is_short <- !anyDuplicated(longest) || length(rows) * as.double(length(longest)) <= query$n
  if (is.null(rows) || !is_short) {
    return(rows_as_written(query, i))
  }
  if (length(rows) > 0L && n_given == length(at) && is_row_look_up(query, plan, at, values)) {
    query$given <- query$given["i"]
    return(rows_in_order(rows))
  }
  rows_chosen(rows, i, at, may_join = TRUE, more = list(allow.cartesian = TRUE))
}

# Whether the rows themselves are the answer: one value for each column, of its type. A join takes
# these columns from the values, and loses the attributes of columns and table.
is_row_look_up <- function(query, plan, at, values) {
  if (!all(names(query$given) %in% c("i", "on")) || !all(lengths(values) == 1L) || anyDuplicated(at)) {
    return(FALSE)
  }
  attrs <- own_attributes(query$file)
  if (query$file$own && !all(names(attrs) %in% c("names", "row.names", "class", "sorted", "index", ".internal.selfref"))) {
    return(FALSE)
  }
  all(unlist(Map(function(k, value) {
    column <- column_of(plan, as.name(query$names[k]))
    !is.null(column) && length(column$attrs) == 0L && is.null(attributes(value)) &&
      switch(as.character(column$kind), "2" = is.integer(value), "6" = is.character(value) && is_ascii(value), FALSE)
  }, at, values)))
}

# data.table joins other types only if all values of the column are missing, but only some rows are
# known.
key_predicate <- function(column, values) {
  if (!is.logical(values) || !is.null(column) && column$kind == LOGICAL) member_predicate(column, values)
}

# Values that compare with a column as data.table joins them.
is_plain_key <- function(value) {
  is.atomic(value) && is.null(dim(value)) && !isS4(value) && !anyNA(value) && (!is.object(value) || is.factor(value) || inherits(value, "Date"))
}
