# Methods of base R for queries. Other methods are inherited from open tables, and start from x[].

dim.entasis_query <- function(x) {
  n <- count_of_query(x)
  c(if (n <= .Machine$integer.max) as.integer(n) else n, length(lazy_content(x)$at))
}

length.entasis_query <- function(x) length(lazy_content(x)$at)

names.entasis_query <- function(x) names(lazy_content(x)$skeleton)

row.names.entasis_query <- function(x) row.names(x[])

`[.entasis_query` <- function(x, i, j, ...) {
  n_arguments <- nargs()
  frame <- gather_grouped(x)
  # An argument that is missing must stay missing.
  if (n_arguments < 3L) if (missing(i)) frame else frame[i] else frame[i, j, ...]
}

`[[.entasis_query` <- function(x, i, ..., exact = TRUE) {
  if (...length() > 0L || length(i) > 1L && !is.logical(i)) {
    return(x[][[i, ...]])
  }
  which <- resolve_position(names(x), i, "column", exact)
  if (!is.null(which)) column_of_query(x, which)
}

`$.entasis_query` <- function(x, name) {
  which <- resolve_position(names(x), name, "column", inherits(lazy_content(x)$skeleton, "tbl_df"))
  if (!is.null(which)) column_of_query(x, which)
}

column_of_query <- function(x, which) {
  name <- names(x)[which]
  .subset2(gather(select_names(x, name)), name)
}

with.entasis_query <- function(data, expr, ...) {
  eval(substitute(expr), scope_of(names(data), function(k) data[[k]], parent.frame()))
}

subset.entasis_query <- function(x, ...) call_with(match.call(), "x", subset, x[], parent.frame())

anyNA.entasis_query <- function(x, recursive = FALSE) anyNA(x[], recursive)

head.entasis_query <- function(x, n = 6L, ...) {
  n <- ends_at(n, count_of_query(x))
  by_class_of(head, some_of_query(x, seq_len(n)), n)
}

tail.entasis_query <- function(x, n = 6L, ...) {
  n_rows <- count_of_query(x)
  n <- ends_at(n, n_rows)
  by_class_of(tail, some_of_query(x, n_rows - n + seq_len(n)), n)
}

# Methods of data frames drop the attributes of columns, even when they keep all rows. Methods of
# data.table depend on the caller.
by_class_of <- function(part, frame, n) if (inherits(frame, "data.table")) frame else part(frame, n)
