# testthat takes milliseconds to find that two values are identical, so R is asked first.
expect_identical <- function(object, expected, ..., label = as_label(substitute(object))) {
  if (identical(object, expected)) testthat::succeed() else testthat::expect_identical(object, expected, ..., label = label)
  invisible(object)
}

expect_true <- function(object, ..., label = as_label(substitute(object))) {
  if (isTRUE(as.vector(object))) testthat::succeed() else testthat::expect_true(object, ..., label = label)
  invisible(object)
}

expect_false <- function(object, ..., label = as_label(substitute(object))) {
  if (isFALSE(as.vector(object))) testthat::succeed() else testthat::expect_false(object, ..., label = label)
  invisible(object)
}

as_label <- function(code) paste0("`", paste(deparse(code), collapse = " "), "`")

# Bit for bit: types, NaN, the order of attributes.
same <- function(x, y) {
  identical(x, y, num.eq = FALSE, single.NA = FALSE, attrib.as.set = FALSE) && same_marks(x, y)
}

# Identical except for the order of attributes, which `[` changes.
alike <- function(x, y) {
  identical(x, y, num.eq = FALSE, single.NA = FALSE) && same_marks(x, y)
}

# The encoding of each string, which identical() ignores.
same_marks <- function(x, y) {
  if (is.character(x)) {
    return(identical(Encoding(x), Encoding(y)))
  }
  if (is.list(x)) {
    return(all(unlist(Map(same_marks, unclass(x), unclass(y)))))
  }
  TRUE
}

round_trip <- function(x, compress = 50) {
  path <- tempfile(fileext = ".entasis")
  on.exit(unlink(path))
  write_entasis(x, path, compress)
  read_entasis(path)
}

expect_kept <- function(x, compress = 50) {
  y <- round_trip(x, compress)
  expect_true(
    same(x, y), label = paste("kept:", paste(class(x), collapse = "/")),
    info = paste(all.equal(x, y), collapse = "; ")
  )
  expect_converted(x)
}

# R's own file of a value, read without R's reader, is the value.
expect_converted <- function(x) {
  path <- tempfile(fileext = ".rds")
  on.exit(unlink(path))
  saveRDS(x, path, compress = FALSE)
  y <- read_entasis(path)
  expect_true(
    same(readRDS(path), y), label = paste("converted:", paste(class(x), collapse = "/")),
    info = paste(all.equal(x, y), collapse = "; ")
  )
}

written <- function(x, ...) {
  path <- tempfile(fileext = ".entasis")
  write_entasis(x, path, ...)
  path
}

# The frame without row names, which restart when some rows are read.
bare <- function(x) {
  rownames(x) <- NULL
  x
}

many <- function(n = 100000) {
  set.seed(7)
  data.frame(
    a = seq_len(n), b = runif(n), c = sample(c(letters, NA), n, TRUE), f = factor(sample(letters, n, TRUE)),
    d = as.Date("2020-01-01") + seq_len(n) %% 100, t = as.POSIXct("2020-01-01", tz = "UTC") + seq_len(n),
    l = rep_len(c(TRUE, NA, FALSE), n), u = paste("a string that is longer than a view,", seq_len(n))
  )
}

