# Integers of 64 bits. Those of other hosts need ENTASIS_PYTHON, as test-python.R does.

int64s <- function(...) bit64::as.integer64(c(...))

# Runs R code in a session whose only library has entasis alone; what it prints.
without_bit64 <- function(code) {
  library <- tempfile()
  dir.create(library)
  on.exit(unlink(library, recursive = TRUE))
  file.symlink(system.file(package = "entasis"), file.path(library, "entasis"))
  script <- tempfile(fileext = ".R")
  writeLines(c("stopifnot(!requireNamespace('bit64', quietly = TRUE))", "library(entasis)", code), script)
  of <- paste0(c("R_LIBS=", "R_LIBS_SITE=", "R_LIBS_USER="), library)
  system2(
    file.path(R.home("bin"), "Rscript"), c("--no-init-file", shQuote(script)), stdout = TRUE, stderr = TRUE,
    env = of
  )
}

test_that("integers of other hosts are integers where all fit", {
  skip_if_not_installed("bit64")
  path <- tempfile()
  python(c(
    "n = 200000",
    "i = np.arange(n)",
    "last = lambda value: np.where(i == n - 1, value, i)",
    "df = pd.DataFrame({'fits': i - n // 2, 'most': last(2**31 - 1), 'least': last(-2**31 + 1), 'over': last(2**31), 'under': last(-2**31),",
    " 'wide': last(2**62), 'lowest': last(-2**63), 'some': pd.array([None if k % 3 else k for k in range(n)], dtype='Int64'),",
    " 'hole': pd.array([None if k % 3 else 2**40 + k for k in range(n)], dtype='Int64'), 'none': pd.array([None] * n, dtype='Int64'),",
    " 'u': i.astype('u8'), 'uover': last(2**40).astype('u8'), 'utop': np.where(i == n - 1, np.uint64(2**63), i.astype('u8')),",
    " 'i32': last(-2**31).astype('i4'), 'i32n': pd.array([-2**31 if k == 5 else None if k % 2 else k for k in range(n)], dtype='Int32')})",
    sprintf("en.write(df, r'%s')", path),
    sprintf("en.write(df.iloc[-3:].reset_index(drop=True), r'%s.few')", path),
    sprintf("en.write(df.iloc[:0], r'%s.none')", path)
  ))
  x <- read_entasis(path)
  i <- 0:199999
  last <- function(value) replace(as.double(i), 200000, value)
  some <- ifelse(i %% 3 == 0, i, NA)
  expected <- list(
    fits = i - 100000L, most = as.integer(last(2^31 - 1)), least = as.integer(last(-2^31 + 1)),
    over = int64s(last(2^31)), under = int64s(last(-2^31)),
    wide = int64s(last(2^62)), lowest = last(-2^63), some = as.integer(some), hole = int64s(2^40 + some),
    none = rep(NA_integer_, 200000),
    u = i, uover = int64s(last(2^40)), utop = last(2^63), i32 = last(-2^31),
    i32n = replace(ifelse(i %% 2 == 0, as.double(i), NA), 6, -2^31)
  )
  expect_identical(names(x), names(expected))
  for (name in names(expected)) expect_true(same(x[[name]], expected[[name]]), label = name)
  # A part has the type of the whole.
  table <- entasis(path)
  for (name in names(expected)) {
    expect_true(
      same(read_entasis(path, name, from = 70000, to = 140000)[[1L]], expected[[name]][70000:140000]),
      label = name
    )
    expect_true(same(table[c(9, 2, 199999), name][[1L]], expected[[name]][c(9, 2, 199999)]), label = name)
  }
  few <- read_entasis(paste0(path, ".few"))
  for (name in setdiff(names(expected), "i32n")) expect_true(
    same(few[[name]], expected[[name]][199998:200000]), label = name
  )
  expect_identical(few$i32n, c(NA, 199998L, NA))
  for (name in names(few)) expect_true(
    same(read_entasis(paste0(path, ".few"), name, from = 1, to = 1)[[1L]], few[[name]][1L]), label = name
  )
  none <- vapply(read_entasis(paste0(path, ".none")), function(x) class(x)[1L], "")
  expect_identical(unique(none), "integer")
  # The other choices.
  wide <- c("fits", "most", "over", "some", "none", "u", "uover")
  x <- read_entasis(path, wide, int64 = "integer64")
  for (name in wide) expect_true(same(x[[name]], int64s(expected[[name]])), label = name)
  x <- expect_silent(entasis(path, int64 = "double")[, wide])
  for (name in wide) expect_true(same(x[[name]], as.double(expected[[name]])), label = name)
  x <- expect_silent(read_entasis(path, "wide", int64 = "double"))
  expect_identical(x$wide, last(2^62))
})

