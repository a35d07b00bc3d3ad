# Arguments of saveRDS(), readRDS(), fst and qs2.

test_that("other names of the arguments are understood", {
  path <- tempfile(fileext = ".entasis")
  for (write in list(
    function() write_entasis(object = mtcars, file = path), function() write_entasis(mtcars, file = path),
    function() write_entasis(file = path, mtcars),
    function() write_entasis(object = mtcars, path),
    function() write_entasis(object = mtcars, path = path, compress = FALSE),
    function() write_entasis(mtcars, path, ascii = FALSE, version = NULL, refhook = NULL),
    function() write_entasis(mtcars, path, uniform_encoding = TRUE)
  )) {
    unlink(path)
    expect_identical(write(), mtcars)
    expect_identical(read_entasis(path), mtcars)
  }
  expect_identical(read_entasis(file = path), mtcars)
  expect_identical(
    read_entasis(path, validate_checksum = TRUE, use_alt_rep = FALSE, old_format = FALSE, refhook = NULL),
    mtcars
  )
})

test_that("arguments without a counterpart are answered with advice", {
  path <- written(mtcars)
  refused <- function(call, message) expect_error(call, message, fixed = TRUE, class = "entasis_error_argument")
  refused(
    write_entasis(mtcars, path, nthreads = 2),
    "there is no argument 'nthreads': threads_entasis(n) sets the number of threads"
  )
  refused(read_entasis(path, nthreads = 2), "threads_entasis(n)")
  refused(write_entasis(mtcars, path, preset = "high"), "use 'compress', a number from 0 to 100")
  refused(write_entasis(mtcars, path, compress_level = 3), "use 'compress'")
  refused(write_entasis(mtcars, path, shuffle = TRUE), "'compress'")
  refused(write_entasis(mtcars, path, ascii = TRUE), "files are binary")
  refused(read_entasis(path, validate_checksum = FALSE), "checksums are always compared")
  refused(read_entasis(path, old_format = TRUE), "fst::read_fst()")
  refused(write_entasis(mtcars, path, nonsense = 1), "unused argument 'nonsense'")
  refused(read_entasis(path, NULL, 1, NULL, FALSE, FALSE, "fit", list(), NULL, 5), "unused argument")
  expect_identical(read_entasis(path), mtcars)
})
