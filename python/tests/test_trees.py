"""Trees of values: what is written comes back, exactly; parts of a file are read without the rest."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import datetime
import enum
import fractions
import math
import os
import pathlib
import struct
import subprocess
import sys
import typing
import uuid
import warnings
import zoneinfo
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import entasis as en

UTC, HOUR = datetime.UTC, datetime.timedelta(hours=1)


def same(left, right):
    """Whether two values are equal: types, order, bits, and all below."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        pairs = zip(left.items(), right.items(), strict=False)
        return len(left) == len(right) and all(same(a, b) for a, b in pairs)
    if isinstance(left, (list, tuple, collections.deque)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, (float, np.floating)):
        if isinstance(left, np.longdouble):
            return left == right
        return np.array(left).tobytes() == np.array(right).tobytes()
    if isinstance(left, np.ma.MaskedArray):
        return same(left.data, right.data) and same(left.mask, right.mask)
    if isinstance(left, np.ndarray):
        alike = (left.dtype, left.shape) == (right.dtype, right.shape)
        order = left.ndim < 2 or left.flags.f_contiguous == right.flags.f_contiguous
        if left.dtype.char in "gG":
            # What fills long doubles up is no part of them.
            return alike and bool((left == right).all())
        if left.dtype.kind == "O":
            return alike and same(left.ravel().tolist(), right.ravel().tolist())
        if left.dtype.kind == "T":
            return alike and same(left.astype(object), right.astype(object))
        return alike and order and left.tobytes() == right.tobytes()
    if hasattr(left, "equals"):
        return bool(left.equals(right))
    if isinstance(left, (set, frozenset)):
        return left == right and sorted(map(repr, left)) == sorted(map(repr, right))
    return repr(left) == repr(right)


@dataclasses.dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: typing.Any = None


@dataclasses.dataclass
class Model:
    name: str
    weights: typing.Any


class Pair(typing.NamedTuple):
    a: int
    b: str


class Colour(enum.Enum):
    RED = 1
    BLUE = ("b", 2)


