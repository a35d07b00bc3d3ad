# read_csv_entasis(): a text file to a data frame.

# The frame of some lines.
of_lines <- function(...) read_csv_entasis(text = c(...))

csv_file <- function(..., ext = ".csv") {
  path <- tempfile(fileext = ext)
  writeBin(charToRaw(paste0(..., collapse = "")), path)
  path
}

test_that("columns have the narrowest type that holds all values", {
  x <- of_lines("i,d,b,t,s,day,moment,none", "1,1.5,TRUE,2020-01-02T03:04:05.25Z,x,2020-02-29,1969-12-31 23:59:59,",
                "NA,NaN,false,2020-01-02T04:04:05+01:00,,1900-01-01,2020-01-01 00:00:00,", "-7,-Inf,,,NA,,,NA")
  expect_identical(x, data.frame(
    i = c(1L, NA, -7L), d = c(1.5, NaN, -Inf), b = c(TRUE, FALSE, NA),
    t = as.POSIXct(c(1577934245.25, 1577934245, NA), tz = "UTC", origin = "1970-01-01"), s = c("x", NA, NA),
    day = as.Date(c("2020-02-29", "1900-01-01", NA)),
    moment = as.POSIXct(c(-1, 1577836800, NA), tz = "UTC", origin = "1970-01-01"), none = NA
  ))
  # A missing double is NA, and NaN is not.
  expect_identical(is.nan(of_lines("x", "1.5", "NA", "NaN")$x), c(FALSE, FALSE, TRUE))
})

test_that("text stays text where a number would lose something", {
  x <- of_lines("zip,plus,exp,quoted,hex,year", "007,+1,1e400,\"1\",0x1F,2020-1-1", "10,2,1,\"2\",1,2020-01-01")
  expect_true(all(vapply(x, is.character, NA)))
  expect_identical(x$zip, c("007", "10"))
  expect_identical(x$quoted, c("1", "2"))
})

test_that("blanks around fields and names are stripped, but for quoted ones", {
  lines <- c(" a ,b\t, \" c \"", " x y ,\" z \", 1 ", "\t,  ,2")
  expect_identical(of_lines(lines), data.frame(a = c("x y", NA), b = c(" z ", NA), ` c ` = 1:2, check.names = FALSE))
  kept <- read_csv_entasis(text = lines, strip.white = FALSE, sep = ",", header = TRUE)
  expect_identical(kept[[1L]], c(" x y ", "\t"))
  expect_identical(names(kept), c(" a ", "b\t", " \" c \""))
})

test_that("words for missing values are those of na.strings, also in text", {
  lines <- c("a,b,c", "NA,NA,NULL", "x,1,2", "\"NA\",3,", ",\"\",4")
  x <- of_lines(lines)
  expect_identical(x$a, c(NA, "x", "NA", NA))
  expect_identical(x$b, c(NA, "1", "3", ""))
  expect_identical(x$c, c("NULL", "2", NA, "4"))
  x <- read_csv_entasis(text = lines[1:3], na.strings = c("NULL", "x", ""))
  expect_identical(x, data.frame(a = c("NA", NA), b = c("NA", "1"), c = c(NA, 2L)))
  expect_identical(read_csv_entasis(text = lines[1:3], na.strings = NULL)$a, c("NA", "x"))
})

test_that("the header is guessed, and columns without a name are called V", {
  expect_identical(of_lines("1,x", "2,y"), data.frame(V1 = 1:2, V2 = c("x", "y")))
  expect_identical(names(of_lines("a,b", "1,x")), c("a", "b"))
  expect_identical(names(read_csv_entasis(text = c("a,b", "1,x"), header = FALSE)), c("V1", "V2"))
  expect_identical(names(read_csv_entasis(text = c("1,2", "3,4"), header = TRUE)), c("1", "2"))
  expect_warning(x <- of_lines("a,,a", "1,2,3"), "renamed", class = "entasis_warning_text")
  expect_identical(names(x), c("a", "V2", "a_1"))
  # The form of write.table(): the header lacks a name for the row names.
  path <- tempfile()
  write.table(mtcars, path, sep = ",")
  expect_warning(x <- read_csv_entasis(path), "renamed")
  expect_identical(names(x), c("V1", names(mtcars)))
  expect_identical(x$V1, row.names(mtcars))
})

