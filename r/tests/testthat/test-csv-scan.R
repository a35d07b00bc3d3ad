# scan_csv_entasis(), and the condition of read_csv_entasis(): the rows of subset() in memory.

csv_text <- function(..., ext = ".csv") {
  path <- tempfile(fileext = ext)
  writeLines(c(...), path, useBytes = TRUE)
  path
}

CITIES <- c("city,price,n,day", "Oslo,3.5,1,2020-01-01", "Rome,5,,2020-01-02", "Bern,NA,3,2020-01-03", "NA,9,4,")

# Evaluates code while texts are cut into chunks of some bytes.
in_chunks <- function(len, code) {
  real <- entasis:::csv_call
  on.exit(utils::assignInNamespace("csv_call", real, "entasis"))
  utils::assignInNamespace("csv_call", function(sources, arguments, ...) real(sources, c(arguments, chunk_len = len), ...), "entasis")
  code
}

# A value, or the class of its error.
or_error <- function(code) suppressWarnings(tryCatch(code, error = function(e) class(e)[1L]))

random_fields <- function(n) {
  fields <- switch(sample(11L, 1L),
    sample(-5:5, n, TRUE), round(rnorm(n), 2), sample(c("TRUE", "FALSE"), n, TRUE), sample(c("a", "b", "abc", "long text of more than 12"), n, TRUE),
    format(as.Date("2020-01-01") + sample(9L, n, TRUE)), paste0("2020-01-01T00:00:0", sample(0:9, n, TRUE), sample(c("", ".5"), n, TRUE)),
    rep_len("", n), rep_len("NA", n), sample(c("1", "2147483647", "-2147483648", "3000000000"), n, TRUE),
    sample(c("1", "9007199254740993", "-9223372036854775808", "18446744073709551615"), n, TRUE), sample(c("1", "2.5", "x", "TRUE", "007"), n, TRUE)
  )
  is_text <- runif(1) < 0.2
  if (is_text) fields <- paste0("\"", fields, "\"")
  # A late value may change the type.
  if (runif(1) < 0.3) fields[n] <- sample(c("x", "1", "2.5", "3000000000", "2020-01-01", "TRUE", "\"\""), 1L)
  fields[runif(n) < 0.15] <- sample(c("", "NA"), 1L)
  fields
}

random_text <- function() {
  n <- sample(c(0L, 1L, 3L, 30L), 1L)
  if (n == 0L) return("a,b,c,d")
  c("a,b,c,d", do.call(paste, c(lapply(1:4, function(k) random_fields(n)), sep = ",")))
}

VALUES <- list(1L, 2.5, 0, TRUE, "a", "abc", "x", "1", 3e9, as.Date("2020-01-04"), as.POSIXct(1577836803, tz = "UTC", origin = "1970-01-01"), NA, -1)

random_condition <- function(depth = 2L) {
  if (depth > 0L && runif(1) < 0.5) {
    return(switch(sample(4L, 1L), call("!", random_condition(depth - 1L)), call("(", random_condition(depth - 1L)),
                  call("&", random_condition(depth - 1L), random_condition(depth - 1L)), call("|", random_condition(depth - 1L), random_condition(depth - 1L))))
  }
  column <- as.name(sample(letters[1:4], 1L))
  value <- sample(VALUES, 1L)[[1L]]
  switch(sample(8L, 1L), call("is.na", column), call("%in%", column, unlist(sample(VALUES[1:8], 2L))), call("startsWith", column, "a"), column,
         call(">", value, column), call(sample(c("==", "!="), 1L), column, value), call(sample(c("<", "<=", ">", ">="), 1L), column, value),
         call(">", call("nchar", column), 1L))
}

allNA <- function(x) all(is.na(x))

test_that("random conditions choose the rows of subset(), in chunks of every length", {
  set.seed(as.integer(Sys.getenv("ENTASIS_TEST_SEED", "11")))
  n_tested <- 0L
  for (i in seq_len(as.integer(Sys.getenv("ENTASIS_TEST_TEXTS", "150")))) {
    path <- csv_text(random_text())
    condition <- random_condition()
    integer64 <- sample(c("integer64", "integer64", "double", "character"), 1L)
    whole <- suppressWarnings(read_csv_entasis(path, integer64 = integer64))
    expected <- or_error(eval(bquote(subset(whole, .(condition)))))
    if (is.data.frame(expected)) rownames(expected) <- NULL
    label <- paste(deparse(condition), collapse = " ")
    said <- paste(c(readLines(path), label, integer64), collapse = "\n")
    found <- or_error(in_chunks(sample(c(1L, 16L, 100L, 65536L), 1L), eval(bquote(read_csv_entasis(path, integer64 = integer64, subset = .(condition))))))
    # Where no value shows the type of a column, an error about it may not occur.
    if (is.data.frame(expected)) expect_identical(found, expected, info = said) else if (!any(vapply(whole, allNA, NA))) expect_false(is.data.frame(found), info = said)
    scan <- suppressWarnings(scan_csv_entasis(path, integer64 = integer64))
    chosen <- or_error(eval(bquote(subset(scan, .(condition)))))
    if (!inherits(chosen, "entasis_csv_scan") || !is.data.frame(expected)) next
    n_tested <- n_tested + 1L
    rows <- or_error(chosen[])
    if (identical(rows, "entasis_error_text") || identical(rows, "entasis_error_unsupported")) next
    expect_identical(rows, expected, info = said)
    expect_identical(or_error(count_entasis(chosen)), nrow(expected), info = said)
    expect_identical(or_error(head(chosen, 2)), head(expected, 2), info = said)
  }
  expect_gt(n_tested, 10L)
})
