# Frames of many columns, which are planned, and get their attributes, together.

test_that("columns that look alike keep what is their own", {
  latin <- "caf\xe9"
  Encoding(latin) <- "latin1"
  utf8 <- "caf\u00e9"
  at <- 1.7e9 + 0:2
  noted <- structure(1:3, class = structure("noted", note = "of the class"))
  frame <- data.frame(id = 1:3)
  columns <- list(
    f = factor(c("a", "b", NA)), same = factor(c("b", "a", "b")), other = factor(c("x", "y", "z")),
    none = factor(c(NA, NA, NA)),
    latin = factor(rep(latin, 3)), utf8 = factor(rep(utf8, 3)), o = ordered(c("lo", "hi", "lo")),
    odd = structure(1:3, levels = letters[1:3]),
    odder = structure(1:3, levels = letters[4:6]), double = structure(c(1, 2, 3), levels = "p"),
    double2 = structure(c(1, 2, 3), levels = "q"),
    named = structure(factor(1:3), levels = c(a = "1", b = "2", c = "3")), list = list(1, "a", NULL),
    d = as.Date("2020-01-01") + 0:2, half = as.Date("2020-01-01") + c(0, 0.5, NA),
    whole = structure(18262:18264, class = "Date"),
    t = as.POSIXct(at, origin = "1970-01-01", tz = "UTC"),
    oslo = as.POSIXct(at, origin = "1970-01-01", tz = "Europe/Oslo"),
    bare = structure(at, class = c("POSIXct", "POSIXt")),
    third = structure(at + 1 / 3, class = c("POSIXct", "POSIXt"), tzone = "UTC"),
    turned = structure(at, tzone = "UTC", class = c("POSIXct", "POSIXt")),
    secs = as.difftime(1:3 + 0.5, units = "secs"), mins = as.difftime(c(1, NA, 3), units = "mins"),
    m = matrix(1:6, 3), na = c(NA, 1.5, NaN), quiet = c(NA, 1, 2) + 1,
    l1 = structure(1:3, label = "one"), l2 = structure(1:3, label = "two"), l3 = structure(1:3, label = latin),
    l4 = structure(1:3, label = utf8),
    long = structure(1:3, label = as.character(1:100)), long2 = structure(1:3, label = as.character(1:100)),
    noted = noted,
    plain = structure(1:3, class = "noted"), text = c("a", NA, "b"), marked = c(latin, utf8, "a"),
    s = structure(c("x", "y", "z"), label = "one"), c = complex(3, 1:3), r = as.raw(1:3)
  )
  for (name in names(columns)) frame[[name]] <- columns[[name]]
  frame$inner <- data.frame(p = factor(c("a", "b", "a")), q = as.Date("2020-01-01") + 0:2)
  for (name in names(columns)) expect_true(same(frame[[name]], columns[[name]]), label = name)
  path <- written(frame)
  y <- read_entasis(path)
  for (name in names(frame)) expect_true(same(frame[[name]], y[[name]]), label = paste(name, "is kept"))
  expect_true(same(frame, y))
  # Any of them alone and in another order.
  for (name in names(columns)) expect_true(
    same(read_entasis(path, name)[[1L]], frame[[name]]), label = paste(name, "is read alone")
  )
  expect_true(same(read_entasis(path, rev(names(frame)))$other, frame$other))
})

