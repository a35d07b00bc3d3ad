# Methods for lazy tables. They give the same results as methods for data frames, and read only the
# data that they need.

with.entasis_table <- function(data, expr, ...) {
  eval(substitute(expr), scope_of(names(data), function(k) read_column(file_of(data), k), parent.frame()))
}

subset.entasis_table <- function(x, subset, select, drop = FALSE, ...) {
  caller <- parent.frame()
  rows <- if (!missing(subset)) rows_where(file_of(x), substitute(subset), caller)
  columns <- if (missing(select)) {
    seq_along(x)
  } else {
    positions <- as.list(seq_along(names(x)))
    names(positions) <- names(x)
    eval(substitute(select), positions, caller)
  }
  value <- if (is.null(rows) && !drop) {
    # R selects all rows too, which drops attributes.
    file <- file_of(x)
    which <- resolve_columns(frame_names(file), columns, is_tibble_file(file))
    read_frame(file, which, row_range(0, file$facts$n_rows, -1))
  } else {
    x[if (is.null(rows)) seq_len(dim(x)[1L]) else rows, columns, drop = drop]
  }
  # data.table removes the key of a table without rows.
  if (inherits(value, "data.table") && nrow(value) == 0L) data.table::setattr(value, "sorted", NULL)
  value
}

transform.entasis_table <- function(`_data`, ...) call_with(match.call(), "_data", transform, `_data`[], parent.frame())

as.matrix.entasis_table <- function(x, ...) {
  # data.matrix() is not generic. It calls as.matrix() for anything but a data frame, which would
  # convert factors to text.
  asked_by <- sys.function(sys.parent())
  if (identical(asked_by, data.matrix)) data.matrix(x[]) else as.matrix(x[], ...)
}

is.na.entasis_table <- function(x) is.na(x[])

anyNA.entasis_table <- function(x, recursive = FALSE) {
  file <- file_of(x)
  for (k in seq_along(x)) {
    # Skips methods of the class, which would report lost groups.
    if (anyNA(list2DF(list(read_column(file, k)), dim(x)[1L]), recursive = recursive)) {
      return(TRUE)
    }
  }
  FALSE
}

na.omit.entasis_table <- function(object, ...) stats::na.omit(object[], ...)

na.exclude.entasis_table <- function(object, ...) stats::na.exclude(object[], ...)

na.fail.entasis_table <- function(object, ...) stats::na.fail(object[], ...)

# The methods of data.table depend on the caller.
unique.entasis_table <- function(x, incomparables = FALSE, ...) call_with(
  match.call(), "x", unique, x[], parent.frame()
)

duplicated.entasis_table <- function(x, incomparables = FALSE, ...) call_with(
  match.call(), "x", duplicated, x[], parent.frame()
)

anyDuplicated.entasis_table <- function(x, incomparables = FALSE, ...) call_with(
  match.call(), "x", anyDuplicated, x[], parent.frame()
)

rbind.entasis_table <- function(..., deparse.level = 1) do.call(rbind, lapply(list(...), read_lazy))

# rbind.data.frame() calls this for every argument, and would then treat the pointer as a list.
is.matrix.entasis_table <- function(x) {
  if (identical(sys.function(sys.parent()), base::rbind.data.frame)) {
    wrong("rbind() takes the table of a file as its first argument alone: put it first, or read it with x[]")
  }
  FALSE
}

cbind.entasis_table <- function(..., deparse.level = 1) {
  values <- lapply(list(...), read_lazy)
  given <- if (is.null(names(values))) rep_len("", length(values)) else names(values)
  # Unnamed vectors are named after their expressions in the call; data.table does this for symbols
  # only.
  written <- as.list(substitute(list(...)))[-1L]
  unnamed <- given == "" & vapply(values, function(x) is.atomic(x) && length(dim(x)) < 2L, NA)
  if (any(vapply(values, inherits, NA, "data.table"))) unnamed <- unnamed & vapply(written, is.symbol, NA)
  given[unnamed] <- vapply(written[unnamed], function(x) sub("^I[(](.*)[)]$", "\\1", deparse(x, nlines = 1L)[1L]), "")
  if (any(given != "")) names(values) <- given
  do.call(cbind, values)
}

split.entasis_table <- function(x, f, drop = FALSE, ...) {
  # A formula may name columns, so the frame is read before `f` is evaluated.
  split(x[], f, drop = drop, ...)
}

merge.entasis_table <- function(x, y, ...) merge(x[], read_lazy(y), ...)

aggregate.entasis_table <- function(x, ...) {
  call_with(match.call(), "x", stats::aggregate, x[], parent.frame())
}

t.entasis_table <- function(x) t(x[])

format.entasis_table <- function(x, ...) format(x[], ...)

unlist.entasis_table <- function(x, recursive = TRUE, use.names = TRUE) unlist(x[], recursive, use.names)

all.equal.entasis_table <- function(target, current, ...) all.equal(target[], read_lazy(current), ...)

stack.entasis_table <- function(x, ...) call_with(match.call(), "x", utils::stack, x[], parent.frame())

lengths.entasis_table <- function(x, use.names = TRUE) lengths(x[], use.names)

droplevels.entasis_table <- function(x, ...) droplevels(x[], ...)

rev.entasis_table <- function(x) rev(x[])

as.data.table.entasis_table <- function(x, ...) data.table::as.data.table(x[], ...)

as_tibble.entasis_table <- function(x, ...) tibble::as_tibble(x[], ...)
