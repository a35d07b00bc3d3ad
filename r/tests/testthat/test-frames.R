test_that("data frames of R are kept", {
  for (frame in list(mtcars, iris, airquality, esoph, warpbreaks, women, ToothGrowth)) expect_kept(frame)
})

test_that("shapes and names at the edges are kept", {
  expect_kept(data.frame())
  expect_kept(data.frame(x = integer()))
  expect_kept(iris[0, ])
  expect_kept(data.frame(row.names = 1:5))
  expect_kept(setNames(data.frame(1:2, 3:4, 5:6), c("a", "a", "")))
  expect_kept(setNames(data.frame(1:2, 3:4), c(NA, "b")))
  latin1 <- "caf\xe9"
  Encoding(latin1) <- "latin1"
  expect_kept(setNames(data.frame(1:2), latin1))
  expect_kept(structure(list(1:2, 3:4), class = "data.frame", row.names = c(NA, -2L)))
})

test_that("row names are kept", {
  expect_kept(data.frame(a = 1:2, row.names = c("x", "y")))
  expect_kept(mtcars[c(3, 1), ])
  expect_kept(iris[c(7, 3), ])
  expect_identical(.row_names_info(round_trip(data.frame(a = 1:3))), -3L)
  expect_kept(structure(list(a = 1:2), class = "data.frame", row.names = c(NA, 2L), names = "a"))
})

test_that("columns of columns are kept", {
  frame <- data.frame(x = 1:3)
  frame$m <- matrix(c(1.5, 2:6), 3, dimnames = list(NULL, c("a", "b")))
  frame$d <- data.frame(p = 1:3, q = letters[1:3], row.names = c("u", "v", "w"))
  frame$t <- as.POSIXlt(c(1e9, 2e9, NA), origin = "1970-01-01", tz = "UTC")
  frame$c <- matrix(letters[1:6], 3)
  frame$z <- matrix(0, 3, 0)
  frame$a <- array(1:12, c(3, 2, 2))
  frame$e <- data.frame(row.names = 1:3)
  frame$n <- c(one = 1, two = 2, three = 3)
  frame$last <- 3:1
  expect_kept(frame)
  path <- written(frame)
  expect_true(alike(read_entasis(path, c("last", "t", "m")), frame[c("last", "t", "m")]))
  some <- read_entasis(path, from = 2, to = 3)
  expect_identical(some$m, frame$m[2:3, ])
  expect_identical(some$a, frame$a[2:3, , ])
  expect_identical(some$d, frame$d[2:3, ])
  expect_identical(format(some$t), format(frame$t[2:3]))
  expect_identical(some$n, frame$n[2:3])
})

test_that("attributes of the frame are kept", {
  frame <- structure(data.frame(a = 1:3), note = "mine", source = list(1, "x"))
  expect_kept(frame)
  expect_kept(structure(frame, class = c("special", "data.frame")))
})

test_that("tibbles are kept", {
  skip_if_not_installed("tibble")
  expect_kept(tibble::tibble(a = 1:3, b = c("x", NA, "z")))
})

test_that("data.tables are kept and work by reference", {
  skip_if_not_installed("data.table")
  table <- data.table::data.table(a = c(3L, 1L, 2L), b = letters[1:3], x = c(1.5, NA, 2))
  data.table::setkeyv(table, c("a", "b"))
  data.table::setindexv(table, "x")
  path <- written(table)
  back <- read_entasis(path)
  expect_identical(data.table::key(back), c("a", "b"))
  expect_identical(data.table::indices(back), "x")
  expect_true(isTRUE(all.equal(back, table)))
  expect_silent(data.table::set(back, j = "z", value = 1:3))
  expect_identical(names(back), c("a", "b", "x", "z"))
  expect_identical(data.table::key(read_entasis(path, c("x", "a"))), "a")
  expect_null(data.table::key(read_entasis(path, c("b", "x"))))
  expect_s3_class(read_entasis(written(iris), as.data.table = TRUE), "data.table")
})

test_that("a frame becomes the data.table that setDT makes, with lazy strings", {
  skip_if_not_installed("data.table")
  n <- 20000L
  x <- data.frame(a = paste("a string of row", seq_len(n)), b = seq_len(n), row.names = paste("row", seq_len(n)))
  frames <- list(x, x[0L, ], structure(x, class = c("front", "data.frame", "back"), note = "kept"))
  for (frame in frames) {
    y <- read_entasis(written(frame), as.data.table = TRUE)
    expect_silent(data.table::set(y, j = "z", value = rev(y$b)))
    if (nrow(y) > 0L) expect_false(.Call(entasis:::C_materialised, y$a))
    expected <- data.table::setDT(frame)
    data.table::set(expected, j = "z", value = rev(expected$b))
    expect_identical(y, expected)
  }
})
