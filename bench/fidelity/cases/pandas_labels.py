"""Indexes of pandas: every class and its state."""

from __future__ import annotations

import datetime
import decimal
import zoneinfo
from typing import Any

import numpy as np
import pandas as pd


def indexes(n: int) -> dict[str, Any]:
    """Indexes of `n` (6) labels."""
    days = pd.date_range("2020-03-28", periods=n, freq="D")
    return {
        "range": pd.RangeIndex(n),
        "range with a step": pd.RangeIndex(10, 10 - 3 * n, -3, name="r"),
        "int": pd.Index([3, 1, 4, 1, 5, 9], name="n"),
        **{
            dtype: pd.Index(np.arange(n).astype(dtype))
            for dtype in ("int8", "uint64", "float32", "complex128")
        },
        "float": pd.Index([0.5, np.nan, 1, -0.0, 3, np.inf]),
        "bool": pd.Index([True, False] * 3),
        "str": pd.Index(list("abcdef"), name="s"),
        "str with missing ones": pd.Index(["a", None, "c", "d", "e", "f"]),
        "string[pyarrow]": pd.Index(list("abcdef"), dtype="string[pyarrow]"),
        "string[python]": pd.Index(["a", None, *"cdef"], dtype="string[python]"),
        "object of str": pd.Index(list("abcdef"), dtype=object),
        "object, missing ones of several kinds": pd.Index(
            ["a", None, np.nan, pd.NaT, pd.NA, "f"], dtype=object
        ),
        "object, mixed": pd.Index([1, "a", 2.5, None, (1, 2), b"x"], dtype=object),
        "object of tuples": pd.Index([("a", i) for i in range(n)], tupleize_cols=False),
        "object of dates": pd.Index(
            [datetime.date(2020, 1, 1 + i) for i in range(n)], dtype=object
        ),
        "object of decimals": pd.Index([decimal.Decimal(i) / 4 for i in range(n)], dtype=object),
        "duplicates": pd.Index(list("aabbcc")),
        "datetime": pd.to_datetime(["2020", "2022", None, "2019", "2020", "2020"]),
        "datetime, seconds": pd.date_range("2020", periods=n, freq="3h", unit="s"),
        "datetime with a freq": pd.date_range("2020", periods=n, freq="3h"),
        "datetime, freq of zero values": pd.date_range("2020", periods=n, freq="D")[:n].rename("d"),
        "datetime with a zone and freq": days.tz_localize("Europe/Berlin"),
        "datetime with a fixed zone": days.tz_localize("UTC+02:00"),
        "datetime, business days": pd.bdate_range("2020", periods=n),
        "datetime in UTC": pd.date_range("2020", periods=n, tz="UTC"),
        "datetime in UTC of zoneinfo": pd.date_range(
            "2020", periods=n, tz=zoneinfo.ZoneInfo("UTC"), name="z"
        ),
        "datetime, business days with holidays": pd.date_range(
            "2020", periods=n, freq=pd.offsets.CustomBusinessDay(holidays=["2020-01-03"])
        ),
        "datetime, freq of months and days": pd.date_range(
            "2020", periods=n, freq=pd.DateOffset(months=1, days=2)
        ),
        "datetime, month ends": pd.date_range("2020", periods=n, freq="ME"),
        "datetime, every other Tuesday": pd.date_range("2020", periods=n, freq="2W-TUE"),
        "timedelta": pd.to_timedelta([1, 2, None, 3, 5, 4], unit="h"),
        "timedelta with a freq": pd.timedelta_range("1h", periods=n, freq="15min"),
        "categorical": pd.CategoricalIndex(
            list("abcabc"), categories=list("cbax"), ordered=True, name="k"
        ),
        "categorical of ints": pd.CategoricalIndex([3, 1, 2, 3, 1, 2]),
        "Int64": pd.Index([1, None, 3, 4, 5, 6], dtype="Int64"),
        "Float64": pd.Index([1.5, None, 3, 4, 5, 6], dtype="Float64"),
        "boolean": pd.Index([True, None, False] * 2, dtype="boolean"),
        "period": pd.period_range("2021", periods=n, freq="Q", name="p"),
        "interval": pd.interval_range(0, n, name="i"),
        "interval of times": pd.IntervalIndex.from_breaks(
            pd.date_range("2020", periods=n + 1, tz="UTC")
        ),
        "Arrow date": pd.Index([datetime.date(2020, 1, 1)] * n, dtype="date32[pyarrow]"),
        "Arrow int": pd.Index([1, None, 3, 4, 5, 6], dtype="int32[pyarrow]"),
        **_multi(n),
    }


