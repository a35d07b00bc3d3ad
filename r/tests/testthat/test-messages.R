# What errors say: what is wrong, in which call, and nothing that is untrue.

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
  expect_s3_class(caught(entasis:::interpret(file, stop("cannot allocate vector of size 9 Gb"))), "entasis_error_limit")
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
  expect_identical(conditionCall(caught(lapply(none, function(path) metadata_entasis(path))))[[1L]], quote(metadata_entasis))
  expect_identical(conditionCall(caught(verify_entasis(none)))[[1L]], quote(verify_entasis))
  expect_identical(conditionCall(caught(write_entasis(list(a = list(globalenv, 2)), none)))[[1L]], quote(write_entasis))
  table <- entasis(written(mtcars))
  expect_identical(as.character(conditionCall(caught(table[, "none"]))[[1L]]), "[.entasis_table")
})

test_that("errors of the system read as those of R", {
  none <- file.path(tempdir(), "none.entasis")
  expect_identical(conditionMessage(caught(read_entasis(none))), paste0("cannot open '", none, "': No such file or directory"))
  inside <- file.path(tempdir(), "no", "such", "folder")
  expect_identical(conditionMessage(caught(write_entasis(1, inside))), paste0("cannot create '", inside, "': the directory ", dirname(inside), " does not exist"))
})

test_that("files of other tools are recognised", {
  looks_like <- function(write, what) {
    path <- tempfile()
    write(path)
    found <- caught(read_entasis(path))
    expect_s3_class(found, "entasis_error_not_entasis")
    expect_match(conditionMessage(found), what)
  }
  looks_like(function(path) saveRDS(iris, path), "looks like a gzip file, as RDS")
  looks_like(function(path) saveRDS(iris, path, compress = "bzip2"), "looks like a bzip2 file, as RDS")
  looks_like(function(path) saveRDS(iris, path, compress = "xz"), "looks like an xz file, as RDS")
  looks_like(function(path) saveRDS(iris, path, compress = FALSE), "looks like an uncompressed RDS file")
  looks_like(function(path) saveRDS(iris, path, ascii = TRUE, compress = FALSE), "looks like an uncompressed RDS file")
  looks_like(function(path) save(iris, file = path, compress = FALSE), "looks like an RData file")
  looks_like(function(path) write.csv(iris, path), "looks like a table of text, such as CSV")
  looks_like(function(path) write.csv2(iris, path), "looks like a table of text, such as CSV")
  looks_like(function(path) writeLines("Dear reader", path), "looks like text")
  looks_like(function(path) writeBin(charToRaw("PAR1...."), path), "looks like a Parquet file")
  looks_like(function(path) writeBin(compress_entasis(raw(100)), path), "looks like a buffer that an Entasis function compressed")
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
