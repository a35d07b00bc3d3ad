# Frames of pandas in R, and frames of R in pandas. Needs ENTASIS_PYTHON, a Python with the packages
# entasis and pandas.

# Numbers of rows begin anew where no labels are row names.
renumber <- function(x, whole) if (.row_names_info(whole) > 0L) x else bare(x)

test_that("frames of pandas are data frames", {
  path <- tempfile()
  python(c(
    "df = pd.DataFrame({'i8': np.array([1, -2, 3], 'i1'), 'u16': np.array([1, 2, 65535], 'u2'), 'i32': np.array([1, 2, 3], 'i4'),",
    " 'u32': np.array([1, 2, 2**32 - 1], 'u4'), 'i64': [1, 2, 2**60], 'f32': np.array([.5, 1, np.nan], 'f4'), 'f64': [1.5, np.nan, 2],",
    " 'b': [True, False, True], 'nb': pd.array([True, None, False], dtype='boolean'), 'ni': pd.array([1, None, 3], dtype='Int32'),",
    " 's': ['a', None, '\\u00e9'], 'cat': pd.Categorical(['x', None, 'y']), 'icat': pd.Categorical([3, 1, None]),",
    " 'ord': pd.Categorical(['lo', 'hi', 'lo'], categories=['lo', 'hi'], ordered=True),",
    " 't': pd.to_datetime(['2020-01-01 00:00:00.5', None, '1960-02-03 00:00:00'], format='mixed'), 'tz': pd.date_range('2020-01-01', periods=3, tz='Europe/Oslo'),",
    " 'td': pd.to_timedelta([1.5, None, -2], unit='s'), 'c': [1j, 2, 3]})",
    sprintf("en.write(df, r'%s')", path),
    sprintf("en.write(df[['i32']].set_index(pd.Index(['p', 'q', 'r'], name='key')), r'%s1')", path),
    sprintf(
      "en.write(df[['i32']].set_index(pd.MultiIndex.from_product([['a'], [1, 2, 3]], names=['k', None])), r'%s2')",
      path
    ),
    sprintf("en.write(df[['i32']].iloc[1:], r'%s3')", path),
    sprintf("en.write(pd.DataFrame({'x': np.array([-2**31, 1], 'i4'), 'y': [1, 2], 'z': ['a\\0', 'b']}), r'%s4')", path)
  ))
  skip_if_not_installed("bit64")
  x <- read_entasis(path)
  utc <- function(x) as.POSIXct(x, tz = "UTC")
  expected <- data.frame(
    i8 = c(1L, -2L, 3L), u16 = c(1L, 2L, 65535L), i32 = 1:3, u32 = c(1, 2, 2^32 - 1),
    i64 = bit64::as.integer64(c("1", "2", "1152921504606846976")),
    f32 = c(.5, 1, NA), f64 = c(1.5, NA, 2), b = c(TRUE, FALSE, TRUE), nb = c(TRUE, NA, FALSE), ni = c(1L, NA, 3L),
    s = c("a", NA, "\u00e9"), cat = factor(c("x", NA, "y")), icat = factor(c(3, 1, NA)),
    ord = factor(c("lo", "hi", "lo"), levels = c("lo", "hi"), ordered = TRUE),
    t = utc(c("2020-01-01 00:00:00.5", NA, "1960-02-03 00:00:00")),
    tz = as.POSIXct(c("2020-01-01", "2020-01-02", "2020-01-03"), tz = "Europe/Oslo"),
    td = as.difftime(c(1.5, NA, -2), units = "secs"), c = c(1i, 2, 3)
  )
  for (name in names(expected)) expect_identical(x[[name]], expected[[name]], info = name)
  expect_identical(names(x), names(expected))
  expect_identical(entasis(path)[c(3, 1), "ord"], expected[c(3, 1), "ord", drop = FALSE] |> bare())
  expect_identical(read_entasis(paste0(path, 1)), data.frame(i32 = 1:3, row.names = c("p", "q", "r")))
  labels <- read_entasis(paste0(path, 2))
  expect_identical(names(labels), c("k", "level_1", "i32"))
  expect_identical(row.names(read_entasis(paste0(path, 3))), c("1", "2"))
  expect_error(read_entasis(paste0(path, 4), "z"), class = "entasis_error_unsupported")
  expect_identical(read_entasis(paste0(path, 4), "x")$x, c(-2^31, 1))
  expect_identical(nrow(read_entasis(paste0(path, 4), "y")), 2L)
})

test_that("integers of 128 bits of Polars are refused, and other columns read", {
  path <- tempfile()
  on.exit(unlink(path))
  done <- tryCatch(python(c(
    "import polars as pl",
    "frame = pl.DataFrame({'a': [1.5], 'u': pl.Series([2**128 - 1], dtype=pl.UInt128)})",
    sprintf("en.write(frame, r'%s')", path)
  )), error = function(e) e)
  skip_if(!file.exists(path), "Polars is not installed")
  expect_error(read_entasis(path), "u128.*column \"u\"", class = "entasis_error_unsupported")
  expect_error(entasis(path)$u, "u128", class = "entasis_error_unsupported")
  expect_identical(read_entasis(path, "a"), data.frame(a = 1.5))
})

