# write_csv_entasis(): data frames and files to text that reads back equal.

csv_of <- function(x, ...) {
  path <- tempfile(fileext = ".csv")
  on.exit(unlink(path))
  write_csv_entasis(x, path, ...)
  readChar(path, file.size(path), useBytes = TRUE)
}

# Written, and read back by the spec.
csv_round_trip <- function(x, ...) {
  path <- tempfile(fileext = ".csv")
  on.exit(unlink(path))
  spec <- write_csv_entasis(x, path, ...)
  read_csv_entasis(
    path, spec = spec,
    as = if (inherits(x, "data.table")) "data.table" else if (inherits(x, "tbl_df")) "tibble" else "data.frame"
  )
}

hard_texts <- c("a", "", NA, "NA", "1", "007", "1.5", "TRUE", "true", "2020-01-01", "a,b", "x\ny", "x\r\ny", "\r", "say \"hi\"", "\"", " x", "x ", "\t",
                "Z\u00fcrich", "#", "'", "inf", "-", ";", "\\", "N/A", "NULL", "a long text of more than twelve bytes")

hard_frame <- function() {
  n <- length(hard_texts)
  data.frame(
    text = hard_texts, number = rep_len(c(0.1, -0, 1 / 3, NaN, NA, Inf, -Inf, 5e-324, 1e300, 3), n),
    integer = rep_len(c(NA, -1L, 2147483647L), n),
    flag = rep_len(c(TRUE, NA, FALSE), n), day = structure(rep_len(c(20484, NA, -800000, 2e6), n), class = "Date"),
    time = .POSIXct(rep_len(c(0, NA, -0.25, 1.7e9 + 0.123456, -6e10), n), "UTC"),
    label = factor(rep_len(c("b", "a, b", NA), n)), stringsAsFactors = FALSE
  )
}

test_that("the text is exact", {
  x <- data.frame(zip = c("0150", "7", NA, ""), price = c(0.1, -0, 3, NaN), big = c(1e22, 1e-7, NA, Inf), day = as.Date("2026-01-31"),
                  time = as.POSIXct(c(0, 0.5, NA, 1e-6), tz = "America/New_York", origin = "1970-01-01"), flag = c(TRUE, FALSE, NA, TRUE))
  expect_identical(strsplit(csv_of(x), "\n")[[1L]], c(
    "zip,price,big,day,time,flag", "0150,0.1,1e+22,2026-01-31,1970-01-01T00:00:00Z,true",
    "\"7\",-0.0,1e-7,2026-01-31,1970-01-01T00:00:00.500Z,false",
    ",3.0,,2026-01-31,,", "\"\",NaN,inf,2026-01-31,1970-01-01T00:00:00.000001Z,true"
  ))
  expect_identical(
    csv_of(data.frame(a = 1.5, b = NA), sep = ";", dec = ",", na = "-", eol = "\r\n", bom = TRUE),
    "\ufeffa;b\r\n1,5;-\r\n"
  )
  expect_identical(csv_of(data.frame(a = 1:2, b = c("x", NA)), quote = TRUE, col.names = FALSE), "1,\"x\"\n2,\n")
  expect_identical(csv_of(data.frame(a = 1L, b = "x"), quote = "all"), "\"a\",\"b\"\n\"1\",\"x\"\n")
  expect_identical(csv_of(data.frame(a = 1:2, row.names = c("r", "s")), row.names = TRUE), "\"\",a\nr,1\ns,2\n")
  expect_error(
    csv_of(data.frame(a = "x,y"), quote = FALSE),
    "row 0 of column 'a' has a separator|row 1 of column 'a' has a separator"
  )
  expect_identical(csv_of(data.frame(d = as.difftime(c(1.5, NA), units = "mins"))), "d\nP0DT0H1M30S\n\n\n")
})

