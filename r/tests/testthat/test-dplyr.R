# Verbs of dplyr on open tables return what they return for data frames in memory.

skip_if_not_installed("dplyr")
suppressMessages(library(dplyr, warn.conflicts = FALSE))

# The value of an expression in `x`, and what is said meanwhile.
outcome <- function(expression, x, env) {
  said <- character()
  add <- function(c, restart) {
    said <<- c(said, conditionMessage(c))
    invokeRestart(restart)
  }
  value <- tryCatch(
    withCallingHandlers({
      set.seed(3)
      value <- eval(expression, list2env(list(x = x), parent = env))
      if (inherits(value, "entasis_table")) collect(value) else value
    }, warning = function(w) add(w, "muffleWarning"), message = function(m) add(m, "muffleMessage")),
    error = function(e) structure(list(message = conditionMessage(e)), class = "failure")
  )
  list(value = value, said = said)
}

expect_same <- function(table, frame, expression, env = parent.frame()) {
  found <- outcome(expression, table, env)
  expected <- outcome(expression, frame, env)
  # expect_identical() would be slow.
  if (identical(found, expected)) succeed() else expect_identical(found, expected, label = paste(deparse(expression), collapse = " "))
}

PANEL <- expression(
  collect(x), filter(x), filter(x, i == 2), filter(x, i == 2, l), filter(x, i == 2 & l, .preserve = TRUE),
  filter(x, x > 0 | is.na(x)), filter(x, x > mean(x, na.rm = TRUE)), filter(x, l, x > mean(x, na.rm = TRUE)),
  filter(filter(x, l), x > mean(x, na.rm = TRUE)), filter(x, nchar(s) == 1, i > 0),
  filter(x, i > 0 & nchar(s) == 2 & l),
  filter(x, .data$i == 2), filter(x, .data[["i"]] == 2, .env$limit == 2L), filter(x, i == limit),
  filter(x, i == !!limit),
  filter(x, i == .env$i_value), filter(x, shadow == 1), filter(x, between(x, 0, 1.5)), filter(x, near(x, 0.3)),
  filter(x, row_number() < 5), filter(x, n() > 5), filter(x, id > n() / 2), filter(x, get("i") == 2),
  filter(x, .data[[name]] > 1), filter(x, if_any(c(i, x), ~ .x == 0)), filter(x, if_all(everything(), ~ !is.na(.x))),
  filter(x, across(c(i, x), ~ .x > 0)), filter(x, if_any(everything(), ~ .x == 7)),
  filter(x, if_any(where(is.numeric), ~ .x > 100)), filter(x, if_any(-c(i, list), ~ .x == 9)), filter(x, above(x)),
  filter(x, peeking()), filter(x, i %in% c(1, NA)), filter(x, TRUE), filter(x, FALSE), filter(x, NA), filter(x, i),
  filter(x, i = 2), filter(x, nowhere > 1), filter(x, s), filter(x, 1:3 > 2), filter(x, l & id), filter(x, l & s),
  filter(x, NULL), filter(x, l, row_number() > 50), filter(x, i > 0, `row_number_in_file` > 2),
  filter(x, rep(c(TRUE, FALSE), length.out = length(id))), filter(x, lag(i) == 2), filter(x, runif(length(id)) < 0.5),
  filter(x, x > runif(1) & cumsum(id) > 9), filter(x, d >= as.Date("2020-01-02"), t > moment),
  filter(x, f == "a", !is.na(o), o < "high"), filter(x, d == "nonsense"), filter(x, i > 0, ),
  filter(x, sqrt(x * x) > 0, i > 1),
  filter(x, desc(i) > 0), filter(x, startsWith(s, "a"), endsWith(s, "b")), select(x, id, s), select(x, y = x, f),
  select(x, -d, -t), select(x, starts_with("d")), select(x, where(is.numeric)), select(x, where(~ anyNA(.x))),
  select(x, id:s),
  select(x, 1:3), select(x, "id"), select(x, all_of(c("s", "id"))), select(x, any_of(c("s", "nowhere"))),
  select(x, nowhere),
  select(x, everything()), select(x, last_col()), select(x), select(x, !i), select(x, matches("^t")),
  select(x, nested_select()),
  select(x, is.numeric), rename(x, a = id, b = s), rename(x, s = id), rename(x, a = nowhere), rename_with(x, toupper),
  rename_with(x, toupper, c(id, s)), mutate(filter(x, i == 2), z = TRUE), relocate(x, s), relocate(x, s, .after = x),
  filter(select(x, a = i, id), a == 2), filter(rename(x, i = x, x = i), i > 0), filter(select(x, id), i == 2),
  filter(rename(x, i2 = i), i == 2), select(filter(x, i == 2), -i), mutate(x, z = i + 1L), mutate(x, s = NULL),
  mutate(x, z = nowhere), mutate(filter(x, i == 2), z = n()), mutate(x, across(where(is.numeric), ~ .x * 2)),
  transmute(x, id, z = x * 2), transmute(x, z = cur_data()$i), transmute(x), arrange(x, s, desc(id)),
  arrange(x, desc(x)),
  arrange(x), arrange(x, nowhere), arrange(filter(x, l), f, o), filter(arrange(x, desc(id)), i == 2, x > 0),
  arrange(x, across(c(i, s))), arrange(x, across(everything())), arrange(x, across(-list, desc)),
  slice_max(x, if_else(i > 0, x, 0), n = 3), arrange(x, runif(n())), arrange(x, .data$i, id), slice(x, 1:3),
  slice(x, 3:1),
  slice(x, c(2, 2)), slice(x, n()), slice(x, -1), slice(x, which(i == 2)), slice(x, 1e6), slice(x, 0), slice(x),
  slice(x, "a"),
  slice_head(x, n = 3), slice_head(x), slice_head(x, prop = 0.1), slice_head(x, n = -3), slice_tail(x, n = 2),
  slice_sample(x, n = 5), slice_sample(x, prop = 0.5, replace = TRUE), slice_sample(x, n = 5, weight_by = id),
  slice_min(x, x, n = 3), slice_max(x, id, n = 3), slice_max(x, i, with_ties = FALSE), slice_head(x, 3),
  slice_head(arrange(filter(x, i > 0), desc(x)), n = 3), slice(filter(x, i == 2, l), 2:4),
  filter(slice(x, c(5, 1, 1)), id < 3),
  filter(slice_sample(x, n = 50), i == 2), pull(x), pull(x, id), pull(x, 2), pull(x, -2), pull(x, "s"), pull(x, id, s),
  pull(x, nowhere), pull(filter(x, i == 2), d), pull(filter(x, i == 2), id, name = s), pull(x, !!name),
  count(x), count(x, i),
  count(x, f, o), count(x, i, wt = id), count(x, i, sort = TRUE), count(x, i, name = "many"), count(x, k = i > 0),
  count(x, nowhere), count(filter(x, l), s), tally(x), tally(x, id), count(x, n = i), count(x, f, .drop = FALSE),
  filter(x, i == 2, .by = f), summarise(x, n(), .by = f), slice_head(x, n = 1, by = f), summarise(x, n = n()),
  summarise(x, sum(id), m = mean(x, na.rm = TRUE)), summarise(x, across(c(id, i), max)),
  summarise(x, across(where(is.double), ~ sum(.x, na.rm = TRUE))), summarise(x), summarise(x, m = nowhere),
  summarise(filter(x, i == 2, l), n(), sum(x), min(d), max(t)), summarise(x, q = quantile(id, c(0.2, 0.8))),
  summarise(x, m = above(x)), summarise(x, m = peeking()), summarise(x, min(i[i > 100])),
  summarise(x, n_distinct(s, f)),
  summarise(x, across(-c(list), n_distinct)), summarise(x, across(c(1, 2), max)), summarise(x, last(id), first(s)),
  summarise(x, m = sum(!!quote(id))), summarise(x, m = sum(.data[[name]], na.rm = TRUE)),
  summarise(x, m = sum(cur_data()$id)),
  summarise(x, across(all_of(c("id", "i")), list(lo = min, hi = max), na.rm = TRUE)),
  summarise(x, m = sum(sapply(c("id", "i"), function(k) get(k)[1]))), summarise(x, m = nrow(cur_data())),
  summarise(x, across(c(id, i), checks)), summarise(x, late()), summarise(x, m = (function(v) sum(v))(id)),
  summarise(x, m = base::sum(id)), summarise(x, m = max(with(list(id = 1), id))),
  summarise(x, list(id), data.frame(a = 1, b = sum(id))), distinct(x, i), distinct(x, i, s), distinct(select(x, i, l)),
  distinct(x, i, .keep_all = TRUE), distinct(x, k = i > 0), distinct(x, nowhere),
  distinct(filter(x, i == 2), f), group_by(x, i),
  group_by(x, i, s), group_by(x, k = i > 0), group_by(x, nowhere), group_by(x, "a"), group_by(x),
  group_by(x, f, .drop = FALSE),
  group_by(group_by(x, i), s, .add = TRUE), ungroup(group_by(x, i, s)), ungroup(group_by(x, i, s), s),
  group_vars(group_by(x, i, s)), groups(group_by(x, i)), group_keys(group_by(x, f)), group_size(group_by(x, f)),
  n_groups(group_by(x, f)), group_indices(group_by(x, f)), group_data(group_by(x, f)), tbl_vars(group_by(x, f)),
  names(rename(x, a = id)), select(group_by(x, i), x), select(group_by(x, i), k = i, x), rename(group_by(x, i), k = i),
  filter(group_by(x, i), x > mean(x, na.rm = TRUE)), filter(group_by(x, f), n() > 30),
  filter(group_by(x, i), row_number() == 1L),
  filter(group_by(x, i), s == "a"), filter(group_by(x, f, .drop = FALSE), s == "a"),
  filter(group_by(x, i), s == "a", nchar(s) == 1), filter(group_by(x, f), cur_group_id() == 1),
  slice_head(group_by(x, i), n = 1),
  slice(group_by(x, i), 2, 1), slice_sample(group_by(x, f), n = 2), slice_max(group_by(x, i), x),
  arrange(group_by(x, i), x),
  arrange(group_by(x, i), x, .by_group = TRUE), mutate(group_by(x, i), z = sum(id)),
  transmute(group_by(x, i), z = cumsum(id)),
  count(group_by(x, i), s), tally(group_by(x, f)), distinct(group_by(x, i), s),
  summarise(group_by(x, f), n = n(), m = mean(x, na.rm = TRUE), sum(i, na.rm = TRUE)),
  summarise(group_by(x, i, s), n = n()),
  summarise(group_by(x, i, s), n = n(), .groups = "keep"), summarise(group_by(x, f, .drop = FALSE), n = n()),
  pull(group_by(x, i), x),
  summarise(group_by(filter(x, l, x > 0), d, o), n = n(), across(c(id, x), sum), .groups = "drop"),
  summarise(group_by(x, i, s), n(), .groups = "rowwise"), summarise(group_by(x, i), across(everything(), n_distinct)),
  summarise(group_by(x, i), m = max(d), t = min(t)), head(filter(x, i == 2), 3), nrow(filter(x, i == 2)),
  dim(select(x, id, s)),
  as_tibble(filter(x, i == 2)), as.data.frame(filter(x, i == 2)), filter(x, i == 2)[["id"]], filter(x, i == 2)$s,
  filter(x, l)[1:2, ], filter(x, l)["id"], filter(x, l)[[TRUE]], filter(x, l)[["zz"]],
  filter(x, l)[["id", exact = TRUE]],
  filter(x, l)[[c(1, 2)]], filter(x, l)[[2, "s"]], filter(x, l)$lab, filter(x, l)$zz, filter(x, l)[cbind(1:2, 2:1)],
  head(select(x, di), 2), inner_join(filter(x, i == 2, l), other, by = "i"),
  left_join(select(x, id, i), other, by = "i"), semi_join(x, other, by = "i"), anti_join(x, other), add_count(x, i),
  add_tally(filter(x, l)), top_n(x, 2, id), sample_n(x, 3), sample_frac(x, 0.1),
  group_split(select(group_by(x, l), id)),
  group_map(select(group_by(x, l), id), .f = ~ nrow(.x)),
  nest_join(select(x, i), other, by = "i", name = "n"), add_count(x, i, name = "n2"),
  rowwise(select(x, id)), dplyr::union(select(x, i), select(x, i)),
  dplyr::setdiff(select(x, i), head(select(x, i), 2)), do(group_by(select(x, id, l), l), head(., 1)),
  nest_by(select(x, id, l), l), wanted(x, i, 2), wanted(x, i + 1L, 2), counted_by(x, s),
  with(filter(x, i == 2), sum(id)),
  subset(filter(x, i == 2), l, id), lapply(filter(select(x, id, s), id < 4), class),
  merge(filter(select(x, id, i), id < 9), other)
)

