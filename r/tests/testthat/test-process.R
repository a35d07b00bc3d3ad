test_that("forked children read and write", {
  skip_on_os("windows")
  path <- written(many())
  x <- read_entasis(path)
  sums <- parallel::mclapply(1:4, function(i) {
    write_entasis(x[1:10, ], paste0(path, i))
    c(sum(read_entasis(path)$a), sum(nchar(x$u)), nrow(read_entasis(paste0(path, i))))
  }, mc.cores = 2)
  expected <- c(sum(x$a), sum(nchar(x$u)), 10)
  for (found in sums) expect_equal(found, expected)
})

test_that("threads are set and reported", {
  before <- threads_entasis(1)
  on.exit(threads_entasis(before))
  expect_identical(threads_entasis(), 1L)
  expect_kept(many())
  expect_error(threads_entasis(-1), class = "entasis_error_argument")
})

test_that("raw vectors are compressed and hashed", {
  x <- as.raw(rep_len(0:99, 3e6))
  for (compressor in c("LZ4", "ZSTD")) {
    packed <- compress_entasis(x, compressor)
    expect_lt(length(packed), length(x) / 10)
    expect_identical(decompress_entasis(packed), x)
    expect_error(decompress_entasis(packed, max_len = 1000), class = "entasis_error_limit")
    packed[length(packed) %/% 2] <- xor(packed[length(packed) %/% 2], as.raw(1))
    expect_error(decompress_entasis(packed), class = "entasis_error_corrupt")
  }
  expect_identical(decompress_entasis(compress_entasis(raw())), raw())
  expect_lt(length(compress_entasis(x, "ZSTD", level = 19)), length(compress_entasis(x, "ZSTD", level = -5)))
  expect_error(compress_entasis(x, "ZSTD", 101), class = "entasis_error_argument")
  expect_error(compress_entasis(1:3), class = "entasis_error_argument")
  # XXH3-64 of no bytes and seed 0.
  expect_identical(hash_entasis(raw()), "2d06800538d394c2")
  expect_false(hash_entasis(x) == hash_entasis(x, seed = 1))
})

test_that("errors are conditions with a class and a place", {
  missing <- tryCatch(read_entasis(file.path(tempdir(), "none")), error = identity)
  expect_s3_class(missing, c("entasis_error_io", "entasis_error", "error"))
  text <- tempfile()
  writeLines("hello", text)
  expect_error(read_entasis(text), class = "entasis_error_not_entasis")
  expect_error(write_entasis(1:3, file.path(tempdir(), "no", "such", "folder")), class = "entasis_error_io")
  path <- written(many(20000))
  bytes <- readBin(path, "raw", file.size(path))
  at <- length(bytes) %/% 4L
  bytes[at] <- xor(bytes[at], as.raw(16))
  writeBin(bytes, path)
  damaged <- tryCatch(read_entasis(path), error = identity)
  expect_s3_class(damaged, "entasis_error_corrupt")
  expect_true(is.character(damaged$column) && !is.na(damaged$column) && damaged$offset > 0)
  expect_match(conditionMessage(damaged), "column \"")
  expect_error(verify_entasis(path), class = "entasis_error_corrupt")
  expect_gt(verify_entasis(written(iris)), 0)
})

test_that("an interrupt ends the work and leaves no files", {
  skip_on_os("windows")
  skip_on_cran()
  script <- tempfile(fileext = ".R")
  path <- tempfile()
  writeLines(c(
    "library(entasis)", "x <- rnorm(1e7)", sprintf("path <- '%s'", path),
    "file.create(paste0(path, '.ready'))",
    "found <- tryCatch({write_entasis(x, path, 100); 'finished'}, interrupt = function(e) 'interrupted')",
    "writeLines(found, paste0(path, '.found'))"
  ), script)
  rscript <- file.path(R.home("bin"), "Rscript")
  pid <- as.integer(system(sprintf("exec %s %s > /dev/null 2>&1 & echo $!", rscript, script), intern = TRUE))
  wait <- function(file) for (i in 1:300) if (file.exists(file)) break else Sys.sleep(0.1)
  wait(paste0(path, ".ready"))
  Sys.sleep(0.5)
  tools::pskill(pid, tools::SIGINT)
  wait(paste0(path, ".found"))
  Sys.sleep(0.2)
  expect_identical(readLines(paste0(path, ".found")), "interrupted")
  expect_false(file.exists(path))
})

