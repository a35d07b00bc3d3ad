# Conditions on a file select the rows that they select in memory.

# The rows of both, or the message of the error.
rows_of_both <- function(table, frame, condition, env) {
  select <- function(x) {
    said <- character()
    value <- tryCatch(
      withCallingHandlers(eval(bquote(subset(.(x), .(condition), id)), env), warning = function(w) {
        said <<- c(said, conditionMessage(w))
        invokeRestart("muffleWarning")
      }),
      error = function(e) conditionMessage(e)
    )
    list(if (is.data.frame(value)) value$id else value, unique(said))
  }
  list(select(quote(table)), select(quote(frame)))
}

expect_rows <- function(table, frame, condition, env = parent.frame()) {
  env <- list2env(list(table = table, frame = frame), parent = env)
  both <- rows_of_both(table, frame, condition, env)
  expect_identical(both[[1L]], both[[2L]], label = paste(deparse(condition), collapse = " "))
}

# The parts of a condition that the core and R evaluate, and the rows that statistics decide.
pushed <- function(table, condition, env = parent.frame()) {
  file <- file_of(table)
  plan <- plan_condition(file, condition, env)
  list(
    core = plan$core, by_row = plan$by_row, whole = plan$whole,
    rows = if (!is.null(plan$predicate)) ask_core(.Call(C_plan_rows, handle_of(file), plan$predicate))
  )
}

ATOMS <- expression(
  i == 2, i != 2L, i > 2.5, i <= -1, 0 < i, i == TRUE, i > Inf, i > 1e18, i >= 2147483647, i %in% c(1, 3),
  i %in% c(2L, NA), i %in% c(2, NaN), i %in% NULL,
  i %in% c("1", "2"), i == "2", i == NA, is.na(i), i, x == 0, x == -0.0, x != 1.5, x > 0, x >= Inf, x < -1,
  x == 0.3, x == 0.1 + 0.2, x %in% c(0, 1.5),
  x %in% c(NA, 1), x %in% NaN, x == NaN, x > NA, is.na(x), is.nan(x), is.finite(x), x == 1L, x == TRUE,
  x == "1.5", x, l, !l, l == TRUE, l != FALSE,
  l == 1, l == 2, l > 0, l %in% TRUE, l %in% NA, is.na(l), l < TRUE, all_na, all_na == TRUE, is.na(all_na),
  none > 1, is.na(none), s == "a", s != "a",
  s == "", s == "\u00e9t\u00e9", s == latin, s %in% c("a", "B"), s %in% c("z\u00fcrich", NA),
  s %in% character(), s %in% factor("a"), s < "b", s >= "B",
  startsWith(s, "a"), startsWith(s, ""), startsWith(s, "\u00e9"), endsWith(s, "b"), endsWith(s, ""),
  startsWith(s, NA), is.na(s), s == 1, nchar(s) == 1,
  f == "a", f != "b", f == "nowhere", f != "nowhere", f %in% c("a", "zz"), f %in% c("a", NA),
  f %in% factor("b"), f == factor("a", levels(f)), is.na(f),
  f < "b", f == 1, fn == "a", fn != "a", is.na(fn), fn %in% NA, o == "mid", o != "mid", o < "mid", o >= "mid",
  "mid" < o, o > "nowhere", o < o[1],
  o %in% "low", d == "2020-01-01", d >= as.Date("2020-01-02"), d > as.Date("2020-01-01") + 0.5, d == 18262,
  d < 0, d != 18262.5, d %in% as.Date("2020-01-03"),
  d %in% as.Date(c("2020-01-03", NA)), is.na(d), d > "nonsense", d > as.POSIXct("2020-01-02", tz = "UTC"),
  di == "2020-01-02", di <= 18263L, is.na(di),
  di %in% as.Date(18264, origin = "1970-01-01"), dx > "2020-01-01", is.na(dx), t == 1577836800,
  t > 1577836800.25, t >= as.POSIXct("2020-01-01 00:00:01", tz = "UTC"),
  t < "2020-01-02", t != moment, t <= as.POSIXlt("2020-01-01", tz = "UTC"), is.na(t), t %in% moment, t < 0, t > 1577836800.1, tb == moment, tb > as.POSIXct("2020-03-29 03:00:00",
  tz = "Europe/Berlin"), tb <= as.POSIXct("2020-03-29", tz = ""), tn > as.POSIXct("2020-03-29 02:00:00"), w == 1.5, w > as.difftime(1, units = "mins"),
  w >= as.difftime(90, units = "secs"), w < as.difftime(1, units = "hours"),
  w == as.difftime(6, units = "secs"), w != 0.1, is.na(w), ws > as.difftime(1, units = "mins"),
  ws == 60, latin == "a", latin == "\u00e9", is.na(latin), label > 1, label %in% 2, is.na(label), is.na(list),
  id > 5, id %% 2 == 1, id > mean(id), id == i,
  abs(x) > 1, x > i, get("i") == 2, with(list(k = 2), i == k), (i == 2), i == limit, i > id, shadow == 1,
  !is.na(x), i == c(1, 2), i == integer(), TRUE, FALSE, NA,
  T, "a", 1, NULL, nowhere > 1, grepl("a", s), grepl("^a", s, perl = TRUE), toupper(s) == "A",
  substr(s, 1, 1) == "a", i == 3 - 1, cut_at(x), ifelse(l, i, 0) > 1
)

