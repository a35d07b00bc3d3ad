# Values in lists of R that Python converts by a rule, and values of Python that R converts or
# refuses.

test_that("dates, times, factors and names inside of lists are values of Python", {
  path <- tempfile()
  seconds <- function(x, ...) structure(x, class = c("POSIXct", "POSIXt"), ...)
  value <- list(
    date = as.Date("2020-01-02"), dates = as.Date(c("2020-01-02", NA)), none = as.Date(NA),
    empty = as.Date(character()), whole = structure(1L, class = "Date"),
    at = seconds(1.5e9, tzone = "Europe/Oslo"), local = seconds(1.5), fine = seconds(1764032700.123456717),
    times = seconds(c(1.5e9, 0.25, NA), tzone = "Europe/Oslo"),
    span = as.difftime(90, units = "mins"), spans = as.difftime(c(1.5, NA), units = "hours"),
    clock = structure(3600, class = c("hms", "difftime"), units = "secs"),
    factor = factor(c("x", NA, "y")), ordered = factor("lo", levels = c("lo", "hi"), ordered = TRUE),
    named = c(a = 1, b = NA), one = c(a = TRUE), integers = c(x = 1L, y = NA), texts = c(a = "x", b = NA),
    days = c(a = as.Date("2020-01-01"), b = NA),
    twice = c(a = 1, a = 2), unnamed = c(a = 1, 2), half = structure(0.5, class = "Date"),
    endless = structure(Inf, class = "Date"),
    nowhere = seconds(0, tzone = "No/Where"), label = structure(1:2, label = "x"), table = table(c("a", "b", "a"))
  )
  write_entasis(value, path)
  expect_true(same(read_entasis(path), value))
  for (name in c("dates", "times", "spans", "factor")) write_entasis(data.frame(x = value[[name]]), paste0(path, name))
  python(c(
    "import datetime as dt, zoneinfo",
    sprintf("x = en.read(r'%s')", path),
    "utc = dt.timezone.utc",
    "assert x['date'] == dt.date(2020, 1, 2) and type(x['date']) is dt.date and x['whole'] == dt.date(1970, 1, 2)",
    "assert x['dates'].dtype == 'M8[D]' and x['dates'][0] == np.datetime64('2020-01-02') and np.isnat(x['dates'][1]) and np.isnat(x['none'])",
    "assert x['empty'].dtype == 'M8[D]' and x['empty'].shape == (0,)",
    "assert x['at'] == dt.datetime(2017, 7, 14, 2, 40, tzinfo=utc) and type(x['at']) is dt.datetime and x['at'].tzinfo.key == 'Europe/Oslo' and x['at'].hour == 4",
    "assert x['local'] == dt.datetime(1970, 1, 1, 0, 0, 1, 500000, tzinfo=utc) and isinstance(x['fine'], dt.datetime)",
    "assert x['times'].dtype == 'M8[ms]' and x['times'][1] == np.datetime64('1970-01-01T00:00:00.250') and np.isnat(x['times'][2])",
    "assert x['span'] == dt.timedelta(minutes=90) and x['clock'] == dt.timedelta(hours=1) and x['spans'].dtype == 'm8[s]' and np.isnat(x['spans'][1])",
    "assert type(x['factor']) is pd.Categorical and x['factor'].codes.tolist() == [0, -1, 1] and x['factor'].categories.tolist() == ['x', 'y']",
    "assert x['ordered'].ordered and x['ordered'].categories.tolist() == ['lo', 'hi'] and list(x['ordered']) == ['lo']",
    "assert list(x['named']) == ['a', 'b'] and x['named']['a'] == 1.0 and np.isnan(x['named']['b'])",
    "assert x['one'] == {'a': True} and x['integers'] == {'x': 1, 'y': None} and x['texts'] == {'a': 'x', 'b': None}",
    "assert x['days'] == {'a': np.datetime64('2020-01-01'), 'b': None}",
    "assert all(type(x[k]) is en.Record for k in ('twice', 'unnamed', 'half', 'endless', 'nowhere', 'label', 'table'))",
    "assert x['label'].fields['attributes'] == {'label': 'x'}",
    # A single value has the type of a column.
    sprintf("column = lambda name: en.read(r'%s' + name).x", path),
    "assert (column('dates').array[:1] == x['dates'][:1]).all() and column('factor').cat.codes.tolist() == x['factor'].codes.tolist()",
    "assert column('times').dt.tz_convert(None)[:2].tolist() == [pd.Timestamp(t) for t in x['times'][:2]] and column('spans')[0] == x['spans'][0]",
    sprintf("assert en.open(r'%s')['date'].read() == x['date']", path)
  ))
})

