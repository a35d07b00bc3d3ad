# Files of R's other formats, read without R's readers.

saved <- function(x, ...) {
  path <- tempfile(fileext = ".rds")
  saveRDS(x, path, ...)
  path
}

# Formulas refer to the global environment.
VALUES <- evalq(list(
  iris, mtcars, 1:10, c(a = 1.5, b = NA), letters, NULL, list(), TRUE, NA_character_, factor(c("x", NA)), Sys.Date(),
  .POSIXct(1e9, "Europe/Zurich"), as.difftime(c(1.5, NA), units = "mins"), complex(real = 1, imaginary = -0),
  as.raw(0:3),
  matrix(1:6, 2L, dimnames = list(NULL, c("a", "b", "c"))), quote(f(x, y = 2) + g()), y ~ x + z, expression(a, b + 1),
  list(a = 1, b = list(c = "text", d = iris[1:3, ])), structure(list(1, 2), class = "own"), -0.0, NaN, c(NA, NaN, Inf),
  c("gr\u00fcn", "plain"), pairlist(a = 1, 2), as.name("symbol"), 1e5 + 0:9999, seq_len(1e5),
  as.POSIXlt("2020-05-06", tz = "UTC"),
  lm(Sepal.Length ~ Species, iris), table(c(1, 1, 2)), numeric_version("1.2.3"), array(1:24, 2:4)
), globalenv())

test_that("every version and compression gives the value", {
  for (x in VALUES) {
    for (path in c(saved(x), saved(x, version = 2), saved(x, ascii = TRUE), saved(x, compress = "xz"), saved(x, compress = "bzip2"))) {
      expect_true(same(readRDS(path), read_entasis(path)), label = paste(class(x), collapse = "/"))
    }
  }
})

test_that("a converted file is the file that the package writes", {
  path <- tempfile(fileext = ".entasis")
  for (x in VALUES) {
    convert_entasis(saved(x), path)
    expect_true(same(x, read_entasis(path)), label = paste(class(x), collapse = "/"))
  }
  expect_identical(convert_entasis(saved(1), path), path)
})

test_that("saved objects are a named list", {
  path <- tempfile(fileext = ".RData")
  x <- iris
  y <- list(1, "a")
  save(x, y, file = path)
  expect_identical(read_entasis(path), list(x = x, y = y))
  save(x, file = path, ascii = TRUE)
  expect_identical(read_entasis(path), list(x = x))
})

test_that("functions are data, and are made only when the caller asks", {
  f <- function(x, y = 2) x + y
  environment(f) <- globalenv()
  path <- saved(list(f = f, k = 1))
  expect_error(read_entasis(path), "functions", class = "entasis_error_unsupported")
  expect_identical(read_entasis(path, functions = TRUE)$f(1), 3)
  target <- tempfile(fileext = ".entasis")
  expect_error(
    convert_entasis(path, target), "x\\$f: a value of type closure is code", class = "entasis_error_unsupported"
  )
  expect_false(file.exists(target))
  convert_entasis(path, target, functions = TRUE)
  expect_identical(read_entasis(target, functions = TRUE)$f(5, 6), 11)
  e <- new.env(parent = globalenv())
  e$a <- 1:3
  e$self <- e
  back <- read_entasis(saved(list(e, e)))
  expect_identical(back[[1L]]$a, 1:3)
  expect_identical(back[[1L]], back[[2L]])
  expect_identical(back[[1L]]$self, back[[1L]])
})

test_that("tables are open like those of Entasis files", {
  path <- saved(iris)
  x <- entasis(path)
  expect_identical(dim(x), dim(iris))
  expect_equal(subset(x, Sepal.Length > 7)[], subset(iris, Sepal.Length > 7), ignore_attr = TRUE)
  expect_identical(read_entasis(path, "Species", 3, 5), bare(iris[3:5, "Species", drop = FALSE]))
})

test_that("text and R's own format are written", {
  csv <- tempfile(fileext = ".csv")
  rds <- tempfile(fileext = ".rds")
  path <- tempfile(fileext = ".entasis")
  convert_entasis(saved(mtcars), csv)
  convert_entasis(csv, path)
  expect_equal(read_entasis(path), mtcars, ignore_attr = TRUE)
  convert_entasis(path, rds)
  expect_identical(readRDS(rds), read_entasis(path))
  lines <- tempfile(fileext = ".csv")
  writeLines(c("a;b", "1;x"), lines)
  convert_entasis(lines, rds, sep = ";", select = "b")
  expect_identical(readRDS(rds), data.frame(b = "x"))
  write_entasis(list(1, iris), path)
  expect_error(convert_entasis(path, csv), class = "entasis_error")
  expect_error(convert_entasis(path, path), "the same file")
  expect_error(convert_entasis(path, tempfile(fileext = ".entasis")), "both are Entasis files")
  expect_error(convert_entasis(path, csv, compress = 10), "'compress' is for Entasis files")
  expect_error(convert_entasis(path, "x.xyz"), "'path' has no suffix of a format")
  expect_error(convert_entasis(path, "x.parquet"), "arrow::read_parquet")
  expect_error(convert_entasis("nowhere.rds", path), "there is no file", class = "entasis_error_io")
})

test_that("damaged files are errors", {
  bytes <- readBin(saved(iris, compress = FALSE), "raw", 1e5)
  path <- tempfile(fileext = ".rds")
  for (n in c(3, 20, 200, length(bytes) - 1L)) {
    writeBin(bytes[seq_len(n)], path)
    expect_error(read_entasis(path), class = "entasis_error")
  }
})

