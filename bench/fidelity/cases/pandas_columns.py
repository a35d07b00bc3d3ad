"""Columns of pandas, by groups: a function gives the columns of a group by their names."""

from __future__ import annotations

import decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from .pyarrow_arrays import nested, plain
from .values import F16_BITS, F32_BITS, F64_BITS, INTEGERS, PANDAS_UNITS, WORDS, edges


def _numbers() -> dict[str, Any]:
    found: dict[str, Any] = {dtype: edges(dtype) for dtype in INTEGERS}
    for dtype in ("float16", "float32", "float64"):
        found[dtype] = np.array([0.1, np.nan, -np.inf, 1e-7, 65504], dtype)
    found["float64, bits of NaN"] = F64_BITS.view("f8")
    found["float32, bits of NaN"] = F32_BITS.view("f4")
    found["float16, bits of NaN"] = F16_BITS.view("f2")
    found["-0.0"] = np.array([-0.0, 0.0])
    found["bool"] = np.array([True, False, True])
    for dtype in ("complex64", "complex128", "longdouble", "clongdouble"):
        found[dtype] = np.array([1, -0.0, 3]).astype(dtype) / 7
    for dtype in (">i2", ">i8", ">u4", ">f4", ">f8", ">c16"):
        found[f"big-endian {dtype[1:]}"] = np.arange(4).astype(dtype)
    return found


def _nullable() -> dict[str, Any]:
    found: dict[str, Any] = {}
    mask = np.array([False, True, False, False, True, False])
    for dtype in INTEGERS:
        found[dtype.replace("int", "Int").replace("u", "U")] = pd.arrays.IntegerArray(
            edges(dtype), mask.copy()
        )
    for dtype in ("Float32", "Float64"):
        values = np.array([1.5, 0, np.nan, -0.0, 2, np.inf], dtype.lower())
        found[dtype] = pd.arrays.FloatingArray(values, mask.copy())
    found["boolean"] = pd.array([True, None, False], dtype="boolean")
    found["Int64 without missing ones"] = pd.array([1, 2, 3], dtype="Int64")
    found["Int64, all missing"] = pd.array([None, None], dtype="Int64")
    return found


def _text() -> dict[str, Any]:
    holes = [*WORDS, None]
    return {
        "str": pd.array(WORDS, dtype="str"),
        "str with missing ones": pd.array(holes, dtype="str"),
        "str, all missing": pd.array([None, None], dtype="str"),
        "str[python]": pd.array(holes, dtype=pd.StringDtype("python", na_value=np.nan)),
        "string[python]": pd.array(holes, dtype="string[python]"),
        "string[pyarrow]": pd.array(holes, dtype="string[pyarrow]"),
        "object of str": np.array(WORDS, dtype=object),
        "object of bytes": np.array([b"a", b"", b"\xff"], dtype=object),
    }


def _times() -> dict[str, Any]:
    found: dict[str, Any] = {}
    times = np.array([0, 1, -1, np.iinfo("i8").min, 10**9])
    for unit in PANDAS_UNITS:
        stamps = times.view(f"M8[{unit}]")
        found[f"datetime64[{unit}]"] = stamps
        found[f"timedelta64[{unit}]"] = times.view(f"m8[{unit}]")
        for zone in ("UTC", "Europe/Berlin", "UTC+01:00", "America/St_Johns"):
            found[f"datetime64[{unit}, {zone}]"] = (
                pd.Series(stamps).dt.tz_localize("UTC").dt.tz_convert(zone).array
            )
    local = pd.to_datetime(["2020-10-25 00:30", "2020-10-25 01:30"], utc=True)
    found["an hour that comes twice"] = local.tz_convert("Europe/Berlin").array
    found["year 1 and year 9999"] = np.array(["0001-01-01", "9999-12-31"], "M8[s]")
    return found


