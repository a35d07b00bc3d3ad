# Invalid host maps of R with valid checksums. test-damage.R runs this in a separate process, with a
# seed, the number of maps, and the folder of the tests.

library(entasis)
args <- commandArgs(TRUE)
set.seed(as.integer(args[1L]))
source(file.path(args[3L], "golden.R"))
internal <- function(name) get(name, asNamespace("entasis"))
call_core <- function(name, ...) internal("core")(.Call(internal(name), ...))

frame <- golden_frame()
frame$POSIXlt <- as.POSIXlt(1:3, origin = "1970-01-01", tz = "UTC")
frame$frame <- data.frame(a = 1:3, b = letters[1:3])
frame$list <- list(1, "a", y ~ x)
frame$labelled <- structure(
  c(1, NA, 2), label = "one", labels = structure(c(yes = 1, no = NA), note = "of labels"),
  class = "haven_labelled"
)
frame$text <- structure(letters[1:3], label = c("caf\u00e9", NA), width = NA, places = c(2L, NA))
attr(frame, "call") <- quote(f(x))
doc <- internal("new_document")()
plan <- internal("new_plan")(doc)
host <- internal("plan_frame")(plan, frame)
columns <- internal("join_columns")(plan$columns)
extra <- internal("join_columns")(plan$extra)
path <- tempfile()
write <- function(host) {
  call_core(
    "C_write", path, list(call_core("C_frame", 3, columns, extra, host)), doc$walker, c(-1, -1, -1),
    internal("write_options")(50), NULL, 1L
  )
}
# The same map as lists alone, as R/values.R encodes attributes, so that each part can be changed.
as_pairs <- function(attributes) {
  lapply(seq_along(attributes), function(i) {
    value <- .subset2(attributes, i)
    own <- if (is.list(value)) value[[2L]]
    if (is.list(value)) value <- value[[1L]]
    if (is.null(value)) {
      return(list(names(attributes)[i], NULL))
    }
    items <- list(as.list(internal("unclass_all")(value)))
    names(items) <- typeof(value)
    list(names(attributes)[i], c(items, if (!is.null(own)) list(attributes = as_pairs(own))))
  })
}
expand <- function(node) {
  if (inherits(node, "entasis_attributes")) as_pairs(node) else if (is.list(node)) lapply(node, expand) else node
}
invisible(write(host))
stopifnot(identical(read_entasis(path), frame))
bytes <- readBin(path, "raw", file.size(path))
expanded <- expand(host)
stopifnot(!identical(expanded, host))
host <- expanded
invisible(write(host))
stopifnot(identical(readBin(path, "raw", file.size(path)), bytes))

column <- function(number) structure(as.double(number), class = "entasis_column")
cell <- function(number) structure(as.double(number), class = "entasis_cell")
junk <- list(
  NULL, TRUE, 0L, -1L, 7L, .Machine$integer.max, 1e300, NaN, "x", "", "class", "dim", "names", "levels",
  "row.names", "factor",
  "data.frame", "POSIXlt", "data.table", "integer64", "ts", "tsp", as.raw(1:3), list(), setNames(list(), character()),
  list(1L, 2L), list(a = 1L), column(0), column(3), column(20), column(25), column(99), cell(0), cell(5),
  cell(999), list(cell = cell(2)), list(cell = 1L), list(integer = list(3L, 1L)),
  list(character = list("a", NULL)), list(list = "q"), list(column = column(21)), list(list = list(list(null = NULL)))
)
keys <- c("attributes", "parts", "matrix", "s4", "list", "integer", "column", "of", "names", "double")

mutate <- function(node) {
  if (!is.list(node) || length(node) == 0L || runif(1) > 0.93) {
    return(junk[[sample(length(junk), 1L)]])
  }
  i <- sample(length(node), 1L)
  how <- runif(1)
  if (how < 0.06) {
    node[i] <- NULL
  } else if (how < 0.12) {
    node <- c(node, node[i])
  } else if (how < 0.16 && !is.null(names(node))) {
    names(node)[i] <- sample(keys, 1L)
  } else {
    node[i] <- list(mutate(node[[i]]))
  }
  node
}

use <- function() {
  x <- read_entasis(path)
  read_entasis(path, from = 2, to = 3)
  table <- entasis(path)
  table[c(3, 1), ]
  # Any value that was read can be printed, or R raises an error.
  try(capture.output(print(x), str(x)), silent = TRUE)
}

refused <- 0
for (k in seq_len(as.integer(args[2L]))) {
  bad <- host
  for (times in seq_len(sample(3L, 1L))) bad <- mutate(bad)
  if (!is.list(bad)) next
  written <- tryCatch(is.null(write(bad)), entasis_error = function(e) FALSE)
  if (!written) next
  refused <- refused + tryCatch({
    suppressWarnings(use())
    0
  }, entasis_error = function(e) {
    if (inherits(e, "entasis_error_defect")) stop(e)
    1
  })
}
cat("refused", refused, "\n")