test_that("integer64 inside of lists are integers of Python", {
  skip_if_not_installed("bit64")
  path <- tempfile()
  texts <- c("1", "9007199254740993", "9218868437227407266", "9221120237041092514", "-9223372036854775807")
  x <- bit64::as.integer64(texts)
  value <- c(
    list(
      all = x[-(3:4)], bits = x[3:4], quiet = x[c(1, 4)], na = bit64::as.integer64(c(1, NA)),
      named = structure(x[1:2], names = c("p", "q"), class = "integer64")
    ),
    lapply(texts, bit64::as.integer64)
  )
  names(value)[-(1:5)] <- paste0("n", seq_along(texts))
  write_entasis(value, path)
  expect_true(same(read_entasis(path), value))
  python(c(
    sprintf("x = en.read(r'%s')", path), sprintf("expected = [%s]", paste(texts, collapse = ", ")),
    "assert type(x['all']) is np.ndarray and x['all'].dtype == 'i8' and x['all'].tolist() == expected[:2] + expected[4:], x['all']",
    # An integer with the bits of R's missing double is refused, not read as another one.
    "assert type(x['bits']) is en.Record and type(x['quiet']) is en.Record",
    "assert [x[f'n{i + 1}'] for i in range(5)] == expected and type(x['n1']) is int",
    "assert x['na'].tolist() == [1, None] and x['na'].dtype == 'i8' and x['named'] == {'p': 1, 'q': 2**53 + 1}"
  ))
})

test_that("a vector by itself keeps its names", {
  path <- tempfile()
  long <- structure(as.double(1:100), names = paste0("n", 1:100))
  for (x in list(c(a = 1, b = NA), long, c(a = "x", a = NA), factor(c(p = "u", q = "v")))) {
    write_entasis(x, path)
    expect_true(same(read_entasis(path), x))
    out <- python(sprintf("x = en.read(r'%s'); print(*x.index, sep=','); print(list(x.columns), len(x))", path))
    expect_identical(out, c(paste(names(x), collapse = ","), paste0("['value'] ", length(x))))
  }
})

test_that("columns of dates and times of Python are such in R", {
  path <- tempfile()
  python(c(
    "import datetime as dt",
    "d, t = [dt.date(2020, 1, 1), None, dt.date(1960, 2, 3)] * 3, [dt.time(1, 2, 3, 500000), None, dt.time(0)] * 3",
    "df = pd.DataFrame({'d': d, 't': t, 'mixed': d[:8] + ['x'], 'late': [None] * 8 + d[:1]})",
    sprintf("en.write(df, r'%s')", path)
  ))
  x <- read_entasis(path)
  d <- rep(as.Date(c("2020-01-01", NA, "1960-02-03")), 3)
  t <- structure(rep(c(3723.5, NA, 0), 3), class = c("hms", "difftime"), units = "secs")
  expect_true(same(x$d, d))
  expect_true(same(x$t, t))
  expect_identical(x$late, c(as.Date(rep(NA, 8)), d[1]))
  mixed <- lapply(seq_len(9), function(i) if (i == 9) "x" else if (!is.na(d[i])) d[i])
  expect_identical(x$mixed, mixed)
  for (column in c("d", "t", "late", "mixed")) {
    for (rows in list(1, 2, 1:3, 9)) {
      expect_identical(
        read_entasis(path, column, from = min(rows), to = max(rows))[[1L]], x[[column]][rows], info = column
      )
      expect_identical(entasis(path)[rev(rows), column][[1L]], x[[column]][rev(rows)], info = column)
    }
  }
})

test_that("an error says which value R has nothing for, and where", {
  path <- tempfile()
  python(c(
    "import decimal, fractions",
    "bad = {'dec': decimal.Decimal('1.5'), 'big': 2**70, 'frac': fractions.Fraction(1, 3), 'zero': 'a\\0b', 'dots': ..., 'cut': slice(1, 2), 'keys': {(1, 2): 3}}",
    "for name, value in bad.items():",
    sprintf("    en.write({'good': 1, 'deep': [0, {'x y': 2, 'at': value}]}, r'%s' + name)", path)
  ))
  what <- c(
    dec = "a Decimal", big = "an integer beyond 64 bits", frac = "a Fraction",
    zero = "a string with a zero character", dots = "an Ellipsis",
    cut = "a slice", keys = "a dict with a key that is neither a string nor a number"
  )
  for (name in names(what)) {
    file <- paste0(path, name)
    error <- tryCatch(read_entasis(file), error = identity)
    expect_s3_class(error, "entasis_error_unsupported")
    expect_match(conditionMessage(error), what[[name]], fixed = TRUE)
    expect_match(conditionMessage(error), " at $deep[[2]]$at has no counterpart in R", fixed = TRUE)
    expect_match(conditionMessage(error), "entasis(path) reads the other parts", fixed = TRUE)
    expect_identical(entasis(file)$good, 1L)
    expect_identical(entasis(file)$deep[[2]][["x y"]], 2L)
  }
})