BIG <- expression(
  big == 1, big > 1L, big > 1.5, big >= 2^53, big == 2^53, big != bit64::as.integer64("9007199254740993"),
  big < bit64::as.integer64(2), is.na(big), big %in% 1,
  big == NA, 2 <= big, big == "1", big > 1e19
)

# In the tests of a change one of the forms of a condition, by turns.
one_form <- function(forms, k) if (is_release) forms else forms[k %% length(forms) + 1L]

in_a_frame <- function() {
  i <- "a variable with the name of a column"
  limit <- 2L
  shadow <- 1
  moment <- as.POSIXct("2020-01-01", tz = "UTC")
  cut_at <- function(v) v > 1
  environment()
}

test_that("each condition selects the rows that it selects in memory", {
  for (n in c(0L, 1L, 300L)) {
    frame <- odd_frame(n)
    table <- opened(frame)
    atoms <- c(ATOMS, if ("big" %in% names(frame)) BIG)
    # A condition of length 1 makes a row of NA of no rows in memory. That of bit64 has length 1.
    if (n == 0L) atoms <- Filter(function(atom) any(setdiff(names(frame), "big") %in% all.vars(atom)), as.list(atoms))
    env <- in_a_frame()
    for (k in seq_along(atoms)) {
      atom <- atoms[[k]]
      # A file gives an error for a mask of another length.
      if (n != 300L && deparse(atom)[1L] %in% c("i == c(1, 2)", "o < o[1]")) next
      if (identical(atom, quote(i == c(1, 2)))) next
      forms <- c(atom, if (is.call(atom)) c(bquote(!(.(atom))), bquote(.(atom) & x > 0), bquote(l | .(atom))))
      for (condition in one_form(forms, k)) expect_rows(table, frame, condition, env)
    }
  }
})

test_that("random conditions over several blocks select the rows that they select in memory", {
  frame <- odd_frame(140000L)
  frame$list <- NULL
  frame$id <- sort(frame$id)
  table <- opened(frame)
  env <- in_a_frame()
  set.seed(5)
  atoms <- as.list(
    c(
      ATOMS, if ("big" %in% names(frame)) BIG,
      expression(id < 70000, id >= 139990, id == 65536, id %in% c(1, 65537, 140000))
    )
  )
  # Conditions that are errors, or read whole columns of strings slowly, are in the test above.
  is_good <- vapply(atoms, function(atom) {
    small <- frame[1:50, ]
    value <- tryCatch(eval(atom, small, env), error = function(e) NULL, warning = function(w) NULL)
    is.logical(value) && length(value) == 50L
  }, NA)
  atoms <- atoms[is_good]
  grow <- function(depth) {
    if (depth == 0L || runif(1) < 0.2) {
      return(sample(atoms, 1L)[[1L]])
    }
    switch(sample(4L, 1L), bquote(.(grow(depth - 1L)) & .(grow(depth - 1L))), bquote(.(grow(depth - 1L)) | .(grow(depth - 1L))),
      bquote(!(.(grow(depth - 1L)))), bquote((.(grow(depth - 1L)))))
  }
  truth <- new.env()
  for (k in seq_len(by_tier(25L, 150L, 300L))) {
    condition <- grow(3L)
    expected <- suppressWarnings(eval(condition, frame, env))
    found <- suppressWarnings(eval(bquote(subset(.(table), .(condition), id)), env))
    expect_identical(found$id, frame$id[which(expected)], label = paste(deparse(condition), collapse = " "))
    if (k %% 10 == 0) {
      expect_identical(suppressWarnings(eval(bquote(count_entasis(.(table), .(condition))), env)), length(found$id))
    }
  }
})

