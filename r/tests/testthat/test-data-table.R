# `[` of an open table of data.table returns what data.table returns in memory.

skip_if_not_installed("data.table")

# Code outside of packages, for which data.table's `[` follows its own rules. `x` is the table.
table_user <- function(x, env = list()) {
  user <- list2env(env, parent = table_caller)
  user$x <- x
  for (name in c("data.table", "uniqueN", "%between%", "%chin%", "%like%", "first", "last", "key")) {
    user[[name]] <- getExportedValue("data.table", name)
  }
  user
}

# Removes what data.table itself does not compare: an address, and indices that it makes for itself.
without_marks <- function(x) {
  if (inherits(x, "data.table")) {
    data.table::setattr(x, ".internal.selfref", NULL)
    data.table::setattr(x, "index", NULL)
  }
  if (is.list(x) && !is.data.frame(x)) lapply(x, without_marks) else x
}

# The value and the warnings of a call, or the message of its error.
outcome <- function(call, x, env) {
  said <- character()
  user <- table_user(x, env)
  set.seed(1)
  value <- tryCatch(
    withCallingHandlers(eval(call, user), warning = function(w) {
      said <<- c(said, conditionMessage(w))
      invokeRestart("muffleWarning")
    }),
    error = function(e) conditionMessage(e)
  )
  list(without_marks(value), said)
}

cities <- function(n, key = NULL) {
  set.seed(3)
  pick <- function(values) sample(values, n, TRUE)
  d <- data.table::data.table(
    id = seq_len(n), city = pick(c("Bern", "Basel", "Z\u00fcrich", if (is.null(key)) NA)),
    price = pick(c(1.5, 2, 9.25, NA, NaN, -1)),
    day = as.Date("2024-01-01") + pick(0:4), f = factor(pick(c("u", "v", NA)), levels = c("v", "u", "w")),
    l = pick(c(TRUE, FALSE, NA)),
    k = pick(1:50), v = rnorm(n)
  )
  if (requireNamespace("bit64", quietly = TRUE)) d$big <- bit64::as.integer64(pick(c(1, 2, NA))) else d$big <- pick(c(1, 2, NA))
  data.table::setkeyv(d, key)
  data.table::setalloccol(d)
}

VARIABLES <- list(
  cols = c("city", "v"), one = "Bern", limit = 2, rows = c(5L, 2L, 2L, 0L),
  mask = rep_len(c(TRUE, FALSE, NA), 200L), by1 = c("city", "f"), sum_of_v
  = quote(sum(v)), sdc = c("v", "price"), minus = -(1:10), average = function(z) mean(z, na.rm = TRUE), flag = NA, several = c("Bern", "Bern",
  "nowhere"), by2 = quote(list(city)), three = 3
)

ROWS <- expression(
  TRUE, FALSE, NULL, 3, -3, 3:7, c(7, 3, 3), .N, rows, mask, minus, flag, three, missing_variable, -1:-5,
  -c(1, 1), -1000, c(-1, 2), 0, integer(),
  sample(.N, 5), city == "Bern", price > 2, city == one, price > limit & city == "Bern", l, (l), !l,
  !(price > 2), !(city == "Bern"), !is.na(price),
  is.na(city), !c(1, 2), city %in% c("Bern", NA), city %chin% "Bern", f == "u", f %in% c("u", "w"), f != "u",
  day == as.Date("2024-01-02"), day >
  "2024-01-02", price == NaN, price == NA, price %in% c(2, NaN), k == 3L, k == 3, k == 2.5, k %in% 3:6 & v > 0,
  v > mean(v) & city == "Bern", price
  %between% c(1, 3), city %like% "^B", order(city, -v), order(-k), big == 1, big > 1L, price > 1e9,
  k == c(1, 2), k == c(1, 2) & city == "Bern",
  nchar(city) == 4 & price > 0, ifelse(l, price, 0) > 1, get("price") > 2, eval(quote(price > 2)),
  which(price > 2), !mask, k, (k),
  !duplicated(city), k > .N / 20, 3 < k, k > 40 & FALSE, xor(l, k > 3), startsWith(city, "B"),
  price == 0.5 + 1.5, day %in% as.Date("2024-01-03"), k
  > sample(50, 1) & toupper(city) == "BERN", 1i, "a" == "b", factor("Bern"), matrix(1:2),
  missing_variable > 3, v > missing_variable, k > 3 & nchar(missing_variable) > 1, log("a"), k > 3 & stop("no"),
  stop("no"), v > cols
)

