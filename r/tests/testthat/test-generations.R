# Earlier states of a file are listed, read and restored.

# A file with an appended row, long enough to be changed in place. Returns the frame and the path.
grown <- function() {
  x <- data.frame(n = 1:150000, u = as.double(1:150000) / 7)
  path <- written(x, compress = 0)
  append_entasis(data.frame(n = 0L, u = NA), path, durable = FALSE)
  list(x = x, path = path)
}

test_that("generations are listed and read", {
  of <- grown()
  on.exit(unlink(of$path))
  found <- generations_entasis(of$path)
  expect_identical(found[c("number", "operation", "rows")],
                   data.frame(number = 1:2, operation = c("write", "append"), rows = c(150000, 150001)))
  expect_identical(found$bytes[2L], as.double(file.size(of$path)))
  expect_s3_class(found$time, "POSIXct")
  expect_identical(is.na(found$time), c(TRUE, FALSE))
  expect_lt(abs(as.double(difftime(Sys.time(), found$time[2L], units = "secs"))), 600)
  expect_identical(read_entasis(of$path, generation = 1), of$x)
  expect_identical(read_entasis(of$path, "n", from = 149999, generation = 1)$n, 149999:150000)
  expect_identical(nrow(read_entasis(of$path, generation = 2)), 150001L)
  lazy <- entasis(of$path, generation = 1)
  expect_identical(lazy[], of$x)
})

test_that("a lazy table of an earlier generation is opened again at that one", {
  of <- grown()
  on.exit(unlink(of$path))
  lazy <- unserialize(serialize(entasis(of$path, generation = 1), NULL))
  expect_identical(nrow(lazy), 150000L)
})

test_that("a rollback restores a generation, and another one undoes it", {
  of <- grown()
  on.exit(unlink(of$path))
  after <- read_entasis(of$path)
  expect_invisible(rollback_entasis(of$path, 1, durable = FALSE))
  expect_identical(read_entasis(of$path), of$x)
  expect_identical(generations_entasis(of$path)$operation, c("write", "append", "rollback"))
  rollback_entasis(of$path, 2, durable = FALSE)
  expect_identical(read_entasis(of$path), after)
  verify_entasis(of$path)
})

test_that("compacting drops the other generations", {
  of <- grown()
  on.exit(unlink(of$path))
  append_entasis(data.frame(n = 1L, u = 1), of$path, durable = FALSE)
  after <- read_entasis(of$path)
  before <- file.size(of$path)
  expect_invisible(compact_entasis(of$path, durable = FALSE))
  expect_lt(file.size(of$path), before)
  expect_identical(read_entasis(of$path), after)
  expect_identical(generations_entasis(of$path)$operation, "compact")
  expect_error(read_entasis(of$path, generation = 1), "no generation 1", class = "entasis_error_argument")
})

test_that("a rollback may compact at once", {
  of <- grown()
  on.exit(unlink(of$path))
  expect_invisible(rollback_entasis(of$path, 1, durable = FALSE, compact = TRUE))
  expect_identical(read_entasis(of$path), of$x)
  expect_identical(nrow(generations_entasis(of$path)), 1L)
  verify_entasis(of$path)
  # The lock is given back.
  expect_silent(compact_entasis(of$path, wait = 0))
  expect_error(
    rollback_entasis(of$path, 1, compact = NA), "'compact' must be TRUE or FALSE",
    class = "entasis_error_argument"
  )
})

test_that("trees have generations without rows", {
  path <- written(list(a = 1, b = "x"))
  on.exit(unlink(path))
  found <- generations_entasis(path)
  expect_identical(found$rows, NA_real_)
  expect_identical(read_entasis(path, generation = 1), list(a = 1, b = "x"))
  expect_identical(entasis(path, generation = 1)$b, "x")
})

