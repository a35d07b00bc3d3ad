# Elements of the named list in a file are set and removed.

MODEL <- list(run = 7L, scores = c(a = 1, b = NA), data = data.frame(x = 1:3, y = c("a", NA, "z")), none = NULL)

# A model whose formula has the global environment.
fitted_model <- function() eval(quote(lm(dist ~ speed, cars)), globalenv())

# Updates, and compares the file with a value.
expect_updated <- function(old, expected, ...) {
  path <- written(old)
  on.exit(unlink(path))
  expect_invisible(update_entasis(..., path = path, durable = FALSE))
  verify_entasis(path)
  expect_true(
    same(read_entasis(path), expected), info = paste(all.equal(read_entasis(path), expected), collapse = "; ")
  )
}

# A refused update leaves the file as it was, and gives the lock back.
expect_refused <- function(old, message, ..., class = "entasis_error_argument") {
  path <- written(old)
  on.exit(unlink(path))
  before <- readBin(path, "raw", file.size(path))
  expect_error(update_entasis(..., path = path, wait = 0), message, class = class)
  expect_identical(readBin(path, "raw", file.size(path)), before)
  expect_silent(write_entasis(old, path))
}

test_that("elements keep their places, and new ones follow", {
  expect_updated(MODEL, list(run = 8L, scores = MODEL$scores, data = iris, none = NULL, more = list(1, "b")),
                 list(more = list(1, "b"), data = iris, run = 8L))
  expect_updated(MODEL, MODEL)
  expect_updated(list(a = 1), list(a = NULL, b = NULL), list(b = NULL, a = NULL))
  expect_updated(list(), list(a = 1), list(a = 1))
  expect_updated(list(), list())
  expect_updated(
    structure(list(a = 1, 2), source = "survey"), structure(list(a = 3, 2, b = 1), source = "survey"),
    list(a = 3, b = 1)
  )
  # Names in other encodings are those of the file.
  latin <- "\xe9"
  Encoding(latin) <- "latin1"
  expect_updated(list("\u00e9" = 1), list("\u00e9" = 2), structure(list(2), names = latin))
})

test_that("elements are removed before others are set", {
  expect_updated(MODEL, MODEL[c("scores", "none")], remove = c("run", "data", "run"))
  expect_updated(MODEL, c(MODEL[-1L], list(run = 1)), list(run = 1), "run")
  expect_updated(list(a = 1), structure(list(), names = character()), remove = "a")
  expect_updated(list(a = 1, a = 2, b = 3), list(a = 1, a = 2), remove = "b")
})

test_that("values are those of the frames, models and environments that were written", {
  shared <- new.env(parent = globalenv())
  shared$n <- 1
  path <- written(list(fit = fitted_model(), first = shared, second = shared))
  on.exit(unlink(path))
  update_entasis(list(note = "checked"), path)
  found <- read_entasis(path)
  expect_identical(coef(found$fit), coef(fitted_model()))
  expect_identical(found$first, found$second)
  expect_identical(found$note, "checked")
  expect_identical(generations_entasis(path)$operation, "update")
})

test_that("metadata stay", {
  path <- written(list(a = 1))
  on.exit(unlink(path))
  set_metadata_entasis(list(author = "Ada"), path)
  update_entasis(list(b = 2), path)
  expect_identical(metadata_entasis(path)$metadata, list(author = "Ada"))
  expect_identical(read_entasis(path), list(a = 1, b = 2))
})

test_that("functions need functions = TRUE", {
  path <- tempfile(fileext = ".entasis")
  on.exit(unlink(path))
  write_entasis(list(f = function(x) x + 1, a = 1), path, functions = TRUE)
  expect_error(update_entasis(list(a = 2), path), "functions", class = "entasis_error_unsupported")
  update_entasis(list(a = 2), path, functions = TRUE)
  found <- read_entasis(path, functions = TRUE)
  expect_identical(c(found$f(1), found$a), c(2, 2))
  expect_refused(list(a = 1), "functions", list(f = function() 1), class = "entasis_error_unsupported")
})

test_that("lazy lists are values, also those of the file itself", {
  path <- written(list(a = 1, b = "x"))
  on.exit(unlink(path))
  update_entasis(entasis(path), path)
  expect_identical(read_entasis(path), list(a = 1, b = "x"))
})

test_that("wrong calls leave the file as it is", {
  old <- list(a = 1, b = 2, b = 3)
  expect_refused(old, "no element 'z'", remove = c("a", "z"))
  expect_refused(old, "several elements 'b'", list(b = 1))
  expect_refused(old, "several elements 'b'", remove = "b")
  expect_refused(old, "'values' must be a named list", 1)
  expect_refused(old, "'values' must be a named list", iris)
  expect_refused(old, "without a name", list(1))
  expect_refused(old, "without a name", list(z = 1, 2))
  expect_refused(old, "two elements 'z'", list(z = 1, z = 2))
  expect_refused(old, "'remove' must be", remove = 1)
  expect_refused(old, "'remove' must be", remove = NA_character_)
  expect_refused(old, "'compress' must be", list(z = 1), compress = 101)
  expect_error(update_entasis(list(a = 1), tempfile()), "No such file", class = "entasis_error_io")
})

test_that("other values are refused", {
  refused <- function(old, message) expect_refused(old, message, list(a = 1), class = "entasis_error_unsupported")
  refused(iris, "holds no list")
  refused(c(a = 1), "holds no list")
  refused(quote(a + b), "holds no list")
  refused(pairlist(a = 1), "holds no list")
  refused(fitted_model(), "of class \"lm\"")
  refused(list(1, 2), "no names")
  refused(structure(list(1, 2), dim = 1:2), "no names")
})

test_that("another writer is waited for", {
  path <- written(list(a = 1))
  on.exit(unlink(path))
  held <- entasis:::begin_change(path, entasis:::change_options(NULL, 0))
  expect_error(update_entasis(list(a = 2), path, wait = 0), class = "entasis_error_busy")
  .Call(entasis:::C_change_end, held)
  update_entasis(list(a = 2), path, wait = 0)
  expect_identical(read_entasis(path), list(a = 2))
})

test_that("no update of several processes is lost", {
  skip_on_os("windows")
  path <- written(list(start = 0))
  on.exit(unlink(path))
  jobs <- lapply(1:4, function(k) {
    parallel::mcparallel(for (i in 1:5) {
      update_entasis(structure(list(i), names = paste0("k", k, i)), path, durable = FALSE, wait = 60)
    })
  })
  parallel::mccollect(jobs)
  expect_setequal(names(read_entasis(path)), c("start", paste0("k", rep(1:4, each = 5), 1:5)))
})

test_that("files of Python are refused", {
  path <- tempfile(fileext = ".entasis")
  on.exit(unlink(path))
  python(sprintf("en.write({'a': 1}, r'%s')", path))
  expect_error(update_entasis(list(a = 2), path), "entasis.update", class = "entasis_error_unsupported")
  write_entasis(list(a = 1), path)
  update_entasis(list(b = "x"), path)
  expect_identical(python(sprintf("print(en.read(r'%s')['b'])", path)), "x")
})