in_panel <- function() {
  i_value <- 2L
  limit <- 2L
  shadow <- 1
  name <- "i"
  i <- "a variable with the name of a column"
  moment <- as.POSIXct("2020-01-01", tz = "UTC")
  above <- function(v) v > 1
  peeking <- function() get("i", envir = parent.frame()) == 2
  nested_select <- function() where(function(column) !anyNA(column))
  checks <- list(lo = min, odd = function(v) sum(v, na.rm = TRUE) + nrow(cur_data()))
  late <- function(env = parent.frame()) sum(get("id", env))
  other <- data.frame(i = c(1L, 2L, NA), note = c("one", "two", "none"))
  wanted <- function(data, column, value) filter(data, {{ column }} == value, .data$id > 3)
  counted_by <- function(data, ...) count(group_by(data, ...))
  # As in a script: functions of this package are not visible.
  scope <- environment()
  parent.env(scope) <- globalenv()
  scope
}

test_that("each verb returns what it returns in memory", {
  frame <- odd_frame(80L)
  table <- opened(frame)
  env <- in_panel()
  for (expression in PANEL) expect_same(table, frame, expression, env)
})

# A part of the panel for which classes and sizes of frames matter.
SOME <- expression(
  collect(x), filter(x, i == 2), filter(x), filter(x, i == 2, nchar(s) == 1), filter(x, x > mean(x)), select(x, id, f),
  select(x, a = f), slice(x, 2:1), slice(x, c(1, 1)), slice_head(x, n = 2), arrange(x, desc(id)), mutate(x, z = 1L),
  summarise(x, n = n(), min(id)), count(x, i), distinct(x, s), group_by(x, i), group_by(x, s, .add = TRUE),
  group_vars(x),
  pull(filter(x, i == 2), s), filter(group_by(x, i), row_number() == 1L), select(filter(x, l), f, s),
  filter(select(x, s, f), s == "a"), summarise(group_by(x, o), sum(id)), head(filter(x, l), 2),
  as.data.frame(select(x, id, f)),
  inner_join(x, x, by = "id"), summarise(x, across(where(is.numeric), max)), filter(x, is.na(none)), nrow(x),
  filter(filter(x, i == 2), n() > 2), arrange(filter(x, l), x)
)