run_script <- function(...) {
  script <- tempfile(fileext = ".R")
  writeLines(c("library(entasis)", ...), script)
  system2(file.path(R.home("bin"), "Rscript"), script, stdout = TRUE, stderr = TRUE)
}

test_that("nothing is printed that was not asked for", {
  path <- tempfile()
  out <- run_script(
    sprintf("path <- '%s'", path), "x <- list(a = runif(1e6), b = iris, c = y ~ x)",
    "write_entasis(x, path, 100)", "y <- read_entasis(path)",
    "write_entasis(iris, path)", "t <- entasis(path)", "t[1:3, ]", "invisible(verify_entasis(path))",
    "invisible(metadata_entasis(path))"
  )
  # The selected rows are three.
  expect_identical(length(out), 4L)
})

BAR <- "entasis: \\[=* *\\] +[0-9]+ %"

test_that("long work shows a bar if that is asked for", {
  path <- tempfile()
  show <- "options(entasis.progress = 0)"
  # One process makes all calls that need much data, since they are fast, and one makes the others.
  fast <- c("read_entasis(path)", "verify_entasis(path)")
  others <- c(
    "write_entasis(x, path, 100)", "write_csv_entasis(data.frame(x), csv)", "read_csv_entasis(csv)",
    "convert_entasis(csv, other)",
    "{saveRDS(c(x, x), rds, compress = FALSE); convert_entasis(rds, other)}"
  )
  paths <- sprintf("%s <- tempfile(fileext = '.%s')", c("csv", "other", "rds"), c("csv", "entasis", "rds"))
  write <- "write_entasis(x, path, 0)"
  for (calls in list(fast, others)) {
    x <- if (identical(calls, fast)) "threads_entasis(1); x <- runif(5e7)" else "x <- runif(4e6)"
    ends <- "cat('end', file = stderr())"
    out <- run_script(
      sprintf("path <- '%s'", path), paths, x, write, show, rbind(sprintf("invisible(%s)", calls), ends)
    )
    out <- strsplit(paste(out, collapse = ""), "end", fixed = TRUE)[[1L]]
    expect_length(out, length(calls))
    for (k in seq_along(calls)) {
      expect_match(out[k], BAR, info = calls[k])
      expect_match(out[k], "\r *\r?$", info = calls[k])
    }
  }
})

test_that("work on many files has one bar", {
  frame <- "x <- data.frame(k = rep(1:40, each = 2e4), v = runif(8e5))"
  folder <- sprintf("path <- '%s'", tempfile())
  write <- "write_dataset_entasis(x, path, partition_by = 'k')"
  out <- paste(
    run_script(frame, folder, "options(entasis.progress = 0)", write, "verify_entasis(path)", "cat('end')"),
    collapse = ""
  )
  shown <- as.integer(regmatches(out, gregexpr("[0-9]+(?= %)", out, perl = TRUE))[[1L]])
  # The bar of each call goes up and is removed.
  expect_identical(sum(diff(shown) < 0), 1L)
  expect_gt(length(shown), 20L)
  expect_match(out, "\r *\rend$")
  # An error in the middle ends the work, and later calls have bars of their own.
  broken <- "x$v <- as.list(x$v); x$v[[8e5]] <- quote(a + b); try(write_dataset_entasis(x, path, partition_by = 'k', mode = 'append'), silent = TRUE)"
  out <- paste(
    run_script(
      frame, folder, "options(entasis.progress = FALSE)", broken, "write_entasis(1, tempfile())", "cat('end')"
    ),
    collapse = ""
  )
  expect_identical(out, "end")
})

