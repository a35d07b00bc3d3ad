# Damaged files are read in separate processes, so that a crash is noticed.

damage_script <- '
library(entasis)
args <- commandArgs(TRUE)
bytes <- readBin(args[1], "raw", file.size(args[1]))
good <- read_entasis(args[1])
path <- tempfile()
set.seed(as.integer(args[2]))
count <- 0
for (i in seq_len(as.integer(args[3]))) {
  bad <- bytes
  if (i %% 3 == 0) {
    bad <- bad[seq_len(sample(length(bytes), 1) - 1)]
  } else {
    at <- sample(length(bytes), sample(3, 1))
    bad[at] <- as.raw(bitwXor(as.integer(bad[at]), 2^sample(0:7, length(at), TRUE)))
  }
  writeBin(bad, path)
  result <- tryCatch(read_entasis(path), error = function(e) {
    if (!inherits(e, "entasis_error") || inherits(e, "entasis_error_defect")) {
      cat("unexpected:", class(e), conditionMessage(e), "\\n")
      quit(status = 3)
    }
    NULL
  })
  if (!is.null(result) && !identical(result, good)) {
    cat("damage was not found\\n")
    quit(status = 4)
  }
  count <- count + is.null(result)
}
cat("refused", count, "\\n")
'

test_that("damaged files give errors or what was written", {
  script <- tempfile(fileext = ".R")
  writeLines(damage_script, script)
  nested <- data.frame(x = 1:5, f = factor(letters[1:5]), s = c("a", NA, "\u00e9", "d", "e"), row.names = LETTERS[1:5])
  nested$m <- matrix(1:10, 5)
  nested$t <- as.POSIXlt(1:5, origin = "1970-01-01", tz = "UTC")
  attr(nested, "note") <- list(a = 1, b = rnorm(100))
  rscript <- file.path(R.home("bin"), "Rscript")
  tree <- list(
    a = 1:3, f = eval(quote(y ~ x), globalenv()), l = list("a", NULL, c(x = 1.5)), e = globalenv(),
    d = data.frame(u = 1:3), m = matrix(1:4, 2)
  )
  nested$l <- list(1, "a", NULL, quote(f(x)), 1:3)
  for (frame in list(nested, many(3000), mtcars, tree)) {
    out <- system2(
      rscript, c(shQuote(script), shQuote(written(frame)), "1", by_tier("40", "200", "400")), stdout = TRUE,
      stderr = TRUE
    )
    expect_null(attr(out, "status"), info = paste(out, collapse = "\n"))
    expect_match(paste(out, collapse = " "), "refused [0-9]+")
  }
})

golden_folder <- function(name) {
  folder <- Sys.getenv("ENTASIS_GOLDEN")
  if (folder == "" || !dir.exists(file.path(folder, name))) skip("needs ENTASIS_GOLDEN, the folder of golden files")
  list.files(file.path(folder, name), "[.]entasis$", full.names = TRUE)
}

# A copy of a golden file with the edits of a line of golden-bad.csv: "cut:LEN", or "AT:HEX" for
# each run of bytes.
edited <- function(path, edits) {
  bytes <- readBin(path, "raw", file.size(path))
  for (edit in strsplit(strsplit(edits, " ", fixed = TRUE)[[1L]], ":", fixed = TRUE)) {
    if (edit[1L] == "cut") {
      bytes <- utils::head(bytes, as.integer(edit[2L]))
    } else {
      first <- seq(1L, nchar(edit[2L]), 2L)
      new <- as.raw(strtoi(substring(edit[2L], first, first + 1L), 16L))
      bytes[as.integer(edit[1L]) + seq_along(new)] <- new
    }
  }
  path <- tempfile(fileext = ".entasis")
  writeBin(bytes, path)
  path
}

test_that("golden files are read, or refused for a type that R lacks", {
  for (path in c(golden_folder("golden/v0.2"), golden_folder("golden/v0.3"))) {
    # One of them has a name with a zero character, which is cut.
    result <- suppressWarnings(tryCatch(read_entasis(path), entasis_error_unsupported = identity))
    expect_true(is.data.frame(result) || grepl("has no counterpart|beyond", conditionMessage(result)), info = path)
    expect_gt(verify_entasis(path), 0)
  }
})

test_that("bad files are refused", {
  files <- golden_folder("golden/v0.3")
  bad <- utils::read.csv(file.path(Sys.getenv("ENTASIS_GOLDEN"), "golden-bad.csv"), colClasses = "character")
  expect_gt(nrow(bad), 100)
  for (i in seq_len(nrow(bad))) {
    path <- edited(files[basename(files) == paste0(bad$golden[i], ".entasis")], bad$edits[i])
    expect_error(verify_entasis(path), class = paste0("entasis_error_", bad$kind[i]), info = bad$rule[i])
    # If only verify finds the damage, unsigned 64-bit integers are read as doubles, with a warning.
    result <- withCallingHandlers(tryCatch(read_entasis(path), error = identity), warning = function(w) {
      if (grepl("^integers beyond 2\\^53 lost digits|^a name is cut at its zero character", conditionMessage(w))) {
        invokeRestart("muffleWarning")
      }
    })
    expect_true(is.data.frame(result) || inherits(result, "entasis_error"), info = bad$rule[i])
    expect_false(inherits(result, "entasis_error_defect"), info = bad$rule[i])
    unlink(path)
  }
})