test_that("frames of each class and size give what they give in memory", {
  turn <- 0L
  for (n in c(0L, 1L, 60L)) {
    frame <- odd_frame(n)[c("id", "i", "x", "l", "all_na", "none", "s", "f", "di", "o", "label", "list")]
    frames <- list(
      group_by(as_tibble(frame), f), frame, structure(as_tibble(frame), note = "kept"),
      `rownames<-`(frame, sprintf("row%d", frame$id)),
      group_by(as_tibble(frame), f, .drop = FALSE), rowwise(as_tibble(frame)),
      structure(frame[rev(seq_len(n)), ], note = "kept")
    )
    if (n < 60L) frames <- frames[seq_len(2L - n)]
    if (n == 60L) frames <- frames[-2L]
    if (n == 60L && requireNamespace("data.table", quietly = TRUE)) {
      frames <- c(frames, list(data.table::data.table(frame, key = "id")))
    }
    for (frame in frames) {
      table <- opened(frame)
      env <- in_panel()
      # In the tests of a change each class gets every third of the calls, from another one on.
      turn <- turn + 1L
      for (expression in SOME[seq(
        by_tier(turn %% 3L + 1L, 1L), length(SOME), by_tier(3L, 1L)
      )]) expect_same(table, frame, expression, env)
    }
  }
})

