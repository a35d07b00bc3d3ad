# Small values in small files: what repeats in a tree is stored once.

in_globalenv <- function(fit) {
  environment(fit$terms) <- globalenv()
  attr(attr(fit$model, "terms"), ".Environment") <- globalenv()
  fit
}
fit_of <- function(data) in_globalenv(lm(mpg ~ wt, data))
written_size <- function(x) file.size(write_to_temporary(x))
write_to_temporary <- function(x) {
  path <- tempfile(fileext = ".ent")
  write_entasis(x, path)
  path
}

test_that("a model comes to at most ten kibibytes", {
  fit <- fit_of(mtcars)
  expect_lt(written_size(fit), 10241)
  expect_identical(read_entasis(write_to_temporary(fit)), fit)
})

test_that("models that are alike come to at most twice what saveRDS() makes of them", {
  fits <- lapply(1:500, function(i) fit_of(mtcars))
  rds <- tempfile(fileext = ".rds")
  saveRDS(fits, rds)
  path <- write_to_temporary(fits)
  # Two pages of the file are for changes in place.
  expect_lt(file.size(path), 2 * file.size(rds) + 8192)
  expect_identical(read_entasis(path), fits)
  expect_identical(entasis(path)[[300]], fits[[300]])
})

test_that("values that share calls and attributes in a file are changed apart", {
  fits <- lapply(1:40, function(i) fit_of(transform(mtcars, mpg = mpg + i)))
  back <- read_entasis(write_to_temporary(fits))
  expect_identical(back, fits)
  attr(back[[1]]$terms, "intercept") <- 0L
  back[[1]]$call[[1]] <- quote(glm)
  names(back[[1]]$residuals)[1] <- "other"
  expect_identical(back[-1], fits[-1])
})

test_that("calls and attributes are shared only where all of them is equal", {
  decorated <- function(x, ...) structure(x, ...)
  nan <- c(NaN, NA)
  values <- list(
    quote(f(x)), quote(f(x, )), quote(f(y)), quote(f(x = x)), quote(f(1L)), quote(f(1)), quote(f(TRUE)),
    quote(f("1")), quote(f(x)), as.pairlist(list(f = 1)),
    as.pairlist(list(g = 1)), decorated(quote(f(x)), a = 1), decorated(quote(f(x)), a = 2),
    decorated(quote(f(x)), a = 1),
    decorated(list(1), a = 0), decorated(list(1), a = -0), decorated(list(1), a = nan),
    decorated(list(1), a = rev(nan)), decorated(list(1), a = 1:2),
    decorated(list(1), a = c(1, 2)), decorated(list(1), a = list(1, "x")), decorated(list(1), a = list(1, "y")),
    decorated(list(1), b = 1:2),
    decorated(list(1), a = factor("u")), decorated(list(1), a = factor("v")), decorated(list(1), a = 1, b = 2),
    decorated(list(1), b = 2, a = 1),
    decorated(list(1), a = list(1, "x"))
  )
  back <- read_entasis(write_to_temporary(values))
  expect_true(identical(back, values, num.eq = FALSE, single.NA = FALSE, attrib.as.set = FALSE))
  latin <- "\xe4"
  Encoding(latin) <- "latin1"
  strings <- list(decorated(list(1), a = c(latin, "b")), decorated(list(1), a = c(enc2utf8(latin), "b")))
  back <- read_entasis(write_to_temporary(strings))
  expect_identical(Encoding(attr(back[[1]], "a")), c("latin1", "unknown"))
  expect_identical(Encoding(attr(back[[2]], "a")), c("UTF-8", "unknown"))
})

test_that("equal calls keep environments of their own", {
  formulas <- lapply(1:3, function(i) as.formula("y ~ x", list2env(list(value = i), parent = globalenv())))
  back <- read_entasis(write_to_temporary(c(formulas, formulas[1])))
  found <- lapply(back, environment)
  expect_identical(vapply(found, get, 0L, x = "value"), c(1:3, 1L))
  expect_identical(found[[4]], found[[1]])
  assign("value", 10L, found[[1]])
  expect_identical(get("value", found[[2]]), 2L)
})

test_that("what differs every time is given up and stays what it is", {
  values <- lapply(1:3000, function(i) structure(list(i), a = i, b = i / 2))
  values <- c(values, rev(values))
  expect_identical(read_entasis(write_to_temporary(values)), values)
  calls <- lapply(1:3000, function(i) call("f", i))
  expect_identical(read_entasis(write_to_temporary(c(calls, calls))), c(calls, calls))
})

test_that("calls with functions in them and large ones are kept", {
  code <- list(call("f", function(x) x + 1), call("f", function(x) x + 2))
  path <- tempfile(fileext = ".ent")
  write_entasis(code, path, functions = TRUE)
  back <- read_entasis(path, functions = TRUE)
  expect_identical(vapply(back, function(one) one[[2]](1), 0), c(2, 3))
  large <- as.call(c(quote(f), as.list(1:2000), list(quote(g(x)), quote(g(x)))))
  expect_identical(read_entasis(write_to_temporary(list(large, large))), list(large, large))
})
