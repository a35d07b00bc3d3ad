# Metadata of a file: any value that is kept with its own.

metadata_of <- function(path) metadata_entasis(path)$metadata

MODEL <- stats::formula("y ~ x + z", globalenv())
environment(MODEL) <- globalenv()

VALUES <- list(
  "a text", 1:3,
  list(author = "Ada", checked = TRUE, when = as.Date("2026-01-31"), notes = list("a", NULL, c(x = 1.5, y = NA))),
  factor(c("b", "a")), MODEL, list(frame = data.frame(a = 1:3, b = c("x", NA, "z"))),
  list2env(list(hidden = 3), parent = globalenv())
)

expect_metadata <- function(path, value) {
  found <- metadata_of(path)
  if (is.environment(value)) found <- as.list(found)
  expect_true(alike(found, if (is.environment(value)) as.list(value) else value))
}

test_that("metadata of any value are kept with any value", {
  frame <- data.frame(a = 1:3, b = c("x", NA, "z"))
  lists <- frame
  lists$l <- list(1, "b", NULL)
  for (x in list(frame, lists, c(a = 1, b = 2), list(frame, "text", sub = list(1)))) {
    path <- written(x)
    expect_null(metadata_of(path))
    for (value in VALUES) {
      expect_invisible(set_metadata_entasis(value, path, durable = FALSE))
      expect_metadata(path, value)
      expect_identical(read_entasis(path), x)
      verify_entasis(path)
    }
    set_metadata_entasis(NULL, path, durable = FALSE)
    expect_null(metadata_of(path))
    expect_identical(read_entasis(path), x)
    expect_identical(unique(generations_entasis(path)$operation), c("write", "metadata"))
    unlink(path)
  }
})

test_that("metadata of a long frame are set in place, and earlier ones stay readable", {
  x <- data.frame(n = 1:150000, u = as.double(1:150000) / 7)
  path <- written(x, compress = 0)
  on.exit(unlink(path))
  set_metadata_entasis(list(author = "Ada"), path, durable = FALSE)
  set_metadata_entasis(list(author = "Bob"), path, durable = FALSE)
  expect_identical(generations_entasis(path)$operation, c("write", "metadata", "metadata"))
  expect_identical(metadata_of(path), list(author = "Bob"))
  rollback_entasis(path, 2, durable = FALSE)
  expect_identical(metadata_of(path), list(author = "Ada"))
  expect_output(print(metadata_entasis(path)), "metadata: author")
  expect_identical(entasis(path)$n, x$n)
})

test_that("other changes keep the metadata", {
  value <- list(author = "Ada", formula = MODEL)
  for (n in c(10L, 150000L)) {
    x <- data.frame(n = seq_len(n), u = as.double(seq_len(n)) / 7)
    path <- written(x, compress = 0)
    set_metadata_entasis(value, path, durable = FALSE)
    add_columns_entasis(data.frame(k = rev(x$n)), path, durable = FALSE)
    rename_columns_entasis(path, c(m = "n"), durable = FALSE)
    drop_columns_entasis(path, "u", durable = FALSE)
    append_entasis(data.frame(m = 0L, k = 1L), path, durable = FALSE)
    expect_true(alike(metadata_of(path), value))
    # Written anew.
    add_columns_entasis(data.frame(l = I(rep(list("a"), n + 1L))), path, durable = FALSE)
    expect_true(alike(metadata_of(path), value))
    append_entasis(data.frame(m = 0.5, k = 1L, l = I(list(2))), path, durable = FALSE, widen = TRUE)
    expect_true(alike(metadata_of(path), value))
    compact_entasis(path, durable = FALSE)
    expect_true(alike(metadata_of(path), value))
    found <- read_entasis(path)
    expect_identical(found$m, c(x$n, 0, 0.5))
    expect_identical(found$k, c(rev(x$n), 1L, 1L))
    unlink(path)
  }
})

