# The number of threads.

# More threads would only exhaust the system's limit.
MOST_THREADS <- 1024L

threads_entasis <- function(n = NULL) {
  if (!is.null(n)) n <- as.integer(check_whole(n, "n", 0, MOST_THREADS))
  before <- .Call(C_threads, n)
  if (is.null(n)) before else invisible(before)
}