NAN = struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_0000_0123))[0]
SCALARS = {
    "none": None,
    "booleans": [True, False],
    "ellipsis": ...,
    "integers": [0, 1, -1, 2**63 - 1, -(2**63), 2**63, 2**64, -(2**63) - 1, 10**50, -(2**127), 2**127, -(2**71) - 1],
    "floats": [0.0, -0.0, 1.5, math.inf, -math.inf, NAN, 5e-324],
    "complex": [1 + 2j, complex(-0.0, math.inf)],
    "text": ["", "é\U0001f600", "a\0b", "\ud800", "x\udfff" * 3, "long" * 1000],
    "bytes": [b"", b"\0\xff", bytearray(b"y"), bytearray()],
    "ranges": [range(5), range(10, 0, -3), range(0), slice(None), slice(1, "a", None)],
    "dates": [datetime.date.min, datetime.date(2020, 2, 29), datetime.date.max],
    "times": [datetime.time(), datetime.time(23, 59, 59, 999999)],
    "full times": [datetime.time(1, fold=1), datetime.time(2, tzinfo=UTC)],
    "datetimes": [
        datetime.datetime.min,
        datetime.datetime.max,
        datetime.datetime(1969, 12, 31, 23, 59, 59, 999999),
        datetime.datetime(2020, 1, 1, tzinfo=UTC),
        datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone(HOUR * -3.5, "half")),
        datetime.datetime(2020, 10, 25, 2, 30, tzinfo=zoneinfo.ZoneInfo("Europe/Oslo"), fold=1),
    ],
    "spans": [datetime.timedelta(), -datetime.timedelta.resolution, datetime.timedelta.min, datetime.timedelta.max],
    "zones": [UTC, datetime.timezone(HOUR), zoneinfo.ZoneInfo("Asia/Tokyo")],
    "decimals": [Decimal(t) for t in ("0", "-0", "1.50", "1E+9", "NaN", "-sNaN12", "Infinity", "1" * 60)],
    "fractions": [fractions.Fraction(1, 3), fractions.Fraction(-(2**80), 7)],
    "uuid": uuid.UUID(int=2**127 + 5),
    "paths": [pathlib.PurePosixPath("/a/b"), pathlib.PureWindowsPath("c:\\x"), pathlib.Path("x/y"), pathlib.PurePath()],
    "numpy": [
        np.int8(-3), np.uint64(2**64 - 1), np.int64(-(2**63)), np.float64(-0.0), np.float32(0.1), np.float16(1.5),
        np.float32("nan"), np.float64("nan"), np.True_, np.False_, np.str_("x"), np.bytes_(b"y\0z"),
        np.complex64(1 - 2j), np.datetime64("2020-01-01", "D"), np.datetime64("NaT"), np.timedelta64(3, "ms"),
        np.longdouble(1) / 3, np.void(b"abc"), np.array([(1, 2.5)], [("a", "i4"), ("b", "f8")])[0],
        np.dtype("M8[ns]"), np.dtype([("a", "i4")]),
    ],
    "collections": [
        collections.OrderedDict(b=1, a=2), collections.Counter("abca"), collections.deque([1, [2]], 5),
        collections.deque(), collections.defaultdict(list, a=[1]), collections.defaultdict(None),
    ],
}  # fmt: skip
ARRAYS = {
    "two axes": np.arange(6).reshape(2, 3),
    "Fortran": np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)),
    "neither order": np.arange(24).reshape(2, 3, 4).transpose(1, 0, 2),
    "backwards": np.arange(5)[::-1],
    "strided": np.arange(20)[::3],
    "no axes": np.array(2.5),
    "one": np.array([[7]]),
    "empty": np.zeros((0, 3)),
    "empty axis": np.zeros((3, 0, 2), order="F"),
    "many axes": np.arange(64).reshape((2,) * 6),
    "booleans": np.array([[True, False]]),
    "U": np.array([["a", "bcé"]]),
    "U, surrogates": np.array(["\ud800"]),
    "S": np.array([b"a", b"bcd"]),
    "M8": np.array(["2020", "NaT"], "M8[D]"),
    "m8": np.array([[1], [2]], "m8[us]"),
    "big": np.arange(4, dtype=">i4").reshape(2, 2),
    "f2": np.arange(3, dtype="f2"),
    "c16": np.array([1 + 2j]),
    "longdouble": np.array([1, 2], "longdouble") / 3,
    "clongdouble": np.array([1j], "clongdouble"),
    "V": np.array([b"abc"], "V3"),
    "records": np.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("b", "f8")]),
    "strings": np.array([["a", "b" * 99]], np.dtypes.StringDType()),
    "objects": np.array([[1, "a", None], [{}, (2,), [np.arange(2)]]], dtype=object),
    "objects, none": np.empty((2, 0), dtype=object),
    "large": np.arange(100_000),
    "large, two axes": np.arange(300_000.0).reshape(3, -1),
    "masked": np.ma.array([1, 2, 3], mask=[0, 1, 0], fill_value=9),
    "masked, no mask": np.ma.array([1.5, 2]),
}
TREES = {
    "lists": [[], [[]], [1, [2, [3, [4]]]], (), ((),), [(1,), [2]]],
    "mixed": [1, 2.5, "a", None, True, b"x", (1, [2, {"a": {1, 2}}])],
    "sets": [set(), {1, 2, 3}, {"b", "a"}, {1, "a", None, (2, 3)}, frozenset(), frozenset({frozenset({1}), "x"})],
    "keys": {"": 1, 1: 2, 1.5: 3, None: 4, (1, ("a", None)): 5, True + 1: 6, b"x": 7, frozenset({1}): 8, "\ud800": 9},
    "empty": [{}, {"a": {}}, {"b": []}],
    "order": {"z": 1, "a": 2, "m": {"y": 1, "b": 2}},
    "records": [{"id": i, "name": f"n{i}", "x": i / 4, "tags": ["a"] * (i % 3)} for i in range(300)],
    "records, some other keys": [{"id": i} if i % 3 else {"id": i, "x": None} for i in range(50)],
    "long": list(range(10_000)) + [float(i) for i in range(10_000)] + [str(i) for i in range(10_000)],
    "arrays": [np.arange(i % 7) for i in range(2000)] + [np.full((2, i % 3), 1.5) for i in range(50)],
    "arrays by name": {"a": np.arange(3), "b": np.arange(4), "c": {"d": np.zeros((2, 2))}},
}
ALL = {**SCALARS, **ARRAYS, **TREES}


