"""Values that go into cells, labels and names of more than one library."""

from __future__ import annotations

import datetime
import decimal
import fractions
import pathlib
import uuid
import zoneinfo
from typing import Any

import numpy as np
import pandas as pd

# NaN with payloads, negative, signalling; both zeros; the smallest and largest numbers.
F64_BITS = np.array(
    [
        0x7FF8000000000000, 0x7FF8000000000001, 0xFFF8DEADBEEF0000, 0x7FF0000000000001,
        0x8000000000000000, 0, 1, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000,
    ],
    "u8",
)  # fmt: skip
F32_BITS = np.array([0x7FC00000, 0x7FC00001, 0xFFC0BEEF, 0x7F800001, 0x80000000, 0, 1], "u4")
F16_BITS = np.array([0x7E00, 0x7E01, 0xFE0F, 0x7C01, 0x8000, 0, 1, 0x7BFF], "u2")

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NUMPY_UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]
PANDAS_UNITS = ["s", "ms", "us", "ns"]
WORDS = ["", "a", "éè", "a longer string of words", "\U0001f600", "x\0y", "end\0"]

OSLO = zoneinfo.ZoneInfo("Europe/Oslo")


def edges(dtype: str) -> Any:
    """Integers at the ends of a dtype, and some between them."""
    info = np.iinfo(dtype)
    return np.array([info.min, info.max, 0, 1, 100, info.max // 2], dtype)


def cells() -> dict[str, Any]:
    """Cells of all kinds, by what they are."""
    return {
        "bool": True,
        "int": 7,
        "int beyond 64 bits": -(1 << 90),
        "float": 0.1,
        "-0.0": -0.0,
        "complex": complex(1, -0.0),
        "str": "é",
        "str with a surrogate": "\ud800x",
        "bytes": b"\0\xff",
        "bytearray": bytearray(b"ab"),
        "Decimal": decimal.Decimal("1.10"),
        "Decimal NaN": decimal.Decimal("NaN"),
        "Fraction": fractions.Fraction(1, 3),
        "UUID": uuid.UUID(int=5),
        "path": pathlib.PurePosixPath("/a/b"),
        "date": datetime.date(2020, 2, 29),
        "time": datetime.time(1, 2, 3, 4),
        "time with a zone": datetime.time(1, 2, tzinfo=datetime.UTC),
        "datetime": datetime.datetime(2020, 1, 2, 3, 4, 5, 6),
        "datetime with a zone": datetime.datetime(2020, 1, 2, tzinfo=OSLO),
        "datetime with a fold": datetime.datetime(2020, 10, 25, 2, 30, fold=1, tzinfo=OSLO),
        "timedelta": datetime.timedelta(-1, 2, 3),
        "list": [1, "a", None],
        "tuple": (1, ("a", 2.5)),
        "empty tuple": (),
        "set": {1, 2},
        "frozenset": frozenset({"a"}),
        "dict": {"a": 1, "b": [None]},
        "dict of any keys": {1: "a", (2, "b"): {}, None: 3},
        "range": range(1, 9, 2),
        "slice": slice(None, 3),
        "array": np.arange(3, dtype="i2"),
        "array of two axes": np.ones((2, 3), "f4", order="F"),
        "array of objects": np.array([1, "a", None], dtype=object),
        "NumPy int": np.int16(3),
        "NumPy float": np.float32(0.1),
        "NumPy bool": np.bool_(False),
        "NumPy str": np.str_("é"),
        "NumPy datetime": np.datetime64("2020-01", "M"),
        "NumPy NaT": np.datetime64("NaT", "s"),
        "Timestamp": pd.Timestamp("2020", tz="Asia/Tokyo"),
        "Timedelta": pd.Timedelta("1h"),
        "Period": pd.Period("2020-01", "M"),
        "Interval": pd.Interval(0, 1, "left"),
        "offset": pd.offsets.MonthEnd(2),
        "frame": pd.DataFrame({"x": [1, 2], "y": ["a", None]}, index=["p", "q"]),
        "series": pd.Series([1.5, None], name="s"),
        "index": pd.date_range("2020", periods=2, freq="D"),
        "Categorical": pd.Categorical(["a", None]),
    }


def missing() -> dict[str, Any]:
    """Markers of a missing cell."""
    return {"None": None, "NaN": float("nan"), "NA": pd.NA, "NaT": pd.NaT}


def names() -> dict[str, Any]:
    """Names of indexes, columns and frames: any value that has a hash."""
    return {
        "str": "x",
        "empty str": "",
        "str with a zero": "a\0b",
        "int": 7,
        "negative int": -3,
        "int beyond 64 bits": 1 << 80,
        "bool": True,
        "float": 1.5,
        "-0.0": -0.0,
        "bytes": b"\0x",
        "complex": 2 + 1j,
        "tuple": ("a", (1, None), b""),
        "frozenset": frozenset([1, "a"]),
        "date": datetime.date(2020, 1, 2),
        "time": datetime.time(1, 2, 3, 4),
        "datetime": datetime.datetime(2020, 1, 2, 3, 4, 5, 6),
        "datetime with a zone": datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC),
        "timedelta": datetime.timedelta(-1, 2, 3),
        "Decimal": decimal.Decimal("1.10"),
        "UUID": uuid.UUID(int=9),
        "range": range(3),
        "NumPy int": np.int64(3),
        "NumPy float": np.float16(0.5),
        "NumPy bool": np.bool_(True),
        "NumPy str": np.str_("é"),
        "NumPy datetime": np.datetime64("2020-01"),
        "NumPy NaT": np.datetime64("NaT", "ns"),
        "NumPy timedelta": np.timedelta64(5, "h"),
        "Timestamp": pd.Timestamp("2020", tz="UTC"),
        "Period": pd.Period("2020", "Y"),
        "text of a time": "numpy.datetime64('2020')",
        "NA": pd.NA,
        "NaT": pd.NaT,
    }
