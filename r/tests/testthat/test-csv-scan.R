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
  utils::assignInNamespace(
    "csv_call", function(sources, arguments, ...) real(sources, c(arguments, chunk_len = len), ...), "entasis"
  )
  code
}

# A value, or the class of its error.
or_error <- function(code) suppressWarnings(tryCatch(code, error = function(e) class(e)[1L]))

random_fields <- function(n) {
  fields <- switch(sample(11L, 1L),
    sample(-5:5, n, TRUE), round(rnorm(n), 2), sample(c("TRUE", "FALSE"), n, TRUE),
    sample(c("a", "b", "abc", "long text of more than 12"), n, TRUE),
    format(as.Date("2020-01-01") + sample(9L, n, TRUE)),
    paste0("2020-01-01T00:00:0", sample(0:9, n, TRUE), sample(c("", ".5"), n, TRUE)),
    rep_len("", n), rep_len("NA", n), sample(c("1", "2147483647", "-2147483648", "3000000000"), n, TRUE),
    sample(c("1", "9007199254740993", "-9223372036854775808", "18446744073709551615"), n, TRUE),
    sample(c("1", "2.5", "x", "TRUE", "007"), n, TRUE)
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

VALUES <- list(
  1L, 2.5, 0, TRUE, "a", "abc", "x", "1", 3e9, as.Date("2020-01-04"),
  as.POSIXct(1577836803, tz = "UTC", origin = "1970-01-01"), NA, -1
)

random_condition <- function(depth = 2L) {
  if (depth > 0L && runif(1) < 0.5) {
    return(switch(sample(4L, 1L), call("!", random_condition(depth - 1L)), call("(", random_condition(depth - 1L)),
                  call("&", random_condition(depth - 1L), random_condition(depth - 1L)), call("|", random_condition(depth - 1L), random_condition(depth - 1L))))
  }
  column <- as.name(sample(letters[1:4], 1L))
  value <- sample(VALUES, 1L)[[1L]]
  switch(sample(8L, 1L), call("is.na", column), call("%in%", column, unlist(sample(VALUES[1:8], 2L))), call("startsWith", column, "a"), column,
         call(">", value, column), call(sample(c("==", "!="), 1L), column, value),
         call(sample(c("<", "<=", ">", ">="), 1L), column, value),
         call(">", call("nchar", column), 1L))
}

allNA <- function(x) all(is.na(x))

test_that("random conditions choose the rows of subset(), in chunks of every length", {
  set.seed(as.integer(Sys.getenv("ENTASIS_TEST_SEED", "11")))
  n_tested <- 0L
  for (i in seq_len(as.integer(Sys.getenv("ENTASIS_TEST_TEXTS", by_tier("50", "150"))))) {
    path <- csv_text(random_text())
    condition <- random_condition()
    integer64 <- sample(c("integer64", "integer64", "double", "character"), 1L)
    whole <- suppressWarnings(read_csv_entasis(path, integer64 = integer64))
    expected <- or_error(eval(bquote(subset(whole, .(condition)))))
    if (is.data.frame(expected)) rownames(expected) <- NULL
    label <- paste(deparse(condition), collapse = " ")
    said <- paste(c(readLines(path), label, integer64), collapse = "\n")
    found <- or_error(
      in_chunks(
        sample(c(1L, 16L, 100L, 65536L), 1L),
        eval(bquote(read_csv_entasis(path, integer64 = integer64, subset = .(condition))))
      )
    )
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

test_that("a scan has the names and classes of the rows, and reads them again each time", {
  path <- csv_text(CITIES)
  x <- scan_csv_entasis(path)
  expect_s3_class(x, "entasis_csv_scan", exact = TRUE)
  expect_identical(names(x), c("city", "price", "n", "day"))
  expect_identical(dim(x), c(NA, 4L))
  expect_identical(count_entasis(x), 4L)
  expect_identical(dim(x), c(4L, 4L))
  whole <- read_csv_entasis(path)
  expect_identical(x[], whole)
  expect_identical(as.data.frame(x), whole)
  expect_identical(x["price"], whole["price"])
  expect_identical(x$day, whole$day)
  expect_identical(x[["n"]], whole$n)
  expect_identical(head(x, 2), head(whole, 2))
  expect_identical(head(x, 0), head(whole, 0))
  expect_identical(nrow(subset(x, price > 4)), NA_integer_)
  some <- subset(x, price > 4, c(day, city))
  expect_identical(some[], bare(subset(whole, price > 4, c(day, city))))
  expect_identical(subset(some, city == "Rome")[], bare(subset(whole, price > 4 & city == "Rome", c(day, city))))
  expect_identical(count_entasis(x, is.na(n)), 1L)
  bound <- 4
  expect_identical(subset(x, price >= bound + 1)$city, c("Rome", NA))
  shown <- capture.output(print(subset(x, price > 4)))
  expect_identical(
    shown[-1L],
    c(
      "rows not counted, 4 columns", " $ city : chr", " $ price: dbl", " $ n    : int", " $ day  : date",
      "Rows where price > 4"
    )
  )
  expect_match(shown[1L], basename(path), fixed = TRUE)
})

test_that("conditions and columns that a scan does not take are refused by name", {
  x <- scan_csv_entasis(csv_text(CITIES))
  expect_error(
    subset(x, price > mean(price) & n > 1), "the condition price > mean(price) can't be tested", fixed = TRUE,
    class = "entasis_error_unsupported"
  )
  expect_error(subset(x, rev(city) == "Rome"), "can't be tested while the text is read")
  grepl <- function(...) TRUE
  expect_error(subset(x, grepl("a", city)), "can't be tested")
  expect_error(subset(x, get("price") > 4), "'price' are not known before the text is read")
  expect_error(subset(x, nchar(city))[], "'subset' must be logical")
  expect_error(subset(x, nothing > 3), "object 'nothing' not found")
  expect_error(subset(x, select = nothing), "nothing")
  expect_error(x$price <- 1, "can't be changed")
  expect_error(x["nothing"], "there is no column 'nothing'")
  expect_null(x$nothing)
  expect_error(x[1:2, ], "rows of a text have no numbers")
  expect_error(tail(x), "known once all are read")
  expect_error(head(x, -1), "n of 0 or more")
  expect_error(x + 1)
  expect_error(scan_csv_entasis(csv_text(CITIES), select = "z"), "there is no column 'z'")
  expect_error(
    scan_csv_entasis(csv_text(CITIES), nrows = 2), "'nrows' is not supported with this value: head(x, n)",
    fixed = TRUE
  )
  expect_error(scan_csv_entasis(tempfile()), "cannot open", class = "entasis_error_io")
  expect_error(scan_csv_entasis(csv_text(character())), class = "entasis_error_text")
})

test_that("R evaluates conditions that treat each row by itself, batch by batch", {
  set.seed(3)
  n <- 200000L
  whole <- data.frame(a = sample(1000L, n, TRUE), b = round(runif(n), 3), s = sample(c("x", "yy", NA, "zzz"), n, TRUE))
  path <- tempfile(fileext = ".csv")
  write_csv_entasis(whole, path)
  x <- scan_csv_entasis(path)
  expected <- bare(subset(whole, nchar(s) > 1 & a * b > 500 & s != "zzz", c(b, a)))
  chosen <- subset(x, nchar(s) > 1 & a * b > 500 & s != "zzz", c(b, a))
  expect_identical(chosen[], expected)
  expect_identical(count_entasis(chosen), nrow(expected))
  expect_identical(head(chosen, 10), head(expected, 10))
  expect_identical(subset(chosen, b > 0.9 & a / 2 > 400)[], bare(subset(expected, b > 0.9 & a / 2 > 400)))
  parts <- batches_entasis(chosen, identity, 50000)
  expect_identical(do.call(rbind, parts), expected)
  expect_gt(length(parts), 1L)
  expect_identical(chosen$a, expected$a)
  expect_identical(subset(x, a + b < 0)[], bare(whole[0L, ]))
  expect_identical(count_entasis(x, a + b < 0), 0L)
  factors <- scan_csv_entasis(path, stringsAsFactors = TRUE)
  expect_identical(
    droplevels(subset(factors, a * b > 900)[]),
    bare(droplevels(subset(read_csv_entasis(path, stringsAsFactors = TRUE), a * b > 900)))
  )
  file <- tempfile(fileext = ".entasis")
  expect_error(write_entasis(chosen, file), "with the condition nchar(s) > 1, which R evaluates", fixed = TRUE)
  expect_error(write_csv_entasis(chosen, file), "batches_entasis()", fixed = TRUE)
  expect_match(capture.output(print(chosen))[5L], "Rows where nchar(s) > 1", fixed = TRUE)
})

test_that("arguments about the text and its columns are those of read_csv_entasis()", {
  lines <- c("a;b;c;d", "1,5;x;2020-01-02;007", ";y;;", "2;x;31.12.2020;8")
  same <- function(...) {
    scan <- scan_csv_entasis(text = lines, ...)
    expect_identical(scan[], read_csv_entasis(text = lines, ...))
    scan
  }
  same()
  same(select = c("d", "a"))
  same(drop = 2)
  same(colClasses = c(d = "integer64", b = "factor", a = "character"), drop = "c") |> expect_error()
  same(colClasses = c(b = "factor", a = "character"))
  same(stringsAsFactors = TRUE)
  same(select = c(b = "character", a = "double"))
  x <- scan_csv_entasis(text = lines, stringsAsFactors = TRUE)
  expect_identical(droplevels(subset(x, b == "y")$b), factor("y"))
  expect_identical(droplevels(subset(x, b %in% c("y", "z") | is.na(c))[]), bare(droplevels(subset(x[], b == "y"))))
  dates <- c("day,n", "31/12/2020,1", "01/02/2021,2")
  expect_identical(
    scan_csv_entasis(text = dates, dates = "%d/%m/%Y")[], read_csv_entasis(text = dates, dates = "%d/%m/%Y")
  )
  expect_identical(subset(scan_csv_entasis(text = dates, dates = "%d/%m/%Y"), day > as.Date("2021-01-01"))$n, 2L)
})

test_that("several, compressed and encoded texts are one table", {
  paths <- c(csv_text("a,b", "1,x", "2,y"), csv_text("a,b", "3,x"))
  x <- scan_csv_entasis(paths, id = "file")
  whole <- read_csv_entasis(paths, id = "file")
  expect_identical(x[], whole)
  expect_identical(subset(x, b == "x", a)[], data.frame(a = c(1L, 3L)))
  expect_identical(subset(x, file == paths[2])[], bare(whole[3L, ]))
  expect_identical(read_csv_entasis(paths, id = "file", subset = a > 1), bare(whole[-1L, ]))
  expect_identical(read_csv_entasis(paths, subset = a > 1, select = "b"), data.frame(b = c("y", "x")))
  expect_error(scan_csv_entasis(c(paths, csv_text("a,c", "1,2")))[], "c")
  packed <- tempfile(fileext = ".csv.gz")
  connection <- gzfile(packed, "w")
  writeLines(CITIES, connection)
  close(connection)
  expect_identical(subset(scan_csv_entasis(packed), n > 1)$price, c(NA, 9))
  expect_identical(read_csv_entasis(packed, subset = n > 1)$price, c(NA, 9))
  bytes <- readBin(packed, "raw", 1e6)
  cut <- tempfile(fileext = ".csv.gz")
  writeBin(bytes[seq_len(length(bytes) - 12L)], cut)
  expect_error(scan_csv_entasis(cut)[], class = "entasis_error")
  latin <- as.raw(c(0x61, 0x0a, 0x63, 0x61, 0x66, 0xe9, 0x0a))
  expect_identical(subset(scan_csv_entasis(latin, encoding = "Latin-1"), a == "caf\u00e9")$a, "caf\u00e9")
})

test_that("a late value that does not fit is a problem that names the call, and read_csv_entasis() takes it", {
  late <- csv_text("zip,n", rep("150,1", 10500), "N1,2", "160,3000000000")
  x <- scan_csv_entasis(late)
  expect_identical(count_entasis(x), 10502L)
  expect_error(x[], "spec = sniff_csv_entasis(file, rows = \"all\")", fixed = TRUE, class = "entasis_error_text")
  error <- tryCatch(subset(x, zip == 160)[], error = identity)
  expect_identical(error$problems$line, c(10502, 10503))
  expect_error(x$n, "3000000000")
  expect_identical(head(x, 1), data.frame(zip = 150L, n = 1L))
  whole <- read_csv_entasis(late)
  expect_identical(read_csv_entasis(late, subset = zip == "N1"), bare(subset(whole, zip == "N1")))
  expect_identical(read_csv_entasis(late, subset = n == 2), bare(subset(whole, n == 2)))
  expect_identical(read_csv_entasis(late, subset = n > 1.5), bare(subset(whole, n > 1.5)))
  spec <- sniff_csv_entasis(late, rows = "all")
  expect_identical(scan_csv_entasis(late, spec = spec)[], whole)
  expect_identical(subset(scan_csv_entasis(late, spec = spec), zip == "N1")[], bare(subset(whole, zip == "N1")))
  # A class that was given has no such advice.
  error <- tryCatch(scan_csv_entasis(late, colClasses = c(zip = "integer"))$zip, error = identity)
  expect_false(grepl("rows = \"all\"", conditionMessage(error), fixed = TRUE))
})

test_that("problems are errors, or a warning after the last row", {
  odd <- csv_text("a,b", "1,2", "3", "4,5,6", "7,8")
  error <- tryCatch(scan_csv_entasis(odd)[], error = identity)
  expect_identical(error$problems$line, c(3, 4))
  expect_error(count_entasis(scan_csv_entasis(odd)), "2 places do not fit")
  x <- scan_csv_entasis(odd, on_error = "missing")
  expect_warning(rows <- x[], class = "entasis_warning_problems")
  expect_identical(rows$b, c(2L, NA, 8L))
  expect_identical(attr(rows, "problems")$line, c(3, 4))
  expect_warning(n <- count_entasis(x), class = "entasis_warning_problems")
  expect_identical(n, 3L)
  expect_warning(parts <- batches_entasis(x, nrow, 2), class = "entasis_warning_problems")
  expect_identical(parts, list(2L, 1L))
  expect_warning(
    rows <- read_csv_entasis(odd, on_error = "missing", subset = a > 1), class = "entasis_warning_problems"
  )
  expect_identical(rows$a, c(3L, 7L))
  expect_identical(attr(rows, "problems")$line, c(3, 4))
  expect_warning(rows <- read_csv_entasis(odd, on_error = "skip", subset = a > 1))
  expect_identical(rows$a, 7L)
  expect_error(read_csv_entasis(odd, subset = a > 1), "2 places do not fit")
})

test_that("a text that changes after the scan was made is never read as another one", {
  path <- csv_text(CITIES)
  x <- scan_csv_entasis(path)
  writeLines(c("price,city", "1,a"), path)
  expect_error(x[], class = "entasis_error")
  writeLines(c(CITIES, "Oslo,1,2,2020-01-05"), path)
  expect_identical(nrow(x[]), 5L)
  unlink(path)
  expect_error(x[], "cannot", class = "entasis_error_io")
  expect_error(count_entasis(x), class = "entasis_error_io")
})

test_that("a scan is used again after it was saved", {
  path <- csv_text(CITIES)
  x <- subset(scan_csv_entasis(path), n > 1)
  saved <- tempfile()
  saveRDS(x, saved)
  expect_identical(readRDS(saved)[], x[])
  writeLines(c("price,city", "1,a"), path)
  expect_error(readRDS(saved)[], "has changed since the scan was made")
})

test_that("batches are frames of n rows, for texts and files", {
  path <- csv_text("a,b", paste0(1:1000, ",", rep(c("x", "y"), 500)))
  x <- scan_csv_entasis(path)
  whole <- read_csv_entasis(path)
  for (n in c(1, 7, 999, 1000, 5000)) {
    parts <- batches_entasis(x, identity, n)
    expect_identical(do.call(rbind, parts), whole)
    expect_true(all(vapply(parts, nrow, 1L)[-length(parts)] == n))
  }
  expect_identical(Reduce(`+`, batches_entasis(subset(x, b == "y"), function(batch) sum(batch$a), 64)), 250500L)
  expect_identical(batches_entasis(subset(x, a > 5000), nrow), list())
  expect_error(batches_entasis(x, function(batch) stop("enough"), 10), "enough")
  file <- written(whole)
  expect_identical(do.call(rbind, batches_entasis(file, identity, 300)), whole)
  expect_identical(batches_entasis(entasis(file), nrow, 600), list(600L, 400L))
  expect_error(batches_entasis(x, 3), "'f' must be a function")
})

test_that("rows are written as a file and as text without making vectors", {
  path <- csv_text("s,i,d,l,day,moment,w,f,none", "x,1,1.5,TRUE,2020-01-02,2020-01-01 10:00:00.25,3000000000,a,",
                   "\"\",,NaN,false,,,1,b,", ",3,-0.0,,1999-12-31,1969-12-31 23:59:59,,a,")
  x <- scan_csv_entasis(path, colClasses = c(f = "factor"))
  file <- tempfile(fileext = ".entasis")
  expect_identical(write_entasis(x, file), x)
  stored <- function(file) read_entasis(file, int64 = "integer64")
  expect_identical(stored(file), x[])
  write_entasis(subset(x, i > 1 | l, c(day, s)), file)
  expect_identical(read_entasis(file), subset(x, i > 1 | l, c(day, s))[])
  write_entasis(subset(x, i > 100), file)
  expect_identical(lapply(stored(file), class), lapply(subset(x, i > 100)[], class))
  text <- tempfile(fileext = ".csv")
  for (scan in list(x, subset(x, !l), subset(x, i > 100))) {
    spec <- write_csv_entasis(scan, text)
    other <- tempfile(fileext = ".csv")
    in_memory <- write_csv_entasis(scan[], other)
    expect_identical(readLines(text), readLines(other))
    expect_identical(spec$parts$types[-9L], in_memory$parts$types[-9L])
  }
  expect_error(write_csv_entasis(x, path), "the text that is read", class = "entasis_error_argument")
  expect_error(write_entasis(x, path), class = "entasis_error_argument")
  late <- scan_csv_entasis(csv_text("zip", rep("150", 10500), "N1"))
  writeLines("old", text)
  expect_error(write_csv_entasis(late, text), "sniff_csv_entasis")
  expect_error(write_entasis(late, text), "sniff_csv_entasis")
  expect_identical(readLines(text), "old")
})

test_that("verbs of dplyr that need rows once return scans, and others say how to go on", {
  skip_if_not_installed("dplyr")
  path <- csv_text(CITIES)
  x <- scan_csv_entasis(path)
  whole <- read_csv_entasis(path)
  bound <- 3
  verbs <- list(
    function(x) dplyr::filter(x, price > bound, .data$n < .env$bound | is.na(n)),
    function(x) dplyr::select(x, town = city, dplyr::starts_with("p")),
    function(x) dplyr::rename(x, town = city) |> dplyr::filter(town == "Rome"), function(x) dplyr::relocate(x, day),
    function(x) dplyr::filter(x, price > bound) |> dplyr::slice_head(n = 2),
    function(x) dplyr::slice_head(x, n = 3) |> dplyr::slice_head(n = 5),
    function(x) dplyr::select(x, where(is.numeric)), function(x) dplyr::select(x, -city) |> dplyr::filter(!is.na(day))
  )
  for (verb in verbs) {
    scan <- verb(x)
    expect_s3_class(scan, "entasis_csv_scan")
    expect_identical(dplyr::collect(scan), bare(verb(whole)))
  }
  expect_identical(dplyr::count(x), dplyr::count(whole))
  expect_identical(
    dplyr::tally(dplyr::filter(x, n > 1), name = "k"), dplyr::tally(dplyr::filter(whole, n > 1), name = "k")
  )
  expect_identical(dplyr::pull(x, city), whole$city)
  expect_identical(dplyr::pull(x), whole$day)
  expect_identical(dplyr::pull(x, price, city), dplyr::pull(whole, price, city))
  for (verb in c("arrange", "group_by", "summarise", "mutate", "distinct", "slice_tail")) {
    expect_error(
      getExportedValue("dplyr", verb)(x, price), paste0("not supported: ", verb, "() on a text"), fixed = TRUE,
      class = "entasis_error_unsupported"
    )
  }
  expect_error(dplyr::left_join(x, whole, by = "city"), "left_join() on a text", fixed = TRUE)
  expect_error(dplyr::count(x, city), "count() with groups on a text", fixed = TRUE)
  expect_identical(
    dplyr::collect(dplyr::filter(x, nchar(city) > 3, n < 3)), bare(dplyr::filter(whole, nchar(city) > 3, n < 3))
  )
  expect_error(dplyr::filter(x, cumsum(n) > 3), "can't be tested while the text is read")
  expect_error(dplyr::filter(dplyr::slice_head(x, n = 2), price > 3), "filter first")
  expect_error(dplyr::select(x, nothing), "nothing")
  expect_error(dplyr::select(x, where(function(x) anyNA(x))), "by their names and types alone")
})

test_that("subset= of read_csv_entasis() goes with the other arguments", {
  path <- csv_text(CITIES)
  whole <- read_csv_entasis(path)
  expected <- bare(subset(whole, price > 4 & !is.na(n)))
  expect_identical(read_csv_entasis(path, subset = price > 4 & !is.na(n)), expected)
  expect_identical(read_csv_entasis(path, subset = price > 4 & !is.na(n), select = "day"), expected["day"])
  expect_identical(read_csv_entasis(path, subset = NULL), whole)
  expect_identical(
    read_csv_entasis(path, subset = nchar(city) == 4 & price > 4),
    bare(subset(whole, nchar(city) == 4 & price > 4))
  )
  expect_identical(
    read_csv_entasis(path, subset = price > mean(price, na.rm = TRUE)),
    bare(subset(whole, price > mean(price, na.rm = TRUE)))
  )
  expect_identical(
    read_csv_entasis(path, subset = get("price") > 4, select = "city"), bare(subset(whole, price > 4))["city"]
  )
  expect_identical(read_csv_entasis(path, subset = n > 1, nrows = 3), bare(subset(whole[1:3, ], n > 1)))
  expect_identical(read_csv_entasis(path, subset = P > 4, col.names = c("C", "P", "N", "D"))$C, c("Rome", NA))
  expect_identical(
    read_csv_entasis(path, subset = city == "Rome", stringsAsFactors = TRUE)$city,
    factor("Rome", c("Bern", "Oslo", "Rome"))
  )
  expect_identical(
    read_csv_entasis(path, subset = day == as.Date("2020-01-02"), colClasses = c(day = "IDate"))$city, "Rome"
  )
  expect_error(read_csv_entasis(path, subset = price), "'subset' must be logical")
  expect_error(read_csv_entasis(path, subset = nothing > 3), "object 'nothing' not found")
  limit <- 4
  in_function <- function(limit) read_csv_entasis(path, subset = price > limit)
  expect_identical(in_function(8)$price, 9)
  expect_identical(nrow(read_csv_entasis(text = c("a", "NA", "NA"), subset = is.na(a))), 2L)
  expect_identical(
    read_csv_entasis(text = c("a,b", "NA,1", "x,2"), subset = b == 1), data.frame(a = NA_character_, b = 1L)
  )
  expect_identical(read_csv_entasis(text = c("a,b", "1,1", "3000000000,2"), subset = b == 1, integer64 = "double")$a, 1)
  if (requireNamespace("data.table", quietly = TRUE)) {
    expect_identical(
      data.table::key(read_csv_entasis(path, subset = price > 3, as = "data.table", key = "city")), "city"
    )
  }
})