# Rows that may be missing. data.table 1.14 reads beyond the end if it groups these.
LOOK_UPS <- expression(
  NA, c(NA, 2), 1:.N, c(2, 300), "Bern", "nowhere", c("Bern", "Basel"), several, one, .("Bern"), J("Bern"),
  .(one), list("Bern"),
  .(c("Bern", NA)), .("Bern", 3L),
  .(city = "Bern"), !"Bern", !.("Bern"), data.table(city = c("Bern", "X"), w = 1:2),
  .(sample(c("Bern", "Basel"), 1)), .(1), .(3L), .(3),
  .(2.5), .(city), list(3L)
)

COLUMNS <- expression(
  .N, v, "v", c("city", "v"), cols, ..cols, .(city, v), .(m = mean(v)), sum(v), list(s = sum(v), n = .N), .(.N),
  .SD, .SD[1], lapply(.SD, class),
  head(.SD, 2), 2, c(1, 3), -1, -(1:3), city:day, !"v", !c("v", "city"), .(id), .(a = 5L), .(city = "x"),
  .(id = 3L), {a <- sum(v); .(a, city[1])},
  average(v), .(f = average(v), average(price)), get("v"), mget(c("v", "k")), eval(sum_of_v), .I, .(i = .I),
  v * 2, NULL, unique(city),
  missing_variable, .(missing_variable), cbind(v, k), data.table(id = 1:2), list(), table(city), 1:3, "missing", 99, .GRP, c(list(n = .N),
  lapply(.SD, length)), .(range(v)), list(city, v)[2], with(list(v = 3), v), (v), .(k, z = v), sapply(1, function(z) sum(v)), paste(city, f), x.v,
  .(sum(v, na.rm = TRUE), sd(v), median(v), first(k), last(city), uniqueN(city)), character(), rev(list(id)),
  .(V1 = 1:2)
)

GROUPS <- expression(
  city, .(city, f), "city", by1, c("f", "city"), "city,f", .(g = k %/% 10), city:day, list(day > "2024-01-02"),
  k, id, key(x), NULL,
  missing_variable, .(city, k), by2, k %% 3 == 0, list(), get("f"), eval(by2), setdiff(by1, "f"), l,
  rep(1:2, length.out = .N), .EACHI
)

OTHERS <- list(
  list(), list(), list(.SDcols = "v"), list(.SDcols = quote(sdc)), list(.SDcols = quote(c("v", "k"))),
  list(.SDcols = quote(is.numeric)),
  list(.SDcols = quote(patterns("^c"))), list(.SDcols = -1), list(.SDcols = quote(id:price)),
  list(.SDcols = quote(!"v")), list(nomatch = NULL),
  list(with = FALSE), list(which = TRUE), list(verbose = FALSE)
)

JOINS <- list(
  list(), list(), list(on = "city"), list(on = quote(.(city))), list(on = quote(c("city", "k"))),
  list(on = c(city = "city")), list(nomatch = NULL),
  list(mult = "first"), list(mult = "last", on = "city"), list(on = "city", nomatch = NULL), list(which = TRUE),
  list(on = "k"), list(on = "day"),
  list(roll = TRUE), list(on = "id>=V1"), list(on = "city", by = quote(.EACHI)),
  list(allow.cartesian = TRUE, on = "city"), list(on = ".NATURAL")
)