@pytest.mark.parametrize("name", ALL)
def test_comes_back(name, round_trip, path):
    value = ALL[name]
    for given_ in (value, [value], {"a": [value, value]}):
        back = round_trip(given_)
        assert same(given_, back), (given_, back)
        en.verify(path)


def test_all_at_once(round_trip, path):
    assert same(ALL, round_trip(ALL))
    for compression in (0, 80):
        en.write(ALL, path, compression=compression, threads=1)
        first = path.read_bytes()
        assert same(ALL, en.read(path))
        en.write(ALL, path, compression=compression, threads=4)
        assert path.read_bytes() == first


def test_tables_stay_tables(path):
    for arrays in ({}, {"a": np.arange(3)}, {"a": np.arange(3), "b": np.array(["x", "y", "z"])}):
        en.write(arrays, path)
        assert isinstance(en.open(path), en.File)
        assert same(arrays, en.read(path))


# --- frames and what belongs to them ---


def pandas_values():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None]}, index=pd.Index([3, 1, 2], name="i"))
    out = {
        "frame": frame,
        "series": frame["a"],
        "series of text": pd.Series(["x", None], name=("t", 1)),
        "series without a name": pd.Series([1.5, None]),
        "series of objects": pd.Series([1, "a", [2]], name=0),
        "range": pd.RangeIndex(2, 10, 2, name="r"),
        "index": pd.Index(["a", "b"], name="q"),
        "index of objects": pd.Index([1, "a", None]),
        "dates": pd.date_range("2020", periods=4, freq="2D", tz="Europe/Oslo"),
        "spans": pd.timedelta_range("1D", periods=3, freq="h"),
        "periods": pd.period_range("2020-01", periods=3, freq="Q"),
        "intervals": pd.IntervalIndex.from_breaks([0, 1, 2.5], closed="both"),
        "categories": pd.CategoricalIndex(["a", "b", "a"], ordered=True),
        "multi": pd.MultiIndex.from_product([[1, 2], ["a", "b"]], names=["x", None]),
        "Categorical": pd.Categorical(["a", None, "b"], categories=["b", "a"], ordered=True),
        "Int64": pd.array([1, None, 3], dtype="Int64"),
        "string": pd.array(["a", None], dtype="string"),
        "datetimes": pd.array(pd.date_range("2020", periods=2)),
        "NA": pd.NA,
        "NaT": pd.NaT,
        "Timestamp": [pd.Timestamp("2020"), pd.Timestamp("2020").as_unit("s"), pd.Timestamp(1, tz="UTC")],
        "Timestamp, zone": pd.Timestamp("2020-10-25 01:30", tz="UTC").tz_convert("Europe/Oslo"),
        "Timestamp, datetime zone": pd.Timestamp("2020", tz=UTC),
        "Timedelta": [pd.Timedelta("1D"), pd.Timedelta(1, "s").as_unit("s")],
        "Period": [pd.Period("2020-01"), pd.Period("2020", "Y")],
        "Interval": [pd.Interval(1, 2), pd.Interval(pd.Timestamp("2020"), pd.Timestamp("2021"), "left")],
        "offset": pd.offsets.Day(2),
    }
    out["attrs"] = frame["a"].copy()
    out["attrs"].attrs = {"unit": ("m", 2)}
    return out


def arrow_values():
    pa = pytest.importorskip("pyarrow")
    batch = pa.record_batch({"a": [1, 2], "b": ["x", None]})
    return {
        "table": pa.table({"a": [1, 2]}),
        "batch": batch,
        "batch, no rows": batch.slice(0, 0),
        "array": pa.array([1, None, 3]),
        "array, none": pa.array([], pa.string()),
        "array, part": pa.array(["a", "b", "c"])[1:],
        "array, dictionary": pa.array(["a", "b", "a"]).dictionary_encode(),
        "chunks": pa.chunked_array([[1.5], [2.5, None]]),
        "scalars": [pa.scalar(5), pa.scalar("x"), pa.scalar(None, pa.int8())],
    }


def polars_values():
    pl = pytest.importorskip("polars")
    return {
        "frame": pl.DataFrame({"a": [1, None]}),
        "series": pl.Series("s", ["x", None]),
        "series of categories": pl.Series("c", ["x", "y", "x"], dtype=pl.Categorical),
    }