test_that("refused metadata leave the file as it is", {
  path <- written(data.frame(a = 1:3))
  on.exit(unlink(path))
  set_metadata_entasis("before", path)
  bytes <- readBin(path, "raw", file.size(path))
  expect_error(set_metadata_entasis(list(f = function() 1), path), "metadata\\$f", class = "entasis_error_unsupported")
  expect_error(set_metadata_entasis(1, tempfile()), "No such file", class = "entasis_error_io")
  held <- entasis:::begin_change(path, entasis:::change_options(NULL, 0))
  expect_error(set_metadata_entasis(1, path, wait = 0), class = "entasis_error_busy")
  .Call(entasis:::C_change_end, held)
  expect_identical(readBin(path, "raw", file.size(path)), bytes)
})

test_that("the command sets values of R", {
  path <- written(data.frame(a = 1:3, f = factor(c("x", "y", "x"))))
  on.exit(unlink(path))
  words <- c("--set", "i=2147483647", "--set", "d=2147483648", "--set", "x=1.5", "--set", "l=[true, null, [1, \"e\"]]", "--text", "s=caf\u00e9",
             "--set", "m={\"a\": {}, \"\": []}")
  expect_identical(command("metadata", path, words), "")
  verify_entasis(path)
  expected <- list(i = .Machine$integer.max, d = 2147483648, x = 1.5, l = list(TRUE, NULL, list(1L, "e")),
                   m = structure(list(structure(list(), names = character()), list()), names = c("a", "")), s = "caf\u00e9")
  expect_true(alike(metadata_of(path), expected), info = paste(all.equal(metadata_of(path), expected), collapse = "; "))
  # R goes on from there, and the command from R.
  set_metadata_entasis(list(n = 1L, x = NA_real_, s = "b", sub = list(1L, 2)), path)
  expect_identical(command("metadata", path, "--set", "n=-1"), "")
  expect_true(alike(metadata_of(path), list(n = -1L, x = NA_real_, s = "b", sub = list(1L, 2))))
  expect_identical(read_entasis(path)$f, factor(c("x", "y", "x")))
  expect_match(command("metadata", path, "--set", "n=9007199254740993"), "R has no number 9007199254740993")
  for (value in list(list(a = 1:2), list(a = c(n = 1)), list(a = NA), list(MODEL))) {
    set_metadata_entasis(value, path)
    expect_match(
      command("metadata", path, "--set", "n=1"),
      if (is.null(names(value))) "have no keys|in R" else "use set_metadata_entasis in R"
    )
    expect_true(alike(metadata_of(path), value))
  }
  expect_identical(command("metadata", path, "--remove"), "")
  expect_null(metadata_of(path))
})

test_that("Python and R read each other's metadata", {
  path <- tempfile(fileext = ".entasis")
  on.exit(unlink(path))
  python(sprintf("en.write(pd.DataFrame({'a': [1, 2]}), r'%s', metadata={'author': 'Ada', 'n': [1, 2]})", path))
  expect_identical(metadata_of(path)$author, "Ada")
  expect_error(set_metadata_entasis(1, path), "entasis.set_metadata", class = "entasis_error_unsupported")
  write_entasis(data.frame(a = 1:3), path)
  set_metadata_entasis(list(author = "Ada", n = 3), path)
  expect_identical(python(sprintf("print(en.open(r'%s').metadata['author'])", path)), "Ada")
})

test_that("functions in metadata are refused without the advice of write_entasis()", {
  path <- written(mtcars)
  expect_error(
    set_metadata_entasis(list(f = function(x) x), path), "metadata hold no functions: remove it",
    class = "entasis_error_unsupported"
  )
  message <- tryCatch(set_metadata_entasis(function(x) x, path), error = conditionMessage)
  expect_false(grepl("functions = TRUE", message, fixed = TRUE))
  expect_identical(read_entasis(path), mtcars)
})
