# Writes tests/golden/r: a file of R for the tests of every language. Only when the format changes, before 1.0:
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

if (sys.nframe() == 0L) {
  folder <- commandArgs(TRUE)[1L]
  entasis::write_entasis(golden_frame(), file.path(folder, "frame.entasis"))
}