def _categories() -> dict[str, Any]:
    kinds: dict[str, Any] = {
        "str": ["c", "a", "b"],
        "object of str": pd.Index(["c", "a", "b"], dtype=object),
        "int": [30, 10, 20],
        "int8": pd.Index([3, 1, 2], dtype="int8"),
        "float": [0.5, -1.0, 2.0],
        "bool": [True, False],
        "datetime": pd.to_datetime(["2020", "2021", "2019"]),
        "datetime with a zone": pd.to_datetime(["2020", "2021"]).tz_localize("Asia/Tokyo"),
        "datetime with a freq": pd.date_range("2020", periods=3, freq="D"),
        "timedelta": pd.to_timedelta([1, 2, 3], unit="h"),
        "Int64": pd.array([3, 1, 2], dtype="Int64"),
        "string[python]": pd.array(["b", "a"], dtype="string[python]"),
        "interval": pd.interval_range(0, 3),
        "period": pd.period_range("2020", periods=3, freq="M"),
        "range": pd.RangeIndex(3, 12, 3),
        "bytes": pd.Index([b"x", b"y"], dtype=object),
        "tuples": pd.Index([("a", 1), ("b", 2)], tupleize_cols=False),
        "mixed": pd.Index(["a", 1, 2.5], dtype=object),
        "decimals": pd.Index([decimal.Decimal("1.1"), decimal.Decimal(2)], dtype=object),
    }
    found: dict[str, Any] = {}
    for name, categories in kinds.items():
        for ordered in (False, True):
            text = f"of {name}{', ordered' if ordered else ''}"
            codes = [len(categories) - 1, 0, -1, 1]
            found[text] = pd.Categorical.from_codes(
                codes, dtype=pd.CategoricalDtype(categories, ordered)
            )
    found["unused categories"] = pd.Categorical(["a"], categories=["z", "a", "y"])
    found["no categories"] = pd.Categorical([None, None])
    found["no rows"] = pd.Categorical([], categories=["x"])
    found["300 categories"] = pd.Categorical([f"k{i}" for i in range(300)])
    found["categories with a name"] = pd.Categorical.from_codes(
        [0, 1], dtype=pd.CategoricalDtype(pd.Index(["a", "b"], name="n"))
    )
    return found


def _extensions() -> dict[str, Any]:
    half = np.array([np.nan, 1.0, 2.0])
    found: dict[str, Any] = {
        f"period[{freq}]": pd.period_range("2020", periods=3, freq=freq)
        for freq in ("Y", "Q", "Q-NOV", "M", "2M", "W-MON", "D", "h", "min", "s", "ms", "ns")
    }
    found |= {
        "period with NaT": pd.array([pd.NaT, pd.Period("2020", "M")], dtype="period[M]"),
        "interval, left": pd.interval_range(0, 3, closed="left"),
        "interval, both": pd.interval_range(0, 3, closed="both"),
        "interval, neither, of floats": pd.interval_range(0.5, 3.5, closed="neither"),
        "interval with missing ones": pd.arrays.IntervalArray.from_arrays(half, half + 1),
        "interval of times": pd.interval_range(pd.Timestamp("2020"), periods=3),
        "interval of times with a zone": pd.interval_range(
            pd.Timestamp("2020", tz="Europe/Zurich"), periods=3
        ),
        "interval of time spans": pd.interval_range(pd.Timedelta("1D"), periods=3),
        "cut": pd.cut(np.arange(5), [0, 2, 6]),
        "sparse int": pd.arrays.SparseArray([0, 1, 0]),
        "sparse float": pd.arrays.SparseArray([np.nan, 1.0, np.nan]),
        "sparse bool, in blocks": pd.arrays.SparseArray(
            [True, False], fill_value=True, kind="block"
        ),
        "sparse int16 with a fill value": pd.arrays.SparseArray(
            np.array([7, 1, 7], "i2"), fill_value=7
        ),
        "sparse times": pd.arrays.SparseArray(np.array(["2020", "NaT"], "M8[ns]")),
    }
    return found


def _arrow() -> dict[str, Any]:
    found = {}
    for name, array in (plain() | nested()).items():
        if pa.types.is_run_end_encoded(array.type) or "union" in str(array.type):
            continue
        found[name] = lambda array=array: pd.arrays.ArrowExtensionArray(pa.chunked_array([array]))
    return found


COLUMNS = {
    "numbers": _numbers,
    "nullable": _nullable,
    "text": _text,
    "times": _times,
    "categories": _categories,
    "periods, intervals, sparse": _extensions,
    "Arrow dtypes": _arrow,
}
