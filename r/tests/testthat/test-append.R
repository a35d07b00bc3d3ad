# append_entasis(): the file holds what R's own concatenation holds, row by row of the table in
# docs/guides/changes.md, or is unchanged.

new_path <- function() tempfile(fileext = ".entasis")

# Appends, and checks the file. Returns the names of columns that were stored anew.
appended <- function(old, new, ...) {
  path <- new_path()
  on.exit(unlink(path))
  write_entasis(old, path)
  anew <- append_entasis(new, path, durable = FALSE, ...)
  verify_entasis(path)
  list(value = read_entasis(path), anew = anew)
}

expect_appended <- function(old, new, expected = rbind(old, new), ..., anew = NULL) {
  found <- appended(old, new, ...)
  expect_true(alike(found$value, expected), info = paste(all.equal(found$value, expected), collapse = "; "))
  if (!is.null(anew)) expect_identical(found$anew, anew)
  invisible(found$value)
}

# A refused append leaves the file as it was.
expect_refused <- function(old, new, message, class = "entasis_error_argument", ...) {
  path <- written(old)
  on.exit(unlink(path))
  before <- readBin(path, "raw", file.size(path))
  expect_error(append_entasis(new, path, ...), message, class = class)
  expect_identical(readBin(path, "raw", file.size(path)), before)
  # The lock is given back.
  expect_silent(write_entasis(old, path))
}

column <- function(a) structure(list(a = a), class = "data.frame", row.names = c(NA, -NROW(a)))

mixed <- function(n, from = 0L) {
  i <- from + seq_len(n)
  local <- .POSIXct(1e9 + i / 7)
  text <- paste0("text ", i %% 13L, recycle0 = TRUE)
  text[i %% 7L == 0L] <- NA
  data.frame(
    i = i, d = ifelse(i %% 5L == 0L, NaN, i / 3), l = c(TRUE, NA, FALSE)[i %% 3L + 1L], s = text,
    f = factor(letters[i %% 3L + 1L], letters[1:3]), o = factor(letters[i %% 3L + 1L], letters[1:3], ordered = TRUE),
    day = as.Date("2020-01-01") + i, utc = as.POSIXct("2020-01-01", tz = "UTC") + i, local = local,
    oslo = .POSIXct(1e9 + i / 1000, tz = "Europe/Oslo"), span = as.difftime(i / 2, units = "hours"), z = i * (1 - 1i),
    labelled = structure(i, label = "a label")
  )
}

SIZES <- list(c(0L, 3L), c(6L, 0L), c(6L, 3L), c(9000L, 4L), c(70000L, 100L), c(70000L, 80000L))

test_that("rows of data frames are added in place", {
  # A file without rows may get other types and units.
  for (size in SIZES) expect_appended(mixed(size[1L]), mixed(size[2L], size[1L]), anew = if (size[1L] > 0L) character())
})

test_that("rows of tibbles and data.tables are added in place", {
  skip_if_not_installed("tibble")
  skip_if_not_installed("data.table")
  for (size in SIZES) {
    old <- mixed(size[1L])
    new <- mixed(size[2L], size[1L])
    expect_appended(tibble::as_tibble(old), tibble::as_tibble(new), anew = if (size[1L] > 0L) character())
    found <- appended(data.table::as.data.table(old), data.table::as.data.table(new))
    expected <- data.table::rbindlist(
      list(data.table::as.data.table(old), data.table::as.data.table(new)), use.names = TRUE
    )
    if (size[1L] > 0L) expect_identical(found$anew, character())
    expect_s3_class(found$value, c("data.table", "data.frame"), exact = TRUE)
    expect_identical(as.list(found$value), as.list(expected))
  }
})

test_that("old bytes stay, and the generation goes on", {
  path <- written(mixed(70000L))
  before <- readBin(path, "raw", file.size(path))
  for (k in 1:5) {
    expect_identical(append_entasis(mixed(10L, 70000L + 10L * (k - 1L)), path), character())
    expect_identical(metadata_entasis(path)$generation, k + 1)
  }
  after <- readBin(path, "raw", file.size(path))
  slots <- seq_len(12288)
  expect_identical(after[seq_along(before)][-slots], before[-slots])
  expect_lt(length(after), length(before) + 2e5)
  expect_identical(read_entasis(path), mixed(70050L))
  verify_entasis(path)
})

test_that("a table that is open keeps its rows", {
  path <- written(mixed(20000L))
  table <- entasis(path)
  append_entasis(mixed(10L, 20000L), path)
  expect_identical(dim(table)[1L], 20000L)
  expect_identical(table[19999:20000, "i"][[1L]], 19999:20000)
  expect_identical(dim(entasis(path))[1L], 20010L)
})

test_that("many appends to one file", {
  path <- written(mixed(20000L))
  ends <- c(20000L, 20000L + 1:50, 25000L, 30000L)
  for (k in seq_along(ends)[-1L]) append_entasis(mixed(ends[k] - ends[k - 1L], ends[k - 1L]), path, durable = FALSE)
  expect_identical(read_entasis(path), mixed(30000L))
  expect_identical(read_entasis(path, "s", from = 19990, to = 20050)$s, mixed(30000L)$s[19990:20050])
  expect_identical(metadata_entasis(path)$generation, as.double(length(ends)))
  verify_entasis(path)
})