# Columns of each type with odd values, in several blocks.
odd_frame <- function(n) {
  set.seed(11)
  pick <- function(values) sample(values, n, TRUE)
  d <- data.frame(
    id = seq_len(n), i = pick(c(-3:3, NA, .Machine$integer.max)),
    x = pick(c(-0.0, 0, 1.5, -2, 0.1 + 0.2, NA, NaN, Inf, -Inf, 1e300)),
    l = pick(c(TRUE, FALSE, NA)), all_na = rep(NA, n), none = rep(NA_real_, n),
    s = pick(c("", "a", "ab", "b", "B", "\u00e9t\u00e9", "z\u00fcrich", NA)),
    f = factor(pick(c("a", "b", "zz", NA)), levels = c("zz", "b", "a", "unused")), fn = addNA(factor(pick(c("a", NA)))),
    d = as.Date("2020-01-01") + pick(c(-40000, 0:3, NA)), di = structure(pick(c(18262L:18265L, NA)), class = "Date"),
    dx = as.Date("2020-01-01") + pick(c(0.5, 1, NA)),
    t = as.POSIXct("2020-01-01", tz = "UTC") + pick(c(0, 0.25, 1, 86400, -1e9 - 0.001, NA)),
    tb = as.POSIXct("2020-03-29 01:30:00", tz = "Europe/Berlin") + pick(c(0, 3600, NA)),
    tn = as.POSIXct("2020-03-29 01:30:00") + pick(c(0, 3600, NA)),
    w = as.difftime(pick(c(1, 1.5, 90, 0.1, NA)), units = "mins"),
    ws = as.difftime(pick(c(60, 90, NA)), units = "secs"), stringsAsFactors = FALSE
  )
  d$o <- factor(pick(c("low", "mid", "high", NA)), levels = c("low", "mid", "high"), ordered = TRUE)
  d$latin <- pick(c("a", iconv("\u00e9", "UTF-8", "latin1"), NA))
  d$label <- structure(pick(c(1, 2, NA)), label = "a label")
  d$list <- lapply(seq_len(n), identity)
  if (requireNamespace("bit64", quietly = TRUE)) {
    d$big <- bit64::as.integer64(pick(c(1, 2, 2^53, NA)))
    d$big[pick(c(TRUE, FALSE))] <- bit64::as.integer64("9007199254740993")
  }
  d
}

opened <- function(frame, ...) entasis(written(frame, ...))

# lubridate asks timedatectl for the time zone when it is loaded, which warns without systemd.
suppressWarnings(requireNamespace("lubridate", quietly = TRUE))

# Runs lines of Python with the package entasis, and returns the output. One process of Python runs
# all scripts of a process of R, since its libraries take long to import. An option holds its
# connection: each file of tests evaluates this one anew.
python <- local({
  run <- function(script) {
    server <- getOption("entasis.tests.python")
    if (is.null(server)) {
      server <- pipe(paste(shQuote(Sys.getenv("ENTASIS_PYTHON")), "python-server.py"), "w")
      options(entasis.tests.python = server)
    }
    writeLines(script, server)
    flush(server)
    ends <- Sys.time() + 300
    while (!file.exists(paste0(script, ".status"))) {
      if (Sys.time() > ends) stop("Python does not answer")
      Sys.sleep(0.002)
    }
    out <- readLines(paste0(script, ".out"))
    if (readLines(paste0(script, ".status")) != "0") stop(paste(out, collapse = "\n"))
    out
  }
  function(code) {
    if (Sys.getenv("ENTASIS_PYTHON") == "") skip("needs ENTASIS_PYTHON")
    script <- tempfile(fileext = ".py")
    writeLines(c("import entasis as en, pandas as pd, numpy as np", code), script)
    run(script)
  }
})

# Runs the command `entasis`, and returns what it says after a failure. A child of the process of
# Python is the command, since a new process takes long to start.
command <- function(...) {
  words <- paste0("r'", c(...), "'", collapse = ", ")
  said <- python(c("import os, runpy, sys", sprintf("sys.argv = ['entasis', %s]", words), "os.dup2(os.open(os.devnull, os.O_WRONLY), 1)", "try:",
                   "    runpy.run_module('entasis', run_name='__main__')", "except SystemExit:", "    pass"))
  if (length(said) > 0L) said else ""
}

# The libraries of this session, for another one.
libraries <- function() paste0("R_LIBS=", shQuote(paste(.libPaths(), collapse = .Platform$path.sep)))

# Runs a file of R in a separate process with arguments, and returns what it prints.
run_file <- function(file, ...) {
  out <- suppressWarnings(
    system2(file.path(R.home("bin"), "Rscript"), shQuote(c(file, ...)), stdout = TRUE, stderr = TRUE, env = libraries())
  )
  if (!is.null(attr(out, "status"))) stop(paste(out, collapse = "\n"))
  out
}

# The long tests take the most cases.
is_long <- Sys.getenv("ENTASIS_TEST_LONG") == "1"

# The tests of releases take more cases than those of a change. The long tests include them.
is_release <- is_long || Sys.getenv("ENTASIS_TEST_RELEASE") == "1"

# The first value in the tests of a change, the second in those of a release, the third in the long
# tests.
by_tier <- function(change, release, long = release) if (is_long) long else if (is_release) release else change

# Some of the cases in the tests of a change: the first and then every `step`th. All in the others.
some_cases <- function(cases, step) cases[seq(1L, length(cases), by = by_tier(step, 1L))]
