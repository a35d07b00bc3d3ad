# Linked lists of values that are collected one by one.

# Appends to a linked list: a pair of the earlier values and the new one. A list of R would be
# copied whole at each step.
chain <- function(all, value) list(all, value)

unchain <- function(all) {
  n <- 0L
  for_each <- all
  while (!is.null(for_each)) {
    n <- n + 1L
    for_each <- for_each[[1L]]
  }
  out <- vector("list", n)
  while (n > 0L) {
    if (!is.null(all[[2L]])) out[[n]] <- all[[2L]]
    all <- all[[1L]]
    n <- n - 1L
  }
  out
}