# A call of `[`. The symbol `nothing` stands for an empty argument.
call_on <- function(...) {
  call <- as.call(c(list(as.name("["), quote(x)), ...))
  for (k in seq_along(call)) if (identical(call[[k]], quote(nothing))) call[[k]] <- quote(expr = )
  call
}

expect_same_outcome <- function(call, x, path) {
  expected <- outcome(call, data.table::copy(x), VARIABLES)
  expect_identical(outcome(call, entasis(path), VARIABLES), expected, label = paste(deparse(call), collapse = " "))
}

any_of <- function(parts) as.list(parts)[[sample(length(parts), 1L)]]

test_that("rows, columns and groups are those of data.table", {
  set.seed(4)
  for (key in list(NULL, c("city", "k"))) {
    x <- cities(200L, key)
    path <- written(x)
    group <- function() structure(list(any_of(GROUPS)), names = sample(c("by", "keyby"), 1L))
    calls <- c(
      lapply(as.list(ROWS), function(i) call_on(i)), lapply(as.list(COLUMNS), function(j) call_on(quote(nothing), j)),
      lapply(as.list(ROWS), function(i) call_on(i, any_of(COLUMNS), if (runif(1) < 0.5) group(), any_of(OTHERS))),
      lapply(as.list(COLUMNS), function(j) call_on(any_of(ROWS), j, if (runif(1) < 0.5) group(), any_of(OTHERS))),
      lapply(as.list(GROUPS), function(by) call_on(any_of(ROWS), any_of(COLUMNS), list(by = by)))
    )
    for (call in some_cases(calls, 2L)) expect_same_outcome(call, x, path)
  }
})

test_that("look-ups and joins are those of data.table", {
  set.seed(5)
  for (key in list(NULL, "city", c("city", "k"))) {
    x <- cities(200L, key)
    path <- written(x)
    for (i in as.list(LOOK_UPS)) {
      expect_same_outcome(call_on(i), x, path)
      expect_same_outcome(call_on(i, list(on = "city")), x, path)
      expect_same_outcome(call_on(i, any_of(COLUMNS), any_of(JOINS)), x, path)
    }
    for (others in JOINS) expect_same_outcome(call_on(quote(.("Bern")), quote(.(id, v, .N)), others), x, path)
  }
})

test_that("tables without rows or with one are those of data.table", {
  # In the tests of a change each call for rows gets every fourth of those for columns, by turns.
  turn <- 0L
  for (n in 0:1) {
    x <- cities(n)
    path <- written(x)
    for (i in list(quote(city == "Bern"), quote(price > 0), quote(nothing), TRUE, quote(k > 3 & nchar(city) == 4))) {
      turn <- turn + 1L
      for (j in as.list(COLUMNS)[seq(
        by_tier(turn %% 4L + 1L, 1L), length(COLUMNS), by_tier(4L, 1L)
      )]) expect_same_outcome(call_on(list(i, j)), x, path)
      for (by in list("city", quote(.(g = k %/% 10)))) expect_same_outcome(
        call_on(list(i, quote(.(s = sum(v), .N)), by = by)), x, path
      )
    }
    for (i in list(1, -1, quote(.N), integer())) expect_same_outcome(call_on(i), x, path)
  }
})

test_that("attributes, chains and functions are those of data.table", {
  x <- cities(50L, "id")
  data.table::setattr(x, "note", "a note")
  data.table::setattr(x$k, "label", "a label")
  path <- written(x)
  calls <- expression(
    x[id > 3], x[.(3L)], x[.(3L), k], x["Bern", on = "city"], x[, .(k)], x[k > 3, "k"], x[][1],
    x[city == "Bern"][order(-v)][1:2, .(v)],
    lapply(1:2, function(p) x[k > p, .N]), sapply(c("u", "v"), function(u) x[f == u, sum(v, na.rm = TRUE)]),
    x[id %in% x[k > 40, id]],
    head(x, 3), key(x), x[x$k > 40, .N], do.call("[", list(x, 3L)), (function(...) x[...])(k > 40, .N),
    lapply(list(x), "[", 2L), nrow(x),
    x[k > 40, .(.N, 5L)], x[k > 40, .(n = .N, id = average(1))], x[k > 40, list(.N)],
    x[["v"]], x$v, dim(x), names(x), unique(x, by = "city"), anyDuplicated(x)
  )
  for (call in calls) expect_same_outcome(call, x, path)
})