test_that("a file of format 0.1 is not supported", {
  expect_error(read_entasis(golden_folder("golden/v0.1")), "version 0\\.1", class = "entasis_error_unsupported")
})

test_that("a host map that makes no sense is damage", {
  write <- function(host) {
    path <- tempfile()
    plan <- entasis:::new_plan()
    entasis:::plan_add(plan, FALSE, c("a", "b"), list(1:3, 4:6), 2L, 3)
    frame <- entasis:::plan_frame_made(plan, host, 3)
    entasis:::core(
      .Call(entasis:::C_write, path, list(frame), NULL, c(-1, -1, -1), entasis:::write_options(50), NULL, 1L)
    )
    path
  }
  r <- list(host = "r", form = "data.frame")
  expect_identical(read_entasis(write(r)), data.frame(a = 1:3, b = 4:6))
  column <- function(number) structure(number, class = "entasis_column")
  bad <- list(
    list(columns = list(list(1L, list(matrix = 2L, of = "integer")))),
    list(columns = list(list(0L, list(matrix = -1L)))),
    list(columns = list(list(0L, list(parts = 7L)))),
    list(columns = list(list(0L, list(attributes = list(list("dim", list(integer = list(2L)))))))),
    list(columns = list(list(0L, list(attributes = list(list("", list(integer = list(2L)))))))),
    list(columns = list(list(0L, list(attributes = list(list("x", list(closure = list()))))))),
    list(columns = list(list(0L, list(attributes = list(list("x", list(integer = list("a")))))))),
    list(columns = list(list(0L, list(attributes = list(list("x", list(column = 0L))))))),
    list(columns = list(list(9L, list(s4 = TRUE)))),
    list(columns = "a"),
    list(names = list(character = list("only one"))),
    list(attributes = list(list("class", list(integer = list(1L))))),
    list(attributes = 5L),
    list(index = list(kind = "column", column = 3L)),
    list(index = list(kind = "column", column = column(99))),
    list(encodings = list(list("x", 1L)))
  )
  for (extra in bad) {
    path <- write(c(r, extra))
    result <- tryCatch(read_entasis(path), error = identity)
    expect_s3_class(result, "entasis_error_corrupt")
  }
})

test_that("the golden file of R gives its frame", {
  folder <- Sys.getenv("ENTASIS_GOLDEN")
  path <- file.path(folder, "golden", "r", "frame.entasis")
  if (folder == "" || !file.exists(path)) skip("needs ENTASIS_GOLDEN, the folder of golden files")
  source("golden.R", local = TRUE)
  expect_true(same(read_entasis(path), golden_frame()))
})

test_that("the golden trees of R give their values", {
  folder <- file.path(Sys.getenv("ENTASIS_GOLDEN"), "golden", "r")
  if (!file.exists(file.path(folder, "tree.entasis"))) skip("needs ENTASIS_GOLDEN, the folder of golden files")
  source("golden.R", local = TRUE)
  tree <- read_entasis(file.path(folder, "tree.entasis"))
  expected <- golden_tree()
  last <- length(expected)
  expect_true(same(tree[-last], expected[-last]))
  expect_true(identical(tree$family, expected$family, ignore.environment = TRUE, ignore.bytecode = TRUE))
  cycle <- read_entasis(file.path(folder, "cycle.entasis"))
  expect_identical(cycle[[1L]], cycle[[2L]])
  expect_identical(cycle[[1L]]$self, cycle[[1L]])
  expect_identical(parent.env(cycle[[1L]])$x, 1)
})

test_that("any tree under sound checksums is read or refused", {
  rscript <- file.path(R.home("bin"), "Rscript")
  for (seed in by_tier(1L, 1:3)) {
    out <- system2(rscript, c("hostile-trees.R", seed, by_tier("70", "150", "300"), "."), stdout = TRUE, stderr = TRUE)
    expect_null(attr(out, "status"), info = paste(out, collapse = "\n"))
    expect_match(paste(out, collapse = " "), "refused [1-9]")
  }
})

test_that("any host map under sound checksums is read or refused", {
  rscript <- file.path(R.home("bin"), "Rscript")
  out <- system2(rscript, c("hostile.R", "1", by_tier("40", "200", "400"), "."), stdout = TRUE, stderr = TRUE)
  expect_null(attr(out, "status"), info = paste(out, collapse = "\n"))
  expect_match(paste(out, collapse = " "), "refused [1-9]")
})

