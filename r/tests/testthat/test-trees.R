# Values of any kind: lists, language, models, environments, objects of S4.

# A value made here would have the environment of the tests, which contains functions. So values are
# made in the user's workspace.
outside <- function(expr) eval(substitute(expr), globalenv())

test_that("lists are kept", {
  expect_kept(NULL)
  expect_kept(list())
  expect_kept(list(1, 2L, TRUE, "a", NULL, 2i, as.raw(1)))
  expect_kept(list(a = list(b = list(c = 1:3, d = c("x", NA, "y"), e = c(TRUE, NA)), f = NULL), g = list()))
  expect_kept(setNames(list(), character()))
  expect_kept(list(a = 1, a = 2))
  expect_kept(list(1, b = 2))
  expect_kept(setNames(list(1, 2, 3), c(NA, "a", "NA")))
  expect_kept(list(NA, NA_integer_, NA_real_, NaN, NA_character_, NA_complex_, -0, c(NA, NaN, NA_real_ + 1), c(NA, 1L)))
  expect_kept(list(logical(), integer(), double(), complex(), character(), raw()))
  expect_kept(
    list(
      1:100000, runif(20000), sprintf("string number %d", 1:20000), as.raw(rep_len(0:255, 1e5)),
      rep(c(TRUE, NA), 50000)
    )
  )
  expect_kept(lapply(1:3000, function(i) list(id = i, name = paste("n", i), values = runif(i %% 4))))
  expect_kept(as.list(setNames(1:1000, sprintf("key %d", 1:1000))))
})

test_that("attributes of values in lists are kept, in their order", {
  expect_kept(
    list(
      x = c(a = 1, b = 2), f = factor(c("a", "b", NA)), d = as.Date("2020-01-01") + 0:3,
      t = as.POSIXct(1.5, origin = "1970-01-01")
    )
  )
  expect_kept(
    list(
      matrix(1:6, 2), array(runif(24), 2:4), matrix(letters[1:6], 2),
      matrix(1:4, 2, dimnames = list(NULL, c("a", "b"))), array(1:3, 3)
    )
  )
  expect_kept(
    list(
      structure(list(a = 1), class = c("special", "list"), note = list(2)),
      as.POSIXlt("2020-01-01 10:00", tz = "Europe/Oslo")
    )
  )
  expect_kept(structure(list(1, 2), dim = 1:2))
  expect_kept(structure(list(a = 1, b = 2), names = c("a", "b"), b = 1, a = 2))
  expect_kept(numeric_version("1.2.3"))
  expect_kept(Sys.info())
  expect_kept(unclass(as.POSIXlt(0, origin = "1970-01-01", tz = "UTC")))
})

test_that("encodings of strings in lists are kept", {
  latin1 <- "caf\xe9"
  Encoding(latin1) <- "latin1"
  bytes <- "b\xff"
  Encoding(bytes) <- "bytes"
  unmarked <- "na\xc3\xafve"
  x <- list(latin1, c("a", latin1, NA, bytes, unmarked, "\u00fc"), x = bytes, y = unmarked, matrix(c(latin1, "b"), 1))
  expect_kept(x)
  expect_kept(setNames(list(1, 2), c(latin1, "b")))
  expect_kept(list(structure(1, names = latin1), rep(c(latin1, "a"), 5000)))
})

test_that("frames in lists are tables", {
  expect_kept(list(cars = mtcars, iris, none = data.frame(), rows = data.frame(row.names = 1:3)))
  x <- split(data.frame(a = 1:500, b = rnorm(500), c = "x"), rep(1:100, 5))
  expect_kept(x)
  skip_if_not_installed("data.table")
  table <- data.table::data.table(a = 3:1, b = letters[1:3], key = "a")
  for (back in list(round_trip(list(table))[[1L]], round_trip(c(x, list(table)))[[101L]])) {
    expect_true(isTRUE(all.equal(back, table)))
    expect_identical(data.table::key(back), "a")
    expect_silent(data.table::set(back, j = "z", value = 1:3))
    expect_identical(names(back), c("a", "b", "z"))
  }
})

