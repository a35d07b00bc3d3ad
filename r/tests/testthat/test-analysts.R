# Objects that analysts save print, predict and plot the same after reading.

outside <- function(expr) eval(substitute(expr), globalenv())

# An expression has the same result for the written and the read value.
expect_works <- function(x, result, functions = TRUE) {
  path <- tempfile(fileext = ".entasis")
  on.exit(unlink(path))
  suppressMessages(write_entasis(x, path, functions = functions))
  back <- read_entasis(path, functions = functions)
  expect_identical(class(back), class(x))
  expect_equal(result(back), result(x), tolerance = 0)
  back
}

test_that("tibbles of readr and vroom are kept without any argument", {
  skip_if_not_installed("readr")
  csv <- tempfile(fileext = ".csv")
  utils::write.csv(mtcars, csv, row.names = FALSE)
  x <- readr::read_csv(csv, show_col_types = FALSE)
  path <- tempfile()
  expect_message(write_entasis(x, path), "attr(x, \"problems\") is an external pointer", fixed = TRUE)
  back <- read_entasis(path)
  expect_identical(typeof(attr(back, "problems")), "externalptr")
  expect_identical(as.data.frame(back), as.data.frame(x))
  expect_identical(names(attributes(back)), names(attributes(x)))
  expect_works(list(a = x, b = x), function(x) as.data.frame(x$b), functions = FALSE)
  skip_if_not_installed("vroom")
  expect_works(vroom::vroom(csv, show_col_types = FALSE), as.data.frame, functions = FALSE)
})

test_that("plots of ggplot2 are kept", {
  skip_if_not_installed("ggplot2")
  make <- outside(function() {
    ggplot2::ggplot(mtcars, ggplot2::aes(wt, mpg, colour = factor(cyl))) + ggplot2::geom_point() +
      ggplot2::geom_smooth(
        method = "lm", formula = y ~ x, se = FALSE
      ) + ggplot2::facet_wrap(~am) + ggplot2::scale_x_log10()
  })
  built <- function(plot) suppressWarnings(lapply(ggplot2::ggplot_build(plot)$data, as.data.frame))
  plot <- make()
  expect_error(written(plot), "is code; write with functions = TRUE", fixed = TRUE, class = "entasis_error_unsupported")
  expect_works(plot, built)
  expect_works(list(first = plot, second = make()), function(plots) built(plots$second))
  expect_works(tibble::tibble(k = 1:2, plot = list(plot, make())), function(plots) built(plots$plot[[2L]]))
})

test_that("models in nested tibbles are kept", {
  skip_if_not_installed("tidyr")
  skip_if_not_installed("dplyr")
  skip_if_not_installed("purrr")
  nested <- tidyr::nest(dplyr::group_by(tibble::as_tibble(mtcars), cyl))
  predictions <- function(x) lapply(x$fit, stats::predict, mtcars)
  fit <- outside(function(nested) dplyr::mutate(nested, fit = purrr::map(data, ~ lm(mpg ~ wt, data = .x))))
  expect_works(fit(nested), predictions)
  fit <- outside(function(nested) dplyr::mutate(nested, fit = purrr::map(data, \(d) lm(mpg ~ wt, data = d))))
  expect_works(fit(nested), predictions)
  by <- outside(function(x) dplyr::mutate(dplyr::nest_by(x, cyl), fit = list(lm(mpg ~ wt, data = data))))
  expect_works(by(mtcars), predictions)
  # Without code in their environments they need no functions.
  split <- outside(lapply(split(mtcars, mtcars$cyl), function(d) lm(mpg ~ wt, data = d)))
  expect_works(split, function(x) lapply(x, stats::predict, mtcars), functions = FALSE)
})

test_that("mixed models are kept", {
  skip_if_not_installed("lme4")
  fit <- outside(lme4::lmer(Reaction ~ Days + (Days | Subject), lme4::sleepstudy))
  back <- expect_works(fit, function(fit) stats::predict(fit, lme4::sleepstudy[1:20, ]))
  expect_identical(utils::capture.output(print(summary(back))), utils::capture.output(print(summary(fit))))
  fit <- outside(lme4::glmer(cbind(incidence, size - incidence) ~ period + (1 | herd), lme4::cbpp, family = binomial))
  expect_works(fit, function(fit) stats::predict(fit, lme4::cbpp[1:20, ]))
})