test_that("hard values come back", {
  x <- hard_frame()
  expect_true(same(csv_round_trip(x), x))
  expect_true(same(csv_round_trip(x, quote = TRUE), x))
  expect_true(same(csv_round_trip(x, quote = "all", sep = "\t"), x))
  expect_true(same(csv_round_trip(x, sep = ";", dec = ",", na = "missing", eol = "\r\n", bom = TRUE), x))
  for (compress in c("gzip", "zstd")) expect_true(same(csv_round_trip(x, compress = compress), x))
  # Without the spec, types are found anew. Factors are text then.
  path <- tempfile()
  write_csv_entasis(x, path)
  y <- read_csv_entasis(path, na.strings = NULL)
  y$label <- factor(y$label, levels(x$label))
  expect_identical(y, x)
})

test_that("random frames come back, also by fread() and read.csv()", {
  set.seed(3)
  kinds <- list(
    function(n) sample(c(NA, -3:3, .Machine$integer.max), n, TRUE),
    function(n) sample(c(NA, rnorm(5), 1e15, 0.5), n, TRUE),
    function(n) sample(c(NA, "", "a", "two words", "x,y", "1", "\u00e9"), n, TRUE),
    function(n) sample(c(NA, TRUE, FALSE), n, TRUE),
    function(n) structure(as.double(sample(c(NA, 0:999), n, TRUE)), class = "Date"),
    function(n) factor(sample(c("u", "v", NA), n, TRUE), levels = c("u", "v")),
    function(n) .POSIXct(sample(c(NA, 1e9 + 0:5 / 8), n, TRUE), "UTC")
  )
  for (i in 1:40) {
    n <- sample(c(1, 2, 10, 300), 1)
    x <- as.data.frame(lapply(sample(kinds, sample(2:6, 1), TRUE), function(kind) kind(n)))
    names(x) <- paste0("c", seq_along(x))
    y <- csv_round_trip(x, sep = sample(c(",", ";", "\t"), 1), na = sample(c("", "NA"), 1))
    # Levels are those that occur.
    for (k in which(vapply(x, is.factor, NA))) y[[k]] <- factor(y[[k]], levels(x[[k]]))
    if (!same(y, x)) expect_identical(y, x)
    path <- tempfile()
    plain <- x[vapply(x, function(v) is.numeric(v) && !is.factor(v) || is.character(v), NA)]
    plain[] <- lapply(plain, function(v) if (is.character(v)) ifelse(is.na(v), "none", v) else v)
    if (length(plain) < 2L) next
    write_csv_entasis(plain, path, na = "NA", quote = TRUE)
    theirs <- utils::read.csv(
      path, check.names = FALSE, encoding = "UTF-8", colClasses = vapply(plain, function(v) class(v)[1L], "")
    )
    expect_equal(theirs, plain, tolerance = 1e-14)
    if (requireNamespace("data.table", quietly = TRUE)) {
      theirs <- data.table::fread(
        path, data.table = FALSE, encoding = "UTF-8", colClasses = vapply(plain, function(v) class(v)[1L], "")
      )
      expect_equal(theirs, plain, tolerance = 1e-14)
    }
  }
})

test_that("integer64, nanotime, IDate, ITime and tibbles are written", {
  skip_if_not_installed("bit64")
  x <- data.frame(a = bit64::as.integer64(c("9007199254740993", NA)), b = 1:2)
  expect_true(same(csv_round_trip(x), x))
  skip_if_not_installed("data.table")
  x <- data.table::data.table(d = data.table::as.IDate("2026-01-31") + 0:1, t = data.table::as.ITime(c("12:30:00", NA)))
  expect_identical(csv_of(x), "d,t\n2026-01-31,12:30:00\n2026-02-01,\n")
  skip_if_not_installed("tibble")
  x <- tibble::tibble(a = 1:2, b = c("x", NA))
  expect_identical(csv_round_trip(x), x)
  skip_if_not_installed("nanotime")
  expect_match(csv_of(data.frame(t = nanotime::nanotime(1))), "1970-01-01T00:00:00.000000001Z")
})