test_that("files that once failed in other ways are read or refused", {
  golden_folder("golden/r")
  files <- list.files(file.path(dirname(Sys.getenv("ENTASIS_GOLDEN")), "fuzz", "regressions", "r"), full.names = TRUE)
  expect_gt(length(files), 0)
  arguments <- c("hostile-bytes.R", "1", "0", ".", shQuote(files))
  out <- system2(file.path(R.home("bin"), "Rscript"), arguments, stdout = TRUE, stderr = TRUE)
  expect_null(attr(out, "status"), info = paste(out, collapse = "\n"))
  expect_match(paste(out, collapse = " "), "refused [1-9]")
})

test_that("any damage under repaired checksums is survived", {
  files <- golden_folder("golden/r")
  if (is_long) {
    files <- c(files, golden_folder("golden/v0.2"), golden_folder("golden/trees"), golden_folder("golden/v0.3"))
  }
  rscript <- file.path(R.home("bin"), "Rscript")
  for (seed in if (is_long) 1:5 else 1L) {
    arguments <- c("hostile-bytes.R", seed, by_tier("30", "75", "400"), ".", shQuote(files))
    out <- system2(rscript, arguments, stdout = TRUE, stderr = TRUE)
    expect_null(attr(out, "status"), info = paste(out, collapse = "\n"))
    expect_match(paste(out, collapse = " "), "read [1-9][0-9]* refused [1-9]")
  }
})

test_that("a column of an unknown type is listed, and the others are read", {
  files <- golden_folder("golden/v0.3")
  bad <- utils::read.csv(file.path(Sys.getenv("ENTASIS_GOLDEN"), "golden-bad.csv"), colClasses = "character")
  bad <- bad[bad$rule == "column-physical-second", ]
  golden <- files[basename(files) == paste0(bad$golden, ".entasis")]
  path <- edited(golden, bad$edits)
  on.exit(unlink(path))
  names <- names(read_entasis(golden))
  expect_gt(length(names), 1)
  described <- metadata_entasis(path)$columns
  expect_identical(described$name, names)
  expect_identical(described$type == "unknown", seq_along(names) == 2L)
  expect_identical(read_entasis(path, columns = names[-2L]), read_entasis(golden, columns = names[-2L]))
  expect_error(read_entasis(path), names[2L], class = "entasis_error_unsupported", fixed = TRUE)
  expect_error(verify_entasis(path), "all but 1 of", class = "entasis_error_unsupported")
})

# A file of three generations.
grown <- function(n = 200000L) {
  path <- tempfile(fileext = ".entasis")
  write_entasis(data.frame(n = seq_len(n), u = rev(seq_len(n)) / 7), path)
  append_entasis(data.frame(n = 0L, u = 0), path)
  append_entasis(data.frame(n = 1L, u = 1), path)
  path
}

test_that("bytes of an interrupted change do not count as damage", {
  path <- grown()
  on.exit(unlink(path))
  len <- file.size(path)
  found <- verify_entasis(path)
  expect_identical(as.vector(found), len)
  expect_identical(attr(found, "n_generations"), 3)
  cat("leftover", file = path, append = TRUE)
  expect_identical(attr(verify_entasis(path), "leftover_bytes"), 8)
})

test_that("the damaged generation is named, and a rollback refuses it", {
  path <- grown()
  on.exit(unlink(path))
  bytes <- readBin(path, "raw", file.size(path))
  at <- generations_entasis(path)$bytes[2L] - 99
  bytes[at] <- xor(bytes[at], as.raw(1))
  writeBin(bytes, path)
  expect_error(verify_entasis(path), "generation 2 is damaged, the newest is sound", class = "entasis_error_corrupt")
  verify_entasis(path, generation = 3)
  expect_error(verify_entasis(path, generation = 2), class = "entasis_error_corrupt")
  expect_error(rollback_entasis(path, 2), class = "entasis_error_corrupt")
  expect_identical(metadata_entasis(path)$n_rows, 200002)
})

test_that("a file that was cut is read at a whole generation, and repaired", {
  path <- grown()
  repaired <- tempfile(fileext = ".entasis")
  on.exit(unlink(c(path, repaired)))
  whole <- read_entasis(path, generation = 2)
  bytes <- readBin(path, "raw", file.size(path))
  writeBin(bytes[seq_len(length(bytes) - 10L)], path)
  expect_error(read_entasis(path), "generation 2 is whole", class = "entasis_error_corrupt")
  expect_warning(found <- read_entasis(path, generation = 2), "newest generation is damaged: .*truncated")
  expect_identical(found, whole)
  Sys.chmod(path, "600")
  expect_identical(repair_entasis(path, repaired), 1)
  expect_identical(read_entasis(repaired), whole)
  if (.Platform$OS.type == "unix") expect_identical(format(file.mode(repaired)), "600")
  expect_error(repair_entasis(path, path), "in place", class = "entasis_error_argument")
})
