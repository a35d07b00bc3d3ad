# Goes over the rows of a table or a text in data frames of a few rows.

batches_entasis <- function(x, f, n = 65536) {
  if (!is.function(f)) must_be("f", "a function of a data frame", f)
  n <- check_whole(n, "n", 1, .Machine$integer.max)
  if (inherits(x, "entasis_csv_scan")) {
    return(invisible(each_batch(x, f, n)))
  }
  x <- as_table(x)
  n_rows <- dim(x)[1L]
  starts <- seq(0, by = n, length.out = ceiling(n_rows / n))
  invisible(lapply(starts, function(start) f(x[start + seq_len(min(n, n_rows - start)), ])))
}