LIBRARIES = {"pandas": pandas_values, "pyarrow": arrow_values, "polars": polars_values}


@pytest.mark.parametrize("library", LIBRARIES)
def test_values_of_libraries(library, round_trip, path):
    values = LIBRARIES[library]()
    for name, value in values.items():
        for given_ in (value, {"x": [value, 1]}):
            back = round_trip(given_)
            assert same(given_, back), (name, given_, back)
            en.verify(path)
    assert same(values, round_trip(values))


def test_frames_with_nested_columns(path):
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    table = pa.table({
        "n": pa.array([1, 2, 3]),
        "l": pa.array([[1, 2], None, []]),
        "s": pa.array([{"a": 1, "b": ["x"]}, None, {"a": None, "b": []}]),
        "d": pa.array([["a"], ["b"], ["a"]], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
    })  # fmt: skip
    frame = pl.DataFrame({"a": [[1, 2], [3]], "c": pl.Series(["u", "v"], dtype=pl.Categorical)})
    en.write([table, frame, {"again": table}], path)
    got = en.read(path)
    assert got[0].equals(table)
    assert got[1].equals(frame)
    assert got[2]["again"] is got[0]
    en.write([frame, table.slice(1)], path)
    part = en.open(path)[1]
    assert part.read().equals(table.slice(1))
    assert part.read(columns=["s", "l"], rows=(1, 2)).equals(table.select(["s", "l"]).slice(2, 1))
    en.verify(path)


def test_names_and_state_of_pandas(round_trip, path):
    pd = pytest.importorskip("pandas")
    for name, value in pandas_values().items():
        back = round_trip(value)
        if isinstance(value, pd.Series):
            pd.testing.assert_series_equal(value, back)
            assert (type(value.name), value.attrs) == (type(back.name), back.attrs), name
        if isinstance(value, pd.Index):
            pd.testing.assert_index_equal(value, back, exact=True)
            assert getattr(value, "freq", None) == getattr(back, "freq", None), name
    series = pandas_values()["series"]
    en.write(series, path)
    pd.testing.assert_series_equal(en.read(path, rows=(1, 3)), series[1:3])
    pd.testing.assert_frame_equal(en.read(path, to="pyarrow").to_pandas()[["a"]], series.reset_index()[["a"]])


def test_a_lazy_frame_is_collected(round_trip):
    pl = pytest.importorskip("polars")
    assert round_trip({"a": pl.LazyFrame({"x": [1]})})["a"].equals(pl.DataFrame({"x": [1]}))


@pytest.mark.parametrize("form", ["matrix", "array"])
@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_sparse(layout, form, round_trip):
    sparse = pytest.importorskip("scipy.sparse")
    value = getattr(sparse, f"{layout}_{form}")(np.array([[1, 0, 2.5], [0, 0, 3]]))
    back = round_trip([value])[0]
    assert type(back) is type(value)
    assert (back.dtype, back.shape) == (value.dtype, value.shape)
    assert same(back.toarray(), value.toarray())


# --- classes ---

RECORDS = [Point(1, [2]), Model("m", {"w": np.arange(3)}), Pair(1, "b"), Colour.BLUE, [Point(i) for i in range(5)]]


def test_records(round_trip, path):
    for value in RECORDS:
        back = round_trip(value)
        assert same(round_trip(back), back) or isinstance(value, Model)
    back = round_trip(RECORDS)
    assert [type(item) for item in back[:4]] == [en.Record] * 4
    point, model, pair, colour, _ = back
    assert (point.x, point.y, point.kind) == (1, [2], "dataclass")
    assert point.name.endswith("test_trees.Point")
    assert same(model.weights, {"w": np.arange(3)})
    assert (pair.kind, pair.fields) == ("namedtuple", {"a": 1, "b": "b"})
    assert (colour.kind, colour.fields["name"], colour.value) == ("enum", "BLUE", ("b", 2))
    with pytest.raises(AttributeError, match="no 'z'"):
        _ = point.z
    back = en.read(path, types=[Point, Model, Pair, Colour])
    assert (back[0], back[2], back[4]) == (RECORDS[0], RECORDS[2], RECORDS[4])
    assert type(back[1]) is Model
    assert same(back[1].weights, RECORDS[1].weights)
    assert back[3] is Colour.BLUE
    with en.open(path, types=[Point]) as tree:
        assert tree[0].read() == Point(1, [2])
        assert tree[1]["weights"]["w"][1:].read().tolist() == [1, 2]


def test_classes_that_changed(path):
    en.write([Point(1)], path)
    other = dataclasses.make_dataclass("Point", ["x", "z"])
    other.__module__ = __name__
    with pytest.raises(en.UnsupportedTypeError, match="another class"):
        en.read(path, types=[other])
    with pytest.raises(en.ArgumentError):
        en.read(path, types=["Point"])


# --- identity ---


def test_shared_values_stay_shared(round_trip, path):
    items, array = [1, 2], np.arange(3)
    back = round_trip({"a": items, "b": [items, (items,)], "c": array, "d": [array]})
    assert back["a"] is back["b"][0] is back["b"][1][0]
    assert back["c"] is back["d"][0]
    en.verify(path)
    empty = []
    back = round_trip([empty, {"a": empty}, (), ()])
    assert back[0] is back[1]["a"]
    # The second one is named before the first one is read.
    outer = [[], []]
    outer[0].append(outer[1])
    outer[1].append(7)
    back = round_trip(outer)
    assert back[0][0] is back[1]
    with en.open(path) as tree:
        assert tree[0][0].read() == [7]
        assert tree[0:1].read() == [[[7]]]


def test_sharing_does_not_multiply(round_trip, path):
    value = []
    for _ in range(60):
        value = [value, value]
    back = round_trip(value)
    assert path.stat().st_size < 10_000
    for _ in range(60):
        assert back[0] is back[1]
        back = back[0]


def test_deep_sharing(round_trip, path):
    """References don't count as depth."""

    def nest(value, n=900):
        for _ in range(n):
            value = [value]
        return value

    inner = [7]
    middle = [nest(inner)]
    back = round_trip([inner, middle, nest(middle)])
    en.verify(path)
    for _ in range(900):
        back[2] = back[2][0]
    assert back[2] is back[1]
    back = back[1][0]
    for _ in range(900):
        back = back[0]
    assert back == [7]


def cycles():
    one = []
    one.append(one)
    a, b = [1], {}
    a.append(b)
    b["a"] = a
    left, right = [], []
    left.append(right)
    right.append(left)
    deque = collections.deque()
    deque.append({"d": deque})
    array = np.empty(1, object)
    array[0] = [array]
    return {"list": one, "two": a, "neighbours": [left, right], "deque": deque, "array": array}


@pytest.mark.parametrize("name", ["list", "two", "neighbours", "deque", "array"])
def test_cycles_are_refused(name, path):
    path.write_bytes(b"old")
    with pytest.raises(en.UnsupportedTypeError, match=r"value.*contains itself"):
        en.write(cycles()[name], path)
    assert path.read_bytes() == b"old"
    assert len(list(path.parent.iterdir())) == 1


# --- what can't be kept ---


def test_depth(path):
    for make in (lambda x: [x], lambda x: {"a": x}, lambda x: (x,)):
        value = None
        for _ in range(990):
            value = make(value)
        en.write(value, path)
        en.verify(path)
        back = en.read(path)
        for _ in range(990):
            (back,) = back.values() if isinstance(back, dict) else back
        assert back is None
        for _ in range(10_000):
            value = make(value)
        with pytest.raises(en.UnsupportedTypeError, match=r"more\).*nested deeper than 1000"):
            en.write(value, path)


class Mine:
    pass


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (len, r"^value: a value of type builtin_function_or_method"),
        ({"a": [1, 2, 3, Point(len)]}, r"^value\['a'\]\[3\]\.x: a value of type builtin_function_or_method"),
        ([{("k", len): 1}], r"value\[0\] \(the key .*\)\[1\]: a value of type"),
        ([Mine()], r"value\[0\]: a value of type .*test_trees.Mine"),
        ([type("Text", (str,), {})("x")], r"value\[0\]: a value of type .*Text"),
        ({"x": {1, len}}, r"value\['x'\]\[\d\]: "),
        ([np.array([1, len], dtype=object)], r"value\[0\]\[1\]: "),
        ([np.zeros(2, [("a", "O")])], r"field of dtype object"),
        ([datetime.datetime(2020, 1, 1, tzinfo=type("Z", (datetime.tzinfo,), {})())], r"value\[0\]: the time zone"),
        ([iter([])], r"value\[0\]: "),
    ],
    ids=str,
)
def test_what_is_refused(value, message, path):
    path.write_bytes(b"old")
    with pytest.raises(en.UnsupportedTypeError, match=message):
        en.write(value, path)
    assert path.read_bytes() == b"old"
    assert len(list(path.parent.iterdir())) == 1


