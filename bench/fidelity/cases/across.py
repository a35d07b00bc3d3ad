"""The columns in the tables of conversions."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from .pyarrow_arrays import nested, plain

# Functions that make a frame with the one column "x", by name.
Sources = dict[str, Callable[[], Any]]


def sources() -> dict[str, Sources]:
    """The columns of each library in the tables."""
    return {
        "pandas": {name: _pandas(values) for name, values in _of_pandas().items()},
        "polars": {name: _polars(series) for name, series in _of_polars().items()},
        "pyarrow": {name: _arrow(array) for name, array in _of_arrow().items()},
        "numpy": {name: _numpy(array) for name, array in _of_numpy().items()},
    }


def _pandas(values: Any) -> Callable[[], Any]:
    return lambda: pd.DataFrame({"x": pd.Series(values, copy=False)})


def _polars(series: Any) -> Callable[[], Any]:
    return lambda: pl.DataFrame({"x": series})


def _arrow(array: Any) -> Callable[[], Any]:
    return lambda: pa.table({"x": array})


def _numpy(array: Any) -> Callable[[], Any]:
    return lambda: {"x": array}


def _of_pandas() -> dict[str, Any]:
    zoned = pd.to_datetime(["2020", None, "2021"]).tz_localize("Europe/Oslo")
    arrow = plain() | nested()
    found: dict[str, Any] = {
        "bool": np.array([True, False]),
        "int64 (and every width)": np.array([1, -5]),
        "float16": np.array([0.5, np.nan], "f2"),
        "float64": np.array([0.1, np.nan, -0.0]),
        "complex128": np.array([1j, 2]),
        "longdouble": np.array([0.1, 2], "g"),
        "big-endian int64": np.array([1, -5], ">i8"),
        "Int64 with NA": pd.array([1, None], dtype="Int64"),
        "Int64 without": pd.array([1, 2], dtype="Int64"),
        "Float64 with NA": pd.array([1.5, None], dtype="Float64"),
        "boolean with NA": pd.array([True, None], dtype="boolean"),
        "str": pd.array(["a", None], dtype="str"),
        "string": pd.array(["a", None], dtype="string"),
        "object of str": np.array(["a", None, np.nan], dtype=object),
        "object of date": np.array([datetime.date(2020, 1, 1), None], dtype=object),
        "object of Decimal": np.array(
            [decimal.Decimal("1.5"), decimal.Decimal("2.25"), None], dtype=object
        ),
        "object of bytes": np.array([b"a", None], dtype=object),
        "object of bool": np.array([True, None], dtype=object),
        "object of any kinds": np.array(["a", 1, None], dtype=object),
        "datetime64[s]": np.array(["2020", "NaT"], "M8[s]"),
        "datetime64[ns]": np.array(["2020", "NaT"], "M8[ns]"),
        "datetime64 with a zone": zoned.array,
        "timedelta64[ns]": np.array([5, "NaT"], "m8[ns]"),
        "category of str": pd.Categorical(["a", None, "b"]),
        "category of str, ordered": pd.Categorical(["a", None, "b"], ["b", "a", "z"], ordered=True),
        "category of int": pd.Categorical([3, 1, 3]),
        "category of int with NaN": pd.Categorical([3, None, 1]),
        "category of datetime64": pd.Categorical(pd.to_datetime(["2020", None, "2021"])),
        "period": pd.period_range("2020", periods=2, freq="M"),
        "interval": pd.interval_range(0, 2),
        "Sparse[int]": pd.arrays.SparseArray([0, 1, 0]),
    }
    names = (
        "date32",
        "time64[us]",
        "decimal128",
        "binary",
        "uuid",
        "list<item: int32>",
        "struct",
        "map",
    )
    for name in names:
        array = pd.arrays.ArrowExtensionArray(pa.chunked_array([arrow[name]]))
        found[f"ArrowDtype, {name.partition('<')[0]}"] = array
    return found


def _of_polars() -> dict[str, Any]:
    day = datetime.date(2020, 2, 29)
    noon = datetime.datetime(2020, 2, 29, 12)
    return {
        "Boolean": pl.Series([True, False]),
        "Boolean with null": pl.Series([True, None]),
        "Int64": pl.Series([1, 2]),
        "Int64 with null": pl.Series([1, None]),
        "Int128": pl.Series([1 << 100, None], dtype=pl.Int128),
        "Float64": pl.Series([0.1, float("nan")]),
        "Float64 with null": pl.Series([0.1, None, float("nan")]),
        "Decimal": pl.Series([decimal.Decimal("1.5"), None], dtype=pl.Decimal(5, 1)),
        "String": pl.Series(["a", None]),
        "Binary": pl.Series([b"a", None]),
        "Date": pl.Series([day, None]),
        "Time": pl.Series([datetime.time(1, 2), None]),
        "Datetime(us)": pl.Series([noon, None], dtype=pl.Datetime("us")),
        "Datetime(ns, zone)": pl.Series([noon, None])
        .cast(pl.Datetime("ns"))
        .dt.replace_time_zone("Asia/Tokyo"),
        "Duration(ms)": pl.Series([datetime.timedelta(1), None], dtype=pl.Duration("ms")),
        "Categorical": pl.Series(["a", None, "b"], dtype=pl.Categorical),
        "Enum": pl.Series(["a", None], dtype=pl.Enum(["b", "a"])),
        "Null": pl.Series([None, None], dtype=pl.Null),
        "List": pl.Series([[1], None, []]),
        "Array": pl.Series([[1, 2], None], dtype=pl.Array(pl.Int16, 2)),
        "Array without null": pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int16, 2)),
        "Struct": pl.Series([{"a": 1}, None]),
        "Struct without null": pl.Series([{"a": 1}, {"a": 2}]),
        "Object": pl.Series([1, "a"], dtype=pl.Object),
    }


def _of_arrow() -> dict[str, Any]:
    flat, deep = plain(), nested()
    names = [
        *(
            "bool",
            "int64",
            "string",
            "large_string",
            "string_view",
            "binary",
            "binary(3)",
            "date32",
            "date64",
        ),
        *(
            "time32[s]",
            "time64[ns]",
            "timestamp[s, None]",
            "timestamp[ns, UTC]",
            "timestamp[us, +02:00]",
        ),
        *(
            "duration[us]",
            "decimal128",
            "decimal256",
            "decimal of negative scale",
            "month_day_nano_interval",
        ),
        *(
            "dictionary of strings",
            "dictionary, ordered",
            "dictionary of ints",
            "uuid",
            "json",
            "opaque",
            "null",
        ),
    ]
    found = {name: flat[name] for name in names}
    found["halffloat"] = pa.array([0.5, None], pa.float16())
    found |= {
        str(deep[name].type).partition("<")[0]: deep[name] for name in ("list<item: int32>", "map")
    }
    found |= {
        name: deep[name]
        for name in ("list_view", "fixed-size list", "struct", "struct, one name twice")
    }
    types = pa.array([0, 1], pa.int8())
    found["dense union"] = pa.UnionArray.from_dense(
        types, pa.array([0, 0], pa.int32()), [pa.array([1]), pa.array(["a"])]
    )
    found["run_end_encoded"] = pa.RunEndEncodedArray.from_arrays(
        pa.array([2, 3], pa.int32()), pa.array(["a", None])
    )
    return found


def _of_numpy() -> dict[str, Any]:
    make: Any = np.dtypes.StringDType
    return {
        "bool": np.array([True, False]),
        "int64 (and every width)": np.array([1, -5]),
        "float16": np.array([0.5, np.nan], "f2"),
        "float64": np.array([0.1, np.nan, -0.0]),
        "complex128": np.array([1j, 2]),
        "longdouble": np.array([0.1, 2], "g"),
        "clongdouble": np.array([0.1j, 2], "G"),
        "big-endian": np.array([1, -5], ">i4"),
        "U": np.array(["a", "bc"]),
        "U that is no Unicode text": np.array([0xD800, 65], "u4").view("U1"),
        "S": np.array([b"a", b"bc"]),
        "V": np.frombuffer(b"abcdef", "V3"),
        "StringDType": np.array(["a", "bc"], make()),
        "StringDType with None": np.array(["a", None], make(na_object=None)),
        "object of str": np.array(["a", None], dtype=object),
        "object of any kinds": np.array(["a", 1, None], dtype=object),
        "datetime64[Y] (or M, W, D, h, m)": np.array(["2020", "NaT"], "M8[Y]"),
        "datetime64[s] (or ms, us, ns)": np.array(["2020", "NaT"], "M8[s]"),
        "datetime64[ps] (or fs, as)": np.array([5, 6], "M8[ps]"),
        "datetime64[25s]": np.array([5, 6], "M8[25s]"),
        "timedelta64[Y] (or M)": np.array([5, 6], "m8[Y]"),
        "timedelta64[D] (or W, h, m)": np.array([5, 6], "m8[D]"),
        "timedelta64[ns] (or s, ms, us)": np.array([5, "NaT"], "m8[ns]"),
        "timedelta64 without a unit": np.array([5, 6], "m8"),
        "records": np.array([(1, 2.5)], [("a", "i4"), ("b", "f8")]),
    }
