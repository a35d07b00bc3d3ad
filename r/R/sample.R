# Reads random rows of a table.

sample_entasis <- function(x, n, columns = NULL, replace = FALSE) {
  x <- as_table(x)
  rows <- sample.int(dim(x)[1L], n, check_flag(replace, "replace"))
  if (is.null(columns)) x[rows, ] else x[rows, columns]
}