test_that("separator, decimal mark and lines before the table are found or given", {
  expect_identical(of_lines("a;b", "1,5;x", "2,25;y"), data.frame(a = c(1.5, 2.25), b = c("x", "y")))
  expect_warning(x <- of_lines("A title", "a\tb", "1\t2", "3\t4"), "skip=1 or skip=0")
  expect_identical(x, data.frame(a = c(1L, 3L), b = c(2L, 4L)))
  expect_warning(x <- of_lines("# hi", "a,b", "1,2"), "comment.char = \"#\" or comment.char = \"\"", fixed = TRUE)
  expect_identical(x, data.frame(a = 1L, b = 2L))
  expect_identical(read_csv_entasis(text = c("x", "a:b", "1:2"), skip = 1, sep = ":"), data.frame(a = 1L, b = 2L))
  expect_identical(read_csv_entasis(text = c("a,b", "'x,y',2"), quote = "'"), data.frame(a = "x,y", b = 2L))
  expect_identical(read_csv_entasis(text = c("a,b", "\"x,2"), quote = ""), data.frame(a = "\"x", b = 2L))
  expect_identical(read_csv_entasis(text = c("a;b", "1.234;x"), thousands = ".", dec = ",")$a, 1234L)
  expect_identical(of_lines("a   b", "1   2.5", "10  3"), data.frame(a = c(1L, 10L), b = c(2.5, 3)))
})

test_that("columns are selected, left out and named as by fread()", {
  lines <- c("a,b,c", "1,x,2020-01-01", "2,y,2020-01-02")
  read <- function(...) read_csv_entasis(text = lines, ...)
  whole <- read()
  expect_identical(read(select = c("c", "a")), whole[c("c", "a")])
  expect_identical(read(select = c(3, 1)), whole[c("c", "a")])
  expect_identical(read(drop = "b"), whole[c("a", "c")])
  expect_identical(read(drop = 2:3), whole["a"])
  expect_identical(
    read(select = c(a = "double", c = "character")), data.frame(a = c(1, 2), c = c("2020-01-01", "2020-01-02"))
  )
  expect_identical(
    read(select = list(character = c("a", "c"))), data.frame(a = c("1", "2"), c = c("2020-01-01", "2020-01-02"))
  )
  expect_identical(names(read(select = 2:1, col.names = c("X", "Y"))), c("X", "Y"))
  expect_identical(read(nrows = 1), whole[1L, ])
  expect_identical(nrow(read(nrows = 0)), 0L)
  expect_identical(
    names(read_csv_entasis(text = c("a b,a b", "1,2"), check.names = TRUE, col.names = c("a b", "a b"))),
    c("a.b", "a.b.1")
  ) |>
    suppressWarnings()
  expect_error(read(select = "z"), "there is no column 'z'", class = "entasis_error_argument")
  expect_error(read(select = 4), "'select' has 4, and the text has 3 columns")
  expect_error(read(select = "a", drop = "b"), "'select' or 'drop', not both")
  expect_error(read(col.names = "X"), "1 name for 3 columns")
})

test_that("colClasses gives types, and a value that does not fit is a problem", {
  lines <- c("a,b,c,d,e,f", "1,2,x,2020-01-01,2020-01-01,7", "3,4,y,2020-01-02,2020-01-02,8")
  x <- read_csv_entasis(
    text = lines,
    colClasses = c(a = "character", b = "numeric", c = "factor", d = "IDate", e = "POSIXct", f = "integer64")
  )
  expect_identical(x$a, c("1", "3"))
  expect_identical(x$b, c(2, 4))
  expect_identical(x$c, factor(c("x", "y")))
  expect_identical(x$d, structure(18262:18263, class = c("IDate", "Date")))
  expect_identical(x$e, as.POSIXct(c("2020-01-01", "2020-01-02"), tz = "UTC"))
  expect_identical(class(x$f), "integer64")
  expect_identical(
    vapply(read_csv_entasis(text = lines, colClasses = "character"), typeof, ""),
    sapply(letters[1:6], function(x) "character")
  )
  expect_identical(names(read_csv_entasis(text = lines, colClasses = list("NULL" = 2:5, double = "a"))), c("a", "f"))
  expect_identical(read_csv_entasis(text = c("a,b", "1,", "2,NA"), colClasses = "character")$b, c(NA_character_, NA))
  expect_identical(
    read_csv_entasis(text = c("a,b", "1,", "2,NA"), colClasses = c(b = "POSIXct"))$b,
    as.POSIXct(c(NA, NA), tz = "UTC", origin = "1970-01-01")
  )
  # A given type takes quoted numbers.
  expect_identical(read_csv_entasis(text = c("a,b", "\"1\",x"), colClasses = c(a = "integer"))$a, 1L)
  error <- tryCatch(read_csv_entasis(text = lines, colClasses = c(c = "integer")), error = identity)
  expect_identical(class(error), c("entasis_error_text", "entasis_error", "error", "condition"))
  expect_match(conditionMessage(error), "line 2, column 'c': 'x', expected int32")
  expect_identical(error$problems$text, c("x", "y"))
  expect_error(
    read_csv_entasis(text = lines, colClasses = c(a = "complex")),
    "class \"complex\", which a text does not give"
  )
  expect_error(read_csv_entasis(text = lines, colClasses = c("character", "integer")), "2 classes without names")
  expect_error(read_csv_entasis(text = lines, colClasses = c(c = "POSIXct")), "column 'c' is not times by ISO 8601")
  expect_error(read_csv_entasis(text = c("a", "-2147483648"), colClasses = c(a = "integer")), "NA in R")
})