test_that("list columns are kept, and read in part", {
  frame <- data.frame(x = 1:5)
  frame$l <- list(1, "a", NULL, list(b = 2), mtcars[1:2, ])
  frame$i <- I(list(1:3, outside(y ~ x), quote(f(z)), NA, letters))
  frame$m <- matrix(as.list(1:10), 5)
  frame$d <- data.frame(k = 1:5)
  frame$d$inner <- as.list(5:1)
  expect_kept(frame)
  path <- written(frame)
  expect_true(alike(read_entasis(path, "l", 2, 4)$l, frame$l[2:4]))
  expect_identical(entasis(path)[c(5, 1), "l"]$l, frame$l[c(5, 1)])
  expect_identical(entasis(path)[integer(), ]$l, list())
  expect_identical(read_entasis(path, from = 2, to = 3)$m, frame$m[2:3, ])
  expect_identical(entasis(path)$d$inner, frame$d$inner)
  expect_gt(verify_entasis(path), 0)
  long <- data.frame(n = seq_len(20000))
  long$v <- lapply(long$n, function(i) seq_len(i %% 3))
  expect_kept(long)
  expect_identical(entasis(written(long))[c(19999, 7), "v"]$v, long$v[c(19999, 7)])
  skip_if_not_installed("tibble")
  expect_kept(tibble::tibble(a = 1:2, b = list(1, tibble::tibble(c = 1))))
})

test_that("language is kept, and never evaluated", {
  for (x in list(quote(f(x, y = 2)), quote(x), outside(y ~ x + log(z)), outside(~1), expression(a + b, c, d = 2), parse(text = "function(x, y = 1) x + y", keep.source = FALSE)[[1L]],
                 quote(if (a) b else c), pairlist(a = 1, b = quote(z)), quote(`odd name` + 1), as.name("\u00fc"))) {
    expect_kept(list(x))
    expect_kept(structure(1:3, note = x))
  }
  expect_kept(quote(stop("evaluated")))
  expect_kept(alist(x = , y = 2, ... = ))
  expect_kept(structure(quote(f(x)), class = "special"))
  # A recipe of settings.
  expect_kept(
    list(
      formula = outside(mpg ~ wt), control = list(maxit = 10L, tol = 1e-8), steps = expression(scale(x)),
      call = quote(lm(mpg ~ wt))
    )
  )
})

test_that("models are kept", {
  fit <- outside(lm(mpg ~ wt + factor(cyl), mtcars))
  expect_kept(fit)
  back <- round_trip(fit)
  expect_identical(predict(back, mtcars[1:3, ]), predict(fit, mtcars[1:3, ]))
  expect_identical(summary(back)$r.squared, summary(fit)$r.squared)
  fit <- outside(glm(am ~ wt, binomial, mtcars))
  back <- round_trip(fit)
  expect_true(identical(back, fit, ignore.environment = TRUE, ignore.bytecode = TRUE, ignore.srcref = TRUE))
  expect_identical(predict(back, type = "response"), predict(fit, type = "response"))
  inside <- function(data) {
    shift <- 1
    lm(mpg ~ I(wt + shift), data)
  }
  environment(inside) <- globalenv()
  back <- round_trip(inside(mtcars))
  expect_identical(predict(back, mtcars), predict(inside(mtcars), mtcars))
})

test_that("environments are known by their names, or kept with their contents", {
  for (env in list(globalenv(), baseenv(), emptyenv(), .BaseNamespaceEnv, asNamespace("stats"), as.environment("package:stats"))) {
    expect_identical(round_trip(list(env))[[1L]], env)
  }
  env <- new.env(parent = globalenv())
  env$a <- 1:3
  env$self <- env
  env$inner <- list(env, new.env(parent = env))
  env$call <- quote(stop("evaluated"))
  back <- round_trip(list(one = env, two = env, f = structure(1, e = env)))
  expect_identical(back$one, back$two)
  expect_identical(attr(back$f, "e"), back$one)
  expect_identical(back$one$self, back$one)
  expect_identical(back$one$inner[[1L]], back$one)
  expect_identical(parent.env(back$one$inner[[2L]]), back$one)
  expect_identical(back$one$a, 1:3)
  expect_identical(back$one$call, quote(stop("evaluated")))
  expect_identical(sort(ls(back$one)), sort(ls(env)))
  # A column, an attribute and a value in a list share it.
  frame <- data.frame(x = 1:2)
  frame$e <- list(env, env)
  attr(frame, "e") <- env
  back <- round_trip(frame)
  expect_identical(back$e[[1L]], back$e[[2L]])
  expect_identical(attr(back, "e"), back$e[[1L]])
  locked <- structure(new.env(parent = emptyenv()), class = "special")
  assign("x", 1, locked)
  lockBinding("x", locked)
  lockEnvironment(locked)
  back <- round_trip(locked)
  expect_s3_class(back, "special")
  expect_true(environmentIsLocked(back) && bindingIsLocked("x", back))
  chain <- emptyenv()
  for (i in 1:2000) chain <- new.env(parent = chain)
  expect_identical(environmentName(round_trip(chain)), "")
})