test_that("data frames are frames of pandas", {
  frame <- data.frame(
    l = c(TRUE, NA, FALSE), i = c(1L, NA, -3L), d = c(1.5, NA, NaN), s = c("a", NA, "\u00e9"),
    f = factor(c("x", NA, "y")),
    o = factor(c("lo", "hi", NA), levels = c("lo", "hi"), ordered = TRUE),
    D = as.Date(c("2020-01-01", NA, "1960-05-05")),
    t = as.POSIXct(c(1.5e9, NA, 0) + 0.25, origin = "1970-01-01", tz = "Europe/Oslo"),
    td = as.difftime(c(1, NA, 2.5), units = "mins"),
    row.names = c("p", "q", "r")
  )
  frame$m <- matrix(1:6, 3)
  latin1 <- c("caf\xe9", "x", NA)
  Encoding(latin1) <- "latin1"
  frame$lat <- latin1
  frame$r <- as.raw(1:3)
  if (requireNamespace("bit64", quietly = TRUE)) frame$i64 <- bit64::as.integer64(c(1, NA, 3))
  path <- written(frame)
  vector <- written(c(1.5, NA))
  python(c(
    sprintf("df = en.read(r'%s')", path),
    "assert type(df) is pd.DataFrame and list(df.index) == ['p', 'q', 'r']",
    "assert str(df.l.dtype) == 'boolean' and df.l.tolist() == [True, pd.NA, False]",
    "assert str(df.i.dtype) == 'Int32' and df.i.tolist() == [1, pd.NA, -3]",
    "assert str(df.d.dtype) == 'float64' and df.d.iloc[0] == 1.5 and df.d.isna().tolist() == [False, True, True]",
    "assert df.s.iloc[2] == '\\u00e9' and df.s.isna().tolist() == [False, True, False]",
    "assert df.f.cat.categories.tolist() == ['x', 'y'] and df.f.cat.codes.tolist() == [0, -1, 1]",
    "assert df.o.cat.ordered and df.o.cat.codes.tolist() == [0, 1, -1]",
    "assert df.D.iloc[0] == pd.Timestamp('2020-01-01') and df.D.iloc[2] == pd.Timestamp('1960-05-05') and pd.isna(df.D.iloc[1])",
    "assert str(df.t.dt.tz) == 'Europe/Oslo' and df.t.iloc[0] == pd.Timestamp('2017-07-14 02:40:00.25', tz='UTC')",
    "assert df.td.iloc[2] == pd.Timedelta('150s') and pd.isna(df.td.iloc[1])",
    "assert df['m.2'].tolist() == [4, 5, 6] and df.lat.iloc[0] == 'caf\\u00e9' and str(df.r.dtype) == 'uint8'",
    "assert 'i64' not in df or str(df.i64.dtype) == 'Int64'",
    sprintf("assert en.read(r'%s').value.isna().tolist() == [False, True]", vector),
    sprintf("table = en.read(r'%s', to='pyarrow')", path),
    "assert table['d'].null_count == 1 and table.column_names[0] == 'row.names'",
    sprintf("en.write(en.read(r'%s'), r'%s.py')", path, path)
  ))
  back <- read_entasis(paste0(path, ".py"))
  expect_identical(back$f, frame$f)
  expect_identical(back$i, frame$i)
  expect_identical(back$t, frame$t)
  expect_identical(row.names(back), row.names(frame))
})