def test_on_unsupported(path):
    value = {"a": len, "b": [1, len, 2], "c": {3, len}, "d": (len,), "e": Point(1)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        en.write(value, path, on_unsupported="skip", metadata=[len])
    assert en.read(path) == {"b": [1, 2], "c": {3}, "d": (), "e": en.read(path)["e"]}
    assert "value['b'][1]: builtin_function_or_method" in str(caught[0].message)
    assert en.open(path).metadata == []
    en.write(value, path, on_unsupported=lambda value, path: (path, value.__name__))
    back = en.read(path)
    assert (back["a"], back["b"]) == (("value['a']", "len"), [1, ("value['b'][1]", "len"), 2])
    for bad in (lambda value, path: value, lambda value, path: [value]):
        with pytest.raises(en.UnsupportedTypeError, match="value"):
            en.write(value, path, on_unsupported=bad)
    with pytest.raises(en.UnsupportedTypeError, match="a part of it"):
        en.write(Point(len), path, on_unsupported="skip")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"o": [1, len, "a"], "i": [1, 2, 3]})
    with pytest.warns(UserWarning, match=r"value\[0\]: df\['o'\].iloc\[1\]: builtin_function"):
        en.write([frame], path, on_unsupported="skip")
    en.verify(path)
    assert en.read(path)[0]["o"].tolist() == [1, None, "a"]
    with pytest.raises(en.UnsupportedTypeError, match="nothing is left"):
        en.write(len, path, on_unsupported="skip")
    with pytest.raises(en.ArgumentError, match="on_unsupported"):
        en.write([1], path, on_unsupported="ignore")