test_that("objects of S4 are kept", {
  where <- globalenv()
  methods::setClass(
    "EntasisPoint", methods::representation(x = "numeric", y = "list", z = "ANY", names = "character"),
    where = where
  )
  on.exit(methods::removeClass("EntasisPoint", where = where))
  point <- methods::new("EntasisPoint", x = c(1.5, NA), y = list(1, "a"), z = NULL, names = "n")
  expect_kept(point)
  expect_kept(list(a = point, point))
  back <- round_trip(point)
  expect_true(methods::is(back, "EntasisPoint") && methods::validObject(back))
  methods::setClass("EntasisNumbers", contains = "numeric", where = where)
  on.exit(methods::removeClass("EntasisNumbers", where = where), add = TRUE)
  expect_kept(methods::new("EntasisNumbers", 1:3 + 0.5))
  expect_kept(list(methods::new("EntasisNumbers", 1)))
})

test_that("functions are kept when both sides say so", {
  make <- function() {
    count <- 0
    function(x, y = x + 1, ...) count <<- count + x
  }
  f <- make()
  path <- written(list(f = f, s = sum, `if` = `if`), functions = TRUE)
  expect_error(read_entasis(path), "functions = TRUE", class = "entasis_error_unsupported")
  back <- read_entasis(path, functions = TRUE)
  expect_identical(formals(back$f), formals(f))
  expect_identical(body(back$f), body(f))
  back$f(2)
  expect_identical(environment(back$f)$count, 2)
  expect_identical(environment(f)$count, 0)
  expect_identical(back$s, sum)
  expect_identical(back$`if`, `if`)
  expect_identical(round_trip(data.frame(x = 1)), data.frame(x = 1))
  expect_error(write_entasis(f, path, functions = NA), class = "entasis_error_argument")
  skip_if_not_installed("R6")
  Class <- R6::R6Class("Class", public = list(n = 0, add = function() self$n <- self$n + 1), cloneable = FALSE)
  object <- Class$new()
  object$add()
  path <- written(list(object, object), functions = TRUE)
  back <- read_entasis(path, functions = TRUE)
  back[[1L]]$add()
  expect_identical(back[[2L]]$n, 2)
  expect_identical(object$n, 1)
})

