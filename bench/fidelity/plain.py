"""Columns of any library as lists of Python's values, to see whether they mean the same."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

_SECONDS: dict[str, Fraction] = {
    "W": Fraction(604_800),
    "D": Fraction(86_400),
    "h": Fraction(3_600),
    "m": Fraction(60),
    "s": Fraction(1),
    "ms": Fraction(1, 10**3),
    "us": Fraction(1, 10**6),
    "ns": Fraction(1, 10**9),
    "ps": Fraction(1, 10**12),
    "fs": Fraction(1, 10**15),
    "as": Fraction(1, 10**18),
}


def plain_values(column: Any) -> list[Any]:
    """The values of a column.

    All missing values and NaN are None; times are fractions of seconds.
    """
    return [_one(value) for value in _listed(column)]


def _listed(column: Any) -> list[Any]:
    if type(column).__module__.startswith("static_frame"):
        return _of_numpy(column.values)
    if isinstance(column, np.ndarray):
        return _of_numpy(column)
    if isinstance(column, pa.ChunkedArray):
        return _of_arrow(
            pa.concat_arrays(column.chunks) if column.chunks else pa.array([], column.type)
        )
    if isinstance(column, pl.Series):
        if column.dtype in (pl.Object, pl.Int128):
            return column.to_list()
        return _of_arrow(column.rechunk().to_arrow())
    return _of_pandas(column.array)


def _of_pandas(array: Any) -> list[Any]:
    kind = type(array).__name__
    if kind == "ArrowExtensionArray":
        return _of_arrow(pa.concat_arrays(array._pa_array.chunks))
    if kind == "Categorical":
        values = _of_pandas(array.categories.array)
        return [None if code < 0 else values[code] for code in array.codes]
    if kind in ("DatetimeArray", "TimedeltaArray"):
        return _of_numpy(array._ndarray)
    if kind == "NumpyExtensionArray":
        return _of_numpy(array.to_numpy())
    if kind == "PeriodArray":
        return array.asi8.tolist()
    return list(array)


def _of_arrow(array: Any) -> list[Any]:
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _of_arrow(array.storage)
    if pa.types.is_dictionary(kind):
        values = _of_arrow(array.dictionary)
        return [None if code is None else values[code] for code in array.indices.to_pylist()]
    if pa.types.is_date32(kind):
        return _times(array.cast(pa.int32()).to_pylist(), "D")
    if pa.types.is_date64(kind):
        return _times(array.cast(pa.int64()).to_pylist(), "ms")
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind) or pa.types.is_time64(kind):
        return _times(array.view(pa.int64()).to_pylist(), kind.unit)
    if pa.types.is_time32(kind):
        return _times(array.view(pa.int32()).to_pylist(), kind.unit)
    if pa.types.is_struct(kind) and len({field.name for field in kind}) < kind.num_fields:
        fields = zip(*(_of_arrow(array.field(i)) for i in range(kind.num_fields)), strict=True)
        return [
            list(x) if there else None
            for x, there in zip(fields, array.is_valid().to_pylist(), strict=True)
        ]
    if pa.types.is_map(kind):
        return [None if x is None else [list(pair) for pair in x] for x in array.to_pylist()]
    return array.to_pylist()


def _times(numbers: list[Any], unit: str) -> list[Any]:
    return [None if x is None else x * _SECONDS[unit] for x in numbers]


def _of_numpy(array: Any) -> list[Any]:
    if array.dtype.kind in "mM":
        unit, step = np.datetime_data(array.dtype)
        if unit in ("Y", "M") and array.dtype.kind == "M":
            array, unit = array.astype("M8[s]"), "s"
        numbers = [None if np.isnat(x) else x.view("i8").item() * step for x in array]
        return _times(numbers, unit) if unit in _SECONDS else numbers
    if array.dtype.kind == "V" and array.dtype.names is None:
        return [x.tobytes() for x in array]
    if array.dtype.names is not None and array.dtype.names != ("left", "right"):
        return [dict(zip(array.dtype.names, x, strict=True)) for x in array.tolist()]
    return list(array) if array.dtype.kind in "OT" else array.tolist()


def _one(value: Any) -> Any:
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, (float, np.floating)) and value != value:
        return None
    if isinstance(value, pd.Interval):
        return (_one(value.left), _one(value.right))
    if type(value) is datetime.date:
        return (value - datetime.date(1970, 1, 1)).days * _SECONDS["D"]
    if isinstance(value, dict) and list(value) == ["left", "right"]:
        # Intervals have no other form in most libraries.
        return (_one(value["left"]), _one(value["right"]))
    if isinstance(value, np.ndarray):
        # Lists of Arrow in NumPy.
        return [_one(x) for x in _of_numpy(value)]
    if isinstance(value, list):
        return [_one(x) for x in value]
    if isinstance(value, dict):
        return {key: _one(x) for key, x in value.items()}
    if isinstance(value, np.generic):
        return value.item()
    return value