ODD_COLUMNS <- expression(
  collect(x), filter(x, id > 3, id < 30), filter(x, id %% 2 == 0), slice(x, c(4, 4, 1)), arrange(x, desc(id)),
  filter(x),
  select(x, -named), filter(select(x, id, unknown, series), id == 2), slice_head(x, n = 0), mutate(x, z = 1),
  filter(x, lengths(list) == 1, named == 3L), pull(filter(x, id == 2), frame), filter(x, frame$u == 2),
  distinct(x, matrix),
  count(x, frame), head(filter(x, id > 2), 3)
)

test_that("columns of other types are cut as in memory", {
  n <- 40L
  frame <- tibble(id = seq_len(n), named = setNames(seq_len(n), paste0("n", seq_len(n))))
  frame$matrix <- matrix(seq_len(2L * n), n, dimnames = list(NULL, c("a", "b")))
  frame$frame <- tibble(u = seq_len(n), v = letters[rep_len(1:5, n)])
  frame$lt <- as.POSIXlt("2020-01-01", tz = "UTC") + seq_len(n)
  frame$raw <- as.raw(seq_len(n))
  frame$complex <- complex(real = seq_len(n), imaginary = 1)
  frame$list <- vctrs::list_of(!!!as.list(seq_len(n)))
  frame$record <- vctrs::new_rcrd(list(lo = seq_len(n), hi = seq_len(n)))
  frame$unknown <- structure(as.double(seq_len(n)), class = "a_class", about = "it")
  frame$series <- structure(seq_len(n), weights = seq_len(n))
  for (package in c("hms", "haven", "survival", "units", "zoo")) {
    if (!requireNamespace(package, quietly = TRUE)) next
    frame[[package]] <- switch(package,
      hms = hms::hms(seq_len(n)), haven = haven::labelled(rep_len(1:2, n), c(yes = 1L), "a label"),
      survival = survival::Surv(seq_len(n), rep_len(0:1, n)),
      units = units::set_units(as.double(seq_len(n)), "m"), zoo = zoo::as.yearmon(2020 + seq_len(n) / 12)
    )
  }
  for (frame in list(frame, as.data.frame(frame))) {
    table <- opened(frame)
    for (expression in ODD_COLUMNS) {
      expect_same(table, frame, expression)
    }
  }
})

