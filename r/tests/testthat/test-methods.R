# The package never uses methods of users to inspect a value: they may fail, or contradict the
# vector.

GENERICS <- c(
  "length", "lengths", "dim", "dimnames", "names", "levels", "[", "[[", "$", "c", "unlist", "rep",
  "as.character", "as.double", "as.integer",
  "as.logical", "as.vector", "as.list", "as.list.default", "as.data.frame", "as.matrix", "as.environment",
  "format", "print", "is.na", "anyNA", "is.numeric",
  "is.matrix", "is.array", "seq_along", "seq.int", "xtfrm", "row.names", "nchar", "toString", "all.equal",
  "unique", "duplicated", "rev", "sort",
  "summary", "range", "Ops", "Math", "Summary", "==", "!=", "<", "!", "mean", "median", "quantile", "merge",
  "subset", "within", "with", "transform",
  "head", "tail", "str", "dim<-", "dimnames<-", "names<-", "levels<-", "length<-", "[<-", "[[<-", "$<-",
  "row.names<-", "t", "cbind", "rbind", "is.finite",
  "mtfrm", "rownames", "nrow", "ncol", "as.POSIXct", "as.POSIXlt", "as.Date", "units", "formula", "update",
  "all.names", "labels"
)

# Two classes whose methods are all like that.
for (generic in GENERICS) {
  if (exists(generic)) {
    suppressWarnings({
      registerS3method(generic, "entasis_stops", function(x, ...) stop("a method was called"), envir = globalenv())
      registerS3method(generic, "entasis_lies", function(x, ...) 2L, envir = globalenv())
    })
  }
}

# Not expect_kept(): its message would call methods.
kept <- function(x) {
  back <- round_trip(x)
  identical(back, x, num.eq = FALSE, single.NA = FALSE, attrib.as.set = FALSE)
}

hostile_values <- function(class) {
  env <- structure(new.env(parent = emptyenv()), class = class)
  list(
    structure(c(10, 20, 30, 40), class = class), structure(1:3, class = class),
    structure(c(a = "x", b = NA, c = "\u00fc"), class = class),
    structure(c(TRUE, NA), class = class), structure(1i, class = class), structure(as.raw(1:3), class = class),
    structure(runif(100), class = class),
    structure(as.character(1:100), class = class), structure(matrix(1:6, 3), class = class),
    structure(matrix(letters[1:6], 3, dimnames = list(NULL, c("p", "q"))), class = class),
    structure(array(runif(24), 2:4), class = class), structure(list(a = 1, b = list(2)), class = class),
    structure(list(1, "b", NULL), class = class),
    structure(as.list(1:100), class = class),
    structure(c(1L, 2L, NA), levels = c("u", "v"), class = c(class, "factor")),
    structure(c(1L, 2L), levels = structure(c("u", "v"), class = class), class = "factor"),
    structure(18000 + 0:2, class = c(class, "Date")),
    structure(c(0, 1.5), class = c(class, "POSIXct", "POSIXt"), tzone = structure("UTC", class = class)),
    structure(5, class = c(class, "difftime"), units = "mins"),
    structure(5, class = "difftime", units = structure("mins", class = class)),
    structure(quote(f(x)), class = class), structure(expression(a, b), class = class),
    structure(list(family = "binomial", link = "logit"), class = c(class, "family")),
    structure(list(x = 1), class = "family"),
    structure(
      list(family = structure("binomial", class = class), link = structure("logit", class = class)),
      class = "family"
    )
  )
}

test_that("vectors, lists and language of a class with methods for everything are kept", {
  for (class in c("entasis_stops", "entasis_lies")) {
    values <- hostile_values(class)
    for (i in seq_along(values)) {
      x <- values[[i]]
      info <- paste(class, i)
      expect_true(kept(x), info = info)
      expect_true(kept(list(x, "between", x)), info = info)
      expect_true(kept(list(a = list(b = x))), info = info)
      expect_true(kept(structure(1:3, note = x)), info = info)
      expect_true(kept(structure(data.frame(a = 1:3), note = x)), info = info)
      expect_true(kept(structure(list(1), class = "special", inner = list(x))), info = info)
    }
    expect_true(kept(values))
    expect_true(kept(rep(values, 20)))
  }
})