test_that("the core tests the conditions that it knows", {
  frame <- odd_frame(300L)
  table <- opened(frame)
  env <- in_a_frame()
  is_core <- function(e) length(pushed(table, e, env)$core) == 1L
  for (e in expression(i == 2, 2 < i, x > 0, !l, l | i == 2, s %in% c("a", NA), startsWith(s, "a"), f == "a", o < "mid", d >= "2020-01-02", d > 18000, t > moment,
    tn > as.POSIXct("2020-03-29"), w > as.difftime(30, units = "secs"), is.na(x), !is.na(s), i == limit, label > 1, (i == 2), i == 1 + 1)) {
    expect_true(is_core(e), label = deparse(e))
  }
  for (e in expression(i == "2", s < "b", latin == "a", fn == "a", f < "b", dx > "2020-01-01", t > "2020-01-01", i == NA, x %in% NaN, is.nan(x), x > mean(x), x > i,
    tb > moment, f == f[1], get("i") == 2, i == c(1, 2), list == 1)) {
    expect_false(is_core(e), label = deparse(e))
  }
  found <- pushed(table, quote(i == 2 & (x > 0 & nchar(s) == 1) & x > mean(x) & d %in% as.POSIXct("2020-01-01")))
  expect_identical(found$core, list(quote(i == 2), quote(x > 0)))
  expect_identical(found$by_row[[1L]], quote(nchar(s) == 1))
  expect_identical(found$whole, list(quote(x > mean(x))))
  # Without a part for the core, R evaluates the whole columns.
  expect_length(pushed(table, quote(nchar(s) == 1))$by_row, 0L)
})

test_that("a function that masks one of base R is used", {
  frame <- odd_frame(300L)
  table <- opened(frame)
  masked <- function(x) {
    `==` <- function(a, b) base::`!=`(a, b)
    is.na <- function(a) rep(TRUE, length(a))
    list(subset(x, i == 2, id)$id, subset(x, is.na(i), id)$id)
  }
  expect_identical(masked(table), masked(frame))
  expect_length(pushed(table, quote(i == 2), list2env(list(`==` = function(a, b) TRUE), parent = globalenv()))$core, 0L)
})

test_that("parts without a column are evaluated once", {
  table <- opened(odd_frame(300L))
  n <- 0
  count <- function() {
    n <<- n + 1
    1.5
  }
  subset(table, x > count() & nchar(s) > count() & x < mean(x, na.rm = TRUE) + count())
  expect_identical(n, 3)
})

test_that("blocks that cannot pass are not read", {
  frame <- data.frame(id = seq_len(200000L), x = runif(200000L))
  path <- written(frame, compress = 0)
  bytes <- readBin(path, "raw", file.size(path))
  at <- grepRaw(writeBin(frame$x[150000:150002], raw()), bytes, fixed = TRUE)
  bytes[at] <- xor(bytes[at], as.raw(1L))
  writeBin(bytes, path)
  table <- entasis(path)
  expect_error(table$x, class = "entasis_error_corrupt")
  expect_identical(subset(table, id <= 70000 & x > 0.5)$x, frame$x[1:70000][frame$x[1:70000] > 0.5])
  expect_identical(subset(table, id < 9 & round(x) == 1)$id, which(round(frame$x[1:8]) == 1))
  expect_identical(count_entasis(table, id > 199990), 10L)
  expect_identical(pushed(table, quote(id > 199990))$rows, c(rows = 200000, pruned = 196608, passed = 0, tested = 3392))
})

test_that("all classes of frames are cut as in memory", {
  frame <- odd_frame(300L)[c("id", "x", "s", "f")]
  frames <- list(frame, `rownames<-`(frame, paste0("row", frame$id)))
  if (requireNamespace("tibble", quietly = TRUE)) frames <- c(frames, list(tibble::as_tibble(frame)))
  if (requireNamespace("data.table", quietly = TRUE)) {
    frames <- c(frames, list(data.table::data.table(frame, key = "id")))
  }
  for (frame in frames) {
    table <- opened(frame)
    expect_rows_of <- function(found, expected) {
      if (!is.character(attr(expected, "row.names"))) expected <- bare(expected)
      expect_equal(as.data.frame(found), as.data.frame(expected), tolerance = 0)
      expect_identical(class(found), class(expected))
    }
    expect_rows_of(subset(table, x > 0 & s == "a"), subset(frame, x > 0 & s == "a"))
    expect_rows_of(subset(table, x > 0, c(s, f)), subset(frame, x > 0, c(s, f)))
    expect_rows_of(subset(table, x > 1e301 & x < 0, -s), subset(frame, x > 1e301 & x < 0, -s))
    expect_rows_of(subset(table, id == 3), subset(frame, id == 3))
  }
  expect_identical(subset(opened(frames[[1L]]), id == 3, x, drop = TRUE), frames[[1L]]$x[3L])
})