RANDOM_ATOMS <- expression(
  i == 2, i > limit, .data$i %in% c(1, NA), x > 0, x == 1.5, is.na(x), x > mean(x, na.rm = TRUE), l, !l, s == "a",
  startsWith(s, "a"), nchar(s) == 1, f == "b", f %in% c("a", "zz"), d >= as.Date("2020-01-02"), t > moment, id < 70000,
  id >= .env$limit, id %% 3 == 0, between(id, 10, 100000), near(x, 0.3), x > i, row_number() %% 2 == 0,
  cumsum(id) > 1e6,
  !is.na(s)
)

test_that("random conditions give the rows that they give in memory", {
  frame <- as_tibble(odd_frame(140000L)[c("id", "i", "x", "l", "s", "f", "d", "t")])
  table <- opened(frame)
  limit <- 1L
  moment <- as.POSIXct("2020-01-01", tz = "UTC")
  atoms <- RANDOM_ATOMS
  set.seed(8)
  grow <- function(depth) {
    if (depth == 0L || runif(1) < 0.3) {
      return(sample(atoms, 1L)[[1L]])
    }
    switch(sample(3L, 1L),
      bquote(.(grow(depth - 1L)) & .(grow(depth - 1L))), bquote(.(grow(depth - 1L)) | .(grow(depth - 1L))), bquote(!(.(grow(depth - 1L)))))
  }
  for (k in seq_len(by_tier(10L, 25L))) {
    conditions <- replicate(sample(3L, 1L), grow(2L), simplify = FALSE)
    again <- grow(1L)
    expression <- bquote(pull(filter(filter(x, ..(conditions)), .(again)), id), splice = TRUE)
    expect_same(table, frame, expression)
  }
})