test_that("wrong calls leave the file as it is", {
  of <- grown()
  on.exit(unlink(of$path))
  before <- unname(tools::md5sum(of$path))
  expect_error(rollback_entasis(of$path, 9), "no generation 9: its current one is 2", class = "entasis_error_argument")
  expect_error(
    rollback_entasis(of$path, 1.5), "'generation' must be a whole number from 1",
    class = "entasis_error_argument"
  )
  expect_error(read_entasis(of$path, generation = "a"), "'generation' must be", class = "entasis_error_argument")
  expect_error(compact_entasis(of$path, wait = -1), "'wait' must be", class = "entasis_error_argument")
  expect_identical(unname(tools::md5sum(of$path)), before)
  absent <- tempfile()
  expect_error(rollback_entasis(absent, 1), "No such file", class = "entasis_error_io")
  expect_error(compact_entasis(absent), "No such file", class = "entasis_error_io")
  expect_error(generations_entasis(absent), "No such file", class = "entasis_error_io")
  expect_false(file.exists(absent))
})

test_that("changes wait for another writer", {
  of <- grown()
  on.exit(unlink(of$path))
  held <- entasis:::begin_change(of$path, entasis:::change_options(NULL, 0))
  expect_error(rollback_entasis(of$path, 1, wait = 0), class = "entasis_error_busy")
  expect_error(compact_entasis(of$path, wait = 0), class = "entasis_error_busy")
  .Call(entasis:::C_change_end, held)
  expect_silent(rollback_entasis(of$path, 1))
})

test_that("small appends stay small, and a wish keeps generations", {
  path <- written(data.frame(n = 1L, u = 0.5))
  on.exit(unlink(path))
  append_entasis(data.frame(n = 2L, u = 1.5), path, durable = FALSE)
  expect_identical(generations_entasis(path)$operation, c("write", "append"))
  expect_identical(read_entasis(path, generation = 1), data.frame(n = 1L, u = 0.5))
  expect_invisible(keep_entasis(path, 2, durable = FALSE))
  shorter <- 0L
  before <- file.size(path)
  for (i in 3:1100) {
    append_entasis(data.frame(n = i, u = i - 0.5), path, durable = FALSE)
    if (file.size(path) < before) {
      shorter <- shorter + 1L
      expect_identical(nrow(generations_entasis(path)), 4L)
    }
    before <- file.size(path)
  }
  expect_gt(shorter, 0L)
  expect_lt(before, 3 * 2^20)
  expect_identical(read_entasis(path), data.frame(n = 1:1100, u = 1:1100 - 0.5))
  keep_entasis(path, as.difftime(2, units = "days"))
  keep_entasis(path, NULL)
})

test_that("wishes have to be positive", {
  path <- written(data.frame(n = 1L))
  on.exit(unlink(path))
  before <- readBin(path, raw(), file.size(path))
  for (wrong in list(0, -1, NA, "7d", c(1, 2), as.difftime(0, units = "secs")))
    expect_error(keep_entasis(path, wrong), class = "entasis_error_argument")
  expect_identical(readBin(path, raw(), file.size(path)), before)
})

test_that("values that are written anew keep the generation with other types", {
  path <- written(c(1L, 2L))
  on.exit(unlink(path))
  append_entasis(2.5, path, widen = TRUE, durable = FALSE)
  expect_identical(read_entasis(path), c(1, 2, 2.5))
  expect_identical(generations_entasis(path)$operation, c("write", "replace columns"))
  expect_identical(read_entasis(path, generation = 1), c(1L, 2L))

  x <- data.frame(n = 1:2)
  x$l <- list(1, "a")
  write_entasis(x, path)
  y <- data.frame(n = 3.5)
  y$l <- list(NULL)
  append_entasis(y, path, widen = TRUE, durable = FALSE)
  expect_identical(read_entasis(path)$n, c(1, 2, 3.5))
  expect_identical(read_entasis(path, generation = 1), x)
  append_entasis(y, path, durable = FALSE)
  expect_identical(tail(generations_entasis(path)$operation, 1L), "append")
  expect_identical(read_entasis(path, generation = 1), x)
})
