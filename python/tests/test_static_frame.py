"""StaticFrame frames, series and indexes come back as they were."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import entasis as en
from entasis._entasis import Builder, ColumnRef

sf = pytest.importorskip("static_frame")

UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]
TYPED = ["Year", "YearMonth", "Date", "Hour", "Minute", "Second", "Millisecond", "Microsecond", "Nanosecond"]
SIGNALLING = np.array([0x7FF0000000000001, 0xFFF8000000000000, 0x8000000000000000], "u8").view("f8")


def rng():
    return np.random.default_rng(5)


def frame(*blocks: Any, cls: Any = sf.Frame, **how: Any) -> Any:
    return cls(sf.TypeBlocks.from_blocks(blocks), **how)


def rows(array: Any) -> Any:
    return np.ascontiguousarray(array)


def columns(array: Any) -> Any:
    return np.asfortranarray(array)


def times(unit: str, letter: str = "M", n: int = 5) -> Any:
    values = np.arange(n)
    values[1] = np.iinfo("i8").min
    return values.view(f"{letter}8[{unit}]")


def of_dtypes() -> dict[str, Any]:
    numbers = rng().integers(0, 100, (5, 3))
    dtypes = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "?"]
    found = {dtype: frame(numbers.astype(dtype), numbers[:, 0].astype(dtype)) for dtype in dtypes}
    for unit in UNITS:
        found[f"M8[{unit}]"] = frame(times(unit), np.stack([times(unit)] * 2, axis=1))
        found[f"m8[{unit}]"] = frame(times(unit, "m"))
    found["m8"] = frame(np.arange(5).view("m8"))
    return found


def ih(*labels: Any, cls: Any = sf.IndexHierarchy, **how: Any) -> Any:
    return cls.from_labels(labels, **how)


OBJECTS = np.array(["a", None, "long string", "", "é\U0001f600"], dtype=object)
KINDS = np.array(["a", None, np.nan, "b", None], dtype=object)
FIVE = np.arange(5)
WIDE = rng().normal(size=(5, 40))
DATES = np.array(["2020-01-01", "2020-01-03", "1960-02-29", "2021-01-01", "2300-01-01"], "M8[D]")

FRAMES = of_dtypes() | {
    "empty": sf.Frame(),
    "rows alone": sf.Frame(index=list("abc")),
    "columns alone": sf.Frame(columns=list("abc")),
    "no rows, typed": frame(np.empty((0, 2), "i4"), np.empty(0, "U3"), columns=list("abc")),
    "one cell": frame(np.array([7])),
    "one row": frame(np.arange(10.0).reshape(1, 10)),
    "one column of two axes": frame(np.arange(5.0).reshape(5, 1)),
    "signalling NaN": frame(SIGNALLING, np.stack([SIGNALLING] * 9, axis=1)),
    "rows' order": frame(rows(WIDE)),
    "columns' order": frame(columns(WIDE)),
    "both orders": frame(rows(WIDE), columns(WIDE), rows(WIDE * 2), FIVE, rows(WIDE)[:, :3]),
    "rows' order of many types": frame(*(rows(WIDE.astype(t)) for t in ("f8", "i8", "?", "c16", "f2", "i1", "M8[s]"))),
    "slices of a wider array": frame(rows(WIDE)[:, 3:17], rows(WIDE)[::-1], rows(WIDE)[:, ::-2]),
    "tall, rows' order": frame(rows(rng().normal(size=(20_000, 11)))),
    "tall, both": frame(rows(rng().integers(0, 9, (9_000, 9))), columns(rng().normal(size=(9_000, 3)))),
    "wide": frame(rows(rng().normal(size=(100, 1_003)))),
    "wide, interleaved": frame(*([rng().integers(0, 9, 30), rng().normal(size=(30, 2)), rng().random(30) < 0.5] * 70)),
    "wide, irregular": frame(*(rng().normal(size=(20, n)) for n in (1, 2, 3, 9, 2, 1, 30)), np.arange(20)),
    "wide, one-dimensional": frame(*rng().normal(size=(300, 20))),
    "strings": frame(np.array(["", "abc", "é\U0001f600", "x", "y"]), np.array([["a", "bc"]] * 5), FIVE),
    "strings wider than needed": frame(np.array(["a"] * 5, "U20")),
    "bytes": frame(np.array([b"", b"abc", b"\xff", b"x", b"y"]), np.array([[b"a", b"bc"]] * 5, "S7")),
    "wide strings": frame(*(np.array(["a", "bc", str(i)]) for i in range(50)), np.array([["x"] * 40] * 3)),
    "objects": frame(OBJECTS, np.stack([OBJECTS, OBJECTS[::-1]], axis=1)),
    "objects of several kinds": frame(OBJECTS, KINDS, FIVE, KINDS[::-1]),
    "auto labels with names": sf.Frame(WIDE, name="f").rename("f", index="i", columns="c"),
    "index of strings": frame(WIDE, index=list("abcde"), columns=[f"c{i}" for i in range(40)]),
    "index of ints": frame(WIDE[:, :3], index=[5, 3, 1, -2, 0], columns=[10, 0, 7]),
    "index of floats": frame(WIDE[:, :3], index=[0.5, -0.0, np.nan, np.inf, 3], columns=[0.5, 1, 2]),
    "index of bools": frame(WIDE[:2, :2], index=[True, False], columns=[False, True]),
    "index of bytes": frame(WIDE[:, :2], index=np.array([b"a", b"b", b"", b"d", b"e"]), columns=np.array([b"u", b"v"])),
    "index of objects": frame(WIDE[:, :2], index=OBJECTS, columns=np.array(["u", None], dtype=object)),
    "index of objects, strings alone": frame(WIDE[:, :2], columns=np.array(["u", "long"], dtype=object)),
    "index of several kinds": frame(WIDE[:3, :2], index=np.array(["a", None, np.nan], dtype=object)),
    "index of durations": frame(WIDE[:, :2], index=np.arange(5).astype("m8[s]")),
    "index of dates": frame(WIDE[:, :5], index=sf.IndexDate(DATES, name="d"), columns=sf.IndexDate(DATES)),
    "hierarchy": frame(FIVE, index=ih(("a", 1), ("a", 2), ("b", 1), ("c", 9), ("c", 1))),
    "hierarchy with names": frame(
        WIDE[:2, :2], index=ih(("a", 1), ("b", 2), name=("x", "y")), columns=ih((1, 2), (3, 4), name=7)
    ),
    "hierarchy with typed levels": frame(
        WIDE[:2, :2],
        index=ih(
            ("2020", "2020-01-02", 1.5),
            ("2021", "2020-01-02", 2.5),
            index_constructors=[sf.IndexYear, sf.IndexDate, sf.Index],
        ),
        columns=ih(("2020-05", "x"), ("2020-06", "x"), index_constructors=[sf.IndexYearMonth, sf.Index]),
    ),
    "hierarchy of named levels": frame(
        np.arange(4), index=sf.IndexHierarchy.from_product(sf.Index(("a", "b"), name="l"), sf.Index((1, 2), name="r"))
    ),
    "hierarchy, some of": sf.Frame(WIDE[:, :10], columns=ih(*((i, j) for i in range(5) for j in "ab"))).iloc[1:, ::3],
    "grow-only": sf.FrameGO(rows(WIDE), columns=[f"c{i}" for i in range(40)], name="go"),
    "grow-only, auto": sf.FrameGO(WIDE[:, :3]),
    "grow-only, hierarchy": sf.FrameGO(WIDE[:, :2], columns=ih(("a", 1), ("b", 1), cls=sf.IndexHierarchyGO)),
    "grow-only, dates": sf.FrameGO(WIDE[:, :5], columns=sf.IndexDateGO(DATES)),
    "hashable": sf.FrameHE(WIDE[:, :3], columns=list("abc"), name=("h", 1)),
    "from a dict": sf.Frame.from_dict({"a": [1, 2], "b": [0.5, np.nan], "c": ["x", "yy"], "d": [True, False]}),
    "names are labels": sf.Frame(WIDE[:, :2], name=0).rename(index=("a", None), columns=b"c"),
}


def grown() -> Any:
    found = sf.FrameGO(np.arange(6).reshape(3, 2), columns=("a", "b"))
    found["c"] = np.array(["x", "y", "z"])
    found["d"] = np.arange(3) * 0.5
    return found


FRAMES["grown"] = grown()

NAMES = [
    None,
    "x",
    "",
    7,
    -(1 << 80),
    1.5,
    -0.0,
    True,
    b"\0x",
    2 + 1j,
    ("a", (1, None), b""),
    frozenset([1, "a"]),
    datetime.date(2020, 1, 2),
    datetime.time(1, 2, 3, 4),
    datetime.datetime(2020, 1, 2, 3, 4, 5, 6),
    datetime.timedelta(-1, 2, 3),
    np.int64(3),
    np.uint8(3),
    np.float16(0.5),
    np.bool_(True),
    np.complex64(1j),
    np.str_("é"),
    np.str_(""),
    np.bytes_(b"x"),
    np.datetime64("2020-01"),
    np.datetime64("NaT", "ns"),
    np.timedelta64(5, "h"),
    ("numpy.datetime64('2020')", np.int8(1)),
]

INDEXES: dict[str, Any] = {
    "auto": sf.Index(range(5), loc_is_iloc=True),
    "auto, empty": sf.IndexAutoFactory.from_optional_constructor(0, default_constructor=sf.Index),
    "ints": sf.Index((3, 1, 2), name="n"),
    "grow-only": sf.IndexGO(("a", "bb")),
    "empty strings": sf.Index(np.array([], "U3")),
    "hierarchy": ih(("a", 1), ("b", 2), name=("x", "y")),
    "hierarchy, grow-only": ih(("a", 1), ("b", 2), cls=sf.IndexHierarchyGO),
    "hierarchy with NaT": ih(
        *zip(np.array(["2020", "NaT"], "M8[D]"), (1, 2), strict=True), index_constructors=[sf.IndexDate, sf.Index]
    ),
}
for time, unit in zip(TYPED, ("Y", "M", "D", "h", "m", "s", "ms", "us", "ns"), strict=True):
    INDEXES[time] = getattr(sf, f"Index{time}")(np.array([5, 0, -3]).astype(f"M8[{unit}]"), name=time)
    INDEXES[f"{time}GO"] = getattr(sf, f"Index{time}GO")(np.array([5, 0, -3]).astype(f"M8[{unit}]"))

SERIES: dict[str, Any] = {
    "auto": sf.Series(np.arange(5.0)),
    "named": sf.Series(("a", "bb", ""), index=list("xyz"), name=("n", 1)),
    "hashable": sf.SeriesHE((1, 2), index=sf.IndexYear(("2020", "1999"))),
    "hierarchy": sf.Series((True, False), index=ih(("a", 1), ("b", 2))),
    "objects": sf.Series(KINDS, name="k"),
    "empty": sf.Series((), dtype="M8[ns]"),
    "signalling NaN": sf.Series(SIGNALLING),
}


def same_array(a: Any, b: Any) -> None:
    assert type(a) is type(b) is np.ndarray
    assert (a.shape, a.dtype) == (b.shape, b.dtype)
    assert not b.flags.writeable
    if a.dtype.kind == "O":
        assert [(type(x), repr(x)) for x in a.ravel()] == [(type(x), repr(x)) for x in b.ravel()]
    else:
        assert a.tobytes() == b.tobytes()


def same_name(a: Any, b: Any) -> None:
    assert (type(a), repr(a)) == (type(b), repr(b))


def same_index(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    same_name(a.name, b.name)
    assert len(a) == len(b)
    if a.depth == 1:
        assert (a._map is None) == (b._map is None)
        same_array(a.values, b.values)
        assert list(map(repr, a)) == list(map(repr, b))
        return
    assert a.depth == b.depth
    for x, y in zip(a._indices, b._indices, strict=True):
        same_index(x, y)
    same_array(a._indexers, b._indexers)


def same(a: Any, b: Any, *, order: bool = True) -> None:
    assert type(a) is type(b)
    if isinstance(a, sf.Series):
        same_name(a.name, b.name)
        same_index(a.index, b.index)
        same_array(a.values, b.values)
    elif isinstance(a, sf.Frame):
        same_name(a.name, b.name)
        same_index(a.index, b.index)
        same_index(a.columns, b.columns)
        assert a.shape == b.shape
        for x, y in zip(a._blocks._blocks, b._blocks._blocks, strict=True):
            same_array(x, y)
            is_kept = x.ndim == 2 and x.shape[1] >= 8 and x.dtype.kind not in "OUS"
            if order and is_kept and (x.flags.c_contiguous or x.flags.f_contiguous):
                assert x.flags.c_contiguous == y.flags.c_contiguous
                assert x.flags.f_contiguous == y.flags.f_contiguous
    else:
        same_index(a, b)


def test_enough_frames():
    assert len(FRAMES) >= 60


@pytest.mark.parametrize("name", FRAMES)
def test_frame(name, round_trip):
    back = round_trip(FRAMES[name])
    same(FRAMES[name], back)
    assert repr(back) == repr(FRAMES[name])
    if back.size and back.index.depth == back.columns.depth == 1:
        label, column = back.index.values[-1], back.columns.values[-1]
        assert repr(back.loc[label, column]) == repr(FRAMES[name].loc[label, column])


@pytest.mark.parametrize("compression", [0, 20, 100])
@pytest.mark.parametrize("threads", [1, 3])
def test_how_it_is_written(compression, threads, path):
    for name in (
        "both orders",
        "tall, both",
        "tall, rows' order",
        "wide",
        "wide, interleaved",
        "wide strings",
        "M8[s]",
    ):
        en.write(FRAMES[name], path, compression=compression, threads=threads)
        same(FRAMES[name], en.read(path, threads=threads))
        en.verify(path)


@pytest.mark.parametrize("name", SERIES)
def test_series(name, round_trip, path):
    same(SERIES[name], round_trip(SERIES[name]))
    if len(SERIES[name]) > 2:
        same(SERIES[name].iloc[1:3], en.read(path, rows=(1, 3)))


@pytest.mark.parametrize("name", INDEXES)
def test_index(name, round_trip, path):
    index = INDEXES[name]
    same(index, round_trip(index))
    if len(index) > 1:
        back = en.read(path, rows=[1, 0])
        assert type(back) is type(index)
        assert list(map(repr, back)) == list(map(repr, index.iloc[[1, 0]]))
        assert back.name == index.name


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_names(name, round_trip):
    given = sf.Frame(np.arange(4).reshape(2, 2), name=name).rename(name, index=name, columns=name)
    same(given, round_trip(given))
    same(sf.Series((1, 2), name=name), round_trip(sf.Series((1, 2), name=name)))


def test_grown_index(round_trip):
    index = sf.IndexGO(("a", "b"))
    index.append("long")
    same(index, round_trip(index))
    hierarchy = ih(("a", 1), ("b", 2), cls=sf.IndexHierarchyGO)
    hierarchy.append(("c", 1))
    back = round_trip(hierarchy)
    assert list(map(tuple, back)) == [("a", 1), ("b", 2), ("c", 1)]
    back.append(("d", 4))
    assert len(back) == 4


def test_grows_on(round_trip):
    back = round_trip(FRAMES["grow-only"])
    back["new"] = np.arange(5)
    assert back.shape == (5, 41)


def test_blocks_are_few_arrays(round_trip):
    given = frame(*([rng().integers(0, 9, 50), rng().normal(size=50), rng().random(50) < 0.5] * 400))
    back = round_trip(given)
    same(given, back)
    bases = {id(block.base) for block in back._blocks._blocks}
    assert len(bases) == 3
    assert not any(block.base.flags.writeable for block in back._blocks._blocks)


SELECTED = [
    "both orders",
    "wide, irregular",
    "objects of several kinds",
    "strings",
    "index of dates",
    "hierarchy with names",
    "grow-only",
    "hierarchy",
    "auto labels with names",
    "M8[D]",
    "tall, both",
]


@pytest.mark.parametrize("name", SELECTED)
def test_selections(name, path):
    given = FRAMES[name]
    en.write(given, path)
    n_rows, n_columns = given.shape
    some_rows = [(1, n_rows), slice(None, None, 2), slice(None, None, -1), [n_rows - 1, 0], 1, (0, 0)]
    for rows in some_rows:
        key = slice(*rows) if isinstance(rows, tuple) else [rows] if isinstance(rows, int) else rows
        expected = given.iloc[key]
        got = en.read(path, rows=rows)
        assert type(got) is type(given)
        assert got.equals(expected, compare_name=True, compare_dtype=True, compare_class=True)
        if got.shape[0] > 1:
            assert [b.shape for b in got._blocks._blocks] == [b.shape for b in expected._blocks._blocks]
        assert not any(block.flags.writeable for block in got._blocks._blocks)
    for columns in ([0], list(range(n_columns))[::-1], list(range(n_columns)), list(range(0, n_columns, 2)), []):
        expected = given.iloc[:, columns]
        got = en.read(path, columns=columns)
        assert got.shape == expected.shape
        assert got.equals(expected, compare_name=True, compare_dtype=True, compare_class=True) or not columns
        both = en.read(path, columns=columns, rows=(1, 2))
        assert both.equals(expected.iloc[1:2], compare_name=True, compare_dtype=True) or not columns
    view = en.open(path)[:2]
    assert view.to_static_frame().equals(given.iloc[:2], compare_name=True, compare_dtype=True)


def test_selected_neighbours_stay_together(path):
    en.write(frame(WIDE[:, :4], FIVE, WIDE[:, 4:6]), path)
    shapes = [block.shape for block in en.read(path, columns=[1, 2, 3, 4, 6, 5])._blocks._blocks]
    assert shapes == [(5, 3), (5,), (5, 1), (5, 1)]


def test_columns_by_name(path):
    en.write(frame(WIDE[:, :3], columns=["a", "b", "c"]), path)
    assert en.read(path, columns=["c", "a"]).columns.values.tolist() == ["c", "a"]
    en.write(FRAMES["index of dates"], path)
    assert en.open(path).column_names[0] == "2020-01-01"
    en.write(frame(WIDE[:, :3], columns=[1, 2, 3]), path, compression={"2": 80, None: 10})
    with pytest.raises(en.ColumnNotFoundError):
        en.write(frame(WIDE[:, :3]), path, compression={"x": 80})
    en.write(sf.Series((1, 2), name="s"), path, compression={"s": 0})


def test_what_repeats(path):
    en.write(FRAMES["index of strings"], path)
    with pytest.raises(en.ArgumentError, match="rows that repeat"):
        en.read(path, rows=[0, 0])
    with pytest.raises(en.ArgumentError, match="columns that repeat"):
        en.read(path, columns=["c1", "c1"])


def test_other_columns_than_those_of_a_series(path):
    en.write(sf.SeriesHE((1, 2), name="s", index=("a", "b")), path)
    same(sf.SeriesHE((1, 2), name="s", index=("a", "b")), en.read(path, columns="s"))
    assert en.read(path, columns=[]).shape == (2, 0)
    assert type(en.read(path, columns=[])) is sf.FrameHE
    en.write(INDEXES["Date"], path)
    assert len(en.read(path, columns=[])) == 3


REFUSED = [
    (lambda: frame(np.array([1, len, 3], dtype=object), columns=["o"]), r"frame\['o'\].iloc\[1\]: .*builtin_function"),
    (lambda: sf.Series((1, len)), r"series.iloc\[1\]: a value of type builtin_function"),
    (lambda: frame(FIVE[:2], index=[len, 1]), r"the index\[0\]: a value of type builtin_function"),
    (lambda: frame(FIVE[:1], columns=[len]), r"the column labels\[0\]: a value of type builtin_function"),
    (lambda: frame(FIVE[:1], index=ih((len, 1))), r"the index, level 0\[0\]: a value of type builtin_function"),
    (lambda: sf.Frame(WIDE, name=len), "the frame: a name: a value of type builtin_function"),
    (lambda: sf.Frame(WIDE).rename(index=len), "the index: a name: a value of type builtin_function"),
    (
        lambda: sf.Quilt.from_frame(sf.Frame(WIDE), chunksize=3, retain_labels=False),
        "static_frame.*Quilt can't be kept",
    ),
    (lambda: type("Mine", (sf.Frame,), {})(WIDE), "can't be kept"),
    (lambda: frame(FIVE[:1], index=type("Mine", (sf.Index,), {})(("a",))), "the index: .*Mine is not supported"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_is_refused(make, message, path):
    with pytest.raises(en.UnsupportedTypeError, match=message):
        en.write(make(), path)
    assert not path.exists()


# --- other hosts ---


def test_to_pandas(path):
    pd = pytest.importorskip("pandas")
    given = frame(WIDE[:, :2], OBJECTS, index=sf.IndexDate(DATES, name="d"), columns=["u", "v", "w"])
    en.write(given, path)
    got = en.read(path, to="pandas")
    assert got.columns.tolist() == ["u", "v", "w"]
    assert got.index.equals(pd.Index(DATES.astype("M8[s]")))
    assert got.index.name == "d"
    assert got["w"].isna().tolist() == [False, True, False, False, False]
    en.write(FRAMES["hierarchy with names"], path)
    got = en.read(path, to="pandas")
    assert got.index.names == ["x", "y"]
    assert got.index.tolist() == [("a", 1), ("b", 2)]
    assert got.columns.tolist() == [(1, 2), (3, 4)]
    en.write(FRAMES["auto labels with names"], path)
    got = en.read(path, to="pandas")
    assert type(got.index) is type(got.columns) is pd.RangeIndex
    assert (got.index.name, got.columns.name) == ("i", "c")
    en.write(SERIES["named"], path)
    assert en.read(path, to="pandas").to_dict() == {"('n', 1)": {"x": "a", "y": "bb", "z": ""}}
    en.write(frame(FIVE, index=FIVE.astype("f2")), path)
    with pytest.raises(en.UnsupportedTypeError, match="float16"):
        en.read(path, to="pandas")
    en.write(frame(times("ps")), path)
    with pytest.raises(en.UnsupportedTypeError, match="pandas has no"):
        en.read(path, to="pandas")


def test_to_arrow(path):
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    given = frame(FIVE, OBJECTS, index=sf.IndexSecond(times("s")[[0, 2, 3, 4, 1]], name="t"), columns=["1", "w"])
    en.write(given, path)
    table = en.read(path, to="pyarrow")
    assert table.column_names == ["t", "1", "w"]
    assert table.schema.field("t").type == pa.timestamp("s")
    assert table["w"].to_pylist() == OBJECTS.tolist()
    assert en.read(path, to="polars", columns=["1"])["1"].to_list() == list(range(5))
    en.write(INDEXES["hierarchy"], path)
    assert en.read(path, to="polars").cast({"x": pl.String}).to_dict(as_series=False) == {"x": ["a", "b"], "y": [1, 2]}
    en.write(frame(FIVE * 1j), path)
    with pytest.raises(en.UnsupportedTypeError, match="no counterpart in Arrow"):
        en.read(path, to="pyarrow")


def test_to_numpy(path):
    en.write(frame(FIVE, np.array(["a"] * 5, "U9"), KINDS, index=list("abcde"), columns=["x", "y", "z"]), path)
    got = en.read(path, to="numpy")
    assert list(got) == ["index", "x", "y", "z"]
    assert got["y"].dtype == "U9"
    assert [repr(cell) for cell in got["z"]] == [repr(cell) for cell in KINDS]


def test_from_pandas(path):
    pd = pytest.importorskip("pandas")
    given = pd.DataFrame(
        {
            "i": np.arange(3),
            "f": [1.5, np.nan, -0.0],
            "g": [1.0, 2, 3],
            "n": pd.array([1, 2, 3], dtype="Int64"),
            "s": ["x", None, "é"],
            "c": pd.Categorical(["u", None, "v"]),
            "t": pd.to_datetime(["2020", None, "2021"]),
        },
        index=pd.Index([5, 6, 7], name="k"),
    )
    en.write(given, path)
    got = en.read(path, to="static_frame")
    assert type(got) is sf.Frame
    assert got.dtypes.values.tolist() == [np.dtype(t) for t in ("i8", "f8", "f8", "i8", "O", "O", given["t"].dtype)]
    assert got["s"].values.tolist() == ["x", None, "é"]
    assert got["c"].values.tolist() == ["u", None, "v"]
    assert (got.index.values.tolist(), got.index.name) == ([5, 6, 7], "k")
    assert got.columns.values.dtype.kind == "U"
    assert [block.shape for block in got._blocks._blocks][:2] == [(3,), (3, 2)]
    assert got.equals(en.read(path, to="static_frame", rows=slice(None)))
    assert en.read(path, to="static_frame", rows=[2, 0], columns=["g", "i"]).to_pairs() == (
        ("g", ((7, 3.0), (5, 1.0))),
        ("i", ((7, 2), (5, 0))),
    )
    multi = pd.MultiIndex.from_arrays([["a", "b", "a"], pd.to_datetime(["2020", "2021", "2022"])], names=["x", "y"])
    en.write(given[["i"]].set_axis(multi), path)
    got = en.read(path, to="static_frame")
    assert got.index.index_types.values.tolist() == [sf.Index, getattr(sf, _unit_class(multi.levels[1].dtype))]
    assert got.index.name == ("x", "y")
    en.write(given[["i", "f"]].set_axis([0, 1], axis=1).reset_index(drop=True), path)
    got = en.read(path, to="static_frame")
    assert got.columns.values.tolist() == [0, 1]
    assert got.index._map is None
    for index, message in [
        (pd.Index([1, 1, 2]), "repeat"),
        (pd.date_range("2020", periods=3, tz="UTC"), "no time zones"),
        (pd.Index([1, None, 2], dtype="Int64"), "missing values"),
    ]:
        en.write(given[["i"]].set_axis(index), path)
        with pytest.raises(en.UnsupportedTypeError, match=message):
            en.read(path, to="static_frame")
    en.write(given[["i"]].assign(z=pd.array([1, None, 3], dtype="Int64")), path)
    with pytest.raises(en.UnsupportedTypeError, match="column 'z'"):
        en.read(path, to="static_frame")
    en.write(given[["i", "i"]], path)
    with pytest.raises(en.DuplicateColumnError, match="different names"):
        en.read(path, to="static_frame")
    assert en.read(path, to="static_frame", columns=[1]).shape == (3, 1)


def _unit_class(dtype: Any) -> str:
    units = {"s": "Second", "ms": "Millisecond", "us": "Microsecond", "ns": "Nanosecond"}
    return f"Index{units[np.datetime_data(dtype)[0]]}"


def test_from_arrow_and_numpy(path):
    pl = pytest.importorskip("polars")
    given = pl.DataFrame(
        {
            "d": [datetime.date(2020, 1, 1), None],
            "s": ["a", "b\0"],
            "f": [1.5, None],
            "b": [True, False],
            "z": pl.Series([None, None], dtype=pl.Null),
            "y": [b"x", None],
        }
    )
    en.write(given, path)
    got = en.read(path, to="static_frame")
    assert [str(d) for d in got.dtypes.values] == ["datetime64[D]", "object", "float64", "bool", "object", "object"]
    assert got["s"].values.tolist() == ["a", "b\0"]
    arrays = {"a": FIVE, "b": FIVE + 1, "u": np.array(["x"] * 5, "U3"), "k": KINDS, "m": np.arange(5).view("m8")}
    en.write(arrays, path)
    got = en.read(path, to="static_frame")
    assert [block.shape for block in got._blocks._blocks] == [(5, 2), (5,), (5,), (5,)]
    for name, array in arrays.items():
        same_array(array, got[name].values)
    assert en.read(path, to="static_frame", columns=[]).shape == (5, 0)
    en.write({}, path)
    assert en.read(path, to="static_frame").shape == (0, 0)


# --- files that make no sense ---

SPEC = {"class": "Index", "kind": "range", "start": 0, "stop": 5, "step": 1, "name": None}
NAMED = {"class": "Index", "kind": "names", "dtype": "str", "width": 1, "name": None}
COLUMN = {"class": "Index", "kind": "column", "column": ColumnRef(0), "name": None}
MULTI = {"class": "IndexHierarchy", "kind": "multi", "columns": [], "classes": [], "names": [], "name": None}
GOOD = {"host": "static_frame", "class": "Frame", "name": None, "index": SPEC, "columns": NAMED, "blocks": [2]}
MALFORMED: list[dict[str, Any]] = [
    {"host": "static_frame"},
    {"host": "static_frame", "class": "Frame"},
    GOOD | {"class": "Bus"},
    GOOD | {"class": ["Frame"]},
    GOOD | {"class": "FrameGO"},
    {key: value for key, value in GOOD.items() if key != "columns"},
    GOOD | {"index": 3},
    GOOD | {"index": SPEC | {"stop": 4}},
    GOOD | {"index": SPEC | {"step": 0}},
    GOOD | {"index": SPEC | {"class": "IndexGO"}},
    GOOD | {"index": SPEC | {"class": "IndexDate"}},
    GOOD | {"index": SPEC | {"class": "Frame"}},
    GOOD | {"index": {"kind": "nothing"}},
    GOOD | {"index": COLUMN | {"class": "IndexDate"}},
    GOOD | {"index": COLUMN | {"column": 3}},
    GOOD | {"index": COLUMN | {"column": ColumnRef(1)}},
    GOOD | {"index": MULTI},
    GOOD | {"index": MULTI | {"columns": [ColumnRef(0)] * 2, "classes": ["Index"] * 2, "names": [None] * 2}},
    GOOD | {"columns": NAMED | {"width": -1}},
    GOOD | {"columns": NAMED | {"width": "1"}},
    GOOD | {"columns": NAMED | {"width": 1 << 40}},
    GOOD | {"columns": NAMED | {"class": "IndexYear"}},
    GOOD | {"columns": COLUMN},
    GOOD | {"blocks": 3},
    GOOD | {"blocks": [3]},
    GOOD | {"blocks": [-3]},
    GOOD | {"blocks": []},
    GOOD | {"blocks": [1.0, 1.0]},
    GOOD | {"blocks": [-(1 << 63), 2]},
    GOOD | {"blocks": [1 << 62, 1 << 62]},
    GOOD | {"blocks": ColumnRef(0)},
    GOOD | {"blocks": ColumnRef(1)},
    GOOD | {"name": {"tuple": 3}},
    GOOD | {"name": {"nothing": 3}},
    GOOD | {"name": {}},
    GOOD | {"name": [1]},
    GOOD | {"name": {"integer": "x"}},
    GOOD | {"name": {"date": "yesterday"}},
    GOOD | {"name": {"timedelta": [1 << 60, 0, 0]}},
    GOOD | {"name": {"complex": ["1", 2]}},
    GOOD | {"name": {"numpy": ["O", bytes(8)]}},
    GOOD | {"name": {"numpy": ["<i8", bytes(7)]}},
    GOOD | {"name": {"numpy": ["i8,f8", bytes(16)]}},
    GOOD | {"name": {"numpy": ["no such", b""]}},
    {"host": "static_frame", "class": "Series", "name": None, "index": SPEC},
    {"host": "static_frame", "class": "IndexDate", "index": SPEC},
]


def forge(path: Any, host: dict[str, Any]) -> None:
    builder = Builder(5, ["a", "b"])
    builder.words(np.arange(5), 0)
    builder.words(np.arange(5), 1)
    builder.words(np.array([1, 1, 2, 3, 4], "i4"), None, name="i")
    builder.write(str(path), host, 50, [], None, None)


def test_forged_and_sound(path):
    forge(path, GOOD)
    assert en.read(path).shape == (5, 2)


@pytest.mark.parametrize("host", MALFORMED, ids=repr)
def test_host_map(host, path):
    forge(path, host)
    with pytest.raises((en.CorruptFileError, en.LimitError)) as caught:
        en.read(path)
    assert caught.value.file == str(path) or type(caught.value) is en.LimitError
    en.verify(path)


@pytest.mark.parametrize("codes", [[-2], [2]])
def test_block_of_several_types(codes, path):
    builder = Builder(5, ["a", "b"])
    builder.words(np.arange(5), 0)
    builder.words(np.arange(5.0), 1)
    builder.write(str(path), GOOD | {"blocks": codes}, 50, [], None, None)
    with pytest.raises(en.CorruptFileError, match="several types"):
        en.read(path)


def test_missing_values_where_there_are_none(path):
    builder = Builder(5, ["a", "b"])
    builder.words(np.arange(5), 0, mask=np.arange(5) == 2, missing="NA")
    builder.words(np.arange(5.0), 1)
    builder.write(str(path), GOOD | {"blocks": [0, 0]}, 50, [], None, None)
    with pytest.raises(en.CorruptFileError, match="missing values"):
        en.read(path)


def test_strings_wider_than_told(path):
    builder = Builder(5, ["a", "b"])
    builder.text(np.array(["abc"] * 5, dtype=object), 0, flavour=1)
    builder.words(np.arange(5.0), 1)
    builder.write(str(path), GOOD | {"blocks": [0, 0]}, 50, [], None, None)
    with pytest.raises(en.CorruptFileError):
        en.read(path)


@pytest.mark.parametrize("name", ["both orders", "tall, both", "wide, one-dimensional", "index of dates"])
def test_mapped(name, path):
    given = FRAMES[name]
    en.write(given, path, compression=0)
    back = en.read(path, memory_map=True)
    same(given, back, order=False)
    with en.open(path, memory_map=True) as file:
        assert file[1:3].to_static_frame().equals(given.iloc[1:3], compare_dtype=True, compare_name=True)
        some = [given.shape[1] - 1, 0]
        assert file[:, some].read().equals(given.iloc[:, some], compare_dtype=True, compare_name=True)


# --- anything ---

ELEMENTS = {
    "i8": st.integers(-(1 << 63), (1 << 63) - 1),
    "u1": st.integers(0, 255),
    "f8": st.floats(),
    "f4": st.floats(width=32),
    "?": st.booleans(),
    "U4": st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4),
    "M8[D]": st.integers(-(1 << 63), 1 << 62),
}


@st.composite
def frames(draw: Any) -> Any:
    n = draw(st.integers(0, 6))
    blocks = []
    for _ in range(draw(st.integers(1, 6))):
        dtype = draw(st.sampled_from(sorted(ELEMENTS)))
        width = draw(st.sampled_from([0, 1, 2, 3, 9]))
        values = draw(st.lists(ELEMENTS[dtype], min_size=n * max(width, 1), max_size=n * max(width, 1)))
        array = np.array(values, "i8").view(dtype) if dtype == "M8[D]" else np.array(values, dtype)
        if width:
            array = array.reshape(n, width)
            array = columns(array) if draw(st.booleans()) else array
        blocks.append(array)
    text = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
    labels = draw(st.lists(text, min_size=n, max_size=n, unique=True))
    index = np.array(labels, dtype=object) if draw(st.booleans()) else None
    cls = draw(st.sampled_from([sf.Frame, sf.FrameGO, sf.FrameHE]))
    name = draw(st.one_of(st.none(), text, st.integers(), st.tuples(st.booleans())))
    return cls(sf.TypeBlocks.from_blocks(blocks), index=index, name=name)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=frames(), compression=st.sampled_from([0, 50, 90]))
def test_any_frame(value, compression, path):
    en.write(value, path, compression=compression)
    same(value, en.read(path))
    n = value.shape[0]
    assert en.read(path, rows=(n // 2, n)).equals(value.iloc[n // 2 :], compare_name=True, compare_dtype=True)
