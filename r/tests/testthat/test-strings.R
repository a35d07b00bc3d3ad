made <- function(x) .Call(entasis:::C_materialised, x)

test_that("strings are made when they are looked at", {
  x <- sprintf("string number %d", 1:20000)
  x[seq(7, 20000, 7)] <- NA
  path <- written(data.frame(x = x))
  y <- read_entasis(path)$x
  unlink(path)
  expect_false(made(y))
  expect_identical(y[c(7, 19999, 3)], x[c(7, 19999, 3)])
  expect_identical(y[[20000]], x[[20000]])
  expect_identical(y[c(1, NA, 30000)], x[c(1, NA, 30000)])
  expect_identical(length(y), 20000L)
  expect_false(made(y))
  expect_true(anyNA(y))
  expect_identical(sort(y), sort(x))
  expect_identical(unserialize(serialize(y, NULL)), x)
  copy <- y
  copy[2] <- "another"
  expect_identical(y[2], x[2])
  expect_identical(copy[-2], x[-2])
  expect_identical(match(x, y), match(x, x))
  expect_identical(paste(y), paste(x))
})

test_that("repeated, empty and missing strings stay distinct", {
  x <- rep_len(c("", NA, "a", "a string that is longer than a view", "NA", "\u00fc"), 100000)
  expect_kept(x)
  expect_kept(data.frame(x = x, y = rev(x)))
  expect_identical(nchar(round_trip(x)), nchar(x))
})

test_that("a garbage collection at any time is survived", {
  expect_identical(run_file("torture.R", "strings", by_tier(10L, 1L)), "right")
})

test_that("strings that nobody else has stay until they are written", {
  n <- 200L
  x <- data.frame(id = seq_len(n))
  x$parts <- matrix(paste("a string of a matrix, number", seq_len(2L * n)), n)
  x$kind <- factor(paste("a level that is a longer string", rep_len(1:7, n)))
  x$latin <- rep_len(c("caf\xe9, and more than twelve bytes", "plain, and more than twelve bytes", NA), n)
  Encoding(x$latin) <- "latin1"
  row.names(x) <- paste("a name of a row, number", seq_len(n))
  path <- tempfile()
  gctorture2(by_tier(97L, 20L))
  on.exit(gctorture(FALSE))
  write_entasis(x, path)
  gctorture(FALSE)
  expect_identical(read_entasis(path), x)
})
