# Methods for lazy lists. They give the same results as methods for lists in memory.

with.entasis_tree <- function(data, expr, ...) {
  names <- if (is.null(names(data))) character() else names(data)
  eval(substitute(expr), scope_of(names, function(k) data[k][[1L]], parent.frame()))
}

is.na.entasis_tree <- function(x) is.na(x[])

anyNA.entasis_tree <- function(x, recursive = FALSE) anyNA(x[], recursive)

unlist.entasis_tree <- function(x, recursive = TRUE, use.names = TRUE) unlist(x[], recursive, use.names)

summary.entasis_tree <- function(object, ...) summary(object[], ...)

all.equal.entasis_tree <- function(target, current, ...) all.equal(target[], read_lazy(current), ...)

as.data.frame.entasis_tree <- function(x, row.names = NULL, optional = FALSE, ...) {
  as.data.frame(x[], row.names = row.names, optional = optional, ...)
}

lengths.entasis_tree <- function(x, use.names = TRUE) lengths(x[], use.names)

format.entasis_tree <- function(x, ...) format(x[], ...)

# The names of the result come from the expressions of the caller.
cbind.entasis_tree <- function(..., deparse.level = 1) refuse_whole(Find(is_lazy, list(...)))

rbind.entasis_tree <- cbind.entasis_tree