test_that("columns of a class with methods for everything are kept", {
  for (class in c("entasis_stops", "entasis_lies")) {
    columns <- list(
      structure(c(10, 20, 30), class = class), structure(1:3, class = class),
      structure(c("x", NA, "z"), class = class), structure(as.list(1:3), class = class),
      structure(list("a", NULL, 2i), class = class), structure(matrix(1:6, 3), class = class),
      structure(matrix(as.list(1:6), 3), class = class),
      structure(matrix(letters[1:6], 3, dimnames = list(NULL, c("p", "q"))), class = class),
      structure(c(1L, 2L, NA), levels = c("u", "v"), class = c(class, "factor")),
      structure(18000 + 0:2, class = c(class, "Date")),
      structure(list(1:3, letters[1:3]), names = c("u", "v"), class = c(class, "data.frame"), row.names = 1:3),
      structure(
        unclass(as.POSIXlt(c(0, 1, 2), origin = "1970-01-01", tz = "UTC")),
        class = c(class, "POSIXlt", "POSIXt")
      )
    )
    for (i in seq_along(columns)) {
      frame <- structure(list(id = 1:3, x = columns[[i]]), class = "data.frame", row.names = 1:3)
      info <- paste(class, i)
      expect_true(kept(frame), info = info)
      # In a frame that has the class itself, in one inside of it, and in a list.
      nested <- structure(list(id = 1:3, f = frame), class = c(class, "data.frame"), row.names = 1:3)
      expect_true(kept(nested), info = info)
      expect_true(kept(list(f = nested, again = frame)), info = info)
    }
    whole <- structure(
      columns, names = letters[seq_along(columns)], class = c(class, "data.frame"), row.names = c("r", "s", "t")
    )
    expect_true(kept(whole))
    expect_true(kept(rep(list(whole), 40)))
  }
})

test_that("attributes that R itself has, of a class with methods for everything, are kept", {
  with <- function(x, ...) {
    all <- list(...)
    for (name in names(all)) attr(x, name) <- all[[name]]
    x
  }
  for (class in c("entasis_stops", "entasis_lies")) {
    hostile <- function(x) structure(x, class = class)
    values <- list(
      with(1:3, names = hostile(letters[1:3])), with(list(1, 2), names = hostile(c("a", "b"))),
      with(1:6, dim = hostile(2:3)),
      with(1:6, dim = 2:3, dimnames = list(hostile(c("a", "b")), NULL)),
      with(c("a", "b"), class = hostile("special")), with(1L, levels = hostile("u"), class = "factor"),
      with(list(1:2), names = "x", class = "data.frame", row.names = hostile(c("a", "b"))),
      with(list(1:2), names = hostile("x"), class = "data.frame", row.names = 1:2),
      with(list(1:2), names = "x", class = hostile("data.frame"), row.names = 1:2),
      with(1:3, names = hostile(letters[1:3]), class = class)
    )
    for (i in seq_along(values)) {
      expect_true(kept(values[[i]]), info = paste(class, i))
      expect_true(kept(list(values[[i]])), info = paste(class, i))
      expect_true(kept(structure(data.frame(a = 1:2), note = values[[i]])), info = paste(class, i))
    }
  }
})

test_that("environments of a class with methods for everything are kept", {
  for (class in c("entasis_stops", "entasis_lies")) {
    env <- structure(new.env(parent = emptyenv()), class = class, name = structure("n", class = class))
    assign("x", structure(1:3, class = class), env)
    back <- round_trip(list(env, env))
    expect_true(identical(back[[1L]], back[[2L]]))
    expect_true(identical(attributes(back[[1L]]), attributes(env)))
    expect_true(identical(get("x", back[[1L]]), get("x", env)))
  }
})

test_that("attributes are known by their whole names", {
  # R's `$` would find these by their first letters.
  expect_kept(structure(c(1L, 2L), levels2 = c("a", "b"), class = "factor"))
  expect_kept(structure(5, class = "difftime", unitsx = "mins"))
  expect_kept(structure(0, class = c("POSIXct", "POSIXt"), tzones = "Europe/Oslo"))
  expect_kept(list(structure(list(familyx = "binomial", linkx = "logit"), class = "family")))
})

test_that("classes that measure themselves otherwise are kept", {
  skip_if_not_installed("survival")
  s <- survival::Surv(c(5, 8, 3), c(1, 0, 1))
  expect_kept(s)
  expect_kept(list(s, s))
  lung <- survival::lung
  lung$s <- with(lung, survival::Surv(time, status))
  expect_kept(lung)
  expect_kept(survival::Surv(1:3, 2:4, c(1, 0, 1)))
  skip_if_not_installed("bit")
  bits <- bit::bit(100000)
  bits[c(5, 999)] <- TRUE
  expect_true(identical(round_trip(bits)[1:1000], bits[1:1000]))
  expect_true(kept(list(bits)))
})

test_that("data frames that are objects of S4 are kept", {
  methods::setClass("EntasisFrame", contains = "data.frame", representation(note = "character"), where = globalenv())
  on.exit(methods::removeClass("EntasisFrame", where = globalenv()))
  x <- methods::new("EntasisFrame", data.frame(a = 1:3, b = letters[1:3]), note = "n")
  expect_true(kept(x))
  expect_true(kept(list(x)))
  frame <- data.frame(id = 1:3)
  frame$x <- x
  expect_true(kept(frame))
})

test_that("an environment with none around it comes back with the empty one", {
  skip_if_not_installed("igraph")
  g <- igraph::make_ring(10)
  path <- written(g)
  back <- read_entasis(path)
  expect_true(igraph::identical_graphs(back, g))
  expect_equal(igraph::degree(back), igraph::degree(g))
  inner <- Filter(is.environment, unclass(back))[[1L]]
  expect_identical(parent.env(inner), emptyenv())
})
