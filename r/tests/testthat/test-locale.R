# Strings of sessions whose locale is not UTF-8. They run in processes of their own.

LATIN1 <- "de_DE.ISO-8859-1"

# Runs code of R in a locale, and returns what it prints. Skips where the system lacks the locale.
in_locale <- function(locale, code) {
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  check <- sprintf(
    "if (Sys.setlocale('LC_ALL', '%s') == '' || l10n_info()[['UTF-8']]) { cat('no locale'); quit() }", locale
  )
  writeLines(c("suppressWarnings({", check, "})", "library(entasis)", code), script)
  out <- suppressWarnings(
    system2(
      file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), stdout = TRUE, stderr = TRUE,
      env = libraries()
    )
  )
  if (identical(out, "no locale")) skip(paste("needs the locale", locale))
  if (!is.null(attr(out, "status"))) stop(paste(out, collapse = "\n"))
  out
}

# "cafe" with an accent, in bytes of Latin-1 without a mark.
NATIVE <- "e <- rawToChar(as.raw(c(0x63, 0x61, 0x66, 0xe9)))"

test_that("text of a locale is converted when it is written", {
  path <- tempfile()
  in_locale(LATIN1, c(
    NATIVE, "stopifnot(Encoding(e) == 'unknown')",
    "x <- data.frame(a = c(e, 'b', NA), f = factor(c(e, 'x', e)), n = 1:3)",
    "names(x)[3] <- e", "row.names(x) <- c(e, 'r2', 'r3')", "attr(x$a, 'label') <- e", "attr(x, e) <- e",
    "x[[paste0('m', e)]] <- matrix(1:6, 3, dimnames = list(NULL, c(e, 'p')))", "x$d <- data.frame(1:3)",
    "names(x$d) <- e", "x$l <- list(e, c(e, 'z'), NULL)",
    sprintf("write_entasis(x, '%s')", path), sprintf("stopifnot(identical(read_entasis('%s'), x))", path),
    "named <- list(1, e)", "names(named) <- c(e, 'b')", "sym <- as.name(e)", "call <- as.call(list(sym, e, 1))",
    "names(call) <- c('', e, '')",
    "env <- new.env()", "assign(e, e, env)",
    "tree <- list(one = e, many = c(e, 'b', e), named = named, vector = structure(1:2, names = c(e, 'b')), sym = sym, call = call, env = env,",
    " attribute = structure(list(1), note = e), long = rep(paste(e, 'and more than twelve bytes'), 3))",
    "attr(tree$attribute, e) <- 1",
    sprintf("write_entasis(tree, '%s1')", path), sprintf("back <- read_entasis('%s1')", path),
    "stopifnot(identical(back[names(back) != 'env'], tree[names(tree) != 'env']), identical(as.list(back$env), as.list(env)))"
  ))
  e <- "caf\u00e9"
  x <- read_entasis(path)
  expect_identical(x$a, structure(c(e, "b", NA), label = e))
  expect_identical(levels(x$f), c(e, "x"))
  expect_identical(names(x), c("a", "f", e, paste0("m", e), "d", "l"))
  expect_identical(row.names(x), c(e, "r2", "r3"))
  expect_identical(attr(x, e), e)
  expect_identical(colnames(x[[4L]]), c(e, "p"))
  expect_identical(names(x$d), e)
  expect_identical(x$l, list(e, c(e, "z"), NULL))
  expect_identical(count_entasis(entasis(path), a == "caf\u00e9"), 1L)
  tree <- read_entasis(paste0(path, 1))
  expect_identical(
    tree[c("one", "many", "long")],
    list(one = e, many = c(e, "b", e), long = rep(paste(e, "and more than twelve bytes"), 3))
  )
  expect_identical(names(tree$named), c(e, "b"))
  expect_identical(names(tree$vector), c(e, "b"))
  expect_identical(tree$sym, as.name(e))
  expect_identical(as.character(tree$call), c(e, e, "1"))
  expect_identical(names(tree$call), c("", e, ""))
  expect_identical(get(e, tree$env), e)
  expect_identical(attributes(tree$attribute), structure(list(e, 1), names = c("note", e)))
  # Python reads the names as text too.
  out <- python(sprintf("print(ascii(list(en.read(r'%s').columns)))", path))
  expect_match(out, "['a', 'f', 'caf\\xe9', 'mcaf\\xe9.caf\\xe9', 'mcaf\\xe9.p', 'd.caf\\xe9', 'l']", fixed = TRUE)
})