test_that("what can't be stored is refused by its path, before the file is touched", {
  path <- written(1:3)
  refused <- function(x, message) {
    expect_error(write_entasis(x, path), message, fixed = TRUE, class = "entasis_error_unsupported")
  }
  closed <- new.env(parent = globalenv())
  delayedAssign("late", stop("evaluated"), globalenv(), closed)
  active <- new.env(parent = globalenv())
  makeActiveBinding("now", outside(function() stop("evaluated")), active)
  refused(mean, ": x: a value of type closure")
  refused(list(fit = list(call = sum)), ": $fit$call: ")
  refused(list(1, list(a = closed)), ": [[2]]$a$late: a promise that was not evaluated yet is code; write with functions = TRUE, or remove it: x[[2]]$a$late <- NULL")
  refused(list(e = active), ": $e$now: an active binding")
  byte_code <- compiler::compile(quote(x + 1))
  refused(
    list(`odd name` = list(byte_code)),
    ": $`odd name`[[1]]: a value of type bytecode can't be stored; remove it: x$`odd name`[1] <- list(NULL)"
  )
  refused(list(`a\nb` = list(byte_code)), ": $`a\\nb`[[1]]: a value of type bytecode")
  refused(structure(1:3, f = mean), "attr(x, \"f\"): a value of type closure")
  refused(
    structure(data.frame(a = 1), m = list(fit = list(call = mean))),
    "attr(x, \"m\")$fit$call: a value of type closure"
  )
  refused(list(structure(1, note = mean)), ": attr([[1]], \"note\"): a value of type closure")
  refused(list(quote(f(x)), as.call(list(as.name("f"), mean))), ": [[2]][[2]]: a value of type closure")
  refused(data.frame(x = I(list(1, mean))), ": $x[[2]]: a value of type closure")
  nested <- data.frame(a = 1:2)
  nested$d <- data.frame(e = I(list(1, byte_code)))
  refused(nested, ": $d$e[[2]]: a value of type bytecode can't be stored; remove it: x$d$e[2] <- list(NULL)")
  refused(list(p = new.env(parent = closed)), ": parent.env($p)$late: a promise that was not evaluated yet")
  # The type of an object that is code is byte code.
  refused(byte_code, ": x: a value of type bytecode")
  # A value that is refused also with functions = TRUE is reported first.
  refused(list(f = mean, b = byte_code), ": $b: a value of type bytecode")
  deep <- 1
  for (i in 1:1000) deep <- list(deep)
  refused(deep, "not supported: values are nested deeper than 1,000, at [[1]][[1]]")
  message <- tryCatch(write_entasis(deep, path), error = conditionMessage)
  expect_lt(nchar(message), 400)
  expect_identical(read_entasis(path), 1:3)
})

test_that("nesting up to the limit is kept", {
  deep <- 1
  for (i in 1:998) deep <- list(deep)
  back <- round_trip(deep)
  for (i in 1:998) back <- back[[1L]]
  expect_identical(back, 1)
  sum <- quote(x)
  for (i in 1:400) sum <- call("+", sum, quote(y))
  expect_identical(round_trip(list(sum))[[1L]], sum)
})

test_that("a promise that was evaluated is its value", {
  env <- outside((function(a, b = 5, c) {
    force(a)
    environment()
  })(1 + 1, c = "constant"))
  back <- round_trip(env)
  expect_identical(back$a, 2)
  expect_identical(back$c, "constant")
})

test_that("the dots of a call are kept", {
  wrapper <- outside(function(data, ...) lm(mpg ~ wt, data, ...))
  fit <- wrapper(mtcars, weights = rep(2, 32))
  back <- round_trip(fit)
  expect_identical(coef(back), coef(fit))
  expect_identical(predict(back, mtcars), predict(fit, mtcars))
  env <- outside((function(...) {
    list(...)
    environment()
  })(a = 1 + 1, "b", quote(stop("evaluated"))))
  back <- round_trip(env)
  expect_identical(eval(quote(...length()), back), 3L)
  expect_identical(eval(quote(list(...)), back), list(a = 2, "b", quote(stop("evaluated"))))
  unused <- outside((function(...) environment())(stop("evaluated")))
  expect_error(
    written(unused), "$...[[1]]: a promise that was not evaluated yet is code; write with functions = TRUE",
    fixed = TRUE, class = "entasis_error_unsupported"
  )
})

test_that("a garbage collection at any time is survived by trees", {
  expect_identical(run_file("torture.R", "trees", by_tier(50L, 1L)), "right")
})

test_that("parts of trees are read alone", {
  x <- list(
    a = 1:10, b = list(c = "x", d = list(1, mtcars)), fit = outside(lm(mpg ~ wt, mtcars)), df = iris,
    none = NULL
  )
  path <- written(x)
  tree <- entasis(path)
  expect_s3_class(tree, "entasis_tree")
  expect_identical(names(tree), names(x))
  expect_identical(length(tree), 5L)
  expect_identical(tree$a, x$a)
  expect_identical(tree[["b"]]$c, "x")
  expect_identical(tree[[c("b", "c")]], "x")
  expect_identical(tree[[2]][["d"]][[1]], 1)
  expect_identical(tree$b$d[[2]][1:2, "mpg"]$mpg, mtcars$mpg[1:2])
  expect_identical(tree$df[3:4, ]$Species, iris$Species[3:4])
  expect_identical(tree$fit, x$fit)
  expect_null(tree$none)
  expect_null(tree$other)
  expect_identical(tree[c("none", "a")], x[c("none", "a")])
  expect_identical(tree[], x)
  expect_identical(as.list(tree$b), x$b)
  expect_output(print(tree), "fit: lm")
  expect_output(str(tree), "list of 5")
  expect_error(tree[["other"]], class = "entasis_error_argument")
  expect_error(tree[[9]], class = "entasis_error_argument")
  expect_error(tree$a <- 1, class = "entasis_error_argument")
  expect_error(read_entasis(path, "a"), "entasis()", fixed = TRUE, class = "entasis_error_argument")
  saved <- unserialize(serialize(tree, NULL))
  expect_identical(saved$a, x$a)
  unlink(path)
  expect_identical(tree$b$c, "x")
})