test_that("trained models of caret are kept", {
  skip_if_not_installed("caret")
  suppressMessages(
    fit <- outside(
      caret::train(mpg ~ wt, mtcars, method = "lm", trControl = caret::trainControl(method = "cv", number = 3))
    )
  )
  expect_works(fit, function(fit) stats::predict(fit, mtcars[1:5, ]))
})

test_that("reference classes are kept", {
  where <- globalenv()
  Account <- methods::setRefClass("EntasisAccount", where = where, fields = list(
    total = "numeric",
    twice = function(v) if (missing(v)) total * 2 else total <<- v / 2
  ), methods = list(add = function(x) {
    total <<- total + x
    invisible(.self)
  }))
  on.exit(methods::removeClass("EntasisAccount", where = where))
  account <- Account$new(total = 5)
  account$add(2)
  back <- expect_works(account, function(x) c(x$total, x$twice))
  back$add(1)
  back$twice <- 2 * back$twice
  expect_identical(c(back$total, account$total), c(16, 7))
})

test_that("objects of R6 with active bindings are kept", {
  skip_if_not_installed("R6")
  Class <- R6::R6Class("Class",
    public = list(n = 1, add = function() {
      self$n <- self$n + private$step
      invisible(self)
    }),
    private = list(step = 1), active = list(twice = function(v) if (missing(v)) self$n * 2 else self$n <- v / 2)
  )
  object <- Class$new()
  object$add()
  expect_error(
    written(object), "$twice: an active binding is code; write with functions = TRUE", fixed = TRUE,
    class = "entasis_error_unsupported"
  )
  back <- expect_works(object, function(x) c(x$n, x$twice))
  back$add()
  back$twice <- 50
  expect_identical(c(back$n, back$clone()$twice, object$n), c(25, 50, 2))
})

test_that("survival models with their frames are kept without functions", {
  skip_if_not_installed("survival")
  fit <- outside(survival::coxph(survival::Surv(time, status) ~ age, survival::lung, model = TRUE))
  expect_works(fit, function(fit) stats::predict(fit, survival::lung[1:9, ]), functions = FALSE)
  fit <- outside(survival::survreg(survival::Surv(time, status) ~ age, survival::lung, model = TRUE))
  expect_works(fit, function(fit) stats::predict(fit, survival::lung[1:9, ]), functions = FALSE)
})

test_that("smooth and nonlinear models are kept", {
  set.seed(2)
  assign("entasis_data", data.frame(x = rnorm(100)), globalenv())
  on.exit(rm("entasis_data", envir = globalenv()))
  outside(entasis_data$y <- 2 + 3 * entasis_data$x + rnorm(100))
  few <- entasis_data[1:5, ]
  expect_works(
    outside(nls(y ~ a + b * x, entasis_data, start = list(a = 0, b = 0))),
    function(fit) stats::predict(fit, few)
  )
  expect_works(outside(loess(y ~ x, entasis_data)), function(fit) stats::predict(fit, few), functions = FALSE)
  skip_if_not_installed("mgcv")
  expect_works(outside(mgcv::gam(mpg ~ s(wt), data = mtcars)), function(fit) stats::predict(fit, mtcars[1:5, ]))
})

test_that("grouped data of nlme is cut by its own method, which looks at all rows", {
  # It depends on nlme and is installed with it.
  skip_if_not_installed("lme4")
  loadNamespace("lme4")
  x <- datasets::DNase
  path <- written(x)
  expected <- x[2:17, ]
  row.names(expected) <- NULL
  expect_identical(nlevels(expected$Run), 2L)
  expect_identical(entasis(path)[2:17, ], expected, ignore_function_env = TRUE)
  expect_identical(read_entasis(path, from = 2, to = 17), expected, ignore_function_env = TRUE)
})