def _multi(n: int) -> dict[str, Any]:
    return {
        "multi": pd.MultiIndex.from_product([["b", "a"], [3, 1, 2]], names=["x", None]),
        "multi with missing ones": pd.MultiIndex.from_arrays(
            [
                ["a", None, "c", "a", "b", "c"],
                pd.to_datetime(["2020", "2021", None] * 2),
                [1.5, 2.5, np.nan] * 2,
            ]
        ),
        "multi with unused levels": pd.MultiIndex.from_product([["b", "a", "z"], [3, 1, 2]])[:n],
        "multi, levels out of order": pd.MultiIndex(levels=[[3, 1, 2]], codes=[[2, 0, 1, 0, 1, 2]]),
        "multi, NaN in a level": pd.MultiIndex(
            levels=[[np.nan, 1.0], ["a", "b"]], codes=[[0, 1, -1, 0, 1, 0], [0, 1, 0, -1, 1, 1]]
        ),
        "multi of mixed objects": pd.MultiIndex.from_arrays(
            [pd.Index([1, "a", None] * 2, dtype=object), range(n)]
        ),
        "multi of periods and intervals": pd.MultiIndex.from_arrays(
            [pd.period_range("2021", periods=n, freq="Q"), pd.interval_range(0, n)]
        ),
        "multi with a freq": pd.MultiIndex.from_product(
            [pd.date_range("2020", periods=2, freq="D", tz="UTC"), ["a", "b", None]],
            names=["d", "k"],
        ),
        "multi that is told to be sorted": pd.MultiIndex(
            levels=[["a", "b"], [1, 2, 3]], codes=[[0, 0, 0, 1, 1, 1], [0, 1, 2] * 2], sortorder=2
        ),
        "multi of a range": pd.MultiIndex(
            levels=[pd.RangeIndex(5, 13, 2), ["a"]], codes=[[3, 1, -1, 0, 1, 2], [0] * 6]
        ),
        "multi of categories": pd.MultiIndex.from_arrays(
            [pd.CategoricalIndex(list("abcabc"), categories=list("cbax"), ordered=True), range(n)]
        ),
        "multi of one level": pd.MultiIndex.from_arrays([list("abcdef")], names=["only"]),
        "multi of four levels": pd.MultiIndex.from_product(
            [[1], ["a"], [True, False], [0.5, 1.5, 2.5]]
        ),
        "multi with one name twice": pd.MultiIndex.from_product(
            [["b", "a"], [3, 1, 2]], names=["x", "x"]
        ),
    }


def labels_of_columns() -> dict[str, Any]:
    """Labels that columns have and rows seldom."""
    return {
        "of one name": pd.Index(["a", "a", "b"]),
        "empty text": pd.Index(["", " ", "é\U0001f600"]),
        "text with a zero": pd.Index(["a\0b", "c\0", "d"]),
        "str and int": pd.Index(["a", 0, 1], dtype=object),
        "tuples of different lengths": pd.Index([("a",), ("b", 1), "c"], tupleize_cols=False),
        "None and NaN": pd.Index(["a", None, np.nan], dtype=object),
        "bytes": pd.Index([b"a", b"b"], dtype=object),
        "timestamps with zones": pd.Index([pd.Timestamp("2020", tz="UTC"), "a"], dtype=object),
        "int and the same text": pd.Index([1, "1"], dtype=object),
        "none": pd.Index([], dtype=object),
        "no range": pd.RangeIndex(0),
        "no str": pd.Index([], dtype="str"),
        "multi of no columns": pd.MultiIndex.from_arrays([[], []], names=["a", "b"]),
    }