test_that("integers beyond 32 bits are exact, or doubles with a warning", {
  skip_if_not_installed("bit64")
  lines <- c(
    "a,b,c,d,e", "3000000000,9007199254740993,18446744073709551615,-9223372036854775808,-2147483648", "1,,2,3,4"
  )
  x <- of_lines(lines)
  expect_identical(x$a, bit64::as.integer64(c("3000000000", "1")))
  expect_identical(x$b, bit64::as.integer64(c("9007199254740993", NA)))
  expect_identical(x$c, c("18446744073709551615", "2"))
  expect_identical(x$d, c("-9223372036854775808", "3"))
  expect_identical(x$e, bit64::as.integer64(c("-2147483648", "4")))
  x <- read_csv_entasis(text = lines, integer64 = "character")
  expect_identical(x$b, c("9007199254740993", NA))
  expect_warning(
    x <- read_csv_entasis(text = lines, integer64 = "double"),
    "beyond 2^53 lost digits as doubles in 'b', 'c', the first is 9007199254740993", fixed = TRUE
  )
  expect_identical(x$a, c(3e9, 1))
  expect_identical(x$b, c(2^53, NA))
})

test_that("doubles are the nearest ones", {
  set.seed(1)
  values <- c(5e-324, 1.7976931348623157e308, 0.1, -0, 1 / 3, 2^53 + 2, exp(runif(2000, -700, 700)))
  text <- sprintf("%.17g", values)
  expect_true(same(of_lines("x", text)$x, values))
})

test_that("strings become factors with sorted levels, as by fread()", {
  x <- read_csv_entasis(text = c("a,b", "z,1", "a,2", ",3", "z,4"), stringsAsFactors = TRUE)
  expect_identical(x$a, factor(c("z", "a", NA, "z"), levels = c("a", "z")))
})

test_that("the frame is a data.frame, a tibble or a data.table with a key", {
  lines <- c("b,a", "2,x", "1,y")
  skip_if_not_installed("tibble")
  expect_identical(read_csv_entasis(text = lines, as = "tibble"), tibble::tibble(b = c(2L, 1L), a = c("x", "y")))
  skip_if_not_installed("data.table")
  x <- read_csv_entasis(text = lines, as = "data.table", key = "b")
  expect_identical(data.table::key(x), "b")
  expect_identical(x$a, c("y", "x"))
  expect_silent(data.table::set(x, j = "new", value = 1:2))
  expect_error(read_csv_entasis(text = lines, key = "b"), "'key' is for as = \"data.table\"")
  expect_error(read_csv_entasis(text = lines, as = "data.table", key = "z"), "'z', which is not a column")
})

