# Frames of many columns, which are planned, and get their attributes, together.

test_that("columns that look alike keep what is their own", {
  latin <- "caf\xe9"
  Encoding(latin) <- "latin1"
  utf8 <- "caf\u00e9"
  at <- 1.7e9 + 0:2
  noted <- structure(1:3, class = structure("noted", note = "of the class"))
  frame <- data.frame(id = 1:3)
  columns <- list(
    f = factor(c("a", "b", NA)), same = factor(c("b", "a", "b")), other = factor(c("x", "y", "z")), none = factor(c(NA, NA, NA)),
    latin = factor(rep(latin, 3)), utf8 = factor(rep(utf8, 3)), o = ordered(c("lo", "hi", "lo")), odd = structure(1:3, levels = letters[1:3]),
    odder = structure(1:3, levels = letters[4:6]), double = structure(c(1, 2, 3), levels = "p"), double2 = structure(c(1, 2, 3), levels = "q"),
    named = structure(factor(1:3), levels = c(a = "1", b = "2", c = "3")), list = list(1, "a", NULL),
    d = as.Date("2020-01-01") + 0:2, half = as.Date("2020-01-01") + c(0, 0.5, NA), whole = structure(18262:18264, class = "Date"),
    t = as.POSIXct(at, origin = "1970-01-01", tz = "UTC"), oslo = as.POSIXct(at, origin = "1970-01-01", tz = "Europe/Oslo"), bare = structure(at, class = c("POSIXct", "POSIXt")),
    third = structure(at + 1 / 3, class = c("POSIXct", "POSIXt"), tzone = "UTC"), turned = structure(at, tzone = "UTC", class = c("POSIXct", "POSIXt")),
    secs = as.difftime(1:3 + 0.5, units = "secs"), mins = as.difftime(c(1, NA, 3), units = "mins"), m = matrix(1:6, 3), na = c(NA, 1.5, NaN), quiet = c(NA, 1, 2) + 1,
    l1 = structure(1:3, label = "one"), l2 = structure(1:3, label = "two"), l3 = structure(1:3, label = latin), l4 = structure(1:3, label = utf8),
    long = structure(1:3, label = as.character(1:100)), long2 = structure(1:3, label = as.character(1:100)), noted = noted,
    plain = structure(1:3, class = "noted"), text = c("a", NA, "b"), marked = c(latin, utf8, "a"), s = structure(c("x", "y", "z"), label = "one"), c = complex(3, 1:3), r = as.raw(1:3)
  )
  for (name in names(columns)) frame[[name]] <- columns[[name]]
  frame$inner <- data.frame(p = factor(c("a", "b", "a")), q = as.Date("2020-01-01") + 0:2)
  for (name in names(columns)) expect_true(same(frame[[name]], columns[[name]]), label = name)
  path <- written(frame)
  y <- read_entasis(path)
  for (name in names(frame)) expect_true(same(frame[[name]], y[[name]]), label = paste(name, "is kept"))
  expect_true(same(frame, y))
  # Any of them alone and in another order.
  for (name in names(columns)) expect_true(same(read_entasis(path, name)[[1L]], frame[[name]]), label = paste(name, "is read alone"))
  expect_true(same(read_entasis(path, rev(names(frame)))$other, frame$other))
})

test_that("columns of the same described attributes differ in all else", {
  zero <- structure(1:2, limit = 0)
  columns <- list(
    zoneless = structure(c(1.5, NA), class = c("POSIXct", "POSIXt")), again = structure(c(0, 1.7e9), class = c("POSIXct", "POSIXt")),
    zero = zero, negative = structure(1:2, limit = -0), zero2 = structure(3:4, limit = 0), nan = structure(1:2, limit = NaN), na = structure(1:2, limit = NA_real_),
    f = structure(factor(c("a", "b")), label = "f"), g = structure(factor(c("x", "y")), label = "f"), h = structure(factor(c("y", "x"), c("y", "x")), label = "f"),
    mins = structure(c(1, 2), units = "mins", class = "difftime", label = "span"), secs = structure(c(1, 2), units = "secs", class = "difftime", label = "span"),
    weeks = structure(c(1, 2), units = "weeks", class = "difftime", label = "span"), text = structure(c("a", NA), label = "f"),
    list = structure(list(1, "a"), label = "f"), labelled = structure(c(1, 2), labels = c(yes = 1, no = 2), class = c("haven_labelled", "vctrs_vctr", "double"))
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
  # What is changed in one is changed in no other.
  attr(y$zero, "limit")[1L] <- 5
  expect_identical(attr(y$zero2, "limit"), 0)
})

test_that("described columns between plain ones stay in their places", {
  frame <- structure(lapply(1:40, function(i) if (i %% 3 == 1 || i > 36) structure(c(i, -i), label = "l") else c(i, -i)),
                     names = paste0("V", 1:40), row.names = c(NA, -2L), class = "data.frame")
  expect_kept(frame)
  expect_kept(frame[-1L])
  expect_kept(frame[2:36])
})

test_that("50,000 times without a zone are read in little time", {
  k <- 50000L
  frame <- structure(lapply(seq_len(k), function(i) structure(c(i, 1.7e9), class = c("POSIXct", "POSIXt"))), names = paste0("V", seq_len(k)),
                     row.names = c(NA, -2L), class = "data.frame")
  path <- written(frame)
  took <- sum(system.time(y <- read_entasis(path))[1:2])
  expect_true(identical(y, frame))
  # One by one they took above 4 s where together they take 1 s.
  expect_lt(took, 3)
})

test_that("factors of the same levels share them in the file", {
  levels <- c("a", "b", "c")
  frame <- as.data.frame(lapply(1:50, function(i) factor(sample(levels, 4, TRUE), levels)), col.names = paste0("f", 1:50))
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
  skip_if_not(Sys.getenv("ENTASIS_TEST_LONG") == "1")
  makers <- list(
    double = function(i) c(i + 0.5, NA), integer = function(i) c(i, NA), logical = function(i) c(TRUE, i %% 2 == 0),
    text = function(i) c(paste0("a", i), NA), factor = function(i) factor(c("a", "b")), factors = function(i) factor(c(paste0("l", i), "b")),
    Date = function(i) structure(c(i, 20000), class = "Date"), POSIXct = function(i) structure(c(i, 1.7e9), class = c("POSIXct", "POSIXt"), tzone = "UTC")
  )
  for (name in names(makers)) {
    frame <- lapply(1:100000, makers[[name]])
    names(frame) <- paste0("V", seq_along(frame))
    frame <- structure(frame, row.names = c(NA, -2L), class = "data.frame")
    expect_true(identical(round_trip(frame), frame), label = name)
  }
})
