test_that("columns and rows are read without the rest", {
  frame <- many()
  path <- written(frame)
  expect_true(alike(read_entasis(path, c("c", "a")), frame[c("c", "a")]))
  expect_true(alike(read_entasis(path, c(3, 1)), frame[c(3, 1)]))
  expect_true(alike(read_entasis(path, from = 70001, to = 70100), bare(frame[70001:70100, ])))
  expect_true(alike(read_entasis(path, from = 99999, to = 1e9), bare(frame[99999:100000, ])))
  expect_true(alike(read_entasis(path, "u", 5, 5), bare(frame[5, "u", drop = FALSE])))
  expect_identical(dim(read_entasis(path, character())), c(100000L, 0L))
  for (wrong in list(
    quote(read_entasis(path, "nope")), quote(read_entasis(path, 9)), quote(read_entasis(path, from = 0)),
    quote(read_entasis(path, from = 100001)), quote(read_entasis(path, from = 5, to = 3)),
    quote(read_entasis(path, NA)),
    quote(read_entasis(1)), quote(write_entasis(frame, path, 101)), quote(write_entasis(frame, NA))
  )) {
    expect_error(eval(wrong), class = "entasis_error_argument")
  }
})

test_that("vectors are read in part", {
  x <- c(a = 1, b = 2, c = 3)
  expect_identical(read_entasis(written(x), from = 2, to = 3), x[2:3])
  expect_error(read_entasis(written(matrix(1:4, 2)), from = 2), class = "entasis_error_argument")
  expect_error(read_entasis(written(1:3), "a"), class = "entasis_error_argument")
})

test_that("a table reads what is asked for", {
  frame <- many()
  x <- entasis(written(frame))
  n <- nrow(frame)
  expect_identical(dim(x), dim(frame))
  expect_identical(names(x), names(frame))
  expect_identical(length(x), 8L)
  set.seed(2)
  rows <- sample(n, 500, TRUE)
  mask <- frame$b < 0.01
  expect_true(alike(x[rows, ], bare(frame[rows, ])))
  expect_true(alike(x[rows, c("f", "u")], bare(frame[rows, c("f", "u")])))
  expect_true(alike(x[mask, 1:2], bare(frame[mask, 1:2])))
  expect_true(alike(x[-(1:(n - 5)), ], bare(tail(frame, 5))))
  expect_true(alike(x[10:1, "a"], data.frame(a = 10:1)))
  expect_true(alike(x[c(0, 3), "a"], data.frame(a = 3L)))
  expect_identical(dim(x[integer(), ]), c(0L, 8L))
  expect_true(alike(x["b"], frame["b"]))
  expect_true(alike(x[c(TRUE, rep(FALSE, 7))], frame[1]))
  expect_identical(x[5, "b", drop = TRUE], frame$b[5])
  expect_identical(x$b, frame$b)
  expect_null(x$nope)
  expect_identical(x[["c"]], frame$c)
  expect_identical(x[[7, "a"]], 7L)
  expect_true(alike(head(x), head(frame)))
  expect_true(alike(head(x, -(n - 2)), head(frame, 2)))
  expect_true(alike(tail(x, 3), bare(tail(frame, 3))))
  expect_true(alike(as.data.frame(x), frame))
  expect_true(alike(as.list(x), as.list(frame)))
  expect_output(print(x), "100,000 rows, 8 columns")
  expect_output(str(x), "f: fct")
  expect_null(x[["nope"]])
  expect_error(x[n + 1, ], class = "entasis_error_argument")
  expect_identical(x[NA_integer_, ], frame[NA_integer_, ])
  expect_error(x$b <- 1, class = "entasis_error_argument")
})

test_that("row names select", {
  x <- entasis(written(mtcars))
  expect_true(alike(x[c("Fiat 128", "Mazda RX4"), 1:3], mtcars[c("Fiat 128", "Mazda RX4"), 1:3]))
  expect_identical(row.names(x), row.names(mtcars))
  expect_true(alike(x[5:6, ], mtcars[5:6, ]))
  expect_error(x["no such car", ], class = "entasis_error_argument")
})

test_that("a table outlives its file and its session", {
  path <- written(iris)
  x <- entasis(path)
  write_entasis(mtcars, path)
  expect_true(alike(x[1:3, ], iris[1:3, ]))
  saved <- unserialize(serialize(x, NULL))
  expect_identical(names(saved[1:2, ]), names(mtcars))
})

test_that("metadata are reported without values", {
  m <- metadata_entasis(written(many(1000)))
  expect_identical(m$n_rows, 1000)
  expect_identical(m$columns$name, names(many(1)))
  expect_identical(m$written_by, "r")
  expect_output(print(m), "1,000 rows, 8 columns")
  skip_if_not_installed("data.table")
  table <- data.table::data.table(a = 1:3, key = "a")
  expect_identical(metadata_entasis(written(table))$keys, "a")
})
