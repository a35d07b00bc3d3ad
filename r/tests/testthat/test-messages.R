# Error messages name the problem and the call, and say nothing untrue.

caught <- function(expr) tryCatch(expr, error = identity)

test_that("an error inside of reading is a defect, and only a check makes it damage", {
  file <- list(path = "x.entasis")
  found <- caught(entasis:::interpret(file, stop("a method failed")))
  expect_s3_class(found, "entasis_error_defect")
  expect_match(conditionMessage(found), "please report it: a method failed")
  expect_no_match(conditionMessage(found), "damaged|restore")
  found <- caught(entasis:::interpret(file, entasis:::nonsense("two of one")))
  expect_s3_class(found, "entasis_error_corrupt")
  expect_match(conditionMessage(found), "^damaged: .*two of one.*restore the file from a copy$")
  found <- caught(entasis:::interpret(file, entasis:::no_counterpart("a key")))
  expect_s3_class(found, "entasis_error_unsupported")
  expect_s3_class(
    caught(entasis:::interpret(file, stop("cannot allocate vector of size 9 Gb"))),
    "entasis_error_out_of_memory"
  )
  expect_identical(found$file, "x.entasis")
})

test_that("a dict of Python with a tuple as key is unsupported, not damaged", {
  python <- Sys.getenv("ENTASIS_PYTHON")
  if (python == "") skip("needs ENTASIS_PYTHON, a Python with the package entasis")
  path <- tempfile(fileext = ".entasis")
  code <- sprintf("import entasis as en; en.write({(1, 2): 3}, r'%s')", path)
  expect_identical(system2(python, c("-c", shQuote(code))), 0L)
  found <- caught(read_entasis(path))
  expect_s3_class(found, "entasis_error_unsupported")
  expect_match(conditionMessage(found), "key")
})

test_that("errors show the call that the user wrote", {
  none <- file.path(tempdir(), "none.entasis")
  expect_identical(conditionCall(caught(read_entasis(none)))[[1L]], quote(read_entasis))
  expect_identical(
    conditionCall(caught(lapply(none, function(path) metadata_entasis(path))))[[1L]], quote(metadata_entasis)
  )
  expect_identical(conditionCall(caught(verify_entasis(none)))[[1L]], quote(verify_entasis))
  expect_identical(conditionCall(caught(write_entasis(list(a = list(globalenv, 2)), none)))[[1L]], quote(write_entasis))
  table <- entasis(written(mtcars))
  expect_identical(as.character(conditionCall(caught(table[, "none"]))[[1L]]), "[.entasis_table")
})

test_that("only parts that a kind of Python does not have are unsupported", {
  made <- function(kind, parts) entasis:::interpret(
    list(path = "x.entasis"), entasis:::assemble_foreign(NULL, kind, parts)
  )
  for (kind in setdiff(names(entasis:::FOREIGN), c("NA", "NaT", "numpy.False", "numpy.True"))) {
    found <- caught(made(kind, list()))
    expect_s3_class(found, "entasis_error_unsupported")
    expect_match(conditionMessage(found), kind, fixed = TRUE)
  }
  odd <- list(
    NULL, "a", NA, 1:3, list(), list("a", "b"), globalenv(), quote(x), structure(list(1), class = "data.frame"),
    as.raw(1), sum, c(a = 1.5)
  )
  set.seed(1)
  defects <- list()
  for (kind in names(entasis:::FOREIGN)) for (k in 1:60) {
    value <- caught(made(kind, odd[sample(length(odd), sample(5L, 1L), TRUE)]))
    if (inherits(value, "entasis_error_defect")) defects[[kind]] <- conditionMessage(value)
  }
  expect_identical(defects, list())
  assemble <- entasis:::assemble_foreign
  environment(assemble) <- list2env(
    list(FOREIGN = list(faulty = function(parts) stop("an oversight"))), parent = environment(assemble)
  )
  expect_s3_class(
    caught(entasis:::interpret(list(path = "x.entasis"), assemble(NULL, "faulty", list(1)))),
    "entasis_error_defect"
  )
})