test_that("trees of Python are lists", {
  path <- tempfile()
  python(c(
    "import datetime, uuid, collections, dataclasses, decimal",
    "@dataclasses.dataclass",
    "class P:",
    "    x: int",
    "    y: list",
    "v = {'i': 1, 'big': 2**40, 'f': 1.5, 's': '\\u00e9', 'n': None, 'b': True, 'l': [1, 'a', None], 't': (1, 2), 'a': np.arange(6, dtype='i4').reshape(2, 3),",
    " 'af': np.asfortranarray(np.arange(6.).reshape(2, 3)), 'st': np.array(['a', 'bb']), 'd': datetime.date(2020, 1, 2),",
    " 'dt': datetime.datetime(2020, 1, 2, 3, 4, 5), 'td': datetime.timedelta(days=2, seconds=3), 'u': uuid.UUID(int=5), 'c': 1+2j, 'r': range(3, 9, 2),",
    " 'by': b'\\x00\\x01', 'rec': P(1, [2]), 'od': collections.OrderedDict(a=1), 'df': pd.DataFrame({'x': [1.5, 2], 'y': ['a', None]}), 'i8': np.int8(3),",
    " 'ts': pd.Timestamp('2020-01-01', tz='Europe/Oslo'), 'na': pd.NA, 'rows': [{'a': i, 'b': 'x'} for i in range(3)], 'ik': {1: 'a', 2: 'b'}, 'e': [], 'ed': {},",
    " 'ma': np.ma.MaskedArray([1., 2.], [False, True]), 'md': np.array(['a', None], np.dtype('O', metadata={'vlen': str})), 'cl': str}",
    "x = [1, 2]",
    "v['shared'] = [x, x, 'text' * 9, 'text' * 9]",
    sprintf("en.write(v, r'%s')", path),
    sprintf("en.write({'bad': decimal.Decimal('1.5'), 'good': 1}, r'%s1')", path),
    sprintf("en.write(pd.DataFrame({'o': [[1, 2], {'a': 1}, None, 'x'], 'k': [1., 2, 3, 4]}), r'%s2')", path)
  ))
  x <- read_entasis(path)
  utc <- function(x) as.POSIXct(x, tz = "UTC")
  expected <- list(
    i = 1L, big = 2^40, f = 1.5, s = "\u00e9", n = NULL, b = TRUE, l = list(1L, "a", NULL), t = list(1L, 2L),
    a = matrix(0:5, 2, byrow = TRUE),
    af = matrix(as.double(0:5), 2, byrow = TRUE), st = c("a", "bb"), d = as.Date("2020-01-02"),
    dt = utc("2020-01-02 03:04:05"),
    td = as.difftime(172803, units = "secs"), u = "00000000-0000-0000-0000-000000000005", c = 1+2i,
    r = c(3L, 5L, 7L), by = as.raw(0:1),
    rec = structure(list(x = 1L, y = list(2L)), record = "__main__.P"), od = list(a = 1L),
    df = data.frame(x = c(1.5, 2), y = c("a", NA)), i8 = 3L,
    ts = as.POSIXct("2020-01-01", tz = "Europe/Oslo"), na = NA,
    rows = lapply(0:2, function(i) list(a = i, b = "x")), ik = list(`1` = "a", `2` = "b"), e = list(),
    ed = setNames(list(), character()), ma = c(1, NA), md = list("a", NULL), cl = "str",
    shared = list(list(1L, 2L), list(1L, 2L), strrep("text", 9), strrep("text", 9))
  )
  for (name in names(expected)) expect_identical(x[[name]], expected[[name]], info = name)
  expect_identical(names(x), names(expected))
  expect_error(read_entasis(paste0(path, 1)), "no counterpart", class = "entasis_error_unsupported")
  expect_identical(entasis(paste0(path, 1))$good, 1L)
  frame <- read_entasis(paste0(path, 2))
  expect_identical(frame$o, list(list(1L, 2L), list(a = 1L), NULL, "x"))
  expect_identical(entasis(paste0(path, 2))[c(4, 2), "o"]$o, list("x", list(a = 1L)))
})

test_that("lists are trees of Python", {
  path <- tempfile()
  latin1 <- "caf\xe9"
  Encoding(latin1) <- "latin1"
  frame <- data.frame(k = 1:3)
  frame$l <- list(1, "a", list(b = 2))
  write_entasis(list(
    a = 1L, b = 1.5, s = "x", v = 1:3, na = c(1L, NA), m = matrix(1:6, 2),
    l = list(1, "a", NULL, list(z = TRUE)), df = frame, f = quote(f(x)),
    named = c(a = 1), lat = c(latin1, NA), raw = as.raw(1:3), e = globalenv(), d = c(1, NA, NaN), g = TRUE
  ), path)
  python(c(
    sprintf("x = en.read(r'%s')", path),
    "assert type(x) is dict and x['a'] == 1 and type(x['a']) is int and x['b'] == 1.5 and x['s'] == 'x' and x['g'] is True",
    "assert x['v'].tolist() == [1, 2, 3] and x['v'].dtype == 'i4' and x['na'].tolist() == [1, None]",
    "assert x['m'].tolist() == [[1, 3, 5], [2, 4, 6]] and x['l'] == [1.0, 'a', None, {'z': True}]",
    "assert type(x['df']) is pd.DataFrame and x['df'].l.tolist() == [1.0, 'a', {'b': 2.0}] and x['df'].k.tolist() == [1, 2, 3]",
    "assert type(x['f']) is en.Record and x['f'].kind == 'r' and x['f'].items[0].fields['name'] == 'f'",
    "assert x['named'] == {'a': 1.0} and x['lat'].tolist() == ['caf\\u00e9', None]",
    "assert x['raw'].tolist() == [1, 2, 3] and x['e'].fields == {'global': 'global'} and np.isnan(x['d'][1:]).all()",
    sprintf("assert en.open(r'%s')['l'][3]['z'].read() is True", path),
    sprintf("en.write({key: x[key] for key in ('a', 'v', 'm', 'l', 'df')}, r'%s.py')", path),
    sprintf("en.verify(r'%s')", path)
  ))
  back <- read_entasis(paste0(path, ".py"))
  expect_identical(
    back[c("a", "v", "m", "l")],
    list(a = 1L, v = 1:3, m = matrix(1:6, 2), l = list(1, "a", NULL, list(z = TRUE)))
  )
  expect_identical(back$df, frame)
})