test_that("columns of the same described attributes differ in all else", {
  zero <- structure(1:2, limit = 0)
  columns <- list(
    zoneless = structure(c(1.5, NA), class = c("POSIXct", "POSIXt")),
    again = structure(c(0, 1.7e9), class = c("POSIXct", "POSIXt")),
    zero = zero, negative = structure(1:2, limit = -0), zero2 = structure(3:4, limit = 0),
    nan = structure(1:2, limit = NaN), na = structure(1:2, limit = NA_real_),
    f = structure(factor(c("a", "b")), label = "f"), g = structure(factor(c("x", "y")), label = "f"),
    h = structure(factor(c("y", "x"), c("y", "x")), label = "f"),
    mins = structure(c(1, 2), units = "mins", class = "difftime", label = "span"),
    secs = structure(c(1, 2), units = "secs", class = "difftime", label = "span"),
    weeks = structure(c(1, 2), units = "weeks", class = "difftime", label = "span"),
    text = structure(c("a", NA), label = "f"),
    list = structure(list(1, "a"), label = "f"),
    labelled = structure(c(1, 2), labels = c(yes = 1, no = 2), class = c("haven_labelled", "vctrs_vctr", "double"))
  )
  frame <- structure(columns, row.names = c(NA, -2L), class = "data.frame")
  path <- written(frame)
  y <- read_entasis(path)
  expect_true(same(frame, y))
  for (name in names(columns)) {
    expect_true(same(y[[name]], columns[[name]]), label = paste(name, "is kept"))
    expect_true(same(read_entasis(path, name)[[1L]], columns[[name]]), label = paste(name, "is read alone"))
  }
  expect_identical(1 / attr(y$negative, "limit"), -Inf)
  expect_identical(1 / attr(y$zero2, "limit"), Inf)
  expect_true(is.nan(attr(y$nan, "limit")) && !is.nan(attr(y$na, "limit")))
  # A change of one column leaves the others unchanged.
  attr(y$zero, "limit")[1L] <- 5
  expect_identical(attr(y$zero2, "limit"), 0)
})

test_that("columns with attributes of their own keep all of them", {
  latin <- "caf\xe9"
  Encoding(latin) <- "latin1"
  utf8 <- "caf\u00e9"
  bytes <- "\xff"
  Encoding(bytes) <- "bytes"
  with <- function(x, name, value) {
    attr(x, name) <- value
    x
  }
  shared <- c(yes = 1, no = 2)
  yes_no <- function(x) structure(x, class = c("haven_labelled", "vctrs_vctr", "double"))
  values <- list(
    text = "a label", empty = "", na = NA_character_, tab = "a\tb\n", control = "a\001b", utf8 = utf8,
    latin = latin, bytes = bytes,
    texts = c(utf8, NA, "a"), none = character(), logical = c(TRUE, NA, FALSE), integer = c(1L, NA, -5L),
    double = c(1.5, NA, NaN, -0, Inf),
    other_double = c(1.5, NA, NaN, 0, Inf), complex = 1i, raw = as.raw(1:3), limit = 1:32, longer = 1:33,
    named = c(a = 1, b = 2), renamed = c(a = 1, c = 2), unnamed = c(1, 2),
    half_named = structure(1:2, names = c(NA, "b")),
    blank = structure(1:2, names = c("", "")), latin_names = structure(1:2, names = c(latin, "b")),
    utf8_names = structure(1:2, names = c(utf8, "b")),
    noted = structure(c(a = 1), note = "of the label", more = structure(1L, deeper = c(x = "y"))),
    turned = structure(structure(1, note = "n"), names = "a"), straight = structure(c(a = 1), note = "n"),
    deep = with(1, "a", with(2, "b", with(3, "c", with(4, "d", with(5, "e", with(6, "f", 7)))))),
    deeper = with(1, "a", with(2, "b", with(3, "c", with(4, "d", with(5, "e", with(6, "f", 8)))))),
    date = as.Date("2020-01-01"), factor = factor(c("u", "v")), classed = structure("text", class = "odd"),
    int64 = structure(4.9e-324, class = "integer64"),
    classes = structure("odd", class = structure("odd", of = "a class")),
    matrix = matrix(1:4, 2, dimnames = list(NULL, c("a", "b"))),
    commented = structure(1, comment = "said"), list = list(1, "a"), named_list = list(a = 1, b = list("c")),
    frame = data.frame(a = 1:2),
    null_names = structure(list(1), names = NULL), formula = stats::as.formula("y ~ x", globalenv()),
    symbol = quote(x), s4 = asS4(structure(1, class = "s4like")), levels = c("p", "q")
  )
  columns <- c(
    lapply(values, function(value) structure(1:2, label = value)),
    list(
      first = yes_no(structure(c(1, 2), label = "one", labels = shared)),
      second = yes_no(structure(c(2, 1), label = "two", labels = shared)),
      third = yes_no(structure(c(2, 1), label = "one", labels = c(yes = 1, no = 2))),
      fourth = yes_no(structure(c(2, 1), labels = shared, label = "one")),
      format = structure(c("a", "b"), label = "l", format.stata = "%9s"),
      named = structure(c(a = 1, b = 2), label = "l"),
      odd_name = with(with(1:2, utf8, 1), "b", 2), latin_name = with(1:2, latin, 1),
      f = structure(factor(c("a", "b")), label = "f"),
      g = structure(factor(c("b", "a")), label = "g"),
      turned = structure(1:2, label = "f", levels = c("a", "b"), class = "factor"),
      day = structure(as.Date("2020-01-01") + 0:1, label = "d"),
      half = structure(as.Date("2020-01-01") + c(0, 0.5), label = "d"),
      day2 = structure(as.Date("2020-01-01") + 0:1, label = "e"),
      time = structure(as.POSIXct(0, origin = "1970-01-01", tz = "UTC") + 0:1, label = "t"),
      third_of = structure(as.POSIXct(1 / 3, origin = "1970-01-01", tz = "UTC") + 0:1, label = "t"),
      s4 = asS4(structure(1:2, label = "s4")),
      not_s4 = structure(1:2, label = "s4"), one_dim = structure(array(1:2), label = "a"),
      objects = structure(list(1, "a"), label = "l"),
      mins = structure(c(1, 2), units = "mins", class = "difftime", label = "m"),
      hours = structure(c(1, 2), units = "hours", class = "difftime", label = "h")
    )
  )
  names(columns) <- paste0("c", seq_along(columns))
  frame <- structure(columns, row.names = c(NA, -2L), class = "data.frame")
  path <- written(frame)
  y <- read_entasis(path)
  for (name in names(columns)) {
    expect_true(same(y[[name]], columns[[name]]), label = paste(name, "is kept"))
    expect_true(same(read_entasis(path, name)[[1L]], columns[[name]]), label = paste(name, "is read alone"))
  }
  marks <- function(x) list(if (is.character(x)) Encoding(x), Encoding(as.character(names(x))))
  expect_identical(
    lapply(y, function(x) lapply(attributes(x), marks)),
    lapply(columns, function(x) lapply(attributes(x), marks))
  )
  expect_identical(1 / attr(y[[which(names(values) == "double")]], "label")[4L], -Inf)
  expect_identical(1 / attr(y[[which(names(values) == "other_double")]], "label")[4L], Inf)
  # Writing the value that was read gives the same file.
  expect_identical(readBin(written(y), "raw", file.size(path) + 1), readBin(path, "raw", file.size(path) + 1))
  # Equal attributes may be one object, but a change of one leaves the others unchanged.
  attr(y[[length(values) + 1L]], "labels")[["yes"]] <- 9
  expect_identical(attr(y[[length(values) + 2L]], "labels"), shared)
  # A vector by itself is described in the same way.
  for (name in names(columns)) expect_kept(columns[[name]])
})