test_that("columns are matched by name", {
  old <- data.frame(a = c(1, 2), b = c("x", "y"))
  expect_appended(old, data.frame(b = "z", a = 3), anew = character())
  expect_refused(old, data.frame(b = "q"), "have no column 'a': fill = TRUE makes it NA")
  expect_refused(old, data.frame(b = "q", a = 1, c = 1), "the file has no column 'c': leave it out")
  expect_appended(
    old, data.frame(b = "q", a = 1, c = 1), data.frame(a = c(1, 2, 1), b = c("x", "y", "q"), c = c(NA, NA, 1)),
    fill = TRUE, anew = character()
  )
  expect_appended(
    old, data.frame(b = "q"), data.frame(a = c(1, 2, NA), b = c("x", "y", "q")), fill = TRUE, anew = character()
  )
  nameless <- function(...) structure(list(...), class = "data.frame", row.names = c(NA, -1L))
  for (n in c(2L, 9000L)) {
    unnamed <- structure(list(seq_len(n), rep_len("x", n)), class = "data.frame", row.names = c(NA, -n))
    expect_appended(
      unnamed, nameless(7L, "y"),
      structure(list(c(seq_len(n), 7L), c(rep_len("x", n), "y")), class = "data.frame", row.names = c(NA, -n - 1L))
    )
  }
  expect_refused(unnamed, nameless(7L), "names of columns occur twice or are missing")
  twice <- setNames(data.frame(1, 2), c("a", "a"))
  expect_appended(twice, twice, setNames(data.frame(c(1, 1), c(2, 2)), c("a", "a")))
  expect_refused(twice, data.frame(a = 1), "names of columns occur twice")
  found <- tryCatch(append_entasis(data.frame(b = "q"), written(old)), error = identity)
  expect_identical(found$column, "a")
})

test_that("fill makes NA of every type", {
  old <- mixed(10L)
  new <- data.frame(i = 11:12)
  expected <- old[c(1:10, NA, NA), ]
  expected$i[11:12] <- 11:12
  # `[` of a data frame drops attributes of plain vectors.
  attr(expected$labelled, "label") <- "a label"
  row.names(expected) <- NULL
  found <- expect_appended(old, new, expected, fill = TRUE, anew = character())
  expect_identical(levels(found$f), letters[1:3])
  expect_refused(data.frame(i = 1L, r = as.raw(1)), data.frame(i = 2L), "'r' of type raw has no NA", fill = TRUE)
})

test_that("types are made wider without loss", {
  expect_appended(column(1:2), column(2.5), widen = TRUE, anew = "a")
  expect_appended(column(c(1.5, NA)), column(3L), anew = character())
  expect_appended(column(c(NA_real_, NA)), column(3L), anew = character())
  expect_appended(column(1:2), column(NA_real_), column(c(1:2, NA)), anew = character())
  expect_appended(column(1:2), column(double()), column(1:2), anew = character())
  for (like in list("x", 1L, 2.5, 1i)) {
    expect_appended(column(like), column(NA), anew = character())
    expect_appended(column(c(NA, NA)), column(like), anew = "a")
  }
  expect_appended(column(as.Date("2020-01-01")), column(18000L + NA), anew = character())
  expect_appended(
    column(c(NA, NA)), column(as.Date("2020-01-01")), column(as.Date(c(NA, NA, "2020-01-01"))), anew = "a"
  )
  expect_appended(
    column(c(NA, NA)), column(factor("x", c("y", "x"))), column(factor(c(NA, NA, "x"), c("y", "x"))), anew = "a"
  )
  expect_appended(
    column(structure(1:2, class = "Date")), column(as.Date("2020-01-01")),
    column(structure(c(1:2, 18262L), class = "Date")), anew = character()
  )
})

test_that("other types are refused by column", {
  pairs <- list(
    list(1L, "x"), list("x", 1), list(as.Date("2020-01-01"), 1), list(1, factor("a")), list(factor("a"), 1L),
    list("x", TRUE),
    list(as.POSIXct(0, origin = "1970-01-01", tz = "UTC"), as.Date("2020-01-01")), list(NaN, "x"), list("x", NaN),
    list(list(1), 1), list(as.raw(1), NA)
  )
  for (pair in pairs) {
    expect_refused(
      column(pair[[1L]]), column(pair[[2L]]),
      "column 'a' is .* in the file and .* in the rows to append: convert one of them"
    )
  }
})

test_that("units fit if they are exact, and time zones must be equal", {
  hours <- as.difftime(1:2, units = "hours")
  expect_appended(column(hours), column(hours), anew = character())
  expect_refused(
    column(hours), column(as.difftime(1, units = "mins")),
    "is difftime in hours in the file, which does not hold 1 mins in row 1 .*: convert one"
  )
  expect_refused(
    column(.POSIXct(0, "UTC")), column(.POSIXct(0, "Europe/Oslo")),
    "POSIXct in UTC in the file and POSIXct in Europe/Oslo"
  )
  expect_refused(column(.POSIXct(0)), column(.POSIXct(0, "UTC")), "POSIXct in local time")
  expect_appended(column(.POSIXct(0)), column(.POSIXct(1, "")), column(.POSIXct(c(0, 1))))
})