test_that("filters wait for the core, and read few columns and rows", {
  frame <- tibble(
    id = seq_len(200000L), x = runif(200000L), s = rep_len(c("a", "bb"), 200000L), unread = runif(200000L)
  )
  path <- written(frame, compress = 0)
  bytes <- readBin(path, "raw", file.size(path))
  for (value in list(frame$x[150000:150002], frame$unread[1:3])) {
    at <- grepRaw(writeBin(value, raw()), bytes, fixed = TRUE)
    bytes[at] <- xor(bytes[at], as.raw(1L))
  }
  writeBin(bytes, path)
  table <- entasis(path)
  expect_error(collect(select(table, unread)), class = "entasis_error_corrupt")
  few <- filter(table, id <= 70000, x > 0.5)
  expect_output(
    show_query(few),
    "Tested by the core:\n  id <= 70000\n  x > 0.5\n  statistics leave 131,072 of 200,000 rows", fixed = TRUE
  )
  expect_identical(collect(select(few, id)), select(filter(frame[1:70000, ], x > 0.5), id))
  expect_identical(summarise(few, m = mean(x)), summarise(filter(frame[1:70000, ], x > 0.5), m = mean(x)))
  mixed <- filter(table, nchar(s) == 2, id < 9, id > mean(id) - 1e6)
  expect_output(explain(mixed), "Evaluated by dplyr:\n  nchar(s) == 2\n  reading s", fixed = TRUE)
  expect_output(explain(mixed), "Rows: 4 of 200,000 are chosen", fixed = TRUE)
  expect_output(
    explain(group_by(select(table, y = x, s), s)), "Rows: all 200,000\nGroups: s\nColumns: y = x, s",
    fixed = TRUE
  )
  expect_output(explain(opened(rowwise(frame[1:3, ]))), "the whole frame")
  # A later change of a variable has no effect.
  limit <- 3
  waiting <- filter(table, id < limit)
  limit <- 100
  expect_identical(nrow(waiting), 2L)
  expect_output(print(select(few, id, x)), "<entasis query>.*columns\n +id +x.*\\.\\.\\. with 34,[0-9]{3} more rows")
  expect_output(print(group_by(select(few, id, s), s), n = 2), "Groups: s\n")
  expect_output(glimpse(select(few, id, s)), "Rows: 3[0-9],[0-9]+\nColumns: 2\n\\$ id <int> ")
})

test_that("files of pandas give what their data frames give", {
  path <- tempfile(fileext = ".entasis")
  python(c(
    "df = pd.DataFrame({'id': range(300), 'x': [1.5, float('nan'), -1.0] * 100, 's': ['a', None, 'b'] * 100,",
    "  'c': pd.Categorical(['u', 'v', None] * 100), 't': pd.date_range('2020-01-01', periods=300, freq='D')}, index=[f'r{k}' for k in range(300)])",
    sprintf("en.write(df, r'%s')", path)
  ))
  table <- entasis(path)
  for (expression in expression(
    collect(x), filter(x, x > 0, id > 9), filter(x, x > mean(x, na.rm = TRUE)), select(x, t, id),
    summarise(group_by(x, c), sum(x), max(t)),
    arrange(x, desc(id)), filter(x, is.na(s)), count(x, s, c), slice(x, 3:1), mutate(x, z = id),
    select(filter(x, id < 3), -c)
  )) {
    expect_same(table, read_entasis(path), expression)
  }
})