# A table of fst: integers, texts, times of Zurich with half a second, and a factor.
FST <- paste0(
  "13b7e7c95b2cbbe801000000010000000000000000000000010000000400000030000000000000000000000050414150f287f14ce24395c5",
  "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
  "06000000000000000400000000000000050002000c0003000800060009000700080006000900070004000400040004000443edb85fe24486",
  "0000000000000000000000000000000000000000ff0700002e000000000000000100000005000000090000000a000000000000006e746578",
  "747768656e6672fa5cdc35f88884000000000000000000000000000000000400000000000000460100000000000000000000000000000000",
  "000000000000000000000000000006000000000000000000000000000000000000000000000000000000000000005ceeac4f96fc34180000",
  "00000000000000000000000000007e01000000000000a201000000000000d801000000000000210200000000000000000000000000000000",
  "000001000000020000000000008004000000050000000600000004000000ff07000036000000000000000100000003000000080000000900",
  "0000090000000a00000042000000614e416772c3bc6e64660d0000804575726f70652f5a757269636800000000000000000000000065cdcd",
  "410000400065cdcd410000000000000000000000000000f03f0000000000000040000000000000084001000000020000004f020000000000",
  "0004000000ff0700001e00000000000000010000000200000000000000787900000000000000000000000001000000020000000200000000",
  "0000800100000001000000"
)

fst_file <- function() {
  path <- tempfile(fileext = ".fst")
  bytes <- substring(FST, seq(1, nchar(FST), 2), seq(2, nchar(FST), 2))
  writeBin(as.raw(strtoi(bytes, 16L)), path)
  path
}

fst_table <- function() {
  data.frame(
    n = c(1L, 2L, NA, 4L, 5L, 6L), text = c("a", NA, "gr\u00fcn", "d", "", "f"),
    when = .POSIXct(c(1e9, 1e9 + 0.5, 0, 1, 2, 3), "Europe/Zurich"), f = factor(c("x", "y", "y", NA, "x", "x"))
  )
}

test_that("parts of fst are those of the table", {
  path <- fst_file()
  table <- fst_table()
  expect_identical(read_entasis(path), table)
  out <- tempfile(fileext = ".entasis")
  convert_entasis(path, out)
  expect_identical(read_entasis(out), table)
  for (columns in list(NULL, "text", c("f", "n"), c("when", "f", "when"), 2:3, c(TRUE, FALSE))) {
    for (rows in list(c(1, 6), c(2, 3), c(6, 6), c(3, 100))) {
      part <- read_entasis(path, columns, rows[1], rows[2])
      expect_identical(part, read_entasis(out, columns, rows[1], rows[2]), label = paste(columns, collapse = " "))
    }
    expect_identical(read_entasis(path, columns, 5), read_entasis(out, columns, 5))
  }
  for (file in c(path, out)) {
    expect_error(read_entasis(file, "nothing"), "nothing", class = "entasis_error")
    expect_error(read_entasis(file, from = 8), "8", class = "entasis_error")
    expect_error(read_entasis(file, from = 3, to = 1), "from", class = "entasis_error")
  }
  expect_identical(read_entasis(path, "n", as.data.table = FALSE)$n, table$n)
})

test_that("damage of fst is an error, and other files may have its suffix", {
  path <- fst_file()
  bytes <- readBin(path, raw(), 1000)
  writeBin(bytes[1:300], path)
  expect_error(read_entasis(path, "n"), class = "entasis_error_corrupt")
  write_entasis(iris, path)
  expect_identical(read_entasis(path, "Species", 2, 3), read_entasis(path)[1:2, "Species", drop = FALSE])
})

# The value of a file, by an RDS file that the command writes, and by this package.
expect_written <- function(path, label) {
  rds <- tempfile(fileext = ".rds")
  on.exit(unlink(rds))
  expected <- tryCatch(suppressWarnings(suppressMessages(read_entasis(path))), entasis_error = function(e) NULL)
  if (is.null(expected)) {
    return(invisible())
  }
  said <- command("convert", path, rds)
  # Plain data has no functions, environments with values and pointers.
  if (grepl("is code|family of models|environment with values|external pointer", paste(said, collapse = " "))) {
    return(expect_false(file.exists(rds), label = label))
  }
  found <- readRDS(rds)
  # R makes this pointer in each session.
  if (inherits(expected, "data.table")) attr(expected, ".internal.selfref") <- NULL
  expect_true(same(found, expected), label = label, info = paste(c(said, all.equal(found, expected)), collapse = "; "))
}

test_that("RDS files that are written without R have the values of this package", {
  if (Sys.getenv("ENTASIS_PYTHON") == "") skip("needs ENTASIS_PYTHON")
  path <- tempfile(fileext = ".entasis")
  for (i in seq_along(VALUES)) {
    write_entasis(VALUES[[i]], path)
    expect_written(path, paste("value", i))
  }
  for (n in c(0L, 1L, 70000L)) {
    write_entasis(odd_frame(n), path)
    expect_written(path, paste("a frame of", n, "rows"))
  }
  skip_on_cran()
  for (golden in list.files(file.path(Sys.getenv("ENTASIS_GOLDEN"), "golden", c("r", "v0.3")), "[.]entasis$", full.names = TRUE)) {
    expect_written(golden, basename(golden))
  }
})
