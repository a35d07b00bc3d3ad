# Methods of base R for scans.

names.entasis_csv_scan <- function(x) lazy_content(x)$names

length.entasis_csv_scan <- function(x) length(lazy_content(x)$names)

# The number of rows is NA until they are counted.
dim.entasis_csv_scan <- function(x) {
  n <- lazy_content(x)$held$n
  k <- length(x)
  if (is.null(n)) c(NA_integer_, k) else c(if (n <= .Machine$integer.max) as.integer(n) else n, k)
}

dimnames.entasis_csv_scan <- function(x) list(NULL, names(x))

`[.entasis_csv_scan` <- function(x, i, j, ...) {
  if (nargs() > 2L) {
    wrong("rows of a text have no numbers: use subset(x, condition, select), head(x, n), or x[] for all rows")
  }
  if (missing(i)) {
    return(read_scan(x))
  }
  read_scan(scan_of_columns(x, resolve_columns(names(x), i)))
}

`[[.entasis_csv_scan` <- function(x, i, ..., exact = TRUE) {
  if (...length() > 0L) wrong("rows of a text have no numbers: use x[[column]] for a column, or x[] for all rows")
  which <- resolve_position(names(x), i, "column", exact)
  if (!is.null(which)) column_of_scan(x, which)
}

`$.entasis_csv_scan` <- function(x, name) {
  which <- resolve_position(names(x), name, "column", exact = FALSE)
  if (!is.null(which)) column_of_scan(x, which)
}

column_of_scan <- function(x, which) .subset2(read_scan(x, lazy_content(x)$columns[which]), 1L)

subset.entasis_csv_scan <- function(x, subset, select, ...) {
  caller <- parent.frame()
  which <- NULL
  if (!missing(select)) {
    positions <- as.list(seq_along(x))
    names(positions) <- names(x)
    which <- resolve_columns(names(x), eval(substitute(select), positions, caller))
  }
  if (!missing(subset)) x <- filtered_scan(x, substitute(subset), caller)
  if (is.null(which)) x else scan_of_columns(x, which)
}

head.entasis_csv_scan <- function(x, n = 6L, ...) {
  if (is.numeric(n) && isTRUE(n < 0)) {
    wrong("head(x, n) of a text needs n of 0 or more, because its rows are not counted")
  }
  read_scan(limited_scan(x, check_whole(n, "n", 0)))
}

tail.entasis_csv_scan <- function(x, ...) wrong("the last rows of a text are known once all are read: use tail(x[]), or write_entasis(x, path) and tail(entasis(path))")

as.data.frame.entasis_csv_scan <- function(x, row.names = NULL, optional = FALSE, ...) {
  as.data.frame(read_scan(x), row.names = row.names, optional = optional, ...)
}

as.list.entasis_csv_scan <- function(x, ...) as.list(read_scan(x))

as.data.table.entasis_csv_scan <- function(x, ...) data.table::as.data.table(read_scan(x), ...)

as_tibble.entasis_csv_scan <- function(x, ...) tibble::as_tibble(read_scan(x), ...)

print.entasis_csv_scan <- function(x, width = getOption("width"), ...) {
  parts <- lazy_content(x)
  n <- dim(x)[1L]
  cat(
    "<entasis text> ", source_of(parts), "\n", if (is.na(n)) "rows not counted" else counted(n, "row"), ", ",
    counted(length(x), "column"), "\n", sep = ""
  )
  most <- 100L
  shown <- seq_len(min(length(x), most))
  labels <- vapply(shown, function(k) type_of_scan(parts, k), "")
  names <- format(cut_text(parts$names[shown], 40L))
  if (length(shown) > 0L) cat(paste0(" $ ", names, ": ", labels, "\n"), sep = "")
  if (length(x) > most) cat(" ... and ", counted(length(x) - most, "more column"), "\n", sep = "")
  tests <- vapply(
    parts$tests, function(e) cut_text(paste(trimws(deparse(e, width.cutoff = 500L)), collapse = " "), 200L), ""
  )
  if (length(tests) > 0L) {
    cat(strwrap(paste("Rows where", paste(tests, collapse = " and ")), width, exdent = 2L), sep = "\n")
  }
  if (!is.null(parts$limit)) cat("At most ", counted(parts$limit, "row"), "\n", sep = "")
  invisible(x)
}

str.entasis_csv_scan <- function(object, ...) print(object)