test_that("the order of strings is that of data.table in other locales", {
  before <- Sys.getlocale("LC_COLLATE")
  on.exit(Sys.setlocale("LC_COLLATE", before))
  x <- data.table::data.table(s = c("b", "A", "\u00e4", "a", "Z", NA), n = 1:6, key = "s")
  path <- written(x)
  for (locale in c("C", "de_DE.UTF-8")) {
    if (suppressWarnings(Sys.setlocale("LC_COLLATE", locale)) == "") next
    calls <- expression(
      x[s < "b"], x[s >= "Z" & n > 1], x[order(s)], x[, .N, keyby = s], x["\u00e4"], x[.("a"), n],
      x[s > "a", max(s, na.rm = TRUE)]
    )
    for (call in calls) expect_same_outcome(call, x, path)
  }
})

test_that("the file is not changed by a call", {
  table <- table_user(entasis(written(cities(20L))))
  expect_error(
    eval(quote(x[, a := 1]), table), "replace_columns_entasis.*append_entasis", class = "entasis_error_argument"
  )
  expect_error(eval(quote(x[k > 3, `:=`(a = 1)]), table), "replace_columns_entasis", class = "entasis_error_argument")
  expect_error(eval(quote(x[, {b := 1}]), table), "replace_columns_entasis", class = "entasis_error_argument")
})

test_that("the columns that a call names are read, and no others", {
  frame <- data.table::data.table(a = runif(1e5), b = runif(1e5), g = rep_len(1:3, 1e5))
  path <- written(frame, compress = 0)
  bytes <- readBin(path, "raw", file.size(path))
  at <- grepRaw(writeBin(frame$a[500:502], raw()), bytes, fixed = TRUE)
  bytes[at] <- xor(bytes[at], as.raw(1L))
  writeBin(bytes, path)
  of_file <- table_user(entasis(path))
  in_memory <- table_user(frame)
  calls <- expression(
    x[b > 0.5, sum(b)], x[, .N, by = g], x[, .(b = mean(b)), keyby = g], x[.N, b], x[c(1, 3), "b"], x[, .N],
    x[.(2L), .N, on = "g"],
    x[b > mean(b) & g == 2, .(b, g)], x[g == 1, lapply(.SD, sum), .SDcols = "b"], x[order(b), .(g)], x[, -1],
    x[g %in% 2:3, .N]
  )
  for (call in calls) {
    expect_equal(eval(call, of_file), eval(call, in_memory), tolerance = 0, label = deparse(call))
  }
  for (call in expression(x[a > 0.5, sum(b)], x[b > 0.5, sum(a)], x[, .SD], x[, get("b")])) {
    expect_error(eval(call, of_file), class = "entasis_error_corrupt", label = deparse(call))
  }
})

test_that("any file of a frame opens as a data.table", {
  frames <- list(iris, mtcars, tibble_of(iris), list2DF(list(a = 1:3, l = list(1, "a", NULL))))
  if (requireNamespace("dplyr", quietly = TRUE)) frames <- c(frames, list(dplyr::group_by(iris, Species)))
  for (frame in frames) {
    path <- written(frame)
    x <- entasis(path, as = "data.table")
    expect_s3_class(x, c("entasis_data_table", "entasis_table"), exact = TRUE)
    table <- data.table::setDT(lapply(frame, identity))
    expect_identical(without_marks(x[]), without_marks(data.table::copy(table)))
    expect_identical(without_marks(head(x, 2)), without_marks(head(table, 2)))
    expect_identical(outcome(quote(x[2:1]), x, list()), outcome(quote(x[2:1]), table, list()))
    expect_output(print(x), "data.table")
    expect_identical(class(entasis(path)), "entasis_table")
  }
  x <- entasis(written(iris), as = "data.table")
  expect_identical(outcome(quote(x[Sepal.Length > 6, .(m = mean(Petal.Width)), by = Species]), x, list()),
                   outcome(quote(x[Sepal.Length > 6, .(m = mean(Petal.Width)), by = Species]), data.table::as.data.table(iris), list()))
  expect_error(
    entasis(written(iris), as = "tibble"), "'as' must be \"stored\" or \"data.table\"",
    class = "entasis_error_argument"
  )
  expect_error(entasis(written(list(1, iris)), as = "data.table"), "tree of values", class = "entasis_error_argument")
  expect_s3_class(entasis(written(list(a = cities(3L))))$a, "entasis_data_table")
})