# --- metadata ---


def test_metadata(path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1, 2]})
    kept = {"made": datetime.date(2020, 1, 1), "scores": [np.arange(3), (1, 2)], "frame": frame}
    for value in (frame, [1, frame], {"a": np.arange(3)}, 7):
        en.write(value, path, metadata=kept)
        en.verify(path)
        with en.open(path) as file:
            assert same(file.metadata, kept)
        assert same(en.info(path).metadata, kept)
        assert same(en.read(path), value)
    en.write(frame, path)
    assert en.open(path).metadata is None
    en.write(frame, path, metadata={"compression": 5}, compression={"a": 80})
    assert en.info(path).metadata == {"compression": 5}


# --- parts ---


def test_parts(path):
    pd = pytest.importorskip("pandas")
    matrix = np.arange(1_000_000).reshape(-1, 10)
    frame = pd.DataFrame({"a": range(100), "b": "x"})
    value = {
        "models": {"a": 1, "b": matrix, "f": np.asfortranarray(matrix[:50])},
        "list": [[i] for i in range(5000)],
        "objects": np.array([[i, [i]] for i in range(100)], dtype=object),
        "frame": frame,
        7: (1, "x"),
    }
    en.write(value, path)
    f = en.open(path)
    assert isinstance(f, en.Tree)
    assert (f.kind, len(f), f.keys(), list(f)) == ("dict", 5, list(value), list(value))
    assert "models" in f
    assert "x" not in f
    assert same(f["models"]["b"].read(), matrix)
    for rows in (slice(0, 100), slice(99, 20, -7), slice(5, 5), 3, [5, 1, 5], np.array([True] + [False] * 99_999)):
        wanted = matrix[rows] if not isinstance(rows, int) else matrix[rows : rows + 1]
        assert np.array_equal(f["models"]["b"][rows].read(), wanted)
        assert f["models"]["b"][rows].shape == wanted.shape
    assert np.array_equal(f["models"]["b"][100:200][10:20].read(), matrix[110:120])
    assert np.array_equal(np.asarray(f["models"]["b"][:5]), matrix[:5])
    assert same(f["models"]["f"][2:4].read(), value["models"]["f"][2:4])
    assert f["list"][4000:4003].read() == value["list"][4000:4003]
    assert f["list"][::-2000].read() == value["list"][::-2000]
    assert f["list"][-1].read() == [4999]
    assert f["list"].read(rows=(1, 3)) == [[1], [2]]
    assert f["objects"][3:5].read().tolist() == [[3, [3]], [4, [4]]]
    assert f["objects"][[9, 2]].read().tolist() == [[9, [9]], [2, [2]]]
    assert isinstance(f["frame"], en.File)
    pd.testing.assert_frame_equal(f["frame"][10:20].read(columns="a"), frame[["a"]][10:20])
    assert f["frame"].to_numpy()["b"][0] == "x"
    assert f[7][1].read() == "x"
    assert f["models"]["a"].read() == 1
    with pytest.raises(KeyError, match="no key 'x'"):
        f["x"]
    with pytest.raises(IndexError):
        f["list"][5000]
    with pytest.raises(en.ArgumentError, match="no parts"):
        f["models"]["a"][0]
    with pytest.raises(en.ArgumentError, match="tree"):
        en.read(path, columns="a")
    with pytest.raises(en.NotMappableError):
        en.open(path, memory_map=True)
    en.write(matrix, path)
    assert np.array_equal(en.read(path, rows=(5, 7)), matrix[5:7])