# A session that is interactive as those of users are.
run_interactive <- function(...) {
  script <- tempfile(fileext = ".R")
  writeLines(c("library(entasis)", ...), script)
  options <- c("--interactive", "--no-readline", "--vanilla", "--no-echo")
  paste(system2(file.path(R.home("bin"), "R"), options, stdin = script, stdout = TRUE, stderr = TRUE), collapse = "")
}

test_that("interactive sessions show a bar after three seconds, and no others", {
  skip_on_os("windows")
  skip_on_cran()
  # In the tests of a change a process is stopped for three seconds in the middle of shorter work.
  script <- c(
    sprintf("x <- runif(%d)", by_tier(3000000L, 30000000L)), "threads_entasis(1)",
    by_tier("invisible(system(sprintf('(sleep 0.3; kill -STOP %1$d; sleep 3.5; kill -CONT %1$d) > /dev/null 2>&1 &', Sys.getpid())))", NULL),
    "time <- system.time(write_entasis(x, tempfile(), 100))", "cat(time[[3]] > 4)"
  )
  said <- parallel::mclapply(list(
    off = function() run_interactive("options(entasis.progress = FALSE)", script),
    long = function() run_interactive(script),
    batch = function() paste(run_script(script), collapse = ""),
    on = function() paste(run_script("options(entasis.progress = TRUE)", script), collapse = "")
  ), function(run) run(), mc.cores = by_tier(4L, 2L), mc.preschedule = FALSE)
  expect_no_match(said$off, BAR)
  if (!all(grepl("TRUE", said))) skip("this machine is too fast, or was stopped before or after the work")
  expect_match(said$long, BAR)
  short <- sprintf("write_entasis(runif(%d), tempfile(), 100)", by_tier(200000L, 1000000L))
  expect_no_match(run_interactive(short), BAR)
  expect_no_match(said$batch, BAR)
  expect_match(said$on, BAR)
})

test_that("reading is interrupted too, and goes on afterwards", {
  skip_on_os("windows")
  skip_on_cran()
  path <- tempfile()
  script <- tempfile(fileext = ".R")
  writeLines(c(
    "library(entasis)", sprintf("path <- '%s'", path), "x <- list(as.list(runif(1e6)), runif(5e6))",
    "write_entasis(x, path)",
    "file.create(paste0(path, '.ready'))",
    "found <- tryCatch({repeat read_entasis(path); 'finished'}, interrupt = function(e) 'interrupted')",
    "writeLines(c(found, identical(read_entasis(path), x)), paste0(path, '.found'))"
  ), script)
  pid <- as.integer(
    system(sprintf("exec %s %s > /dev/null 2>&1 & echo $!", file.path(R.home("bin"), "Rscript"), script), intern = TRUE)
  )
  wait <- function(file) for (i in 1:300) if (file.exists(file)) break else Sys.sleep(0.1)
  wait(paste0(path, ".ready"))
  Sys.sleep(0.7)
  tools::pskill(pid, tools::SIGINT)
  wait(paste0(path, ".found"))
  Sys.sleep(0.2)
  expect_identical(readLines(paste0(path, ".found")), c("interrupted", "TRUE"))
})

test_that("forked children share an open file, and read trees and tables of it", {
  skip_on_os("windows")
  frame <- many(20000)
  path <- written(list(big = frame, small = as.list(1:1000), f = quote(a + b)))
  tree <- entasis(path)
  table <- tree$big
  found <- parallel::mclapply(1:6, function(i) list(table[i * 100 + 1:3, ], tree$small[[i]], tree$f), mc.cores = 2)
  for (i in 1:6) {
    expect_true(alike(found[[i]][[1L]], bare(frame[i * 100 + 1:3, ])))
    expect_identical(found[[i]][-1L], list(i, quote(a + b)))
  }
})