test_that("problems are an error, or an attribute with one warning", {
  lines <- c("a,b", "1,2", "3", "4,5,6", "7,8")
  expect_error(
    of_lines(lines),
    "line 3: '3', expected 2 fields, not 1; line 4: .*on_error = \"missing\" or \"skip\" reads the rest",
    class = "entasis_error_text"
  )
  warned <- 0L
  x <- withCallingHandlers(read_csv_entasis(text = lines, on_error = "missing"), warning = function(w) {
    warned <<- warned + 1L
    expect_match(conditionMessage(w), "2 problems, the first in line 3: attr(x, \"problems\") lists them", fixed = TRUE)
    invokeRestart("muffleWarning")
  })
  expect_identical(warned, 1L)
  expect_identical(x$b, c(2L, NA, 8L))
  expect_identical(attr(x, "problems"), data.frame(row = c(2, 3), line = c(3, 4), byte = c(8, 10), column = NA_character_, text = c("3", "4,5,6"),
                                                   expected = c("2 fields, not 1", "2 fields, not 3")))
  x <- suppressWarnings(read_csv_entasis(text = lines, on_error = "skip"))
  expect_identical(x$a, c(1L, 7L))
  expect_identical(suppressWarnings(read_csv_entasis(text = lines, on_error = "skip", nrows = 1))$a, 1L)
  expect_identical(read_csv_entasis(text = lines[1:3], fill = TRUE)$b, c(2L, NA))
  skip_if_not_installed("data.table")
  x <- suppressWarnings(read_csv_entasis(text = lines, on_error = "missing", as = "data.table"))
  expect_identical(nrow(attr(x, "problems")), 2L)
})

test_that("texts come from files, patterns, several paths, bytes and compressed files", {
  folder <- tempfile()
  dir.create(folder)
  for (i in 1:2) writeLines(c("a,b", paste0(i, ",x")), file.path(folder, paste0("part", i, ".csv")))
  both <- data.frame(a = 1:2, b = "x")
  pattern <- file.path(folder, "part*.csv")
  paths <- Sys.glob(pattern)
  expect_identical(read_csv_entasis(pattern), both)
  expect_identical(read_csv_entasis(paths), both)
  x <- read_csv_entasis(paths, id = "file")
  expect_identical(x$file, factor(paths))
  expect_identical(read_csv_entasis(list(charToRaw("a,b\n1,x\n"), paths[2L])), both)
  connection <- gzfile(file.path(folder, "data"), "w")
  writeLines(c("a,b", "1,x", "2,x"), connection)
  close(connection)
  expect_identical(read_csv_entasis(file.path(folder, "data")), both)
  expect_identical(read_csv_entasis(charToRaw("a,b\r1,x\r2,x")), both)
  # No line end at the end, and a byte order mark.
  expect_identical(read_csv_entasis(csv_file("\ufeffa,b\n1,x\r\n2,x")), both)
  expect_error(read_csv_entasis(file.path(folder, "none*.csv")), "no file matches the pattern")
  expect_error(
    read_csv_entasis(file.path(folder, "none.csv")), "cannot open '.*none.csv': No such file",
    class = "entasis_error_io"
  )
  expect_error(read_csv_entasis(folder), "directory", ignore.case = TRUE)
  expect_error(read_csv_entasis(csv_file("a,b\n1,x\n"), text = "a"), "'file' or 'text', not both")
  expect_error(read_csv_entasis(), "pass the path")
  expect_error(read_csv_entasis(stdin()), "text = readLines(file)", fixed = TRUE)
  expect_error(read_csv_entasis("https://example.org/x.csv"), "download.file()", fixed = TRUE)
  expect_error(read_csv_entasis("a,b\n1,2\n"), "pass the lines of a text as 'text'")
})

test_that("other encodings are converted", {
  latin1 <- tempfile()
  writeBin(c(charToRaw("a,b\ncaf"), as.raw(0xe9), charToRaw(",1\n")), latin1)
  expect_warning(x <- read_csv_entasis(latin1), "encoding")
  expect_identical(x$a, "caf\u00e9")
  expect_silent(x <- read_csv_entasis(latin1, encoding = "Latin-1"))
  expect_identical(x$a, "caf\u00e9")
  expect_identical(Encoding(x$a), "UTF-8")
  utf16 <- tempfile()
  writeBin(c(as.raw(c(0xff, 0xfe)), iconv("a,b\n\u00e9,1\n", "UTF-8", "UTF-16LE", toRaw = TRUE)[[1L]]), utf16)
  expect_identical(read_csv_entasis(utf16), data.frame(a = "\u00e9", b = 1L))
  e <- "caf\xe9"
  Encoding(e) <- "latin1"
  expect_identical(read_csv_entasis(text = c("a,b", paste0(e, ",1")))$a, "caf\u00e9")
})