test_that("functions pass their variables", {
  frame <- odd_frame(300L)
  table <- opened(frame)
  above <- function(z, limit, ...) subset(z, x > limit & i %in% c(...), id)
  expect_identical(above(table, 0, 1, 2)$id, above(frame, 0, 1, 2)$id)
  expect_identical(
    lapply(1:2, function(k) subset(table, i == k, id)$id), lapply(1:2, function(k) subset(frame, i == k, id)$id)
  )
  expect_error(subset(table, i > nowhere), "object 'nowhere' not found", fixed = TRUE)
  expect_error(subset(table, i), "'subset' must be logical", fixed = TRUE)
  expect_error(
    subset(table, i > 1 & s), "operations are possible only for numeric, logical or complex types", fixed = TRUE
  )
})

test_that("other locales change the order of strings alone", {
  frame <- odd_frame(300L)
  table <- opened(frame)
  before <- Sys.getlocale("LC_ALL")
  on.exit(suppressWarnings(for (part in strsplit(before, ";")[[1L]]) {
    pair <- strsplit(part, "=")[[1L]]
    if (length(pair) == 2L && pair[1L] %in% c("LC_CTYPE", "LC_COLLATE")) Sys.setlocale(pair[1L], pair[2L])
  }))
  for (locale in c("C", "de_DE.UTF-8", "C.UTF-8")) {
    if (suppressWarnings(Sys.setlocale("LC_COLLATE", locale)) == "" ||
        suppressWarnings(Sys.setlocale("LC_CTYPE", locale)) == "") {
      next
    }
    for (e in expression(s < "b", s == "\u00e9t\u00e9", s %in% c("z\u00fcrich", "a"), startsWith(s, "\u00e9"), s != "B", latin == "\u00e9")) {
      expect_rows(table, frame, e)
    }
  }
})

test_that("times that are integers are compared as doubles", {
  frame <- data.frame(id = 1:7, n = c(-2L, -1L, 0L, 1L, 2L, 600L, NA))
  frame$t <- structure(frame$n, class = c("POSIXct", "POSIXt"), tzone = "UTC")
  for (units in c("secs", "mins", "hours", "days", "weeks")) {
    frame$w <- structure(frame$n, class = "difftime", units = units)
    frame$x <- structure(frame$n + 0.5, class = "difftime", units = units)
    table <- opened(frame)
    for (e in expression(t > 0, t == 1.5, t != as.POSIXct(600, origin = "1970-01-01", tz = "UTC"), w > 1L, w <= as.difftime(90, units = "secs"),
      w == as.difftime(1, units = "hours"), w != as.difftime(2, units = "weeks"), w > 0.5, x > as.difftime(1, units = "days"), x == 0.5, is.na(w), w < 1e300)) {
      expect_rows(table, frame, e)
      expect_rows(table, frame, bquote(!(.(e))))
      expect_length(pushed(table, e)$core, 1L)
    }
  }
})

test_that("tables in a list and files with appended rows are filtered", {
  frame <- odd_frame(300L)[c("id", "x", "s", "f", "t")]
  path <- written(list(a = data.frame(id = 1:3, x = 3:1), b = frame, plain = 1))
  table <- entasis(path)$b
  expect_rows(table, frame, quote(x > 0 & s == "a" & f != "b"))
  expect_rows(table, frame, quote(t < 1577836801 & nchar(s) == 2))
  expect_length(pushed(table, quote(x > 0 & s == "a"))$core, 2L)
  path <- written(frame)
  append_entasis(frame[1:9, ], path)
  expect_identical(count_entasis(entasis(path), id < 10), 18L)
})

test_that("files of other hosts are filtered", {
  path <- tempfile(fileext = ".entasis")
  python(c(
    "df = pd.DataFrame({'id': range(300), 'x': [1.5, float('nan'), -1.0] * 100, 'y': np.arange(300, dtype='float32') / 10,",
    "  'k': np.arange(300) % 7, 'small': np.arange(300, dtype='int8') % 5, 'l': [True, False, True] * 100, 's': ['a', None, 'b\u00e9'] * 100,",
    "  'c': pd.Categorical(['u', 'v', None] * 100), 't': pd.date_range('2020-01-01', periods=300, freq='D')})",
    "df['n'] = pd.array([1, None, 3] * 100, dtype='Int32')",
    sprintf("en.write(df, r'%s')", path)
  ))
  table <- entasis(path)
  frame <- read_entasis(path)
  for (e in expression(x > 0, !(x > 0), is.na(x), y == 0.1, y > 0.3, y <= 0.5, y %in% c(0.5, 2), k == 3, small >= 3L, l, !l, s == "b\u00e9", is.na(s), s %in% c("a", NA),
    !(s == "a"), c == "u", is.na(c), t > as.POSIXct("2020-03-01", tz = "UTC"), n == 1, n != 1, is.na(n), n %in% c(3, NA), x > 0 & nchar(s) == 1 & id < mean(id))) {
    expect_rows(table, frame, e)
  }
  expect_length(pushed(table, quote(x > 0 & small > 1 & s == "a" & y > 1 & l & n > 1))$core, 6L)
})

