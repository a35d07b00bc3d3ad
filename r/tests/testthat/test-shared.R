# Values that occur several times in a tree are stored once, and read back in any context.

outside <- function(expr) eval(substitute(expr), globalenv())

test_that("a vector that is in a list twice is read back, whatever follows it", {
  for (n in by_tier(c(32L, 65L, 500L), c(31:33, 63:65, 127:129, 500L))) {
    v <- as.double(seq_len(n)) + 0.25
    for (between in list(factor(c("u", "v")), outside(y ~ x), quote(f(x)), structure(1:3, class = "q"), setNames(1:2, c("a", "b")), v + 1, "a", list(v), NULL)) {
      expect_kept(list(v, between, v))
      expect_kept(list(x = v, by = between, w = v))
      expect_kept(list(v, v, between, v, between, v))
      expect_kept(list(list(v, between), list(between, v)))
      expect_kept(list(between, v, structure(list(v, between), class = "special")))
    }
    words <- sprintf("word %d", seq_len(n))
    expect_kept(list(words, factor("a"), words, v, as.integer(v), words))
  }
  expect_kept(list(x = iris$Sepal.Length, by = iris$Species, w = iris$Sepal.Length))
  y <- rnorm(100)
  fit <- stats::loess(y ~ seq_along(y))
  attr(fit$terms, ".Environment") <- globalenv()
  fit$call <- NULL
  expect_kept(list(y = y, fit = unclass(fit)[c("n", "fitted", "residuals", "pars")], y2 = y))
})

test_that("random trees that share values are read back", {
  source("shared-trees.R", local = TRUE)
  n <- by_tier(60L, 200L, 10000L)
  path <- tempfile()
  failed <- integer()
  for (seed in seq_len(n)) {
    x <- shared_tree(seed)
    good <- tryCatch({
      write_entasis(x, path)
      same_tree(x, read_entasis(path))
    }, error = function(e) FALSE)
    if (!good) failed <- c(failed, seed)
  }
  expect_identical(failed, integer())
})
