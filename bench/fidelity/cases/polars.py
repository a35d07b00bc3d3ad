"""Frames and series of Polars."""

from __future__ import annotations

import decimal
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np
import polars as pl

from ..case import Panel
from .values import F32_BITS, F64_BITS, WORDS

INTEGERS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)


def panel() -> Panel:
    """All cases."""
    found = Panel()
    groups = {
        "numbers": _numbers(),
        "text and bytes": _text(),
        "times": _times(),
        "categories": _categories(),
        "nested types": _nested(),
        "maps, extensions": _newer(),
    }
    for group, columns in groups.items():
        for name, series in columns.items():
            found.add(
                group,
                name,
                lambda series=series: pl.DataFrame({"n": range(len(series)), "x": series}),
            )
            if series.len() > 2:
                found.add("slices", name, lambda series=series: pl.DataFrame({"x": series})[1:-1])
            found.add("no rows", name, lambda series=series: pl.DataFrame({"x": series}).head(0))
            found.add("chunks", name, lambda series=series: _chunks(series))
            found.add("series", name, lambda series=series: series.alias("x"))
    _objects(found)
    found.add_all("names and shapes", _frames())
    found.add(
        "nested types",
        "Array of no values",
        lambda: _of([[]], pl.Array(pl.Int8, 0)),
        "column 'x': dtype Array",
    )
    return found


def _of(values: Any, dtype: Any) -> pl.DataFrame:
    return pl.DataFrame({"x": pl.Series(values, dtype=dtype)})


def _chunks(series: pl.Series) -> pl.DataFrame:
    frame = pl.DataFrame({"x": series})
    return pl.concat([frame, frame[1:], frame.head(1)], rechunk=False)


def _numbers() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind in INTEGERS:
        low, high = (pl.select(getattr(kind, of)()).item() for of in ("min", "max"))
        found[str(kind)] = pl.Series([low, None, high, 0], dtype=kind)
    for kind in (pl.Int128, pl.UInt128):
        found[str(kind)] = pl.Series([0, None, 1 << 100, 5], dtype=kind)
    if hasattr(pl, "Float16"):
        found["Float16"] = pl.Series([0.5, None, float("nan"), -0.0], dtype=pl.Float16)
    found["Float32"] = pl.Series([0.1, None, float("nan"), -0.0], dtype=pl.Float32)
    found["Float64"] = pl.Series([0.1, None, float("nan"), -0.0])
    found["Float32, bits of NaN"] = pl.Series(F32_BITS.view("f4"))
    found["Float64, bits of NaN"] = pl.Series(F64_BITS.view("f8"))
    found["Boolean"] = pl.Series([True, None, False])
    found["Null"] = pl.Series([None] * 3, dtype=pl.Null)
    for precision, scale in ((5, 1), (18, 0), (38, 10)):
        values = [
            decimal.Decimal("1.5").quantize(decimal.Decimal(1).scaleb(-scale)),
            None,
            decimal.Decimal(0),
        ]
        found[f"Decimal({precision}, {scale})"] = pl.Series(
            values, dtype=pl.Decimal(precision, scale)
        )
    return found


def _text() -> dict[str, Any]:
    return {
        "String": pl.Series([*WORDS, None]),
        "String, all missing": pl.Series([None, None, None], dtype=pl.String),
        "Binary": pl.Series([b"", None, b"\xff\x00", b"y" * 50]),
    }


def _times() -> dict[str, Any]:
    found = {
        "Date": pl.Series([date(2020, 2, 29), None, date(1, 1, 1), date(9999, 12, 31)]),
        "Time": pl.Series([time(1, 2, 3, 4), None, time(0), time(23, 59, 59, 999_999)]),
    }
    for unit in ("ms", "us", "ns"):
        for zone in (None, "UTC", "Europe/Berlin", "Etc/GMT-2"):
            series = pl.Series([datetime(2020, 3, 29, 1), None, datetime(1960, 1, 1)])
            found[f"Datetime({unit}, {zone})"] = series.cast(
                pl.Datetime(unit)
            ).dt.replace_time_zone(zone)
        found[f"Duration({unit})"] = pl.Series([timedelta(days=-1), None, timedelta(0)]).cast(
            pl.Duration(unit)
        )
    return found