test_that("small frames of a long list are frames of pandas, as tables are", {
  frames <- list(
    plain = data.frame(l = c(TRUE, NA), i = c(1L, NA), d = c(1.5, NA), s = c("a", NA), c = c(1i, 2), r = as.raw(1:2)),
    special = data.frame(
      f = factor(c("x", NA)), o = factor(c("lo", "hi"), levels = c("lo", "hi"), ordered = TRUE),
      D = as.Date(c("2020-01-01", NA))
    ),
    one = data.frame(l = TRUE, i = 1L, d = 1, s = "a", f = factor("x"), D = as.Date("1960-01-01")),
    labels = data.frame(x = 1:3, row.names = c("p", "q", "r")),
    numbers = data.frame(x = 1:3)[c(3, 1), , drop = FALSE],
    none = data.frame(x = integer(), f = factor(character()))
  )
  path <- tempfile()
  write_entasis(c(frames, rep(frames["plain"], 40)), path)
  for (name in names(frames)) write_entasis(frames[[name]], paste0(path, name))
  python(c(
    sprintf("x = en.read(r'%s').fields['value']", path),
    sprintf("for i, name in enumerate(%s):", paste0("[", paste0("'", names(frames), "'", collapse = ", "), "]")),
    sprintf("    pd.testing.assert_frame_equal(x[i], en.read(r'%s' + name), check_exact=True)", path),
    "    assert x[i].columns.dtype == 'str' and type(x[i].index) is type(en.read(r'%s' + name).index)" |> sprintf(path)
  ))
  expect_identical(read_entasis(path)[seq_along(frames)], frames)
})