test_that("errors of the system read as those of R", {
  none <- file.path(tempdir(), "none.entasis")
  expect_identical(
    conditionMessage(caught(read_entasis(none))), paste0("cannot open '", none, "': No such file or directory")
  )
  inside <- file.path(tempdir(), "no", "such", "folder")
  expect_identical(
    conditionMessage(caught(write_entasis(1, inside))),
    paste0("cannot create '", inside, "': the directory ", dirname(inside), " does not exist")
  )
})

test_that("files of other tools are recognised", {
  looks_like <- function(write, what) {
    path <- tempfile()
    write(path)
    found <- caught(read_entasis(path))
    expect_s3_class(found, "entasis_error_not_entasis")
    expect_match(conditionMessage(found), what)
  }
  compressed <- function(open) function(path) {
    connection <- open(path, "w")
    on.exit(close(connection))
    writeLines("Dear reader", connection)
  }
  looks_like(compressed(gzfile), "looks like a gzip file")
  looks_like(compressed(bzfile), "looks like a bzip2 file")
  looks_like(compressed(xzfile), "looks like an xz file")
  looks_like(function(path) write.csv(iris, path), "looks like a table of text, such as CSV")
  looks_like(function(path) write.csv2(iris, path), "looks like a table of text, such as CSV")
  looks_like(function(path) writeLines("Dear reader", path), "looks like text")
  looks_like(function(path) writeBin(charToRaw("PAR1...."), path), "looks like a Parquet file")
  looks_like(
    function(path) writeBin(compress_entasis(raw(100)), path),
    "looks like a buffer that an Entasis function compressed"
  )
})

test_that("bytes after the end are ignored by reading and found by verify", {
  path <- written(iris)
  expect_gt(verify_entasis(path), 0)
  n <- file.size(path)
  cat("123456789", file = path, append = TRUE)
  expect_identical(read_entasis(path), iris)
  found <- caught(verify_entasis(path))
  expect_s3_class(found, "entasis_error_corrupt")
  expect_match(conditionMessage(found), "9 bytes after the end")
  expect_identical(found$offset, n)
})

test_that("verify lists all damaged places", {
  path <- written(data.frame(a = as.double(seq_len(2e5)) ^ 1.5, b = 1))
  bytes <- readBin(path, "raw", file.size(path))
  for (at in c(20001, length(bytes) %/% 2)) bytes[at] <- xor(bytes[at], as.raw(1))
  writeBin(bytes, path)
  found <- caught(verify_entasis(path))
  expect_s3_class(found, "entasis_error_corrupt")
  expect_match(conditionMessage(found), "2 places are damaged, ")
  expect_match(conditionMessage(found), "\n- column \"a\", rows 1 to 65,536: the checksum of a page")
})

test_that("wrong arguments are refused in the words of R", {
  path <- written(mtcars)
  refused <- function(expr, message) expect_error(expr, message, class = "entasis_error_argument")
  refused(write_entasis(path, mtcars), "'path' must be a string, not a data frame; did you swap 'x' and 'path'\\?")
  refused(write_entasis(mtcars, NULL), "'path' must be a string, not NULL$")
  refused(read_entasis(c("a", "b")), "'path' must be a string, not a character vector of length 2")
  refused(write_entasis(mtcars, path, 101), "'compress' must be a number from 0 to 100, not 101")
  refused(read_entasis(path, functions = "x"), "'functions' must be TRUE or FALSE, not \"x\"")
  refused(read_entasis(path, as.data.table = "yes"), "'as.data.table' must be TRUE or FALSE, not \"yes\"")
  refused(entasis(path)[1, "mpg", drop = "a"], "'drop' must be TRUE or FALSE, not \"a\"")
  refused(read_entasis(path, from = 1.7), "'from' must be a whole number from 1, not 1.7")
  refused(read_entasis(path, to = 0), "'to' must be a whole number from 1, not 0")
  refused(threads_entasis(1.5), "'n' must be a whole number from 0 to 1,024, not 1.5")
  refused(threads_entasis(1e6), "'n' must be a whole number from 0 to 1,024, not 1000000")
  refused(entasis(path)[rep_len(TRUE, 33), ], "length 32 or less, not 33")
  refused(read_entasis(path, "none"), "^there is no column 'none'$")
  expect_identical(nrow(read_entasis(path, to = Inf)), 32L)
})