test_that("rows, columns and metadata of another locale are converted too", {
  path <- written(data.frame(a = "\u00e9t\u00e9", b = 1))
  in_locale(LATIN1, c(
    NATIVE, sprintf("append_entasis(data.frame(a = e, b = 2), '%s')", path),
    sprintf("append_entasis(data.frame(a = e, b = 3), '%s')", path),
    sprintf("add_columns_entasis(setNames(data.frame(c(e, 'y', 'z')), e), '%s')", path),
    sprintf("rename_columns_entasis('%s', setNames('b', paste0(e, 2)))", path),
    sprintf("set_metadata_entasis(list(by = e), '%s')", path),
    sprintf("stopifnot(identical(subset(entasis('%s'), a == e)$a, c(e, e)))", path)
  ))
  expect_identical(read_entasis(path)$a, c("\u00e9t\u00e9", "caf\u00e9", "caf\u00e9"))
  expect_identical(names(read_entasis(path)), c("a", "caf\u00e92", "caf\u00e9"))
  expect_identical(metadata_entasis(path)$metadata, list(by = "caf\u00e9"))
})

test_that("UTF-8 without a mark is read in another locale", {
  skip_if_not(l10n_info()[["UTF-8"]])
  x <- "caf\u00e9"
  Encoding(x) <- "unknown"
  path <- written(list(x, data.frame(a = c(x, "b"))))
  out <- in_locale(LATIN1, c(
    sprintf("x <- read_entasis('%s')", path),
    "stopifnot(identical(x[[1]], 'caf\\u00e9'), identical(x[[2]]$a, c('caf\\u00e9', 'b')))", "cat('right')"
  ))
  expect_identical(out, "right")
  expect_true(same(read_entasis(path)[[1L]], x))
})

test_that("bytes that have no encoding stay as they are", {
  path <- tempfile()
  script <- tempfile(fileext = ".R")
  writeLines(
    c(
      "x <- rawToChar(as.raw(c(0x63, 0xe9)))", sprintf("entasis::write_entasis(x, '%s')", path),
      sprintf("stopifnot(identical(entasis::read_entasis('%s'), x))", path)
    ),
    script
  )
  out <- system2(
    file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), stdout = TRUE, stderr = TRUE,
    env = c("LC_ALL=C", libraries())
  )
  expect_null(attr(out, "status"), info = paste(out, collapse = "\n"))
  back <- read_entasis(path)
  expect_identical(charToRaw(back), as.raw(c(0x63, 0xe9)))
  expect_identical(Encoding(back), "unknown")
})

test_that("text files of a locale are read and written in UTF-8", {
  path <- tempfile()
  in_locale(LATIN1, c(
    NATIVE, "x <- data.frame(a = c(e, 'b'), f = factor(c('y', e)), n = 1:2)", "names(x)[3] <- e",
    sprintf("path <- paste0('%s', e)", path), "spec <- write_csv_entasis(x, path)",
    "y <- read_csv_entasis(path, spec = spec)",
    "stopifnot(identical(y$a, x$a), identical(levels(y$f), levels(x$f)), identical(names(y), names(x)))",
    "y <- read_csv_entasis(path, select = e, colClasses = structure('double', names = e))",
    "stopifnot(identical(y[[e]], c(1, 2)))",
    "y <- read_csv_entasis(text = c('a,b', paste0(e, ',1')))", "stopifnot(identical(y$a, e))",
    sprintf("file.copy(path, '%s')", path)
  ))
  e <- "caf\u00e9"
  expect_identical(as.list(read_csv_entasis(path)), structure(list(c(e, "b"), c("y", e), 1:2), names = c("a", "f", e)))
})