test_that("nested columns of Arrow are lists and data frames", {
  skip_if_not_installed("bit64")
  path <- tempfile()
  python(c(
    "import pyarrow as pa, datetime as dt",
    "s = pa.struct([('x', pa.int32()), ('y', pa.string())])",
    "t = pa.table({",
    " 'l': pa.array([[1, 2], None, [], [3]], pa.list_(pa.int32())), 'ls': pa.array([['a', None], ['b'], None, ['\u00e9']], pa.large_list(pa.string())),",
    " 'lv': pa.array([[1.5], None, [2.5, None], []], pa.list_view(pa.float64())), 'f': pa.array([[1, 2], None, [3, None], [5, 6]], pa.list_(pa.int16(), 2)),",
    " 's': pa.array([{'x': 1, 'y': 'a'}, None, {'x': None, 'y': 'b'}, {'x': 4, 'y': None}], s),",
    " 'm': pa.array([[('a', 1)], None, [], [('b', 2), ('c', None)]], pa.map_(pa.string(), pa.int32())),",
    " 'll': pa.array([[[1], [2, 3]], None, [None, []], [[4]]], pa.list_(pa.list_(pa.int32()))),",
    " 'lst': pa.array([[{'d': dt.date(2020, 1, 1), 'z': True}], [], None, [{'d': None, 'z': False}]], pa.list_(pa.struct([('d', pa.date32()), ('z', pa.bool_())]))),",
    " 'lt': pa.array([[dt.datetime(2020, 1, 1)], None, [None], []], pa.list_(pa.timestamp('us', 'Europe/Oslo'))),",
    " 'i64': pa.array([{'n': 1}, None, {'n': 2**40}, {'n': None}], pa.struct([('n', pa.int64())])),",
    " 'sl': pa.array([{'l': [1, 2]}, None, {'l': None}, {'l': []}], pa.struct([('l', pa.list_(pa.int32()))])),",
    " 're': pa.RunEndEncodedArray.from_arrays(pa.array([2, 3, 4], pa.int32()), pa.array(['p', None, 'q'])), 'k': pa.array([1, 2, 3, 4], pa.int32())})",
    sprintf("en.write(t, r'%s')", path),
    sprintf("en.write(pa.table({'l': pa.array([list(range(i %% 7)) if i %% 5 else None for i in range(200000)], pa.list_(pa.int32()))}), r'%s1')", path),
    sprintf("en.write(t.slice(0, 0), r'%s2')", path),
    "i8, kinds = pa.array([0, 1, 0, 2, 1, 0], pa.int8()), ['n', 's', 'l']",
    "parts = [pa.array([1, 0, None, 0, 0, 3]), pa.array([None, 'a', None, None, 'b', None]), pa.array([None, None, None, [1.5, 2.5], None, None])]",
    "few = [pa.array([1, None, 3]), pa.array(['a', 'b']), pa.array([[1.5, 2.5]])]",
    "dense = pa.UnionArray.from_dense(i8, pa.array([0, 0, 1, 0, 1, 2], pa.int32()), few, kinds)",
    "b = [b'ab\\0', None, b'', bytes(range(20)), b'x', b'ab\\0']",
    "more = {'sparse': pa.UnionArray.from_sparse(i8, parts, kinds), 'dense': dense, 'b': pa.array(b, pa.binary()), 'lb': pa.array([[b[0], None], [], None, [b[3]], [b''], []])}",
    sprintf("en.write(pa.table(more), r'%s3')", path),
    sprintf("en.write(pa.table({'u': pa.concat_arrays([dense] * 30000), 'b': pa.array(b * 30000, pa.large_binary())}), r'%s5')", path),
    sprintf("en.write(pa.table({'u': pa.array([b'abc'], pa.binary(3))}), r'%s6')", path),
    "one = pa.UnionArray.from_dense(pa.array([0] * 140000, pa.int8()), pa.array(range(140000), pa.int32()), [pa.array(range(140000), pa.int32())])",
    sprintf("en.write(pa.table({'u': one}), r'%s7')", path)
  ))
  x <- read_entasis(path)
  rows <- function(...) data.frame(...)
  oslo <- function(x) as.POSIXct(x, tz = "Europe/Oslo")
  expected <- list(
    l = list(1:2, NULL, integer(), 3L), ls = list(c("a", NA), "b", NULL, "\u00e9"),
    lv = list(1.5, NULL, c(2.5, NA), double()),
    f = list(1:2, NULL, c(3L, NA), 5:6), s = rows(x = c(1L, NA, NA, 4L), y = c("a", NA, "b", NA)),
    m = list(
      rows(key = "a", value = 1L), NULL, rows(key = character(), value = integer()),
      rows(key = c("b", "c"), value = c(2L, NA))
    ),
    ll = list(list(1L, 2:3), NULL, list(NULL, integer()), list(4L)),
    lst = list(
      rows(d = as.Date("2020-01-01"), z = TRUE), rows(d = as.Date(double()), z = logical()), NULL,
      rows(d = as.Date(NA_real_), z = FALSE)
    ),
    lt = list(oslo("2020-01-01 01:00:00"), NULL, oslo(NA), oslo("2020-01-01")[0]),
    i64 = rows(n = bit64::as.integer64(c("1", NA, "1099511627776", NA))),
    sl = structure(list(l = list(1:2, NULL, NULL, integer())), class = "data.frame", row.names = 1:4),
    re = c("p", "p", NA, "q"), k = 1:4
  )
  expect_identical(names(x), names(expected))
  for (name in names(expected)) expect_identical(x[[name]], expected[[name]], info = name)
  expect_identical(read_entasis(path, "s")$s, expected$s)
  for (which in list(2:4, c(4, 1, 1), 3, integer())) {
    some <- entasis(path)[which, ]
    for (name in names(x)) {
      of <- if (is.data.frame(x[[name]])) bare(x[[name]][which, , drop = FALSE]) else x[[name]][which]
      expect_identical(some[[name]], of, info = name)
    }
  }
  expect_output(print(entasis(path)), "4 rows")
  lists <- lapply(0:199999, function(i) if (i %% 5) seq_len(i %% 7) - 1L)
  expect_identical(read_entasis(paste0(path, 1))$l, lists)
  expect_identical(read_entasis(paste0(path, 1), from = 70001, to = 140000)$l, lists[70001:140000])
  expect_identical(entasis(paste0(path, 1))[c(199999, 5, 66000), "l"][[1L]], lists[c(199999, 5, 66000)])
  none <- read_entasis(paste0(path, 2))
  expect_identical(dim(none), c(0L, length(expected)))
  expect_identical(none$s, expected$s[0L, ])
  expect_error(read_entasis(paste0(path, 6)), class = "entasis_error_unsupported")
  # Unions are lists of single values, bytes lists of raw vectors.
  union <- list(1L, "a", NA_integer_, c(1.5, 2.5), "b", 3L)
  zero <- as.raw(c(97, 98, 0))
  bytes <- list(zero, NULL, raw(), as.raw(0:19), as.raw(120), zero)
  more <- list(
    sparse = union, dense = union, b = bytes,
    lb = list(list(zero, NULL), list(), NULL, bytes[4], bytes[3], list())
  )
  x <- read_entasis(paste0(path, 3))
  for (name in names(more)) expect_identical(x[[name]], more[[name]], info = name)
  for (which in list(c(6, 2, 2), 4, integer())) {
    some <- entasis(paste0(path, 3))[which, ]
    for (name in names(more)) expect_identical(some[[name]], more[[name]][which], info = name)
  }
  expect_identical(as.list(read_entasis(paste0(path, 5))), list(u = rep(union, 30000), b = rep(bytes, 30000)))
  # A union of one type, over the border of a block.
  expect_identical(read_entasis(paste0(path, 7))$u, as.list(0:139999))
  expect_identical(entasis(paste0(path, 7))[c(140000, 65537, 1), "u"]$u, list(139999L, 65536L, 0L))
  expect_identical(read_entasis(paste0(path, 5), from = 100001, to = 100004)$u, rep(union, 30000)[100001:100004])
  x <- read_entasis(path)
  # And back: lists are columns of objects, data frames their columns.
  write_entasis(x[c("l", "s", "k")], paste0(path, 4))
  python(c(
    sprintf("df = en.read(r'%s4')", path),
    "assert list(df.columns) == ['l', 's.x', 's.y', 'k'] and df.l[0].tolist() == [1, 2] and df.l[1] is None and df.l[2].tolist() == [] and df.l[3] == 3",
    "assert df['s.x'].tolist() == [1, pd.NA, pd.NA, 4] and df['s.y'].isna().tolist() == [False, True, False, True]"
  ))
  expect_identical(read_entasis(paste0(path, 4)), x[c("l", "s", "k")])
})