def test_a_part_is_read_without_the_rest(path):
    noise = np.random.default_rng(1)
    value = {"a": [noise.random(1000) for _ in range(2000)], "b": noise.random(3), "c": list(range(50_000))}
    en.write(value, path, compression=0)
    damaged = bytearray(path.read_bytes())
    # One array somewhere in the middle of the columns of all of them.
    at = damaged.find(value["a"][1000].tobytes())
    damaged[at] ^= 1
    path.write_bytes(damaged)
    f = en.open(path)
    assert f["b"].read().tolist() == value["b"].tolist()
    assert f["c"][40_000:40_002].read() == [40_000, 40_001]
    assert same(f["a"][0:3].read(), value["a"][0:3])
    assert same(f["a"][1990:].read(), value["a"][1990:])
    with pytest.raises(en.CorruptFileError):
        f["a"][999:1001].read()
    with pytest.raises(en.CorruptFileError):
        f.read()


def test_outline(path):
    en.write({"a": [1, "x"], "m": {"w": np.zeros((2, 3))}, "p": Point(1)}, path)
    f = en.open(path)
    text = f.tree()
    for line in ("value: dict, 3", "  'a': list, 2", "    [1]: str = 'x'", "array of f64, 2 x 3", "    'x': int = 1"):
        assert line in text.splitlines() or line in text
    assert repr(f).startswith("<entasis.Tree ")
    assert len(en.open(path).tree(depth=1).splitlines()) == 4
    pd = pytest.importorskip("pandas")
    shown = subprocess.run(
        [sys.executable, "-c", "import sys; from entasis._cli import main; sys.exit(main())", "tree", os.fspath(path)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "dict" in shown
    en.write(pd.DataFrame({"a": [1.5]}), path)
    assert en.open(path).tree().splitlines() == ["value: frame, 1 x 1, pandas", "  a: f64"]
    assert "2 x 3" in shown


# --- columns of objects ---

CELLS = [
    "a", None, math.nan, b"x", 1, 2**80, True, 1.5, Decimal("1.50"), uuid.UUID(int=1), datetime.date(2020, 1, 1),
    datetime.time(1), [1, [2]], (3,), {4}, {"k": 5}, np.arange(3), Point(1), "\ud800",
]  # fmt: skip


def test_columns_of_objects(round_trip, path):
    pd = pytest.importorskip("pandas")
    cells = [*CELLS[:-2], pd.NA, pd.NaT, pd.DataFrame({"q": [1]}), pd.Timestamp("2020"), "\ud800"]
    column = pd.Series(cells, dtype=object)
    frame = pd.DataFrame({"o": column, "i": range(len(cells)), "p": column[::-1].to_numpy()})
    back = round_trip(frame)
    en.verify(path)
    assert same(back["o"].tolist(), cells)
    assert same(back["p"].tolist(), cells[::-1])
    assert back.dtypes.tolist() == frame.dtypes.tolist()
    for rows in ((3, 7), slice(9, 2, -3), [5, 0, 5], 4, (2, 2)):
        wanted = range(*rows) if isinstance(rows, tuple) else rows
        wanted = [wanted] if isinstance(wanted, int) else np.arange(len(cells))[wanted]
        assert same(en.read(path, rows=rows, columns=["o"])["o"].tolist(), [cells[i] for i in wanted])
    assert same(en.read(path, to="numpy")["o"].tolist(), cells)
    assert dict(en.open(path).schema)["o"] == "object"
    with pytest.raises(en.UnsupportedTypeError, match="column 'o': object"):
        en.read(path, to="pyarrow")
    assert same(en.read(path, to="polars")["o"].to_list(), cells)
    assert en.read(path, to="polars", columns=["i"]).height == len(cells)


def test_arrays_of_objects(round_trip, path):
    array = np.empty(len(CELLS), object)
    array[:] = CELLS
    back = round_trip({"o": array, "n": np.arange(len(CELLS))})
    assert same(back["o"].tolist()[:-2], CELLS[:-2])
    assert back["o"][-1] == "\ud800"
    assert same(en.read(path, rows=(2, 5), columns=["o"])["o"].tolist(), CELLS[2:5])


# --- random trees ---

leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.complex_numbers(), st.text(), st.binary(),
    st.dates(), st.times(), st.datetimes(), st.timedeltas(), st.decimals(), st.fractions(), st.uuids(),
    st.datetimes(timezones=st.timezones(no_cache=False)),
)  # fmt: skip
keys = st.recursive(
    st.one_of(st.text(), st.integers(), st.none(), st.binary(), st.dates()),
    lambda x: st.lists(x, max_size=3).map(tuple),
)
trees = st.recursive(
    leaves,
    lambda x: st.one_of(
        st.lists(x, max_size=6),
        st.lists(x, max_size=4).map(tuple),
        st.dictionaries(keys, x, max_size=6),
        st.frozensets(keys, max_size=4),
        st.lists(st.integers(-100, 100), max_size=5).map(lambda v: np.array(v, "i2")),
    ),
    max_leaves=40,
)


@settings(max_examples=150, deadline=None)
@given(trees)
def test_random_trees(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("t") / "x.entasis"
    en.write(value, path)
    back = en.read(path)
    assert same(value, back)
    en.verify(path)
    if isinstance(value, list):
        f = en.open(path)
        for i in range(len(value)):
            assert same(value[i : i + 2], f[i : i + 2].read())


def test_damage_is_survived(path):
    """Any byte of the file changed: the value as it was, or an error of the package."""
    en.write({"a": [1, "x", (2.5, None)], "b": np.arange(4).reshape(2, 2), "c": {"k": {1, 2}}, "p": Point(1)}, path)
    whole = path.read_bytes()
    for at in range(0, len(whole), 3):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << (at % 8)
        path.write_bytes(damaged)
        with contextlib.suppress(en.EntasisError):
            assert same(en.read(path)["a"], [1, "x", (2.5, None)])
        with pytest.raises(en.EntasisError):
            en.verify(path)


def test_golden():
    folder = pathlib.Path(__file__).parents[2] / "tests" / "golden" / "trees"
    kinds = en.read(folder / "kinds.entasis")
    assert kinds[:4] == [None, False, True, ...]
    assert [type(value).__name__ for value in kinds[-6:]] == ["bytes", "bytearray", "int", "UUID", "str", "bytes_"]
    numbers = {type(value).__name__: value for value in kinds}
    assert (numbers["date"], numbers["timedelta"]) == (datetime.date(1970, 1, 8), datetime.timedelta(microseconds=10))
    assert (numbers["int8"], numbers["uint64"], numbers["float16"]) == (11, 18, -0.5)
    many = en.open(folder / "many.entasis")
    assert (len(many), many[5998].read(), many[7].read()) == (6000, (5998, 1499.5), (7, None))
    nested = en.open(folder / "nested.entasis")
    assert nested["tuple"].read() == ()
    assert nested["list"][1].read() == {"x": 2, "y": False}
    assert nested[None].read()[0] == {"x": 1, "y": True}
    assert nested[""].read().tolist() == [0, 10, 20]
    assert nested["b"].read().tolist() == [[30, 50], [40, 60]]
    assert nested.metadata == [0]
    assert en.open(folder / "table-and-metadata.entasis").metadata == [0]