def _categories() -> dict[str, Any]:
    return {
        "Categorical": pl.Series(["b", None, "a", "b"], dtype=pl.Categorical),
        "Categorical, all missing": pl.Series([None, None, None], dtype=pl.Categorical),
        "Enum": pl.Series(["high", None, "low"], dtype=pl.Enum(["low", "mid", "high"])),
        "Enum of 300": pl.Series(
            ["k299", None, "k0"], dtype=pl.Enum([f"k{i}" for i in range(300)])
        ),
        "List of Categorical": pl.Series([["a", "b"], None, ["b"]], dtype=pl.List(pl.Categorical)),
        "List of Enum": pl.Series([["x"], None, []], dtype=pl.List(pl.Enum(["y", "x"]))),
        "Struct of Enum": pl.Series(
            [{"e": "x"}, None, {"e": None}], dtype=pl.Struct({"e": pl.Enum(["y", "x"])})
        ),
    }


def _nested() -> dict[str, Any]:
    points = [{"x": 1, "y": "a"}, None, {"x": None, "y": None}]
    return {
        "List": pl.Series([[1, 2], None, [], [None]]),
        "List of lists": pl.Series([[[1], None], None, []], dtype=pl.List(pl.List(pl.Int8))),
        "List of strings": pl.Series([["a", "a string longer than twelve"], None, [None]]),
        "List of bits of NaN": pl.Series([F64_BITS.view("f8").tolist(), None, []]),
        "List of nulls": pl.Series([[None], None, []], dtype=pl.List(pl.Null)),
        "List of decimals": pl.Series(
            [[decimal.Decimal("1.5")], None, []], dtype=pl.List(pl.Decimal(9, 2))
        ),
        "List of times": pl.Series(
            [[datetime(2020, 1, 1)], None, []], dtype=pl.List(pl.Datetime("ms", "UTC"))
        ),
        "Array": pl.Series([[1, 2], None, [None, 3]], dtype=pl.Array(pl.Int16, 2)),
        "Array of arrays": pl.Series([[[1, 2]], None, [[3, 4]]], dtype=pl.Array(pl.Int8, (1, 2))),
        "Struct": pl.Series(points),
        "Struct, all missing": pl.Series([None, None, None], dtype=pl.Struct({"a": pl.Int8})),
        "Struct without fields": pl.Series([{}, {}, {}], dtype=pl.Struct([])),
        "Struct of structs": pl.Series([{"a": {"b": [1]}}, {"a": None}, None]),
        "List of structs": pl.Series(
            [points, None, []], dtype=pl.List(pl.Struct({"x": pl.Int8, "y": pl.String}))
        ),
        "Array of strings": pl.Series([["a", None]] * 3, dtype=pl.Array(pl.String, 2)),
        "Deep": pl.Series([{"a": [[{"b": [1, None]}], None]}] * 3),
    }


def _newer() -> dict[str, Any]:
    """Dtypes that the first versions of Polars don't have."""
    found: dict[str, Any] = {}
    if hasattr(pl, "Map"):
        kind: Any = pl.Map(pl.String, pl.Int8)
        found["Map"] = pl.Series([{"a": 1, "b": None}, None, {}], dtype=kind)
        found["List of Map"] = pl.Series([[{"a": 1}], None, []], dtype=pl.List(kind))
    if hasattr(pl, "Extension"):
        kind = pl.Extension("my.extension", pl.Int64, "its metadata")
        found["Extension"] = pl.Series([1, None, 3]).ext.to(kind)
    return found


def _objects(found: Panel) -> None:
    from .values import cells

    for name, cell in cells().items():
        found.add("Object cells", name, lambda cell=cell: _of([cell, None, cell], pl.Object))
    found.add("Object cells", "all kinds", lambda: _of(list(cells().values()), pl.Object))
    found.add("Object cells", "no rows", lambda: _of([], pl.Object))
    found.add(
        "Object cells",
        "a function",
        lambda: _of([1, len], pl.Object),
        r"df\['x'\]\[1\]: a value of type builtin",
    )


def _frames() -> dict[str, Any]:
    return {
        "nothing": pl.DataFrame,
        "rows without columns": lambda: pl.DataFrame(height=5),
        "columns without rows": lambda: pl.DataFrame(schema={"a": pl.Int8, "b": pl.String}),
        "empty name": pl.DataFrame({"": [1], "a": [2]}),
        "names of any text": pl.DataFrame(
            {"é\U0001f600 \n": [1], "index": [2], "__index_level_0__": [3]}
        ),
        "LazyFrame": lambda: pl.DataFrame({"a": [1, 2]}),
        "1,000 columns": lambda: pl.DataFrame({f"c{i}": [i, i + 1] for i in range(1000)}),
        "100,000 rows": lambda: pl.DataFrame(
            {"a": np.arange(100_000), "b": [f"s{i % 97}" for i in range(100_000)]}
        ),
        "rows backwards": lambda: pl.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"]})[::-1],
        "series without a name": pl.Series([1, 2]),
        "series without rows": pl.Series("x", [], dtype=pl.Datetime("ns", "UTC")),
    }