test_that("times keep the finer unit", {
  at <- function(...) column(.POSIXct(c(...), "UTC"))
  expect_appended(at(1, 2), at(3), anew = character())
  expect_appended(at(1.5, 2), at(3), anew = character())
  expect_appended(at(1, 2), at(3.25), anew = "a")
  expect_appended(at(1 / 3, 2), at(3), anew = character())
  expect_appended(at(1e-9, 2), at(1e10), anew = "a")
  expect_appended(column(as.Date("2020-01-01") + 0:1), column(as.Date("2020-01-01") + 0.5), anew = "a")
})

test_that("NaN and both kinds of NA are kept", {
  quiet <- NA_real_ + 1
  for (old in list(c(1, 2), c(1, NA), c(1, quiet), c(1, NaN))) for (new in list(3, NA_real_, quiet, NaN)) {
    found <- appended(column(old), column(new))
    expect_identical(found$anew, character())
    expect_true(same(found$value$a, c(old, new)))
  }
})

test_that("factors get the levels of both", {
  a <- column(factor(c("x", "y", NA), c("x", "y")))
  expect_appended(a, column(factor(c("z", "y"))), anew = character())
  expect_appended(a, column(factor("x")), anew = character())
  expect_appended(a, column(c("q", NA, "x", "b")), anew = character())
  expect_appended(column(factor(c("a", NA), exclude = NULL)), column(factor(c("b", NA), exclude = NULL)))
  expect_appended(column(factor("l1")), column(factor(paste0("l", 1:300))))
  both <- data.frame(a = factor(c("x", "y")), b = factor(c("x", "y")))
  expect_appended(both, data.frame(a = factor("z"), b = factor("x")))
  low <- function(x) column(factor(x, c("low", "high"), ordered = TRUE))
  expect_appended(low("low"), low(c("high", NA)), anew = character())
  expect_refused(
    low("low"), column(factor("low", c("low", "mid", "high"), ordered = TRUE)),
    "ordered \\(low < high\\) in the file"
  )
  expect_appended(low("low"), column(factor("high")), low(c("low", "high")), anew = character())
  expect_appended(low("low"), column(c("high", NA)), low(c("low", "high", NA)), anew = character())
  expect_refused(
    low("low"), column(c("low", "mid")),
    "ordered \\(low < high\\) in the file, which does not hold 'mid' in row 2"
  )
})

test_that("attributes of columns are those of the file", {
  old <- column(structure(1:3, label = "mine", unit = "m"))
  expect_appended(old, column(4:5), anew = character())
  expect_appended(old, column(structure(4:5, label = "other")), anew = character())
  expect_appended(
    column(structure(1:2, class = "odd", label = "x")), column(structure(3L, class = "odd")), anew = character()
  )
  named <- column(c(x = 1L, y = 2L))
  expect_appended(named, column(3L), anew = "a")
  expect_appended(named, named, anew = "a")
  expect_appended(column(3L), named, column(c(3L, 1L, 2L)), anew = character())
})

test_that("strings of any encoding are kept", {
  latin1 <- "caf\xe9"
  Encoding(latin1) <- "latin1"
  bytes <- "\xff\x01"
  Encoding(bytes) <- "bytes"
  values <- list("plain", "caf\u00e9", latin1, bytes, NA_character_)
  for (old in values) for (new in values) expect_appended(column(old), column(new))
})

test_that("row names are those of rbind", {
  named <- data.frame(a = 1:2, row.names = c("x", "y"))
  numbers <- data.frame(a = 1:9)
  expect_appended(named, data.frame(a = 3L, row.names = "z"))
  expect_appended(named, data.frame(a = 3L))
  expect_appended(numbers, named)
  expect_appended(numbers[c(7, 3), , drop = FALSE], numbers[5:6, , drop = FALSE])
  expect_appended(numbers, numbers[c(2, 5), , drop = FALSE])
  expect_appended(numbers[1:4, , drop = FALSE], numbers[5:9, , drop = FALSE], anew = character())
  expect_appended(named, numbers[0, , drop = FALSE])
  expect_appended(numbers, data.frame(a = 1:2, row.names = 1:2), anew = character())
  expect_appended(data.frame(a = 1:2, row.names = 1:2), numbers[1:3, , drop = FALSE])
  expect_refused(named, data.frame(a = 3L, row.names = "x"), "row names .* in the file already: 'x'")
})