test_that("doubles that lose digits are a warning", {
  path <- tempfile()
  python(c(
    sprintf("en.write(pd.DataFrame({'a': [1, 2**53 + 1], 'u': np.array([2**63, 2**64 - 1], 'u8')}), r'%s')", path),
    sprintf("en.write({'a': np.array([2**53 + 1]), 'b': 2**53 + 1, 'c': 2**60, 'd': -2**60}, r'%s1')", path)
  ))
  expect_warning(x <- read_entasis(path, "a", int64 = "double"), "lost digits.*column \"a\"")
  expect_identical(x$a, c(1, 2^53))
  expect_warning(x <- read_entasis(path, "u"), "lost digits.*column \"u\"")
  expect_identical(x$u, c(2^63, 2^64))
  table <- entasis(paste0(path, 1), int64 = "double")
  expect_warning(expect_identical(table$a, 2^53), "lost digits")
  expect_warning(expect_identical(table$b, 2^53), "lost digits")
  expect_identical(list(table$c, table$d), list(2^60, -2^60))
})

test_that("the rule holds inside of lists, categories and labels", {
  skip_if_not_installed("bit64")
  path <- tempfile()
  python(c(
    "import pyarrow as pa",
    "v = {'a': np.array([1, 2]), 'b': np.array([1, 2**40]), 'm': np.array([[1, 2], [3, 4]]), 'w': np.array([[1, 2**50], [3, 4]]), 'n': np.int64(3),",
    " 'ma': np.ma.MaskedArray([1, 2**40], [False, True]), 'df': pd.DataFrame({'x': [1, 2], 'y': [2**40, 1]}), 'u': np.array([1, 2], 'u8'),",
    " 'long': np.arange(100000), 'i': 1, 'big': 2**40, 'huge': 2**60, 'least': np.array([1, -2**31], 'i4')}",
    sprintf("en.write(v, r'%s')", path),
    sprintf("en.write(pd.DataFrame({'c': pd.Categorical([2**40, 1, 2**40]), 'd': pd.Categorical([3, 1, 3])}, index=[5, 7, 9]), r'%s1')", path),
    sprintf("en.write(pa.table({'l': pa.array([[1, 2], [3]]), 'b': pa.array([[1, 2**40], [2]]), 's': pa.array([{'x': 1}, None])}), r'%s2')", path),
    sprintf("en.write(pd.DataFrame({'c': pd.Categorical(np.array([2**63 + 1, 1], 'u8'))}), r'%s3')", path)
  ))
  m <- function(x) {
    dim(x) <- c(2L, 2L)
    x
  }
  wide <- int64s("1", "3", "1125899906842624", "4")
  attributes(wide) <- list(class = "integer64", dim = c(2L, 2L))
  expected <- list(
    a = 1:2, b = int64s(1, 2^40), m = m(c(1L, 3L, 2L, 4L)), w = wide, n = 3L, ma = int64s(1, NA),
    df = data.frame(x = 1:2, y = int64s(2^40, 1)),
    u = 1:2, long = 0:99999, i = 1L, big = 2^40, huge = int64s("1152921504606846976"), least = c(1, -2^31)
  )
  x <- read_entasis(path)
  tree <- entasis(path)
  for (name in names(expected)) {
    expect_identical(x[[name]], expected[[name]], info = name)
    part <- if (name == "df") tree$df[] else tree[[name]]
    expect_identical(part, expected[[name]], info = name)
  }
  x <- read_entasis(path, int64 = "integer64")
  expect_identical(
    x[c("a", "u", "df")],
    list(a = int64s(1, 2), u = int64s(1, 2), df = data.frame(x = int64s(1, 2), y = int64s(2^40, 1)))
  )
  x <- entasis(path, int64 = "double")
  expect_identical(list(x$a, x$b, x$df[]), list(c(1, 2), c(1, 2^40), data.frame(x = c(1, 2), y = c(2^40, 1))))
  for (int64 in c("fit", "integer64", "double")) {
    x <- read_entasis(paste0(path, 1), int64 = int64)
    expect_identical(
      list(x$c, x$d),
      list(factor(c("1099511627776", "1", "1099511627776"), c("1", "1099511627776")), factor(c(3, 1, 3)))
    )
  }
  expect_identical(row.names(read_entasis(paste0(path, 1))), c("5", "7", "9"))
  expect_identical(read_entasis(paste0(path, 1), "d", int64 = "double")$index, c(5, 7, 9))
  x <- read_entasis(paste0(path, 2))
  expect_identical(x$l, list(1:2, 3L))
  expect_identical(x$b, list(int64s(1, 2^40), int64s(2)))
  expect_identical(x$s, data.frame(x = c(1L, NA)))
  expect_identical(read_entasis(paste0(path, 2), "b", from = 2)$b, list(int64s(2)))
  expect_error(suppressWarnings(read_entasis(paste0(path, 3))), "categories", class = "entasis_error_unsupported")
})

