# Counts the rows of a table for which a condition is true.

count_entasis <- function(x, subset) {
  if (inherits(x, "entasis_csv_scan")) {
    if (!missing(subset)) x <- filtered_scan(x, substitute(subset), parent.frame())
    n <- count_scan(x)
    return(if (n <= .Machine$integer.max) as.integer(n) else n)
  }
  x <- as_table(x)
  n <- if (missing(subset)) dim(x)[1L] else count_where(file_of(x), substitute(subset), parent.frame())
  if (n <= .Machine$integer.max) as.integer(n) else n
}

# An open table, or the table of a file.
as_table <- function(x) {
  if (is.character(x)) x <- entasis(x)
  if (!inherits(x, "entasis_table")) must_be("x", "a table from entasis(), or the path of one", x)
  x
}