test_that("a key that holds stays", {
  skip_if_not_installed("data.table")
  keyed <- function(...) data.table::data.table(..., key = c("a", "b"))
  old <- keyed(a = c(1L, 1L, 2L), b = c("x", "y", "x"))
  key_of <- function(new) data.table::key(appended(old, new)$value)
  expect_identical(key_of(keyed(a = 2L, b = "x")), c("a", "b"))
  expect_identical(key_of(keyed(a = c(2L, 3L), b = c("y", NA))), c("a", "b"))
  expect_identical(key_of(data.table::data.table(b = "z", a = 2L)), c("a", "b"))
  expect_null(key_of(keyed(a = 2L, b = "a")))
  expect_null(key_of(data.table::data.table(a = c(4L, 3L), b = "a")))
  empty <- utils::head(old, 0L)
  expect_identical(key_of(empty), c("a", "b"))
  data.table::setkeyv(empty, c("a", "b"))
  expect_identical(data.table::key(appended(empty, old)$value), c("a", "b"))
  indexed <- data.table::data.table(a = 1:2, b = 2:1)
  data.table::setindexv(indexed, "b")
  expect_null(data.table::indices(appended(indexed, data.table::data.table(a = 3L, b = 0L))$value))
})

test_that("grouped tibbles are grouped anew", {
  skip_if_not_installed("dplyr")
  old <- dplyr::group_by(tibble::tibble(g = c("x", "y"), v = 1:2), g)
  new <- tibble::tibble(g = c("z", "x"), v = 3:4)
  expect_appended(old, new, dplyr::group_by(tibble::tibble(g = c("x", "y", "z", "x"), v = 1:4), g))
  by_row <- dplyr::rowwise(tibble::tibble(g = "x", v = 1L), g)
  expect_appended(by_row, new, dplyr::rowwise(rbind(tibble::tibble(g = "x", v = 1L), new), g))
})

test_that("columns of columns are joined", {
  old <- data.frame(x = 1:2)
  old$m <- matrix(c(1.5, 2:4), 2, dimnames = list(NULL, c("a", "b")))
  old$n <- data.frame(p = 1:2, q = c("u", "v"))
  old$t <- as.POSIXlt(c(1e9, 2e9), origin = "1970-01-01", tz = "UTC")
  old$l <- list(1, "x")
  old$i <- I(c("a", "b"))
  joined <- data.frame(x = c(1:2, 1:2))
  joined$m <- rbind(old$m, old$m)
  joined$n <- rbind(old$n, old$n)
  joined$t <- as.POSIXlt(c(1e9, 2e9, 1e9, 2e9), origin = "1970-01-01", tz = "UTC")
  joined$l <- list(1, "x", 1, "x")
  joined$i <- I(c("a", "b", "a", "b"))
  expect_appended(old, old, joined, anew = names(old))
  other <- old
  other$m <- matrix(1:6, 2)
  expect_refused(old, other, "matrix of 2 columns in the file and integer matrix of 3 columns")
  other <- old
  other$n$q <- 1:2
  expect_refused(old, other, "column 'n\\$q' is character in the file and integer")
})

test_that("classes whose attributes depend on rows follow their own rule, or are refused", {
  skip_if_not_installed("lubridate")
  skip_if_not_installed("nanotime")
  old <- column(lubridate::hours(1:2))
  expect_appended(old, column(lubridate::hours(3)), column(lubridate::hours(1:3)))
  expect_appended(column(nanotime::nanotime(1:2)), column(nanotime::nanotime(3)), column(nanotime::nanotime(1:3)))
  record <- column(vctrs::new_rcrd(list(a = 1:2, b = 3:4), class = "pairs"))
  expect_appended(record, record, column(vctrs::new_rcrd(list(a = c(1:2, 1:2), b = c(3:4, 3:4)), class = "pairs")))
  series <- column(zoo::zoo(1:3, as.Date("2020-01-01") + 0:2))
  expect_refused(series, series, "rows cannot be appended to column 'a' of class \"zoo\"", "entasis_error_unsupported")
  expect_refused(column(ts(1:3)), column(ts(1:3)), "of class \"ts\"", "entasis_error_unsupported")
  weighted <- function(...) column(structure(c(...), class = "weighted", weights = c(...) / 2))
  expect_refused(weighted(1, 2, 3), weighted(4, 5), "of class \"weighted\"", "entasis_error_unsupported")
  expect_refused(weighted(1, 2, 3), weighted(4), "of class \"weighted\"", "entasis_error_unsupported")
  cube <- column(1:2)
  cube$a <- array(1:8, c(2, 2, 2))
  expect_refused(cube, cube, "column 'a', an array of 3 dimensions", "entasis_error_unsupported")
  codes <- function(x, labels) column(structure(x, class = "haven_labelled", labels = labels))
  expect_appended(codes(1:3, c(a = 1L, b = 2L, c = 3L)), codes(4L, c(a = 1L, b = 2L)))
  odd <- structure(data.frame(a = 1:3), class = c("odd", "data.frame"), weights = c(1, 2, 3))
  expect_refused(odd, odd, "a frame of class \"odd/data.frame\"", "entasis_error_unsupported")
})