test_that("columns without an exact form are refused by name, and the old file stays", {
  path <- tempfile(fileext = ".csv")
  write_csv_entasis(mtcars, path)
  before <- readLines(path)
  refused <- function(column, message) {
    x <- data.frame(good = 1:2)
    x$bad <- column
    expect_error(write_csv_entasis(x, path), message, class = "entasis_error_unsupported")
    expect_identical(readLines(path), before)
  }
  refused(list(1, 2), "column 'bad' is a list")
  refused(c(1i, 2i), "column 'bad' is complex")
  refused(as.raw(1:2), "column 'bad' is raw")
  refused(matrix(1:4, 2), "column 'bad' is a matrix")
  refused(data.frame(a = 1:2), "column 'bad' is a data frame")
  refused(as.Date("2026-01-31") + c(0, 0.5), "column 'bad' has a time with a part of a day")
  refused(.POSIXct(c(1 / 3, 1e-12)), "column 'bad' has a time with a part of a nanosecond")
  refused(as.difftime(c(1 / 3, 1e-12), units = "hours"), "column 'bad' has a time")
  refused(as.roman(1:2), "column 'bad' is of class \"roman\"")
  x <- data.frame(good = 1:2)
  bytes <- "\xff"
  Encoding(bytes) <- "bytes"
  x$bad <- c(bytes, "x")
  expect_error(write_csv_entasis(x, path), "bytes without a known encoding.*bad")
  expect_identical(readLines(path), before)
  expect_error(write_csv_entasis(mtcars, file.path(tempfile(), "x.csv")), class = "entasis_error_io")
  expect_error(write_csv_entasis(1:3, path), "'x' must be a data frame")
  expect_error(write_csv_entasis(mtcars), "pass the path")
  expect_error(write_csv_entasis(mtcars, path, sep = "::"), "'sep' must be one character")
  expect_error(write_csv_entasis(mtcars, path, qmethod = "escape"), "quotes in a text are doubled")
  expect_error(write_csv_entasis(mtcars, path, dateTimeAs = "epoch"), "ISO 8601")
  expect_error(write_csv_entasis(mtcars, path, nonsense = 1), "unused argument")
  expect_silent(write_csv_entasis(mtcars, path, qmethod = "double", dateTimeAs = "ISO", showProgress = FALSE))
})

test_that("rows are appended to a file with the same header", {
  path <- tempfile(fileext = ".csv")
  x <- data.frame(a = 1:2, b = c("x", NA))
  write_csv_entasis(x, path)
  write_csv_entasis(x, path, append = TRUE)
  expect_identical(read_csv_entasis(path), rbind(x, x))
  write_csv_entasis(x, path, append = TRUE, col.names = FALSE)
  expect_identical(nrow(read_csv_entasis(path)), 6L)
  expect_error(write_csv_entasis(mtcars, path, append = TRUE), "other names")
  expect_identical(nrow(read_csv_entasis(path)), 6L)
  new <- tempfile(fileext = ".csv.gz")
  for (i in 1:2) write_csv_entasis(x, new, append = TRUE)
  expect_identical(read_csv_entasis(new), rbind(x, x))
  expect_identical(readBin(new, "raw", 2L), as.raw(c(0x1f, 0x8b)))
})

test_that("open tables are written without reading them whole", {
  x <- hard_frame()
  path <- tempfile(fileext = ".csv")
  file <- written(x)
  spec <- write_csv_entasis(entasis(file), path)
  expect_true(same(read_csv_entasis(path, spec = spec), x))
  expect_identical(csv_of(entasis(file)), csv_of(x))
  # Zones, row names, other classes, and queries are as for the data frame.
  zoned <- data.frame(
    t = as.POSIXct(c(0.5, 1e9), tz = "Europe/Berlin", origin = "1970-01-01"),
    u = as.POSIXct(c(1, 2), origin = "1970-01-01")
  )
  expect_identical(csv_of(entasis(written(zoned))), csv_of(zoned))
  expect_identical(csv_of(entasis(written(mtcars))), csv_of(mtcars))
  expect_identical(csv_of(entasis(written(mtcars)), row.names = TRUE), csv_of(mtcars, row.names = TRUE))
  expect_identical(csv_of(subset(entasis(written(mtcars)), cyl == 4)), csv_of(subset(mtcars, cyl == 4)))
  latin1 <- "caf\xe9"
  Encoding(latin1) <- "latin1"
  x <- data.frame(a = c(latin1, "b"))
  expect_identical(csv_of(entasis(written(x))), csv_of(x))
  expect_error(csv_of(entasis(written(data.frame(t = .POSIXct(c(1 / 3, 1e-12)))))), "part of a nanosecond")
})

