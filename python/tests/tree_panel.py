"""Named values of every kind, and how they are compared."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import enum
import fractions
import math
import pathlib
import struct
import typing
import uuid
import zoneinfo
from decimal import Decimal

import numpy as np
import pytest

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
        return (
            same(left.data, right.data)
            and same(left.mask, right.mask)
            and same(left.fill_value, right.fill_value)
            and left.hardmask == right.hardmask
        )
    if isinstance(left, np.ndarray):
        alike = (left.dtype, left.shape) == (right.dtype, right.shape)
        order = left.ndim < 2 or left.flags.f_contiguous == right.flags.f_contiguous
        if left.dtype.char in "gG":
            # The padding of long doubles does not count.
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


def masked(dtype, fill_value):
    """A masked array. NumPy makes the default fill value in another type than the array's."""
    array = np.ma.MaskedArray(np.zeros(2, dtype), mask=[False, True])
    if fill_value == "looked at":
        assert array.fill_value is not None
    elif fill_value == "set":
        array.fill_value = np.ones((), dtype)[()]
    return array


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
    **{
        f"masked, {dtype}, fill value {asked}": masked(dtype, asked)
        for dtype in ("i4", "u1", "f4", "c8", "U3", "S2", "M8[s]", "?", [("a", "i2"), ("b", "f4")])
        for asked in ("looked at", "not looked at", "set")
    },
    "masked, hard": np.ma.array([1, 2], mask=[0, 1], hard_mask=True),
}
TREES = {
    "lists": [[], [[]], [1, [2, [3, [4]]]], (), ((),), [(1,), [2]]],
    "mixed": [1, 2.5, "a", None, True, b"x", (1, [2, {"a": {1, 2}}])],
    "sets": [set(), {1, 2, 3}, {"b", "a"}, {1, "a", None, (2, 3)}, frozenset(), frozenset({frozenset({1}), "x"})],
    "keys": {"": 1, 1: 2, 1.5: 3, None: 4, (1, ("a", None)): 5, True + 1: 6, b"x": 7, frozenset({1}): 8, "\ud800": 9},
    "empty": [{}, {"a": {}}, {"b": []}],
    "order": {"z": 1, "a": 2, "m": {"y": 1, "b": 2}},
    "records": [{"id": i, "name": f"n{i}", "x": i / 4, "tags": ["a"] * (i % 3)} for i in range(300)],
    "records of every kind": [
        {
            "n": None,
            "b": i % 2 == 0,
            "i": i,
            "f": i / 3,
            "t": f"t{i % 3}",
            "y": b"y",
            "d": datetime.date(2020, 1, 1 + i % 9),
            "u": uuid.UUID(int=i),
            "p": Decimal(i) / 4,
            "q": np.int8(i % 100),
            "m": [i, None, "x", 2.5][i % 4],
        }
        for i in range(200)
    ],
    "records, one with parts": [{"a": i, "b": [] if i == 99 else None} for i in range(100)],
    "records, one with a number too long": [{"a": 2**i} for i in range(100)],
    "records in another order": [{"a": 1, "b": 2} if i % 2 else {"b": 2, "a": 1} for i in range(30)],
    "records, keys that are not strings": [{1: i, "b": i} for i in range(30)],
    "records, halves of pairs": [{"\ud800": i, "b": "\ud801"} for i in range(30)],
    "records of one key": [{"": i} for i in range(30)],
    "rows": [(i, str(i), i / 7, None) for i in range(300)],
    "rows, one longer": [(i,) if i < 99 else (i, i) for i in range(100)],
    "rows, some empty": [()] * 5 + [(i,) for i in range(20)],
    "records twice": {"x": [{"a": i, "b": "t"} for i in range(20)], "y": [{"a": -i, "b": None} for i in range(30)]},
    "many keys": {f"key {i}": i for i in range(5000)} | {"last": None},
    "many numbers for keys": {i * 7 - 999: str(i) for i in range(5000)},
    "many keys of several kinds": {(str(i) if i % 2 else i): i for i in range(5000)} | {(1, 2): 3},
    "many keys, halves of pairs": {f"k{i}": i for i in range(4500)} | {"\udfff": 1, "z": 2},
    "records, some other keys": [{"id": i} if i % 3 else {"id": i, "x": None} for i in range(50)],
    "long": list(range(10_000)) + [float(i) for i in range(10_000)] + [str(i) for i in range(10_000)],
    "arrays": [np.arange(i % 7) for i in range(2000)] + [np.full((2, i % 3), 1.5) for i in range(50)],
    "arrays by name": {"a": np.arange(3), "b": np.arange(4), "c": {"d": np.zeros((2, 2))}},
}
ALL = {**SCALARS, **ARRAYS, **TREES}


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


RECORDS = [Point(1, [2]), Model("m", {"w": np.arange(3)}), Pair(1, "b"), Colour.BLUE, [Point(i) for i in range(5)]]