# The ways to ask a file, as calls on an open frame `x` and, for data.table, `d`.
asking <- function() {
  calls <- list(
    subset = quote(subset(x, a > 10 & a <= 20000, c(a, g))), mask = quote(x[x$a > 10, c("a", "g")]),
    sample = quote(sample_entasis(x, 3))
  )
  if (requireNamespace("dplyr", quietly = TRUE)) {
    calls$filter <- quote(as.data.frame(dplyr::collect(dplyr::filter(x, a > 10, g == "u"))))
    calls$summarise <- quote(
      as.data.frame(dplyr::summarise(dplyr::group_by(dplyr::filter(x, a > 5), g), n = dplyr::n(), s = sum(a)))
    )
  }
  if (requireNamespace("data.table", quietly = TRUE)) {
    calls$condition <- quote(d[g == "u", .(s = max(a)), by = b])
    calls$rows <- quote(d[c(3L, 50000L), .(a, g)])
  }
  calls
}

asked_frame <- function(n) data.frame(
  a = seq_len(n), g = factor(rep_len(c("u", "v", "w"), n)), b = rep_len(c(TRUE, FALSE, FALSE, TRUE), n)
)

test_that("forked children ask the same open files", {
  skip_on_os("windows")
  frame <- asked_frame(200000L)
  path <- written(frame)
  x <- entasis(path)
  d <- if (requireNamespace("data.table", quietly = TRUE)) entasis(path, as = "data.table")
  calls <- asking()[names(asking()) != "sample"]
  user <- list2env(list(x = x, d = d), parent = table_caller)
  wanted <- lapply(calls, eval, user)
  found <- parallel::mclapply(1:4, function(i) lapply(calls, eval, user), mc.cores = 2)
  for (of_child in found) for (name in names(calls)) expect_equal(of_child[[name]], wanted[[name]], info = name)
})

test_that("each way to ask a file is interrupted, and works afterwards", {
  skip_on_os("windows")
  skip_on_cran()
  path <- written(asked_frame(by_tier(500000L, 2000000L)))
  calls <- asking()
  wait <- function(file) for (i in 1:600) if (file.exists(file)) break else Sys.sleep(0.1)
  # One script for all, since R takes long to start. It says which call it is in.
  script <- tempfile(fileext = ".R")
  at <- tempfile()
  texts <- vapply(calls, function(call) paste(deparse(call), collapse = " "), "")
  writeLines(c(
    "library(entasis)", sprintf("at <- '%s'; path <- '%s'", at, path), "x <- entasis(path)",
    if (requireNamespace("data.table", quietly = TRUE)) "library(data.table); d <- entasis(path, as = 'data.table')",
    sprintf(
      paste0(
        "first <- %1$s; file.create(paste0(at, '.%2$s.ready'));",
        "found <- tryCatch({repeat %1$s}, interrupt = function(e) 'interrupted');",
        "writeLines(c(found, identical(dim(%1$s), dim(first))), paste0(at, '.part')); file.rename(paste0(at, '.part'), paste0(at, '.%2$s'))"
      ),
      texts, names(calls)
    )
  ), script)
  pid <- as.integer(
    system(sprintf("exec %s %s > /dev/null 2>&1 & echo $!", file.path(R.home("bin"), "Rscript"), script), intern = TRUE)
  )
  on.exit(tools::pskill(pid))
  for (name in names(calls)) {
    wait(paste0(at, ".", name, ".ready"))
    Sys.sleep(0.3)
    tools::pskill(pid, tools::SIGINT)
    wait(paste0(at, ".", name))
    expect_identical(readLines(paste0(at, ".", name)), c("interrupted", "TRUE"), info = name)
  }
})

test_that("a table with a relative path is opened again in another directory", {
  home <- tempfile()
  dir.create(home)
  before <- setwd(home)
  on.exit(setwd(before))
  write_entasis(mtcars, "cars.entasis")
  x <- entasis("cars.entasis")
  bytes <- serialize(x, NULL)
  setwd(before)
  again <- unserialize(bytes)
  expect_identical(again[], mtcars)
  expect_output(print(again), "cars.entasis")
})