test_that("metadata tell classes of R, and count in the singular", {
  frame <- data.frame(
    i = 1L, d = as.Date("2020-01-01"), f = factor("a"), o = factor("a", ordered = TRUE), t = Sys.time()
  )
  frame$l <- list(1)
  frame$m <- matrix(1:2, 1)
  frame$lab <- structure(1, class = c("haven_labelled", "vctrs_vctr", "double"))
  found <- metadata_entasis(written(frame))
  expect_identical(
    found$columns$class,
    c("integer", "Date", "factor", "ordered", "POSIXct", "list", "matrix", "matrix", "haven_labelled")
  )
  expect_output(print(found), "1 row, 9 columns")
  expect_output(print(metadata_entasis(written(data.frame(a = 1:2)))), "2 rows, 1 column,")
  tree <- written(list(fit = 1, cars = mtcars))
  expect_output(print(metadata_entasis(tree)), "1 table, .*parts: fit, cars")
})

test_that("logical and large arguments are named in errors", {
  path <- written(mtcars)
  refused <- function(call, message) expect_error(call, message, fixed = TRUE, class = "entasis_error_argument")
  refused(read_entasis(path, from = TRUE), "'from' must be a whole number from 1, not TRUE")
  refused(read_entasis(path, generation = 1e16), "'generation' must be a whole number from 1, not 1e+16")
  refused(threads_entasis(TRUE), "not TRUE")
  refused(append_entasis(mtcars, path, wait = TRUE), "'wait' must be a number of seconds, 0 or more, not TRUE")
  refused(decompress_entasis(TRUE), "'x' must be a raw vector, not TRUE")
  refused(read_entasis(path, limits = list(n_columns = TRUE)), "not TRUE")
  refused(read_entasis(path, from = 1i), "'from' must be a whole number from 1, not 0+1i")
  refused(read_entasis(path, from = as.raw(1)), "'from' must be a whole number from 1, not 01")
  refused(
    write_entasis(mtcars, path, compress = "xz"),
    "'compress' must be a number from 0 to 100, TRUE or FALSE, not \"xz\""
  )
  refused(write_entasis(mtcars, path, compress = NA), "TRUE or FALSE, not NA")
  for (to in list(1e16, 1e18, .Machine$double.xmax, Inf, 33, NULL)) expect_identical(
    read_entasis(path, to = to), mtcars
  )
  sizes <- vapply(list(FALSE, 0, TRUE, 50), function(compress) file.size(written(many(5000), compress)), 0)
  expect_identical(sizes[c(1L, 3L)], sizes[c(2L, 4L)])
  path <- written(iris)
  append_entasis(iris, path, compress = FALSE)
  expect_identical(nrow(entasis(path)), 300L)
})

test_that("printing does not depend on the decimal mark of the session", {
  before <- options(OutDec = ",", warn = 2)
  on.exit(options(before))
  z <- entasis(written(many(2000)))
  expect_output(print(z), "2,000 rows")
  expect_output(print(entasis(written(list(a = seq(0.5, 5000), b = list(1))))), "5,000")
  expect_output(print(metadata_entasis(written(many(2000)))), "2,000 rows")
  expect_error(z[3001, ], "at most 2,000, not 3,001", class = "entasis_error_argument")
  expect_error(read_entasis(written(mtcars), from = 1.5), "not 1.5", class = "entasis_error_argument")
})