test_that("a class of its own keeps its attributes", {
  weighted <- function(...) column(structure(c(...), class = "weighted", weights = c(...) / 2))
  expect_refused(weighted(1, 2, 3), weighted(4, 5), "of class \"weighted\"", "entasis_error_unsupported")
  expect_refused(weighted(1, 2, 3), weighted(4), "of class \"weighted\"", "entasis_error_unsupported")
  cube <- column(1:2)
  cube$a <- array(1:8, c(2, 2, 2))
  expect_refused(cube, cube, "column 'a', an array of 3 dimensions", "entasis_error_unsupported")
  codes <- function(x, labels) column(structure(x, class = "haven_labelled", labels = labels))
  expect_appended(codes(1:3, c(a = 1L, b = 2L, c = 3L)), codes(4L, c(a = 1L, b = 2L)))
  odd <- structure(data.frame(a = 1:3), class = c("odd", "data.frame"), source = list("x", 1))
  expect_appended(
    odd, data.frame(a = 4L),
    structure(data.frame(a = 1:4), class = c("odd", "data.frame"), source = list("x", 1)), anew = character()
  )
})

test_that("64-bit integers and other classes of numbers are joined", {
  skip_if_not_installed("bit64")
  big <- bit64::as.integer64(c("9007199254740993", NA))
  expect_appended(column(big), column(big), column(c(big, big)), anew = character())
  expect_appended(column(big), data.frame(row.names = 1L), column(c(big, bit64::NA_integer64_)), fill = TRUE)
  expect_appended(column(big), column(1), column(c(big, bit64::as.integer64(1))), anew = character())
  expect_refused(column(big), column(1.5), "is integer64 in the file, which does not hold 1.5")
})

test_that("vectors are joined as by c", {
  joined <- function(old, new, anew = character()) {
    found <- appended(old, new, widen = TRUE)
    expect_true(alike(found$value, c(old, new)))
    expect_identical(found$anew, anew)
  }
  joined(1:9000, 5L)
  joined(1:3, 2.5, NA_character_)
  joined(c("a", NA), "b")
  joined(c(NA, NA), "b", NA_character_)
  joined(factor(c("a", "b")), factor("c"))
  joined(as.Date("2020-01-01"), as.Date("2021-01-01"))
  joined(.POSIXct(0, "UTC"), .POSIXct(1, "UTC"))
  joined(c(a = 1, b = 2), 3, NA_character_)
  joined(1:2, c(c = 3L), NA_character_)
  expect_refused(1:3, "a", "the vector is integer in the file and character")
  expect_refused(1:3, data.frame(a = 1), "'x' must be a vector like that in the file, not a data frame")
  expect_refused(data.frame(a = 1), 1:3, "'x' must be a data frame like that in the file")
  expect_refused(volcano, volcano, "appended to an array", "entasis_error_unsupported")
})

test_that("trees and other values are refused", {
  refused <- "holds neither a data frame nor a vector"
  expect_refused(list(1, "a"), 1:3, refused, "entasis_error_unsupported")
  expect_refused(quote(f(x)), mtcars, refused, "entasis_error_unsupported")
  expect_refused(mtcars, list(1), "'x' must be a data frame or a vector, not a list")
  expect_refused(mtcars, NULL, "not NULL")
})

test_that("an absent file is an error, or made", {
  path <- new_path()
  found <- tryCatch(append_entasis(iris, path), error = identity)
  expect_s3_class(found, "entasis_error_io")
  expect_match(conditionMessage(found), "No such file or directory; create = TRUE")
  expect_identical(conditionCall(found)[[1L]], quote(append_entasis))
  expect_false(file.exists(path))
  expect_identical(append_entasis(iris, path, create = TRUE), character())
  append_entasis(iris, path, create = TRUE)
  expect_identical(read_entasis(path), rbind(iris, iris))
})

test_that("arguments are checked", {
  path <- written(iris)
  wrong <- function(expr, message) expect_error(expr, message, class = "entasis_error_argument")
  wrong(append_entasis(iris, 1), "'path' must be a string")
  wrong(append_entasis(path, iris), "did you swap 'x' and 'path'")
  wrong(append_entasis(iris, path, NA), "'create' must be TRUE or FALSE")
  wrong(append_entasis(iris, path, fill = 1), "'fill' must be TRUE or FALSE")
  wrong(append_entasis(iris, path, compress = 101), "'compress' must be a number from 0 to 100")
  for (n in c(0, 2)) wrong(
    append_entasis(iris, path, edition = n), paste("edition", n, "is not known: this release writes edition 1")
  )
  wrong(append_entasis(iris, path, edition = "1"), "'edition' must be a whole number from 0")
  wrong(append_entasis(iris, path, threads = 0), "'threads' must be a whole number from 1")
  wrong(append_entasis(iris, path, durable = "x"), "'durable' must be TRUE or FALSE")
  wrong(append_entasis(iris, path, wait = -1), "'wait' must be a number of seconds")
  expect_invisible(append_entasis(iris, path, compress = 80, threads = 1, durable = TRUE, wait = Inf))
})

test_that("a lazy table is appended, also to its own file", {
  path <- written(iris)
  append_entasis(entasis(path), path)
  expect_identical(read_entasis(path), rbind(iris, iris))
})

