# Trees with invalid objects and valid checksums. test-damage.R runs this in a separate process,
# with a seed, the number of trees, and the folder of the tests.

library(entasis)
args <- commandArgs(TRUE)
set.seed(as.integer(args[1L]))
internal <- function(name) get(name, asNamespace("entasis"))
call_core <- function(name, ...) internal("core")(.Call(internal(name), ...))
path <- tempfile()

names <- c(
  "r.vector", "r.vector", "r.vector", "r.text", "r.symbol", "r.call", "r.pairlist", "r.expression", "r.s4",
  "r.environment", "r.closure",
  "r.primitive", "r.family", "r.dots", "r.promise", "r.pointer", "r.weakref", "r.unknown", "record",
  "pandas.Timestamp", "pandas.Timedelta", "numpy.ma", "collections.deque", "table", "too deep"
)
classes <- c(
  "data.frame", "factor", "POSIXlt", "POSIXct", "Date", "data.table", "integer64", "ts", "family",
  "EntasisNone", "formula", "name", "function"
)
attribute_names <- c(
  "class", "names", "dim", "dimnames", "levels", "row.names", "tsp", "tzone", "units", "comment",
  ".Environment", ".Data", "package", ""
)

# An environment stands for an object, from which `take` makes a value.
thing <- function(depth = 0L) {
  pick <- sample(12L, 1L)
  if (depth > 4L && pick > 7L) pick <- sample(7L, 1L)
  switch(pick,
    NULL, sample(c(1L, -1L, NA, 5L), sample(0:4, 1L), TRUE), runif(sample(0:3, 1L)),
    sample(c("a", "", NA, classes), sample(0:3, 1L), TRUE), TRUE,
    as.raw(sample(0:7, sample(0:4, 1L), TRUE)), sample(attribute_names, 1L),
    lapply(seq_len(sample(0:4, 1L)), function(i) thing(depth + 1L)),
    setNames(lapply(1:2, function(i) thing(depth + 1L)), sample(attribute_names[attribute_names != ""], 2L)),
    list(class = sample(classes, 1L)), placeholder(depth + 1L), placeholder(depth + 1L)
  )
}
placeholder <- function(depth) {
  env <- new.env()
  env$depth <- depth
  env
}
take <- function(holder, type) {
  if (type != "environment") {
    return(NULL)
  }
  depth <- holder[[1L]]$depth
  if (is.null(depth)) {
    return(list("r.environment", "global"))
  }
  if (runif(1) < 0.05) {
    return(as.double(sample(c(-1, 0, 1, 9), 1L)))
  }
  name <- if (runif(1) < 0.97) sample(names, 1L) else 1L
  parts <- switch(as.character(name),
    r.vector = list(
      thing(depth),
      sample(list(NULL, list(class = sample(classes, 1L)), thing(depth), list(names = "a", dim = 1L)), 1L)[[1L]]
    ),
    r.environment = sample(
      list(
        list(0L), list(1L), list(7L), list(-1L), list("global"), list("namespace", "none"),
        list("package", thing(9L)), list(thing(9L))
      ),
      1L
    )[[1L]],
    r.call = list(NULL, NULL, placeholder(depth + 1L), thing(depth)),
    r.symbol = list(sample(list("x", "", "...", 1L, NA_character_), 1L)[[1L]]),
    r.closure = list(NULL, thing(depth), globalenv(), NULL, FALSE),
    r.promise = list(thing(depth), sample(list(globalenv(), thing(depth)), 1L)[[1L]]),
    lapply(seq_len(sample(0:5, 1L)), function(i) thing(depth))
  )
  if (length(parts) > 0L && runif(1) < 0.1) parts <- parts[-1L]
  c(list(name), parts)
}

refused <- 0
made <- 0
for (k in seq_len(as.integer(args[2L]))) {
  walker <- call_core("C_walker", take)
  roots <- list(c(list(placeholder(0L)), list(thing())), list(parent = thing(3L), values = thing(3L), attributes = thing(3L), locked = TRUE, bindings = thing(4L), s4 = FALSE, active = thing(3L)),
                list(parent = globalenv(), values = list(a = thing(2L), b = placeholder(2L), ... = placeholder(4L)), attributes = NULL, locked = FALSE, bindings = character(), s4 = FALSE))
  cells <- vapply(roots, function(root) .Call(internal("C_walk"), walker, root), 0)
  records <- .Call(internal("C_references"), walker, cells[-1L])
  frame <- call_core(
    "C_frame", 1, internal("NO_COLUMNS"), internal("NO_COLUMNS"),
    list(host = "r", form = sample(c("data.frame", "vector", "x"), 1L))
  )
  call_core("C_write", path, list(frame), walker, c(cells[1L], records, -1), internal("write_options")(50), NULL, 1L)
  for (functions in c(FALSE, TRUE)) {
    result <- tryCatch({
      value <- read_entasis(path, functions = functions)
      made <- made + 1
      # Any value that was read can be printed, or R raises an error.
      try(utils::capture.output(utils::str(value)), silent = TRUE)
      try(serialize(value, NULL), silent = TRUE)
      try(entasis(path)[[1L]], silent = TRUE)
      gc(FALSE)
    }, entasis_error = function(e) {
      if (inherits(e, "entasis_error_defect")) stop(e)
      refused <<- refused + 1
    })
  }
}
cat("made", made, "refused", refused, "\n")