test_that("a vector that is in a tree twice is stored once, and is one again", {
  x <- as.double(seq_len(1e5)) + 0.5
  x[2:9999] <- runif(9998)
  named <- setNames(x, seq_along(x))
  words <- sprintf("a word of some length, %d", seq_len(5000))
  small <- runif(100)
  frame <- data.frame(a = x, b = seq_along(x))
  tree <- list(x = x, again = list(x), named = named, same = list(of = named), words = words, w = words, frame = frame, f = list(frame),
               small = small, s = small, m = matrix(x, 10))
  once <- tree[c("x", "named", "words", "frame", "small", "m")]
  expect_kept(tree)
  path <- written(tree, compress = 0)
  expect_lt(file.size(path), 1.05 * file.size(written(once, compress = 0)) + 1e4)
  back <- read_entasis(path)
  address <- function(x) sub("^(@|<)?([0-9a-f]+).*", "\\2", utils::capture.output(.Internal(inspect(x, 0L)))[1L])
  same <- function(a, b) identical(address(a), address(b))
  expect_true(same(back$x, back$again[[1L]]))
  expect_true(same(back$named, back$same$of))
  expect_true(same(back$words, back$w))
  expect_true(same(back$small, back$s))
  expect_true(same(back$frame, back$f[[1L]]))
  # They are values: a change of one does not change the other.
  back$again[[1L]][1L] <- -1
  back$f[[1L]]$b[1L] <- -1L
  expect_identical(back$x[1L], x[1L])
  expect_identical(back$frame$b[1L], 1L)
  # Where only one of them is read.
  expect_identical(entasis(path)$again[[1L]], x)
  expect_identical(entasis(path)$same$of, named)
})

test_that("lists of similar vectors come back with other values between them", {
  path <- tempfile()
  latin1 <- "caf\xe9"
  Encoding(latin1) <- "latin1"
  kinds <- list(
    function(i) c("a", "b"), function(i) c(NA, paste("x", i), "y"), function(i) c(latin1, "b"),
    function(i) c("\u00e9", "z"), function(i) character(),
    function(i) "one", function(i) runif(i %% 4), function(i) c(a = i, b = 2), function(i) c(a = i, c = 2),
    function(i) c(a = 1L, b = i),
    function(i) as.Date("2020-01-01") + i, function(i) structure(i, class = "q"),
    function(i) factor(c("u", "v")), function(i) 1:3,
    function(i) structure(c(TRUE, NA), class = "q"), function(i) matrix(i + 1:4, 2), function(i) list(i),
    function(i) NULL, function(i) c(x = 1i),
    function(i) structure(as.raw(1:2), class = "q"), function(i) c(n = "named"),
    function(i) structure(runif(3), names = c("a", "a", NA))
  )
  set.seed(1)
  for (n in c(1:5, 40, 700)) {
    for (few in list(seq_along(kinds), c(8L, 9L), c(1L, 3L), c(11L, 12L), 8L)) {
      x <- lapply(seq_len(n), function(i) kinds[[few[sample.int(length(few), 1L)]]](i))
      write_entasis(x, path)
      back <- read_entasis(path)
      expect_identical(back, x)
      strings <- function(x) Encoding(unlist(Filter(is.character, x), use.names = FALSE))
      if (any(vapply(x, is.character, NA))) expect_identical(strings(back), strings(x))
      at <- sample.int(n, 1L)
      expect_identical(entasis(path)[[at]], x[[at]])
    }
  }
  # A value that is shared in the file changes in one place only.
  x <- lapply(1:10, function(i) c(a = i, b = 2))
  write_entasis(x, path)
  back <- read_entasis(path)
  names(back[[3]])[1L] <- "other"
  expect_identical(back[-3], x[-3])
  # In a column, by rows.
  frame <- data.frame(i = 1:300)
  frame$l <- lapply(1:300, function(i) if (i %% 50 == 0) letters[1:3] else c(a = i, b = 0))
  write_entasis(frame, path)
  expect_identical(read_entasis(path), frame)
  expect_identical(read_entasis(path, from = 120, to = 180)$l, frame$l[120:180])
  expect_identical(entasis(path)[c(250, 3, 3, 100), ]$l, frame$l[c(250, 3, 3, 100)])
})