test_that("rows are compressed as by the last write of the file", {
  x <- data.frame(n = rep(1:500, 300), s = rep(paste("a text", 1:50), 3000), u = sin(1:150000))
  more <- x[1:20000, ]
  row.names(more) <- NULL
  sizes <- function(...) {
    of <- vapply(c(0, 100), function(first) {
      path <- written(x, compress = first)
      on.exit(unlink(path))
      before <- file.size(path)
      append_entasis(more, path, durable = FALSE, ...)
      expect_identical(read_entasis(path), rbind(x, more))
      file.size(path) - before
    }, 0)
  }
  default <- sizes()
  expect_identical(default, c(sizes(compress = 0)[1L], sizes(compress = 100)[2L]))
  expect_gt(default[1L], 2 * default[2L])
  # The compression that was given last.
  path <- written(x, compress = 0)
  append_entasis(more, path, durable = FALSE, compress = 100)
  before <- file.size(path)
  append_entasis(more, path, durable = FALSE)
  expect_lt(file.size(path) - before, default[1L] / 2)
  unlink(path)
})

test_that("files that are written anew, new files and batches are compressed so too", {
  x <- data.frame(n = rep(1:50, 400), s = rep(paste("a text", 1:50), 400))
  new <- x[0, ]
  path <- new_path()
  on.exit(unlink(path))
  size_of <- function(compress) {
    write_entasis(x, path, compress)
    file.size(path)
  }
  expect_gt(size_of(0) - size_of(100), 100000)
  for (level in c(0, 100)) {
    change <- list(
      function() append_entasis(new, path, durable = FALSE),
      function() rename_columns_entasis(path, c(m = "n"), durable = FALSE),
      function() replace_columns_entasis(x["s"], path, durable = FALSE),
      function() update_entasis(list(a = x), path, durable = FALSE)
    )
    for (k in seq_along(change)) {
      write_entasis(if (k < 4L) x else list(a = x), path, level)
      expected <- file.size(path)
      change[[k]]()
      # Room for changes in place, and the generation before.
      expect_lt(file.size(path), 2 * expected + 15000, label = paste(level, k))
    }
  }
  expected <- size_of(50)
  unlink(path)
  append_entasis(x, path, create = TRUE)
  expect_identical(file.size(path), expected)
  w <- writer_entasis(path)
  w$write(x)
  w$close()
  expect_lt(file.size(path), size_of(0) / 2)
  long <- data.frame(n = rep(1:500, 300), s = rep(paste("a text", 1:50), 3000))
  grown <- function(level, ...) {
    write_entasis(long, path, level)
    before <- file.size(path)
    w <- writer_entasis(path, append = TRUE, ...)
    w$write(long)
    w$close()
    file.size(path) - before
  }
  expect_identical(grown(0), grown(0, compress = 0))
  expect_identical(grown(100), grown(100, compress = 100))
  expect_gt(grown(0), 2 * grown(100))
})

test_that("processes that write the first rows at once lose none", {
  skip_on_os("windows")
  for (attempt in seq_len(by_tier(6L, 15L))) {
    path <- new_path()
    # All begin when this file is there.
    start <- paste0(path, ".start")
    jobs <- lapply(1:5, function(k) {
      parallel::mcparallel({
        while (!file.exists(start)) Sys.sleep(0.001)
        append_entasis(data.frame(k = k, i = 1:3), path, create = TRUE, durable = FALSE, wait = 60)
      })
    })
    Sys.sleep(0.05)
    file.create(start)
    done <- parallel::mccollect(jobs)
    for (value in done) expect_false(inherits(value, "try-error"), info = toString(value))
    found <- read_entasis(path)
    expect_identical(sort(found$k), rep(1:5, each = 3))
    expect_identical(found$i, rep(1:3, 5))
    unlink(c(path, start))
  }
})

test_that("a file that appears before the first rows are written gets the rows too", {
  path <- written(data.frame(a = 1:3))
  on.exit(unlink(path))
  options <- entasis:::change_options(NULL, 10, must_be_new = TRUE)
  expect_false(entasis:::write_first_rows(data.frame(a = 4L), path, options))
  expect_identical(read_entasis(path)$a, 1:3)
  expect_error(
    append_entasis(1:3, file.path(tempdir(), "no", "such", "folder"), create = TRUE), class = "entasis_error_io"
  )
})

test_that("another writer is waited for", {
  path <- written(iris)
  change <- entasis:::core(.Call(entasis:::C_change, path, entasis:::write_options(50)))
  began <- Sys.time()
  found <- tryCatch(append_entasis(iris, path, wait = 0.2), error = identity)
  expect_gte(as.double(Sys.time() - began, units = "secs"), 0.2)
  expect_s3_class(found, c("entasis_error_busy", "entasis_error_io", "entasis_error", "error"))
  expect_match(conditionMessage(found), "another writer is at work on this file.*wait longer")
  .Call(entasis:::C_change_end, change)
  append_entasis(iris, path, wait = 0)
  expect_identical(nrow(read_entasis(path)), 300L)
})

test_that("a file that may not be written is an error", {
  path <- written(iris)
  Sys.chmod(path, "0444")
  on.exit(Sys.chmod(path, "0644"))
  if (file.access(path, 2L) == 0L) skip("this user may write every file")
  expect_error(append_entasis(iris, path), "Permission denied", class = "entasis_error_io")
})

