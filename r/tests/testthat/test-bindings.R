# Promises, active bindings and pointers are preserved, and never evaluated by writing or reading.

outside <- function(expr) eval(substitute(expr), globalenv())

test_that("promises stay promises when both sides ask for code", {
  env <- new.env(parent = globalenv())
  env$n <- 0
  env$a <- 2
  delayedAssign("late", {
    n <- n + 1
    a * 10
  }, eval.env = env, assign.env = env)
  delayedAssign("chained", late + 1, eval.env = env, assign.env = env)
  delayedAssign("never", stop("evaluated"), assign.env = env)
  path <- written(list(env, env), functions = TRUE)
  expect_identical(env$n, 0)
  expect_error(read_entasis(path), "a promise, which is code .* functions = TRUE", class = "entasis_error_unsupported")
  back <- read_entasis(path, functions = TRUE)
  expect_identical(back[[1L]], back[[2L]])
  expect_identical(back[[1L]]$n, 0)
  expect_identical(substitute(chained, back[[1L]]), quote(late + 1))
  back[[1L]]$a <- 3
  expect_identical(back[[1L]]$chained, 31)
  expect_identical(back[[1L]]$late, 30)
  expect_identical(back[[1L]]$n, 1)
  expect_identical(env$n, 0)
  expect_error(back[[1L]]$never, "evaluated")
  # A promise that was forced needs no functions.
  rm("never", envir = env)
  expect_identical(env$chained, 21)
  expect_identical(round_trip(env)$chained, 21)
})

test_that("arguments in dots stay promises when both sides ask for code", {
  env <- outside((function(first, ...) environment())(1, b = stop("evaluated"), 2, c = 1 + 1))
  path <- written(env, functions = TRUE)
  back <- read_entasis(path, functions = TRUE)
  expect_identical(eval(quote(...length()), back), 3L)
  expect_identical(eval(quote(...names()), back), eval(quote(...names()), env))
  expect_identical(eval(quote(..2), back), 2)
  expect_identical(eval(quote(..3), back), 2)
  expect_error(eval(quote(..1), back), "evaluated")
  expect_identical(as.list(substitute(list(...), back))[-3L], as.list(substitute(list(...), env))[-3L])
})

test_that("forwarded, forced and missing arguments in dots stay what they are", {
  env <- outside((function() {
    inner <- function(...) environment()
    outer <- function(...) inner(...)
    outer(a = 1 + 1, , 3 * 7, stop("evaluated"))
  })())
  expect_identical(eval(quote(..3), env), 21)
  path <- written(env, functions = TRUE)
  back <- read_entasis(path, functions = TRUE)
  expect_identical(eval(quote(...names()), back), eval(quote(...names()), env))
  # A forced argument has its value, and no expression.
  expect_identical(as.list(substitute(list(...), back))[-4L], as.list(substitute(list(...), env))[-4L])
  expect_identical(eval(quote(..1), back), 2)
  expect_identical(eval(quote(..3), back), 21)
  expect_error(eval(quote(list(...)), back), "missing")
  expect_error(eval(quote(..4), back), "evaluated")
})

test_that("a promise of dots in dots is not an expression", {
  bind <- asNamespace("entasis")$bind_dots
  session <- new.env()
  promise <- structure(list(quote(...), globalenv()), promise = session)
  expect_error(bind(session, new.env(), list(promise)), "a promise of dots", class = "entasis_nonsense")
})

test_that("active bindings are kept when both sides ask for code", {
  env <- new.env(parent = globalenv())
  env$calls <- 0
  f <- function(v) {
    calls <<- calls + 1
    if (missing(v)) calls else calls <<- v
  }
  environment(f) <- env
  makeActiveBinding("now", f, env)
  lockBinding("now", env)
  path <- written(env, functions = TRUE)
  expect_identical(env$calls, 0)
  expect_error(read_entasis(path), "functions = TRUE", class = "entasis_error_unsupported")
  back <- read_entasis(path, functions = TRUE)
  expect_identical(back$calls, 0)
  expect_true(bindingIsActive("now", back) && bindingIsLocked("now", back))
  expect_identical(back$now, 1)
  expect_identical(env$calls, 0)
})

test_that("external pointers and weak references become null ones, with one message", {
  path <- tempfile()
  new_pointer <- function() asNamespace("entasis")$open_file(written(1:3))$handle
  pointer <- new_pointer()
  x <- list(a = 1, p = structure(list(pointer, 1), class = "holder"))
  expect_message(
    write_entasis(x, path),
    "^note: \\$p\\[\\[1\\]\\] is an external pointer, whose address is stored as null, as by saveRDS\\(\\)\n$"
  )
  back <- read_entasis(path)
  expect_identical(typeof(back$p[[1L]]), "externalptr")
  expect_match(utils::capture.output(print(back$p[[1L]])), "nil|0x0")
  expect_identical(class(back$p), "holder")
  messages <- character()
  withCallingHandlers(write_entasis(list(pointer, data.frame(x = I(list(new_pointer(), new_pointer(), pointer)))), path), message = function(m) {
    messages <<- c(messages, conditionMessage(m))
    invokeRestart("muffleMessage")
  })
  expect_identical(length(messages), 1L)
  expect_match(messages, "(2 others too)", fixed = TRUE)
  # With its attributes, as a connection has one.
  connection <- file(tempfile(), "w")
  on.exit(close(connection))
  expect_message(write_entasis(list(log = connection), path), "attr($log, \"conn_id\")", fixed = TRUE)
  expect_identical(class(read_entasis(path)$log), c("file", "connection"))
  expect_silent(write_entasis(list(1), path))
  # A lazy table is a pointer too, but not to nothing.
  expect_error(
    write_entasis(list(a = entasis(written(mtcars))), path), "$a: a lazy table or list of a file", fixed = TRUE,
    class = "entasis_error_unsupported"
  )
  # A value that was read can be written again.
  suppressMessages(write_entasis(back, path))
  expect_identical(class(read_entasis(path)$p), "holder")
})

test_that("advice in a refusal works", {
  path <- tempfile()
  advised <- function(x) {
    message <- tryCatch({
      write_entasis(x, path)
      ""
    }, entasis_error_unsupported = conditionMessage)
    line <- sub(".*remove it: ", "", message)
    expect_match(line, "<-", fixed = TRUE)
    scope <- new.env(parent = globalenv())
    scope$x <- x
    eval(str2lang(line), scope)
    write_entasis(scope$x, path)
    read_entasis(path)
    write_entasis(x, path, functions = TRUE)
    read_entasis(path, functions = TRUE)
    scope$x
  }
  frame <- data.frame(x = I(list(1, mean, 3)))
  expect_identical(nrow(advised(frame)), 3L)
  expect_identical(length(advised(list(1, mean, 3))), 3L)
  advised(list(fit = list(call = sum, b = 2)))
  advised(structure(1:3, f = mean))
  advised(list(a = structure(1:3, f = structure(2, g = mean))))
  advised(structure(data.frame(a = 1), m = list(fit = list(call = mean))))
  advised(list(`odd name` = list(`b\nc` = mean, d = 1)))
  advised(as.call(list(as.name("f"), mean)))
  env <- new.env(parent = globalenv())
  env$f <- mean
  advised(list(e = env))
  frame <- data.frame(k = 1:2)
  frame$inner <- data.frame(l = I(list(mean, 2)))
  expect_identical(nrow(advised(list(a = frame))$a), 2L)
  # A value itself has nothing that could be removed.
  message <- tryCatch(write_entasis(mean, path), error = conditionMessage)
  expect_match(message, "write with functions = TRUE$")
})