test_that("neighbouring vectors with any attributes come back", {
  kinds <- list(
    function(i) c(a = i, b = 2), function(i) c(a = 1L, b = i), function(i) as.Date("2020-01-01") + i,
    function(i) c(x = i %% 2 == 0),
    function(i) structure(i, class = "one", note = as.character(i)),
    function(i) factor(c("u", "v")[1 + i %% 2], c("u", "v")),
    function(i) matrix(1:4 + i, 2), function(i) structure(double(), class = "none"),
    function(i) structure(seq_len(i %% 40), class = "of any length"),
    function(i) c(n = "text"), function(i) structure(1:2, class = "S", names = c("p", "q")), function(i) i,
    function(i) c(NA, i),
    function(i) structure(rep(i, 200), class = "long"), function(i) structure(i, attributes = list(names = "x"))
  )
  set.seed(4)
  # Long runs of one kind, and kinds that change at every place.
  which <- c(rep(sample(length(kinds)), sample(c(1, 2, 700), length(kinds), TRUE)), sample(length(kinds), 3000, TRUE))
  x <- lapply(seq_along(which), function(i) kinds[[which[i]]](i))
  expect_identical(read_entasis(written(x)), x)
  inner <- list(before = x[1:50], lists = lapply(1:300, function(i) x[i + 0:2]), frame = data.frame(l = I(x[1:9])))
  expect_identical(read_entasis(written(inner)), inner)
  # Neighbours are known by their positions.
  x[[70]] <- structure(70, class = "bad", f = function() 1)
  expect_error(write_entasis(x, tempfile()), "attr([[70]], \"f\")", fixed = TRUE)
})

test_that("reading leaves no file open and keeps no memory of R", {
  skip_if_not(dir.exists("/proc/self/fd"))
  path <- written(list(a = lapply(1:1000, function(i) c(i, 1L)), f = mtcars, e = new.env(parent = emptyenv())))
  opened <- function() length(dir("/proc/self/fd"))
  read_entasis(path)
  gc(FALSE)
  before <- opened()
  for (i in 1:20) read_entasis(path)
  for (i in 1:20) read_entasis(written(mtcars))
  expect_identical(opened(), before)
  # Each vector takes one word, and its pointer in the list another. The values themselves are
  # outside of R's heap.
  path <- written(lapply(1:50000, function(i) c(i, -i)))
  read_entasis(path)
  gc(FALSE)
  before <- gc(FALSE, reset = TRUE)[2L, 1L]
  x <- read_entasis(path)
  expect_lt(gc(FALSE)[2L, "max used"] - before, 100000 + 25000)
  expect_identical(x[[50000]], c(50000L, -50000L))
})

test_that("advice about the environment of a formula does not change the caller's", {
  fit <- local({
    use <- function(x) x
    lm(mpg ~ wt, mtcars)
  })
  message <- tryCatch(write_entasis(fit, tempfile()), error = conditionMessage)
  expect_match(message, "attr\\(x\\$[^ ]*, \"\\.Environment\"\\) <- globalenv\\(\\)")
  expect_false(grepl("$use <- NULL", message, fixed = TRUE))
})

test_that("attributes that are nested too deeply are refused with a way out", {
  x <- 1:3
  for (i in 1:26) x <- structure(1, a = x)
  expect_error(
    write_entasis(x, tempfile()), "nested too deeply; write it in a list", class = "entasis_error_unsupported"
  )
  expect_kept(list(x))
})