test_that("files that are not of this format are recognised", {
  text <- tempfile()
  writeLines("hello", text)
  expect_error(append_entasis(iris, text), class = "entasis_error_not_entasis")
  golden <- Sys.getenv("ENTASIS_GOLDEN")
  if (golden == "") skip("needs ENTASIS_GOLDEN")
  old <- tempfile()
  from <- list.files(file.path(golden, "golden", "v0.1"), "[.]entasis$", full.names = TRUE)[1L]
  file.copy(from, old)
  expect_error(append_entasis(iris, old), "version 0\\.1", class = "entasis_error_unsupported")
})

test_that("a file of Python is refused with a hint", {
  path <- new_path()
  python(sprintf("en.write(pd.DataFrame({'a': [1]}), r'%s')", path))
  expect_error(
    append_entasis(data.frame(a = 1L), path), "written by pandas.*append to it from there",
    class = "entasis_error_unsupported"
  )
  python(sprintf("en.write([1, 2], r'%s')", path))
  expect_error(
    append_entasis(1:2, path), "written by Python.*append to it from there", class = "entasis_error_unsupported"
  )
})

test_that("an append from R is read in Python", {
  path <- new_path()
  write_entasis(data.frame(a = 1:20000, s = "x"), path)
  append_entasis(data.frame(s = "y", a = 7L), path)
  expect_identical(
    python(
      sprintf("f = en.read(r'%s'); en.verify(r'%s'); print(len(f), f['a'].iloc[-1], f['s'].iloc[-1])", path, path)
    ),
    "20001 7 y"
  )
})

# Columns of one kind with random values, levels, units and encodings.
some_values <- list(
  function(n) sample(c(TRUE, FALSE, NA), n, TRUE),
  function(n) sample(c(-3:3, NA), n, TRUE),
  function(n) sample(c(-3:3 / 7, NA, NaN, Inf), n, TRUE),
  function(n) if (n %% 2L) sample(9L, n, TRUE) else sample(9L, n, TRUE) / 2 + 0.25,
  function(n) sample(
    c("a", "caf\u00e9", iconv("caf\u00e9", "UTF-8", "latin1"), "", NA), n, TRUE, c(9, 9, n == 3L, 9, 9)
  ),
  function(n) factor(sample(c(letters, NA), n, TRUE)),
  function(n) factor(sample(c(letters[1:3], NA), n, TRUE), letters[1:3]),
  function(n) factor(sample(3L, n, TRUE), 1:3, c("low", "mid", "high"), ordered = TRUE),
  function(n) as.Date("2020-01-01") + sample(c(0:99, NA), n, TRUE),
  function(n) .POSIXct(sample(1e9, n) / sample(c(1, 2, 1000, 7), 1L), "UTC"),
  function(n) .POSIXct(sample(1e9, n)),
  function(n) as.difftime(sample(9, n, TRUE) / sample(2, 1L), units = "mins"),
  function(n) sample(9, n, TRUE) + 1i,
  function(n) structure(sample(9L, n, TRUE), label = "kept"),
  function(n) as.raw(sample(9L, n, TRUE))
)

test_that("random appends give what rbind gives", {
  set.seed(11)
  for (k in seq_len(by_tier(20L, 60L, 2000L))) {
    kinds <- sample(length(some_values), sample(6L, 1L), TRUE)
    rows <- function(n) {
      columns <- lapply(some_values[kinds], function(make) make(n))
      structure(columns, names = paste0("c", seq_along(columns)), class = "data.frame", row.names = c(NA, -n))
    }
    expected <- rows(sample(c(1:20, 9000L), 1L, FALSE, c(rep_len(1, 20), 10)))
    path <- written(expected)
    for (i in 1:5) {
      new <- rows(sample(0:20, 1L))
      append_entasis(new[sample(length(new))], path, durable = FALSE, widen = TRUE)
      expected <- rbind(expected, new)
    }
    found <- read_entasis(path)
    expect_true(
      alike(found, expected),
      info = paste(k, paste(kinds, collapse = " "), paste(all.equal(found, expected), collapse = "; "))
    )
    some <- (nrow(expected) - nrow(expected) %/% 3L):nrow(expected)
    expect_true(alike(bare(read_entasis(path, from = some[1L])), bare(expected[some, , drop = FALSE])), info = k)
    verify_entasis(path)
    unlink(path)
  }
})

test_that("processes append to one file by turns", {
  skip_on_os("windows")
  path <- written(data.frame(process = 0L, k = 0L))
  done <- parallel::mclapply(1:4, function(process) {
    for (k in 1:10) append_entasis(data.frame(process = process, k = k), path, durable = FALSE, wait = 60)
    TRUE
  }, mc.cores = 2L)
  expect_identical(done, rep_len(list(TRUE), 4L))
  found <- read_entasis(path)
  expect_identical(nrow(found), 41L)
  for (process in 1:4) expect_identical(found$k[found$process == process], 1:10)
})