test_that("rows are counted and sampled", {
  frame <- odd_frame(300L)
  path <- written(frame)
  table <- entasis(path)
  expect_identical(count_entasis(table), 300L)
  expect_identical(count_entasis(path, x > 0 & s == "a"), nrow(subset(frame, x > 0 & s == "a")))
  expect_identical(count_entasis(table, nchar(s) == 1), nrow(subset(frame, nchar(s) == 1)))
  expect_identical(count_entasis(table, TRUE), 300L)
  expect_error(count_entasis(frame), "table from entasis", class = "entasis_error_argument")
  set.seed(3)
  found <- sample_entasis(table, 20, c("id", "s"))
  set.seed(3)
  expect_identical(found, bare(frame[sample.int(300, 20), c("id", "s")]))
  expect_identical(nrow(sample_entasis(path, 500, replace = TRUE)), 500L)
  expect_error(sample_entasis(table, 301), "larger than the population")
})

# A condition with `x$name` in place of the names of columns.
of_table <- function(e, names, k = 0L) {
  if (is.symbol(e) && as.character(e) %in% names) {
    return(if (k %% 2L == 0L) call("$", quote(x), e) else call("[[", quote(x), as.character(e)))
  }
  if (is.call(e)) {
    for (at in seq_along(e)[-1L]) if (!identical(e[[at]], quote(expr = ))) e[at] <- list(of_table(e[[at]], names, k + at))
  }
  e
}

test_that("conditions as masks select rows of NA where they are missing", {
  for (n in c(0L, 1L, 300L)) {
    frame <- odd_frame(n)
    table <- opened(frame)
    env <- in_a_frame()
    select <- function(x, condition) {
      call <- call("[", quote(x), condition, c("id", "x"))
      value <- tryCatch(
        suppressWarnings(eval(call, list2env(list(x = x), parent = env))), error = function(e) "an error"
      )
      if (is.data.frame(value)) list(value$id, value$x) else value
    }
    atoms <- as.list(c(ATOMS, if ("big" %in% names(frame)) BIG))
    # Files refuse masks of other lengths.
    is_mask <- function(atom) {
      names_columns <- any(all.vars(atom) %in% names(frame))
      names_columns && is.call(atom) && tryCatch(length(suppressWarnings(eval(atom, frame, env))) == n, error = function(e) TRUE)
    }
    atoms <- Filter(is_mask, atoms)
    for (k in seq_along(atoms)) {
      atom <- atoms[[k]]
      forms <- list(
        atom, bquote(!(.(atom))), bquote(.(atom) & x > 0), bquote(l | .(atom)),
        bquote(!(.(atom) & l) | is.na(s))
      )
      for (e in one_form(forms, k)) {
        condition <- of_table(e, names(frame))
        expect_identical(
          select(table, condition), select(frame, condition), label = paste(deparse(condition), collapse = " ")
        )
      }
    }
  }
})

test_that("the core tests masks whose meaning is sure", {
  frame <- odd_frame(300L)
  x <- opened(frame)
  limit <- 1
  rows <- function(condition) rows_of_mask(file_of(x), condition, quote(x), environment())
  expect_null(rows(quote(x$i > limit)))
  expect_identical(rows(quote(x[["i"]] > 1 & x$x < 1)), frame$i > 1 & frame$x < 1)
  expect_identical(rows(quote(x$id == 3)), 3)
  expect_identical(rows(quote(x$id %in% c(2, 2 + 3))), c(2, 5))
  expect_identical(x[x$id > 298, "id"]$id, 299:300)
  i <- 2
  id <- frame$id
  for (e in expression(x$i > i, x$i > y$i, id > 3, id & x$i > 2, x$nowhere > 1, round(x$i) == 2, x$i > x$id, limit > 0, x[["i"]][1] > 2, x$i[-1] > 2,
    nrow(x) > 2)) {
    expect_null(rows(e), label = deparse(e))
  }
  `>` <- function(a, b) FALSE
  expect_null(rows_of_mask(file_of(x), quote(x$i > 1), quote(x), environment()))
})
