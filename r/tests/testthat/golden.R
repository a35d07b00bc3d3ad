# Writes tests/golden/r, the files of R for the tests of every language. Run it only when the format
# changes, before 1.0:
#   Rscript r/tests/testthat/golden.R tests/golden/r

golden_frame <- function() {
  frame <- data.frame(
    logical = c(TRUE, NA, FALSE), integer = c(1L, NA, -3L), double = c(1.5, NA, NaN), complex = c(1i, 2, NA),
    raw = as.raw(c(0, 1, 255)), character = c("a", NA, "\u00e9"), factor = factor(c("x", NA, "y")),
    ordered = factor(c("lo", "hi", NA), levels = c("lo", "hi"), ordered = TRUE),
    Date = as.Date(c("2020-01-01", NA, "1960-05-05")),
    POSIXct = as.POSIXct(c(1.5e9, NA, 0) + 0.25, origin = "1970-01-01", tz = "Europe/Oslo"),
    difftime = as.difftime(c(1, NA, 2.5), units = "mins"), row.names = c("p", "q", "r")
  )
  latin1 <- c("caf\xe9", "x", NA)
  Encoding(latin1) <- "latin1"
  frame$latin1 <- latin1
  frame$matrix <- matrix(1:6, 3)
  frame$labelled <- structure(c(1, 2, NA), labels = c(Male = 1, Female = 2), class = "of a package")
  attr(frame, "note") <- list(by = "R", sizes = 1:40)
  frame
}

golden_tree <- function() {
  latin1 <- "caf\xe9"
  Encoding(latin1) <- "latin1"
  frame <- data.frame(a = 1:2)
  frame$l <- list("x", quote(f(x)))
  list(
    null = NULL, one = 1L, two = 2.5, yes = TRUE, text = "\u00e9", none = c(NA, 1L),
    lists = list(list(), list(a = 1, b = list("deep"))),
    named = c(a = 1, b = NA), factor = factor(c("x", NA)), matrix = matrix(1:6, 2),
    strings = c(latin1, "b", NA), raw = as.raw(0:3),
    call = quote(lm(y ~ x, data = d)), symbol = as.name("s"), formula = eval(quote(y ~ x), globalenv()),
    pairs = pairlist(p = 1, 2),
    steps = expression(a + b, c), frame = frame,
    base = list(globalenv(), baseenv(), emptyenv(), asNamespace("stats")), family = poisson()
  )
}

# An environment that contains itself, and its enclosure.
golden_cycle <- function() {
  around <- new.env(parent = globalenv())
  around$x <- 1
  env <- new.env(parent = around)
  env$self <- env
  list(env, env)
}

# An external pointer with a null address, which only unserialize() makes with a tag and a protected
# value.
pointer_to <- function(tag, protected) {
  bytes <- function(x) serialize(x, NULL, version = 2L)
  unserialize(c(bytes(NULL)[1:14], as.raw(c(0, 0, 0, 22)), bytes(protected)[-(1:14)], bytes(tag)[-(1:14)]))
}

golden_pointers <- function() {
  pointer <- pointer_to(as.raw(1:3), list(a = 1:2))
  list(
    data = pointer, again = pointer,
    tag = structure(pointer_to(as.name("a tag"), NULL), class = "of a package"), null = pointer_to(NULL, NULL)
  )
}

if (sys.nframe() == 0L) {
  folder <- commandArgs(TRUE)[1L]
  entasis::write_entasis(golden_frame(), file.path(folder, "frame.entasis"))
  entasis::write_entasis(golden_tree(), file.path(folder, "tree.entasis"))
  entasis::write_entasis(golden_cycle(), file.path(folder, "cycle.entasis"))
  entasis::write_entasis(golden_pointers(), file.path(folder, "pointers.entasis"))
}