test_that("bad texts are clear errors", {
  expect_error(read_csv_entasis(csv_file("")), "the text is empty", class = "entasis_error_text")
  expect_error(of_lines("a,b", "1,\"x", "2,y"), "line 2", class = "entasis_error_text")
  binary <- tempfile()
  saveRDS(mtcars, binary, compress = FALSE)
  expect_error(read_csv_entasis(binary), class = "entasis_error")
  expect_error(read_csv_entasis(written(mtcars)), "is an Entasis file", class = "entasis_error")
  zero <- tempfile()
  writeBin(c(charToRaw("a,b\nx"), as.raw(0), charToRaw("y,1\nz,2\n")), zero)
  expect_error(read_csv_entasis(zero, sep = ",", header = TRUE, encoding = "UTF-8"), "zero character.*a")
  expect_error(read_csv_entasis(text = c("a,b", paste0(strrep("x", 100), ",1")), max_field = 50), "line 2")
  expect_error(read_csv_entasis(text = "a", max_field = 2^31), "'max_field' must be")
})

test_that("arguments of fread() that are not supported are refused with the reason", {
  refused <- function(..., message) expect_error(
    read_csv_entasis(text = c("a,b", "1,2"), ...), message, fixed = TRUE, class = "entasis_error_argument"
  )
  refused(cmd = "rm -rf /", message = "a file never runs code")
  refused(yaml = TRUE, message = "YAML")
  refused(tz = "", message = "times without an offset are in UTC")
  refused(logical01 = TRUE, message = "0 and 1 are integers")
  refused(col_types = "ii", message = "use 'colClasses'")
  refused(nonsense = 1, message = "unused argument 'nonsense'")
  refused(skip = "a", message = "a text to search for is not supported")
  refused(sep = "::", message = "'sep' must be one character")
  refused(stringsAsFactors = 0.5, message = "'stringsAsFactors' must be TRUE or FALSE")
  expect_identical(
    read_csv_entasis(text = c("a,b", "1,2"), verbose = FALSE, showProgress = FALSE, tz = "UTC"),
    data.frame(a = 1L, b = 2L)
  )
})

test_that("the values are those of fread(), whatever the threads", {
  skip_if_not_installed("data.table")
  set.seed(2)
  n <- 60000L
  x <- data.frame(
    i = sample(c(NA, -5:5), n, TRUE), d = round(rnorm(n), 6),
    s = sample(c("some words", "b", NA, "Z\u00fcrich"), n, TRUE),
    u = paste0("string", seq_len(n), "longer"), l = sample(c(TRUE, NA, FALSE), n, TRUE),
    day = as.Date("2020-01-01") + sample(999, n, TRUE)
  )
  path <- tempfile()
  data.table::fwrite(x, path, quote = TRUE)
  theirs <- as.data.frame(data.table::fread(path, na.strings = "", encoding = "UTF-8"))
  theirs$day <- as.Date(as.double(unclass(theirs$day)), origin = "1970-01-01")
  for (threads in 1:3) {
    ours <- read_csv_entasis(path, nThread = threads)
    expect_identical(ours[c("i", "s", "u", "l", "day")], theirs[c("i", "s", "u", "l", "day")])
    expect_equal(ours$d, theirs$d, tolerance = 1e-15)
    expect_identical(ours$d, x$d)
  }
})

test_that("strings are created on first access", {
  x <- read_csv_entasis(text = c("a,b", rep(c("some text that is long,1", "x,2"), 50)))
  expect_false(.Call(entasis:::C_materialised, x$a))
  expect_identical(x$a, rep(c("some text that is long", "x"), 50))
  skip_if_not_installed("data.table")
  x <- read_csv_entasis(text = c("a,b", rep(c("some text that is long,1", "x,2"), 50)), as = "data.table")
  data.table::set(x, j = "new", value = 1L)
  expect_false(.Call(entasis:::C_materialised, x$a))
  data.table::set(x, 2L, "a", "changed")
  expect_identical(x$a[1:4], c("some text that is long", "changed", "some text that is long", "x"))
})

test_that("a garbage collection at any time is survived", {
  expect_identical(run_file("torture.R", "texts", by_tier(20L, 1L)), "right")
})

test_that("reading is interrupted, and works afterwards", {
  skip_on_os("windows")
  skip_on_cran()
  path <- tempfile()
  script <- tempfile(fileext = ".R")
  writeLines(c(
    "library(entasis)", sprintf("path <- '%s'", path),
    "writeLines(c('a,b', rep(paste0(strrep('x', 30), ',1.25'), 3e5)), path)",
    "file.create(paste0(path, '.ready'))",
    "found <- tryCatch({repeat read_csv_entasis(path); 'finished'}, interrupt = function(e) 'interrupted')",
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
  expect_identical(readLines(paste0(path, ".found")), c("interrupted", "300000"))
})