test_that("integer64 of R stays, whatever is asked for, and its package is loaded", {
  skip_if_not_installed("bit64")
  frame <- data.frame(a = int64s(1, NA, 3), b = int64s("9007199254740993", 2, 3))
  frame$l <- list(int64s(1, 2), 1L, NULL)
  path <- written(frame)
  list <- written(list(a = int64s(1, 2), one = int64s(5), b = list(frame)))
  for (int64 in c("fit", "integer64", "double")) {
    expect_true(same(read_entasis(path, int64 = int64), frame))
    expect_true(same(read_entasis(list, int64 = int64), list(a = int64s(1, 2), one = int64s(5), b = list(frame))))
    expect_true(same(entasis(list, int64 = int64)$one, int64s(5)))
  }
  vector <- written(int64s(1, 2))
  reads <- c(
    sprintf(c("read_entasis('%s')", "entasis('%s')[2, 'a']", "entasis('%s')$l"), path),
    sprintf("read_entasis('%s')", vector)
  )
  for (read in reads) {
    code <- paste0("library(entasis); x <- ", read, "; cat(isNamespaceLoaded('bit64'), 'package:bit64' %in% search())")
    out <- system2(
      file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)), stdout = TRUE, stderr = TRUE,
      env = libraries()
    )
    expect_identical(out, "TRUE FALSE", info = read)
  }
  # The package is loaded for values that need it alone.
  plain <- written(list(1:3, list(a = 1)))
  code <- sprintf("library(entasis); x <- read_entasis('%s'); cat(isNamespaceLoaded('bit64'))", plain)
  expect_identical(
    system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)), stdout = TRUE, env = libraries()),
    "FALSE"
  )
})

test_that("without bit64 there is a word", {
  skip_on_os("windows")
  skip_if_not_installed("bit64")
  path <- written(data.frame(a = int64s(1, 2)))
  out <- without_bit64(
    sprintf("x <- tryCatch(read_entasis('%s'), warning = function(w) cat(conditionMessage(w)))", path)
  )
  expect_match(paste(out, collapse = " "), "bit64: install it")
  python(sprintf("en.write(pd.DataFrame({'a': [1, 2], 'w': [1, 2**40]}), r'%s1')", path))
  out <- without_bit64(c(
    sprintf("p <- '%s1'", path), "cat(class(read_entasis(p, 'a')$a), class(read_entasis(p, int64 = 'double')$w), '')",
    "tryCatch(read_entasis(p), entasis_error_unsupported = function(e) cat(conditionMessage(e)))"
  ))
  expect_match(
    paste(out, collapse = " "),
    "^integer numeric not supported:.*install.packages\\(\"bit64\"\\).*int64 = \"double\""
  )
})

test_that("the choice is one of three", {
  path <- written(data.frame(a = 1))
  for (wrong in list("int", c("fit", "double"), 1, NULL, NA)) {
    expect_error(read_entasis(path, int64 = wrong), "'int64' must be", class = "entasis_error_argument")
    expect_error(entasis(path, int64 = wrong), "'int64' must be", class = "entasis_error_argument")
  }
})