test_that("blocks of rows are summarised exactly", {
  frame <- odd_frame(5000L)[c("id", "i", "x", "l", "s", "f", "d")]
  frame$small <- frame$id %% 7L
  expressions <- list(
    rlang::quos(n = n(), total = sum(id), sum(l, na.rm = TRUE)), rlang::quos(sum(i)), rlang::quos(sum(small), mean(x)),
    rlang::quos(min(x), max(x), low = min(small), sum(small)), rlang::quos(max(x, na.rm = TRUE), dplyr::n()),
    rlang::quos(id = sum(id), m = max(id)), rlang::quos(sum(l))
  )
  for (frame in list(frame, as_tibble(frame))) {
    table <- opened(frame)
    for (groups in list(character(), c("f", "d"), "x")) {
      by <- function(x) if (length(groups) > 0L) group_by(x, !!!rlang::syms(groups)) else x
      for (arguments in expressions) {
        parts <- summarised_blocks(by(filter(table, small > 1)), arguments, 700)
        expected <- suppressWarnings(summarise(by(filter(frame, small > 1)), !!!arguments, .groups = "keep"))
        if (!is.null(parts)) expect_identical(summarise(parts$frame, !!!parts$arguments, .groups = "keep"), expected)
      }
    }
  }
  is_known <- function(...) !is.null(summarised_blocks(query_of(table), rlang::quos(...), 700))
  expect_true(is_known(n(), sum(id), max(x), min(small)))
  # Sums beyond the integers, means, sums of doubles, and functions that mask others.
  expect_false(is_known(sum(i, na.rm = TRUE)))
  expect_false(is_known(mean(id)))
  expect_false(is_known(sum(x)))
  sum <- function(x) 1
  expect_false(is_known(sum(id)))
})

test_that("a large silent read warns", {
  frame <- tibble(a = seq_len(400000L), b = a, c = a)
  table <- opened(frame)
  expect_warning(
    mutate(table, d = 1), "mutate() reads all rows and columns that are left, 1,200,000 values", fixed = TRUE
  )
  expect_warning(left_join(table, table, by = "a"), "call collect() before it", fixed = TRUE) |> suppressWarnings()
  expect_silent(mutate(select(table, a, b), d = 1))
  expect_silent(mutate(collect(table), d = 1))
  expect_silent(as_tibble(filter(table, a > 0)))
  expect_silent(summarise(filter(table, a > mean(b)), sum(as.double(c))))
  expect_silent(pull(arrange(table, desc(a)), b))
})

test_that("verbs of tidyr and plots get the data frame", {
  frame <- odd_frame(30L)[c("id", "i", "x", "s")]
  table <- opened(frame)
  env <- in_panel()
  if (requireNamespace("tidyr", quietly = TRUE)) {
    for (expression in expression(
      tidyr::drop_na(filter(x, id > 3)), tidyr::pivot_longer(x, c(i, x), names_to = "n"), tidyr::fill(x, s),
      tidyr::complete(select(x, i, s), i, s)
    )) {
      expect_same(table, frame, expression, env)
    }
  }
  if (requireNamespace("ggplot2", quietly = TRUE)) {
    expect_identical(ggplot2::ggplot(filter(table, id > 3), ggplot2::aes(id, x))$data, filter(frame, id > 3))
  }
})

test_that("results are computed into files, and queries are saved with a session", {
  frame <- tibble(id = 1:9, g = rep_len(c("a", "b"), 9L))
  source <- written(frame)
  table <- entasis(source)
  query <- group_by(filter(table, id > 3), g)
  path <- tempfile(fileext = ".entasis")
  file <- compute(query, path = path)
  expect_identical(collect(file), group_by(filter(frame, id > 3), g))
  expect_identical(read_entasis(path), collect(query))
  write_entasis(query, path)
  expect_identical(read_entasis(path), collect(query))
  kept <- tempfile()
  saveRDS(query, kept)
  expect_identical(collect(readRDS(kept)), collect(query))
  write_entasis(tibble(id = 1:2, g = "c"), source)
  expect_error(collect(readRDS(kept)), "has changed since the query was saved", class = "entasis_error_argument")
  expect_identical(nrow(collect(query)), 6L)
  expect_identical(count_entasis(query), 6L)
  expect_error(count_entasis(query, id > 3), "read them with collect", class = "entasis_error_argument")
})

test_that("loading the package does not load dplyr", {
  code <- "library(entasis); cat(any(c('dplyr', 'rlang', 'tidyselect', 'vctrs') %in% loadedNamespaces()))"
  out <- system2(
    file.path(R.home("bin"), "Rscript"), c("--vanilla", "-e", shQuote(code)), stdout = TRUE, env = libraries()
  )
  expect_identical(out, "FALSE")
})

