# Many values of R, each alone, in a list, as an attribute, and as a column of every kind of table.

keeps <- function(x, name) {
  expect_true(same(x, round_trip(x)), label = name)
  expect_true(same(list(x, z = x), round_trip(list(x, z = x))), label = paste("a list with", name))
  with <- structure(1:3, note = x)
  expect_true(same(with, round_trip(with)), label = paste("an attribute,", name))
}

keeps_columns <- function(x, name) {
  frame <- data.frame(k = seq_along(x))
  frame$x <- x
  tables <- list(frame, frame[0, ], frame[c(1, 1), ])
  if (requireNamespace("tibble", quietly = TRUE)) tables <- c(tables, list(tibble::as_tibble(frame)))
  if (requireNamespace("data.table", quietly = TRUE)) tables <- c(tables, list(data.table::as.data.table(frame)))
  for (table in tables) expect_true(same(table, round_trip(table)), label = paste(class(table)[1L], "with", name))
}

test_that("the data sets of R are kept", {
  for (name in ls("package:datasets")) keeps(get(name, "package:datasets"), name)
})

test_that("classes of base R are kept", {
  values <- list(
    as.difftime(c(1, NA), units = "weeks"), as.POSIXct("2020-01-01", tz = "EST5EDT"), ISOdate(2020, 1, 1:2),
    as.Date(c("2020-01-01", NA)),
    as.octmode(8:9), as.hexmode(255L), as.roman(5), structure(1:3, class = "units", units = "m"),
    stats::ts(1:10, start = 2000, frequency = 4),
    factor(c("b", "a", NA), levels = c("b", "a", NA), exclude = NULL), cut(1:10, 3), regexpr("a", c("ba", "x")),
    as.package_version("1.2.3"),
    package_version(c("1.0", "2.0")), table(mtcars$cyl, mtcars$gear), ftable(Titanic), noquote("x"),
    simpleError("x"), as.person("A B <a@b>"),
    strsplit(c("a b", "c"), " "), rle(c(1, 1, 2)), poly(1:10, 2), dist(matrix(1:6, 3)),
    density(mtcars$mpg)[1:6], array(1:8, c(2, 2, 2))
  )
  for (x in values) {
    name <- class(x)[1L]
    keeps(x, name)
    if (is.null(dim(x)) && length(x) > 0L && is.atomic(x)) keeps_columns(x, name)
  }
})

test_that("models of many kinds are kept", {
  models <- eval(quote(list(
    aov(mpg ~ factor(cyl), mtcars), anova(lm(mpg ~ wt, mtcars)), arima(lh, order = c(1, 0, 0)),
    hclust(dist(matrix(c(1, 5, 9, 2), 4))),
    kmeans(c(1, 2, 10, 11), 2), loess(mpg ~ wt, mtcars), model.matrix(mpg ~ factor(cyl), mtcars),
    prcomp(USArrests), smooth.spline(mtcars$wt, mtcars$mpg),
    t.test(1:10), summary(lm(mpg ~ wt, mtcars)), glm(am ~ wt, quasibinomial("probit"), mtcars),
    glm(carb ~ wt, poisson, mtcars)
  )), globalenv())
  for (model in models) {
    expect_true(
      identical(model, round_trip(model), ignore.environment = TRUE, ignore.bytecode = TRUE),
      label = class(model)[1L]
    )
  }
})

test_that("classes of packages are kept in lists and columns", {
  for (package in c("bit64", "nanotime", "hms", "haven", "data.table")) skip_if_not_installed(package)
  values <- list(
    bit64::as.integer64(c("1", NA, "9223372036854775807")), nanotime::nanotime(c(1, NA)), hms::hms(c(1.5, NA)),
    data.table::as.ITime("10:20:30"),
    data.table::as.IDate("2020-01-01"), haven::labelled(c(1, 2), c(a = 1)), haven::tagged_na("a", "b"),
    haven::labelled(c(1, haven::tagged_na("x")), c(m = haven::tagged_na("x"))),
    haven::labelled_spss(1:3, c(a = 1L), na_values = 3L)
  )
  for (x in values) {
    keeps(x, class(x)[1L])
    keeps_columns(x, class(x)[1L])
  }
})

# A random value of any shape.
any_value <- function(depth = 0L) {
  n <- sample(c(0:3, 40L), 1L)
  x <- switch(sample(if (depth > 3L) 8L else 11L, 1L),
    sample(c(TRUE, FALSE, NA), n, TRUE), sample(c(NA, -5:5), n, TRUE),
    sample(c(NA, NaN, Inf, -0, 0.1, 1 / 3), n, TRUE), complex(n, rnorm(n), c(NA, 1)[sample(2L, 1L)]),
    as.raw(sample(0:255, n, TRUE)),
    sample(c("a", "", NA, "\u00e9", "a string that is longer than a view"), n, TRUE), NULL, quote(f(x, y = 2)),
    lapply(seq_len(n), function(i) any_value(depth + 1L)),
    setNames(lapply(seq_len(n), function(i) any_value(depth + 1L)), sample(letters, n, TRUE)),
    data.frame(a = seq_len(n), b = I(lapply(seq_len(n), function(i) any_value(depth + 2L))))
  )
  if (!is.null(x) && !is.data.frame(x) && runif(1) < 0.3) {
    attr(x, sample(c("note", "units", "label"), 1L)) <- any_value(depth + 1L)
  }
  if (is.atomic(x) && length(x) > 0L && runif(1) < 0.3) names(x) <- sample(c("n", "", NA), length(x), TRUE)
  x
}

test_that("values of any shape are kept", {
  set.seed(11)
  for (i in 1:150) {
    x <- any_value()
    expect_true(same(x, round_trip(x, sample(c(0, 50, 100), 1L))), label = paste("value", i))
  }
})