test_that("times in nanoseconds and late years are right before bit64 is loaded", {
  path <- tempfile()
  python(c(
    "import datetime",
    "v = {'ns': pd.Timestamp('2020-01-01 00:00:00.5').as_unit('ns'), 'zone': pd.Timestamp('2020-01-01', tz='Europe/Oslo').as_unit('ns'),",
    " 'early': pd.Timestamp('1700-01-01').as_unit('ns'), 'td': pd.Timedelta('-400 days').as_unit('ns'), 'late': datetime.datetime(9999, 1, 1)}",
    sprintf("en.write(v, r'%s')", path),
    sprintf("en.write({'far': range(2**60, 2**60 + 3)}, r'%s1')", path)
  ))
  expected <- c(1577836800.5, 1577833200, -8520336000, -34560000, 253370764800)
  code <- sprintf(
    "x <- entasis::read_entasis('%s', int64 = '%s'); cat(sprintf('%%.1f', vapply(x, as.double, 0)))", path,
    c("fit", "double")
  )
  for (line in if (requireNamespace("bit64", quietly = TRUE)) code else code[2L]) {
    out <- system2(
      file.path(R.home("bin"), "Rscript"), c("-e", shQuote(line)), stdout = TRUE, stderr = FALSE,
      env = libraries()
    )
    expect_identical(as.double(strsplit(out[length(out)], " ")[[1L]]), expected)
  }
  skip_if_not_installed("bit64")
  expect_error(read_entasis(paste0(path, 1)), "beyond 2\\^53", class = "entasis_error_unsupported")
})

test_that("labels of rows that are columns are columns of the table too", {
  path <- tempfile()
  python(c(
    "df = pd.DataFrame({'a': [1.5, 2.5, 3.5], 'b': ['x', 'y', 'z']})",
    "frames = {'time': df.set_index(pd.date_range('2020-01-01', periods=3, name='when', tz='UTC')), 'again': df.set_index(pd.Index(['p', 'q', 'p'], name='key')),",
    " 'two': df.set_index(pd.MultiIndex.from_arrays([['p', 'q', 'p'], [1, 2, 3]], names=['k', None])), 'far': df.set_index(pd.RangeIndex(2**40, 2**40 + 3)),",
    " 'strings': df.set_index(pd.Index(['p', 'q', 'r'], name='key')), 'range': df.set_index(pd.RangeIndex(5, 8)), 'plain': df}",
    sprintf("for name, frame in frames.items(): en.write(frame, r'%s' + name)", path),
    sprintf("en.write({'frame': frames['again']}, r'%stree')", path)
  ))
  in_front <- list(
    time = "when", again = "key", two = c("k", "level_1"), far = "index", strings = NULL, range = NULL,
    plain = NULL
  )
  for (name in names(in_front)) {
    whole <- read_entasis(paste0(path, name))
    z <- entasis(paste0(path, name))
    expect_identical(names(whole), c(in_front[[name]], "a", "b"), info = name)
    expect_identical(z[], whole, info = name)
    expect_identical(names(z), names(whole), info = name)
    expect_identical(c(dim(z), ncol(z), length(z)), c(dim(whole), ncol(whole), length(whole)), info = name)
    expect_identical(dimnames(z), dimnames(whole), info = name)
    for (k in seq_along(whole)) {
      expect_identical(z[[k]], whole[[k]], info = name)
      expect_identical(z[[names(whole)[k]]], whole[[k]], info = name)
      expect_identical(z[k], whole[k], info = name)
      expect_identical(z[3:2, k, drop = TRUE], whole[3:2, k], info = name)
    }
    expect_identical(z$b, whole$b, info = name)
    # Labels of some rows are what those of all are.
    expect_identical(
      z[2:3, c("b", names(whole)[1L])], whole[2:3, c("b", names(whole)[1L])] |> renumber(whole), info = name
    )
    expect_identical(names(read_entasis(paste0(path, name), "b", from = 2)), c(in_front[[name]], "b"), info = name)
    expect_identical(with(z, sum(a)), 7.5, info = name)
    expect_identical(subset(z, a > 2)$b, c("y", "z"), info = name)
    expect_identical(vapply(z, function(x) class(x)[1L], ""), vapply(whole, function(x) class(x)[1L], ""), info = name)
    expect_output(print(z), paste(length(whole), "columns"), info = name)
  }
  expect_identical(entasis(paste0(path, "tree"))$frame[2L, "key"][[1L]], "q")
  expect_identical(read_entasis(paste0(path, "tree"))$frame, read_entasis(paste0(path, "again")))
})