test_that("lists in I() are rows of a list column", {
  frame <- data.frame(id = 1:2)
  frame$l <- list(1, "two")
  path <- written(frame)
  append_entasis(data.frame(id = 3L, l = I(list(4:5))), path)
  expect_identical(read_entasis(path)$l, list(1, "two", 4:5))
  path <- written(data.frame(x = c(1, 2)))
  append_entasis(data.frame(x = I(3)), path)
  expect_identical(read_entasis(path), data.frame(x = c(1, 2, 3)))
  path <- written(data.frame(x = I(c(1, 2))))
  append_entasis(data.frame(x = I(3)), path)
  expect_identical(read_entasis(path), data.frame(x = I(c(1, 2, 3))))
})

test_that("a column of objects is named where its rows cannot be appended", {
  own_classes()
  on.exit(drop_classes())
  path <- written(data.frame(id = 1:2))
  methods::setClass("entasis_range", slots = c(from = "numeric"), where = globalenv())
  on.exit(methods::removeClass("entasis_range", where = globalenv()), add = TRUE)
  rows <- structure(list(id = 1L, r = methods::new("entasis_range", from = 1)), class = "data.frame", row.names = 1L)
  expect_error(
    append_entasis(rows, path), "column 'r' of the rows to append is an object of class \"entasis_range\"",
    class = "entasis_error_unsupported"
  )
  broken <- structure(list(id = 1L, r = 1:2), class = "data.frame", row.names = 1L)
  expect_error(append_entasis(broken, path), "not a valid data frame", class = "entasis_error_argument")
})

test_that("missing values of a factor get a level NA, as in rbind()", {
  with_level <- addNA(factor("a"))
  both <- structure(c(1L, NA, 2L), levels = c("a", NA), class = "factor")
  values <- list(
    with_level, factor(c("b", NA)), factor(c("a", NA)), addNA(factor(c("b", NA))), both, factor("c"),
    factor(NA), c("x", NA), NA
  )
  for (old in values) {
    for (new in values) {
      if (!is.factor(old)) next
      frames <- list(data.frame(f = old), data.frame(f = new))
      path <- written(frames[[1L]])
      append_entasis(frames[[2L]], path)
      expect_identical(read_entasis(path), do.call(rbind, frames), info = deparse(list(old, new)))
      if (is.factor(new)) {
        path <- written(old)
        append_entasis(new, path)
        expect_identical(read_entasis(path), c(old, new), info = deparse(list(old, new)))
      }
    }
  }
})

test_that("geometries of several kinds are appended as by rbind", {
  skip_if_not_installed("sf")
  point <- sf::st_point(c(1, 2))
  line <- sf::st_linestring(rbind(c(0, 0), c(1, 1)))
  points <- sf::st_sf(a = 1:2, geometry = sf::st_sfc(point, sf::st_point(), crs = 4326))
  mixed <- sf::st_sf(a = 1:4, geometry = sf::st_sfc(point, line, point, line, crs = 4326))
  for (pair in list(list(points, points), list(points, mixed), list(mixed, points), list(mixed, mixed), list(mixed, mixed[2L, ]))) {
    path <- written(pair[[1L]])
    append_entasis(pair[[2L]], path)
    expect_equal(bare(read_entasis(path)), bare(rbind(pair[[1L]], pair[[2L]])))
    frames <- lapply(pair, function(x) structure(as.list(x), class = "data.frame", row.names = seq_len(nrow(x))))
    path <- written(frames[[1L]])
    append_entasis(frames[[2L]], path)
    expect_equal(read_entasis(path)$geometry, c(frames[[1L]]$geometry, frames[[2L]]$geometry))
  }
  path <- written(points)
  other <- sf::st_transform(points, 3857)
  expect_error(append_entasis(other, path), class = "entasis_error")
  expect_equal(read_entasis(path), points)
})

test_that("errors name nanotime by its class", {
  skip_if_not_installed("nanotime")
  skip_if_not_installed("bit64")
  path <- written(data.frame(t = nanotime::nanotime(1:3)))
  expect_error(
    append_entasis(data.frame(t = bit64::as.integer64(4)), path),
    "column 't' is nanotime in the file and integer64 in the rows", fixed = TRUE
  )
  append_entasis(data.frame(t = nanotime::nanotime(4)), path)
  expect_identical(read_entasis(path)$t, nanotime::nanotime(1:4))
})

test_that("appends and writers warn once of a long file of mostly earlier generations", {
  path <- new_path()
  on.exit(unlink(path))
  write_entasis(data.frame(a = rep(1L, 1e7), b = runif(1e7)), path, compress = 10)
  drop_columns_entasis(path, "b")
  expect_warning(append_entasis(data.frame(a = 1L), path, durable = FALSE), "four times as long")
  expect_no_warning(append_entasis(data.frame(a = 1L), path, durable = FALSE))
  other <- new_path()
  on.exit(unlink(other), add = TRUE)
  file.copy(path, other)
  writer <- writer_entasis(other, append = TRUE)
  writer$write(data.frame(a = 2L))
  expect_warning(writer$close(), "compact_entasis")
})