test_that("the least integer is a double, or refused where integer64 is asked for", {
  path <- tempfile()
  python(c(
    sprintf(
      "en.write({'a': -2**63, 'l': [1, -2**63], 'n': np.int64(-2**63), 'v': np.array([-2**63, 1])}, r'%s')",
      path
    ),
    sprintf("en.write({'a': -2**63 + 1, 'n': np.int64(-2**63 + 1), 'k': {2**60: 1, 2**53: 2, 3_000_000_000: 3, -2**63: 4, 100_000: 5}}, r'%s1')", path)
  ))
  for (int64 in c("fit", "double")) {
    x <- read_entasis(path, int64 = int64)
    expect_identical(x, list(a = -2^63, l = list(1L, -2^63), n = -2^63, v = c(-2^63, 1)))
  }
  for (name in c("a", "n")) {
    expect_error(
      entasis(path, int64 = "integer64")[[name]], "-9223372036854775808", fixed = TRUE,
      class = "entasis_error_unsupported"
    )
  }
  expect_error(entasis(path, int64 = "integer64")$l[[2L]], "-9223372036854775808", class = "entasis_error_unsupported")
  expect_error(
    entasis(path, int64 = "integer64")$v, "does not hold -9223372036854775808",
    class = "entasis_error_unsupported"
  )
  skip_if_not_installed("bit64")
  x <- read_entasis(paste0(path, 1))
  expect_identical(x[c("a", "n")], list(a = int64s("-9223372036854775807"), n = int64s("-9223372036854775807")))
  expect_identical(
    names(x$k), c("1152921504606846976", "9007199254740992", "3000000000", "-9223372036854775808", "100000")
  )
})

test_that("columns beyond integer64 name the value and its row", {
  path <- tempfile()
  python(c(
    "import pyarrow as pa",
    sprintf("en.write(pd.DataFrame({'a': [5, 2**53 + 1, -2**63], 'u': np.array([1, 2**63, 2**64 - 1], 'u8'), 'ok': [1, 2, 3]}), r'%s')", path),
    "i = np.arange(300_000) ; i[250_000] = 2**53 + 1 ; i[260_000] = -2**63",
    sprintf("en.write(pd.DataFrame({'a': i}), r'%s1')", path),
    sprintf("en.write(pd.DataFrame({'a': pd.array([None, -2**63, 2**53 + 1], 'Int64')}), r'%s2')", path),
    sprintf("en.write(pa.table({'l': pa.array([[1], [-2**63, 2**53 + 1]])}), r'%s3')", path)
  ))
  expect_warning(
    x <- read_entasis(path, "a"),
    "lost digits as doubles in column \"a\", the first is 9007199254740993 in row 2 (file", fixed = TRUE
  )
  expect_identical(x$a, c(5, 2^53, -2^63))
  expect_warning(read_entasis(path, "u"), "column \"u\", the first is 18446744073709551615 in row 3", fixed = TRUE)
  expect_warning(
    read_entasis(paste0(path, 1), from = 200000), "the first is 9007199254740993 in row 250001", fixed = TRUE
  )
  expect_warning(entasis(paste0(path, 1))[c(5, 250001), ], "the first is 9007199254740993 in row 250001", fixed = TRUE)
  expect_warning(read_entasis(paste0(path, 2)), "the first is 9007199254740993 in row 3", fixed = TRUE)
  expect_warning(read_entasis(paste0(path, 3)), "the first is 9007199254740993 (file", fixed = TRUE)
  refused <- function(expr, message) expect_error(expr, message, fixed = TRUE, class = "entasis_error_unsupported")
  refused(read_entasis(path, int64 = "integer64"), "integer64 does not hold -9223372036854775808 in row 3")
  refused(read_entasis(path, "u", int64 = "integer64"), "integer64 does not hold 9223372036854775808 in row 2")
  refused(read_entasis(path, "u", int64 = "integer64"), "column \"u\"); read with int64 = \"fit\"")
  refused(read_entasis(paste0(path, 1), from = 1, to = 3, int64 = "integer64"), "-9223372036854775808 in row 260001")
  refused(read_entasis(paste0(path, 2), int64 = "integer64"), "-9223372036854775808 in row 2")
  refused(read_entasis(paste0(path, 3), int64 = "integer64"), "does not hold -9223372036854775808 (file")
  skip_if_not_installed("bit64")
  expect_identical(read_entasis(path, "ok", int64 = "integer64")$ok, int64s(1, 2, 3))
})