test_that("frames without rows or columns, and one column with missing values, come back", {
  expect_identical(csv_round_trip(mtcars[0, 1:2])$mpg, double())
  x <- data.frame(a = c(1.5, NA))
  expect_identical(csv_round_trip(x), x)
  for (x in list(c(NA, "x", NA), c("", NA), c(NA_character_, NA), c(NA_real_, NA), NA)) {
    x <- data.frame(a = x, b = x)
    expect_identical(csv_round_trip(x), x)
    expect_identical(csv_round_trip(x["a"]), x["a"])
  }
})

test_that("a German locale changes nothing", {
  locale <- "de_DE.UTF-8"
  before <- Sys.getlocale("LC_NUMERIC")
  if (suppressWarnings(Sys.setlocale("LC_NUMERIC", locale)) == "") skip(paste("needs the locale", locale))
  on.exit(suppressWarnings(Sys.setlocale("LC_NUMERIC", before)))
  expect_identical(csv_of(data.frame(a = 1.5)), "a\n1.5\n")
  expect_identical(read_csv_entasis(text = c("a,b", "1.5,2"))$a, 1.5)
})

test_that("writing is interrupted, and leaves the old file", {
  skip_on_os("windows")
  skip_on_cran()
  path <- tempfile(fileext = ".csv.gz")
  script <- tempfile(fileext = ".R")
  writeLines(c(
    "library(entasis)", sprintf("path <- '%s'", path), "write_csv_entasis(data.frame(a = 1), path)",
    "x <- data.frame(a = rnorm(3e6))",
    "file.create(paste0(path, '.ready'))",
    "found <- tryCatch({write_csv_entasis(x, path); 'finished'}, interrupt = function(e) 'interrupted')",
    "writeLines(c(found, nrow(read_csv_entasis(path))), paste0(path, '.found'))"
  ), script)
  pid <- as.integer(
    system(sprintf("exec %s %s > /dev/null 2>&1 & echo $!", file.path(R.home("bin"), "Rscript"), script), intern = TRUE)
  )
  wait <- function(file) for (i in 1:300) if (file.exists(file)) break else Sys.sleep(0.1)
  wait(paste0(path, ".ready"))
  Sys.sleep(0.5)
  tools::pskill(pid, tools::SIGINT)
  wait(paste0(path, ".found"))
  Sys.sleep(0.2)
  expect_identical(readLines(paste0(path, ".found")), c("interrupted", "1"))
  expect_identical(
    list.files(dirname(path), paste0("^", basename(path))), paste0(basename(path), c("", ".found", ".ready"))
  )
})

test_that("the spec reads texts with repeated and empty names, and with words of missing values", {
  path <- tempfile(fileext = ".csv")
  frames <- list(
    setNames(data.frame(1:2, 3:4, c("NA", "x"), c("a", NA)), c("a", "a", "b", "a_1")),
    setNames(data.frame(1:2, 3:4), c("", "b")),
    setNames(data.frame(c("x", NA), 3:4, 5:6), c("", "", "V2")),
    setNames(data.frame(c("NA", NA, "")), "q\"uote, and\ncomma")
  )
  for (x in frames) {
    for (quote in list("auto", "all", TRUE)) {
      spec <- write_csv_entasis(x, path, quote = quote)
      back <- suppressWarnings(read_csv_entasis(path, spec = spec))
      expect_identical(unname(as.list(back)), unname(as.list(x)))
      expect_named(back, names(suppressWarnings(read_csv_entasis(path, header = TRUE))))
      expect_identical(anyDuplicated(names(back)), 0L)
    }
  }
})