test_that("other files, and packages without data.table, have the rules of data frames", {
  path <- written(iris)
  expect_error(eval(quote(x[, Sepal.Length]), table_user(entasis(path))), "object 'Sepal.Length' not found")
  x <- entasis(written(cities(20L)))
  package <- new.env(parent = asNamespace("stats"))
  package$x <- x
  package$columns <- c("k", "v")
  expect_identical(dim(eval(quote(x[2:3, columns]), package)), c(2L, 2L))
  expect_identical(dim(eval(quote(x["k"]), package)), c(20L, 1L))
  expect_identical(dim(sample_entasis(x, 3L, c("k", "v"))), c(3L, 2L))
})

test_that("a table without columns has no rows", {
  null <- data.table::data.table()
  path <- written(null)
  for (call in expression(x[1], x[TRUE], x[1:10], x[], x[, .N], x[, 1], x[, list()], dim(x), nrow(x), names(x), x[a == 1], x[NULL])) {
    expect_identical(
      outcome(call, entasis(path), list()), outcome(call, data.table::copy(null), list()), label = deparse(call)
    )
  }
  frame <- data.frame(row.names = 1:3)
  path <- written(frame)
  for (call in expression(x[, .N], x[1:2], dim(x), x[])) {
    expect_identical(
      outcome(call, entasis(path, as = "data.table"), list()),
      outcome(call, data.table::as.data.table(frame), list()), label = deparse(call)
    )
  }
})

test_that("`i` may be the table of a file", {
  x <- data.table::data.table(id = 1:3, v = c(3, 4, 5), key = "id")
  y <- data.table::data.table(id = c(2L, 3L, 7L), w = letters[1:3], key = "id")
  path <- written(x)
  for (call in expression(
    x[x], x[y], x[!y], x[y, on = "id"], x[y, on = .NATURAL], x[y, .(id, v, w)], x[y, nomatch = NULL],
    x[y, v, by = .EACHI], x[y, mult = "first"], x[!x],
    merge(x, y), merge(x, y, all = TRUE)
  )) {
    in_memory <- outcome(call, data.table::copy(x), list(y = data.table::copy(y)))
    expect_identical(outcome(call, entasis(path), list(y = entasis(written(y)))), in_memory, label = deparse(call))
    expect_identical(outcome(call, entasis(path), list(y = data.table::copy(y))), in_memory, label = deparse(call))
  }
})

test_that("names in backticks are those of columns", {
  x <- data.table::data.table(`a 1` = c(4, 5, 4), a.1 = 1:3, b = 1:3)
  path <- written(x)
  for (call in expression(
    x[, a.1, by = "`a 1`"], x[, a.1, by = .(`a 1`)], x[, sum(a.1), keyby = "`a 1`"],
    x[, sum(a.1), by = "`a 1`,b"], x[, `a 1`], x[`a 1` == 4, b],
    x[.(4), on = "`a 1`"], x[.(4), b, on = .(`a 1`)], x[.(4), b, on = "a 1"], x[, .N, by = c("a 1", "b")],
    x[order(`a 1`), b]
  )) expect_identical(outcome(call, entasis(path), list()), outcome(call, data.table::copy(x), list()), label = deparse(call))
})