test_that("times with a fixed offset show their clock time", {
  path <- tempfile()
  python(c(
    "import datetime as dt, pyarrow as pa",
    "zone = lambda h, m=0: dt.timezone(dt.timedelta(hours=h, minutes=m))",
    "day = pd.to_datetime(['2024-01-01', None])",
    "at = lambda *z: day.tz_localize(zone(*z))",
    "df = pd.DataFrame({'east': at(2), 'west': at(-3), 'half': at(5, 30), 'utc': at(0), 'far': at(14), 'c': pd.Categorical(at(2))})",
    sprintf("en.write(df, r'%s')", path),
    sprintf("en.write(pa.table({'t': pa.array([0], pa.timestamp('s', '+02:00')), 'u': pa.array([0], pa.timestamp('us', '-0330')), 'x': pa.array([0], pa.timestamp('s', 'Mars/Olympus')), 'l': pa.array([[0]], pa.list_(pa.timestamp('s', '+01:00')))}), r'%s1')", path),
    "at = dt.datetime(2024, 1, 1, 6, tzinfo=zone(2))",
    sprintf("en.write({'d': at, 'p': pd.Timestamp(at), 'l': [at, dt.datetime(2024, 1, 1, tzinfo=zone(5, 30))], 'o': pd.DataFrame({'o': [at, 'x']})}, r'%s2')", path),
    "index = pd.MultiIndex.from_arrays([df.east.repeat(2), ['a', 'b'] * 2], names=['t', 'k'])",
    sprintf("en.write(pd.DataFrame({'v': range(4)}, index=index), r'%s3')", path),
    sprintf("en.write(pd.DataFrame({'v': range(2)}, index=pd.Index(df.east)), r'%s4')", path)
  ))
  day <- function(zone) as.POSIXct(c("2024-01-01", NA), tz = zone)
  expect_message(
    x <- read_entasis(path),
    "note: times of column \"half\" are shown in UTC, because R has no time zone \"UTC+05:30\"", fixed = TRUE
  )
  expect_identical(x$east, day("Etc/GMT-2"))
  expect_identical(x$west, day("Etc/GMT+3"))
  expect_identical(x$half, as.POSIXct(c("2023-12-31 18:30", NA), tz = "UTC"))
  expect_identical(x$utc, day("UTC"))
  expect_identical(x$far, day("Etc/GMT-14"))
  expect_identical(as.Date(x$east, tz = attr(x$east, "tzone")), as.Date(c("2024-01-01", NA)))
  expect_identical(as.character(x$c), c("2024-01-01", NA))
  expect_identical(entasis(path)[1, "east"]$east, day("Etc/GMT-2")[1L])
  expect_message(
    expect_message(x <- read_entasis(paste0(path, 1)), "-0330", fixed = TRUE), "Mars/Olympus", fixed = TRUE
  )
  expect_identical(format(x$t, "%H:%M"), "02:00")
  expect_identical(attr(x$u, "tzone"), "UTC")
  expect_identical(format(x$x, "%H:%M"), "00:00")
  expect_identical(attr(x$l[[1L]], "tzone"), "Etc/GMT-1")
  morning <- as.POSIXct("2024-01-01 06:00", tz = "Etc/GMT-2")
  expect_message(
    x <- read_entasis(paste0(path, 2)), "times are shown in UTC, because R has no time zone \"+05:30\"",
    fixed = TRUE
  )
  expect_identical(x$d, morning)
  expect_identical(x$p, morning)
  expect_identical(x$l, list(morning, as.POSIXct("2023-12-31 18:30", tz = "UTC")))
  expect_identical(x$o$o, list(morning, "x"))
  expect_identical(read_entasis(paste0(path, 3))$t, day("Etc/GMT-2")[c(1, 1, 2, 2)])
  expect_identical(read_entasis(paste0(path, 4))$east, day("Etc/GMT-2"))
})

