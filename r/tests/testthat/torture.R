# Writes and reads values with a garbage collection at each allocation, or at each of a number of
# allocations. test-strings.R, test-trees.R and test-csv-read.R run this in a separate process, with
# "strings", "trees" or "texts" and the number: a collection looks at all strings of a process, and
# here there are few.

library(entasis)
args <- commandArgs(TRUE)
torture <- function() gctorture2(as.integer(args[2L]))

strings <- function() {
  x <- sprintf("text %d of some length", 1:300)
  path <- tempfile()
  write_entasis(x, path)
  y <- read_entasis(path)
  torture()
  for (i in c(1, 150, 300)) stopifnot(identical(y[[i]], x[[i]]))
  part <- y[10:20]
  all <- paste0(y, "")
  again <- read_entasis(path)
  gctorture(FALSE)
  stopifnot(identical(part, x[10:20]), identical(all, x), identical(again, x))
}

trees <- function() {
  x <- list(
    a = list(1, "two", c(x = 3)), f = eval(quote(y ~ x), globalenv()), s = factor("a"), d = data.frame(u = 1:2),
    l = c("\u00fc", NA), e = new.env(parent = globalenv())
  )
  frame <- data.frame(k = 1:2)
  frame$l <- list(1, quote(f(x)))
  paths <- c(tempfile(), tempfile())
  run <- function() {
    write_entasis(x, paths[1L])
    write_entasis(frame, paths[2L])
    list(read_entasis(paths[1L]), read_entasis(paths[2L]))
  }
  # R loads and compiles functions first, which would be most of the allocations.
  run()
  torture()
  found <- run()
  gctorture(FALSE)
  stopifnot(identical(found[[1L]][-6L], x[-6L]), identical(found[[2L]], frame))
}

texts <- function() {
  x <- data.frame(
    a = c("x", NA, "a text of more than twelve bytes"), b = c(1.5, NA, NaN), d = as.Date("2026-01-31"),
    f = factor(c("u", "v", NA))
  )
  path <- tempfile()
  run <- function() {
    spec <- write_csv_entasis(x, path)
    list(
      read_csv_entasis(path, spec = spec),
      tryCatch(read_csv_entasis(text = c("a,b", "1", "2,3")), error = function(e) e$problems$text)
    )
  }
  run()
  torture()
  found <- run()
  gctorture(FALSE)
  stopifnot(identical(found[[1L]], x), identical(found[[2L]], "1"))
}

invisible(compiler::enableJIT(0L))
switch(args[1L], strings = strings(), trees = trees(), texts = texts())
cat("right")