test_that("equal attributes of many columns are found among many that differ", {
  labels <- function(i) structure(c(1, 2), names = c("a", paste0("b", i)))
  frame <- structure(lapply(1:3000, function(i) structure(c(i, 0), labels = labels(i %% 1500L), class = "haven_labelled")), names = paste0("V", 1:3000),
                     row.names = c(NA, -2L), class = "data.frame")
  x <- unclass(frame)
  groups <- .Call(entasis:::C_groups, x, 2)
  expect_identical(groups$group, rep(1:1500, 2L))
  expect_identical(unique(groups$kind), 1L)
  expect_kept(frame)
})

test_that("many columns with labels of their own are written and read in little time", {
  k <- by_tier(12000L, 50000L)
  makers <- list(
    function(i) structure(c(i, 1L), label = paste("label", i)),
    function(i) structure(
      c(i, 1), label = paste("label", i), format.spss = "F8.2", labels = c(yes = 1, no = i),
      class = c("haven_labelled", "vctrs_vctr", "double")
    ),
    function(i) structure(1:2, levels = c(paste0("l", i), "b"), class = "factor", label = paste("label", i))
  )
  frame <- structure(
    lapply(seq_len(k), function(i) makers[[i %% 3L + 1L]](i)), names = paste0("V", seq_len(k)),
    row.names = c(NA, -2L), class = "data.frame"
  )
  path <- tempfile()
  measured <- function(frame) {
    c(sum(system.time(write_entasis(frame, path))[1:2]), sum(system.time(y <<- read_entasis(path))[1:2]))
  }
  y <- NULL
  few <- measured(frame[seq_len(k / 4)])
  many <- measured(frame)
  expect_true(same(frame, y))
  # Four times the columns take four times the time; quadratic work takes sixteen times.
  expect_true(all(many < 8 * few + 1))
})