test_that("levels of an index keep their types", {
  path <- tempfile()
  python(c(
    "import datetime as dt",
    "days = pd.to_datetime(['2024-01-01', '2024-02-01'])",
    "arrays = [[10, 20, 10], [1.5, np.nan, 2.5], days[[0, 1, 1]], days.tz_localize('Europe/Oslo')[[1, 1, 0]], pd.to_timedelta([1, 2, 1], unit='s'),",
    " ['a', 'b', 'a'], [True, False, True], pd.Categorical(['x', 'y', 'x'], ['y', 'x']), [dt.date(2024, 1, 1), dt.date(2024, 1, 2), dt.date(2024, 1, 1)],",
    " pd.array([1, None, 2**40], 'Int64'), [2**53 + 1, 5, 5]]",
    "names = ['id', 'x', 'day', 'oslo', 'span', 'text', 'flag', 'kind', 'date', 'na', 'big']",
    "index = pd.MultiIndex.from_arrays(arrays, names=names)",
    sprintf("en.write(pd.DataFrame({'v': [1, 2, 3]}, index=index), r'%s')", path),
    sprintf("en.write(pd.DataFrame({'v': [1, 2]}, index=pd.MultiIndex.from_product([range(2), ['a']])), r'%s1')", path)
  ))
  skip_if_not_installed("bit64")
  x <- read_entasis(path)
  times <- as.POSIXct(c("2024-01-01", "2024-02-01"), tz = "UTC")
  expected <- list(
    id = c(10L, 20L, 10L), x = c(1.5, NA, 2.5), day = times[c(1, 2, 2)],
    oslo = as.POSIXct(c("2024-02-01", "2024-02-01", "2024-01-01"), tz = "Europe/Oslo"),
    span = as.difftime(c(1, 2, 1), units = "secs"), text = c("a", "b", "a"), flag = c(TRUE, FALSE, TRUE),
    kind = factor(c("x", "y", "x"), c("y", "x")),
    date = as.Date(c("2024-01-01", "2024-01-02", "2024-01-01")), na = bit64::as.integer64(c(1, NA, 2^40)),
    big = bit64::as.integer64(c("9007199254740993", "5", "5")), v = 1:3
  )
  expect_identical(names(x), names(expected))
  for (name in names(expected)) expect_identical(x[[name]], expected[[name]], info = name)
  z <- entasis(path)
  expect_identical(bare(z[3:2, c("id", "day", "na")]), bare(x[3:2, c("id", "day", "na")]))
  expect_identical(bare(subset(z, id > 10)), bare(subset(x, id > 10)))
  expect_identical(read_entasis(path, "v", from = 2, to = 3), bare(x[2:3, ]))
  expect_identical(read_entasis(paste0(path, 1)), data.frame(level_0 = 0:1, level_1 = "a", v = 1:2))
})

test_that("an object without counterpart is reported with its column", {
  path <- tempfile()
  python(c(
    "import decimal",
    sprintf("en.write(pd.DataFrame({'k': [1, 2], 'o': [[1], {'a': decimal.Decimal('1.5')}]}), r'%s')", path)
  ))
  error <- tryCatch(read_entasis(path), error = identity)
  expect_match(conditionMessage(error), "a Decimal at .* has no counterpart in R .*column \"o\"\\); read other columns")
  expect_identical(error$column, "o")
  expect_identical(read_entasis(path, "k")$k, 1:2)
  expect_identical(metadata_entasis(path)$columns$n_missing, c(0, NA))
})

test_that("local times that clocks show twice or never are the instants of Python", {
  path <- tempfile(fileext = ".entasis")
  on.exit(unlink(path))
  said <- tempfile()
  python(c(
    "from datetime import datetime, timedelta", "from zoneinfo import ZoneInfo",
    "zones = ['Europe/Zurich', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'Pacific/Apia']",
    "days = [datetime(2024, 10, 27, 2, 30), datetime(2024, 3, 31, 2, 30), datetime(2024, 11, 3, 1, 15), datetime(2024, 3, 10, 2, 59, 59, 500000),",
    "        datetime(2024, 4, 7, 1, 45), datetime(2024, 10, 6, 2, 10), datetime(2011, 12, 30, 12), datetime(1969, 12, 31, 23, 59, 59, 750000), datetime(1880, 1, 1)]",
    "times = [day.replace(tzinfo=ZoneInfo(zone), fold=fold) for zone in zones for day in days for fold in (0, 1)]",
    sprintf("en.write(times, r'%s')", path),
    sprintf("open(r'%s', 'w').write('\\n'.join(repr(time.timestamp()) for time in times) + '\\n')", said),
    sprintf("en.convert(r'%s', r'%s')", path, paste0(path, ".rds"))
  ))
  on.exit(unlink(paste0(path, ".rds")), add = TRUE)
  expected <- as.double(readLines(said))
  expect_length(expected, 90L)
  expect_identical(vapply(read_entasis(path), as.double, 0), expected)
  # A file of R that is made without R has the same.
  expect_identical(readRDS(paste0(path, ".rds")), read_entasis(path))
})