test_that("names that come from the expressions of the caller are those of the caller", {
  a <- data.frame(x = 1:2, y = c(10, 20))
  b <- data.frame(x = c(1L, 1L), z = 1:2)
  for (expression in expression(
    nest_join(x, b, by = "x"), nest_join(x, b, by = "x", name = "q"), nest_join(x, head(b, 1), by = "x"),
    nest_join(x, b),
    nest_join(group_by(x, y), b, by = "x"), add_count(x, x > 1), count(x, x > 1), transmute(x, x > 1, y * 2),
    group_by(x, y > 1),
    distinct(x, y > 10), mutate(x, x + 1), sample_n(x, n() / 2), sample_n(x, b$z[1]), sample_frac(x, 0.5),
    summarise(x, mean(y)), pull(x, y, x)
  )) expect_same(opened(a), a, expression)
  file <- opened(b)
  expect_identical(names(nest_join(opened(a), file, by = "x")), c("x", "y", "file"))
})

test_that("groups without rows stay where the file has them", {
  whole <- group_by(
    tibble::tibble(k = c(1, 1, 2), f = factor(c("a", "b", "a"), levels = c("b", "a", "none")), v = 1:3), k
  )
  frames <- list(
    filter(whole, k == 1, .preserve = TRUE), slice(whole, 3, .preserve = TRUE), filter(whole, FALSE, .preserve = TRUE),
    filter(group_by(whole, f, .drop = FALSE), v == 1, .preserve = TRUE),
    filter(group_by(whole, f, k, .drop = FALSE), v == 1),
    filter(group_by(whole, k, f), v < 3, .preserve = TRUE)
  )
  for (frame in frames) {
    table <- opened(frame)
    for (expression in expression(
      summarise(x, n = n()), count(x), tally(x), n_groups(x), group_keys(x), group_rows(x), group_data(x),
      group_size(x), group_indices(x),
      mutate(x, m = sum(v)), filter(x, v > 1), filter(x, v > 1, .preserve = TRUE), slice(x, 1), arrange(x, v),
      select(x, v), ungroup(x),
      group_by(x, v), collect(x), pull(x, v), rename(x, w = v), distinct(x, v), group_split(x), add_count(x),
      x[0, ], head(x, 1)
    )) suppressMessages(expect_same(table, frame, expression))
  }
  # Groups that follow from the rows are not a reason to read the whole frame.
  expect_s3_class(filter(opened(whole), v > 1), "entasis_query")
  expect_s3_class(filter(opened(group_by(whole, f, .drop = FALSE)), v > 1), "tbl_df")
})

test_that("conditions may be masks with names", {
  frame <- data.frame(a = 1:4, b = 4:1)
  keep <- list(p = c(TRUE, FALSE, TRUE, TRUE), q = c(FALSE, TRUE, TRUE, TRUE))
  for (expression in expression(
    filter(x, !!!keep), filter(x, !!!unname(keep)), filter(x, !!!transmute(x, a > 1, b > 2)),
    filter(x, q = !!keep$q, a < 4), filter(x, p = TRUE),
    filter(x, a = 1), filter(x, p = a > 1), filter(x, !!!keep, a > 3), filter(group_by(x, a), !!!list(p = TRUE))
  )) expect_same(opened(frame), frame, expression)
})

test_that("rows are inserted, changed and deleted in memory", {
  frame <- data.frame(id = 1:3, v = c(1, NA, 3))
  new <- data.frame(id = 4:5, v = 0)
  some <- data.frame(id = 2:3, v = 9)
  for (expression in expression(
    rows_insert(x, new, by = "id"), rows_update(x, some, by = "id"), rows_patch(x, some, by = "id"),
    rows_upsert(x, rbind(some, new), by = "id"),
    rows_delete(x, some["id"], by = "id"), rows_update(x, some), rows_insert(x, some, by = "id"),
    rows_update(filter(x, id > 1), some, by = "id"),
    rows_update(x, some, by = "id", in_place = TRUE)
  )) expect_same(opened(frame), frame, expression)
  expect_identical(rows_update(opened(frame), opened(some), by = "id"), rows_update(frame, some, by = "id"))
})