test_that("described columns between plain ones stay in their places", {
  frame <- structure(lapply(1:40, function(i) if (i %% 3 == 1 || i > 36) structure(c(i, -i), label = "l") else c(i, -i)),
                     names = paste0("V", 1:40), row.names = c(NA, -2L), class = "data.frame")
  expect_kept(frame)
  expect_kept(frame[-1L])
  expect_kept(frame[2:36])
})

test_that("many times without a zone are read in little time", {
  k <- by_tier(12000L, 50000L)
  frame <- structure(lapply(seq_len(k), function(i) structure(c(i, 1.7e9), class = c("POSIXct", "POSIXt"))), names = paste0("V", seq_len(k)),
                     row.names = c(NA, -2L), class = "data.frame")
  path <- written(frame)
  took <- sum(system.time(y <- read_entasis(path))[1:2])
  expect_true(identical(y, frame))
  # Quadratic time of 50,000 would be minutes.
  expect_lt(took, by_tier(3, 30))
})

test_that("factors of the same levels share them in the file", {
  levels <- c("a", "b", "c")
  frame <- as.data.frame(
    lapply(1:50, function(i) factor(sample(levels, 4, TRUE), levels)), col.names = paste0("f", 1:50)
  )
  path <- written(frame)
  file <- entasis:::open_file(path)
  expect_equal(file$facts$n_columns_total, 51)
  entasis:::close_file(file)
  expect_true(same(read_entasis(path), frame))
  frame$f7 <- factor(c("a", "b", "c", "d"))
  expect_kept(frame)
})

test_that("20,000 columns of text take little memory", {
  skip_if_not(file.exists("/proc/self/clear_refs"))
  script <- tempfile(fileext = ".R")
  writeLines(c(
    "library(entasis)",
    "peak <- function() as.numeric(gsub('[^0-9]', '', grep('VmHWM', readLines('/proc/self/status'), value = TRUE))) / 1024",
    "frame <- lapply(1:20000, function(i) paste('a text that is long enough', i + 0:1))",
    "names(frame) <- paste0('V', seq_along(frame))",
    "frame <- structure(frame, row.names = c(NA, -2L), class = 'data.frame')",
    "path <- tempfile()",
    "invisible(gc())",
    "writeLines('5', '/proc/self/clear_refs')",
    "before <- peak()",
    "write_entasis(frame, path)",
    "cat(peak() - before, identical(read_entasis(path), frame))"
  ), script)
  out <- system2(file.path(R.home("bin"), "Rscript"), script, stdout = TRUE, env = libraries())
  found <- strsplit(out[length(out)], " ", fixed = TRUE)[[1L]]
  expect_lt(as.numeric(found[1L]), 150)
  expect_identical(found[2L], "TRUE")
})

test_that("many closures with environments of their own come back", {
  make <- function(i) {
    force(i)
    function(x) x + i
  }
  path <- written(lapply(1:1500, make), functions = TRUE)
  y <- read_entasis(path, functions = TRUE)
  expect_identical(vapply(y, function(f) f(1), 0), 1 + 1:1500)
  expect_identical(length(unique(lapply(y, environment))), 1500L)
})

test_that("100,000 columns of each type come back", {
  skip_if_not(is_long)
  makers <- list(
    double = function(i) c(i + 0.5, NA), integer = function(i) c(i, NA), logical = function(i) c(TRUE, i %% 2 == 0),
    text = function(i) c(paste0("a", i), NA), factor = function(i) factor(c("a", "b")),
    factors = function(i) factor(c(paste0("l", i), "b")),
    Date = function(i) structure(c(i, 20000), class = "Date"),
    POSIXct = function(i) structure(c(i, 1.7e9), class = c("POSIXct", "POSIXt"), tzone = "UTC")
  )
  for (name in names(makers)) {
    frame <- lapply(1:100000, makers[[name]])
    names(frame) <- paste0("V", seq_along(frame))
    frame <- structure(frame, row.names = c(NA, -2L), class = "data.frame")
    expect_true(identical(round_trip(frame), frame), label = name)
  }
})
