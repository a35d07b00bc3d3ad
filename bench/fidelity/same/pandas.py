"""Frames, series, indexes and arrays of pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .different import Different, equal, equal_of, same_type
from .numpy import check_array as check_numpy
from .values import _check_plain, check_value


def check(a: Any, b: Any, path: str) -> None:
    """Raises `Different` when `b` is not the same as `a`."""
    if isinstance(a, pd.DataFrame):
        _check_frame(a, b, path)
    elif isinstance(a, pd.Series):
        check_value(a.name, b.name, f"{path}.name")
        check_index(a.index, b.index, f"{path}.index")
        _check_state(a, b, path)
        check_array(a.array, b.array, path)
    elif isinstance(a, pd.Index):
        check_index(a, b, path)
    elif isinstance(a, pd.api.extensions.ExtensionArray):
        check_array(a, b, path)
    elif isinstance(a, (pd.Timestamp, pd.Timedelta)):
        equal(a.unit, b.unit, f"{path}.unit")
        _check_plain(a, b, path)
    else:
        _check_plain(a, b, path)


def _check_frame(a: Any, b: Any, path: str) -> None:
    equal(a.shape, b.shape, f"{path}.shape")
    check_index(a.columns, b.columns, f"{path}.columns")
    check_index(a.index, b.index, f"{path}.index")
    _check_state(a, b, path)
    for i in range(a.shape[1]):
        check_array(a.iloc[:, i].array, b.iloc[:, i].array, f"{path}[{a.columns[i]!r}]")


def _check_state(a: Any, b: Any, path: str) -> None:
    check_value(a.attrs, b.attrs, f"{path}.attrs")
    name = "allows_duplicate_labels"
    equal_of(lambda x: getattr(x.flags, name), a, b, f"{path}.flags.{name}")


def check_index(a: Any, b: Any, path: str) -> None:
    """Two indexes are the same, with all of their state."""
    same_type(a, b, path)
    equal(len(a), len(b), f"{path}: length")
    check_value(list(a.names), list(b.names), f"{path}.names")
    if isinstance(a, pd.MultiIndex):
        equal(a.nlevels, b.nlevels, f"{path}.nlevels")
        equal(a.sortorder, b.sortorder, f"{path}.sortorder")  # type: ignore[attr-defined]
        for i in range(a.nlevels):
            check_index(a.levels[i], b.levels[i], f"{path}.levels[{i}]")
            check_numpy(np.asarray(a.codes[i]), np.asarray(b.codes[i]), f"{path}.codes[{i}]")
        return
    same_dtype(a.dtype, b.dtype, path)
    if isinstance(a, pd.RangeIndex):
        equal((a.start, a.stop, a.step), (b.start, b.stop, b.step), path)
        return
    if isinstance(a, (pd.DatetimeIndex, pd.TimedeltaIndex)):
        equal(a.freq, b.freq, f"{path}.freq")
        equal(repr(a.freq), repr(b.freq), f"{path}.freq")
    check_array(a.array, b.array, path)


def same_dtype(a: Any, b: Any, path: str) -> None:
    """Two dtypes are equal, including the storage of strings."""
    same_type(a, b, path)
    is_same = a == b and repr(a) == repr(b)
    if isinstance(a, pd.StringDtype):
        is_same = is_same and a.storage == b.storage and repr(a.na_value) == repr(b.na_value)
    if isinstance(a, pd.DatetimeTZDtype):
        is_same = is_same and type(a.tz) is type(b.tz)
    if isinstance(a, np.dtype):
        is_same = is_same and a.byteorder == b.byteorder
    if not is_same:
        raise Different(f"{path}: dtype {b!r} instead of {a!r}")


def check_array(a: Any, b: Any, path: str) -> None:
    """Two arrays of pandas are the same."""
    same_type(a, b, path)
    equal(len(a), len(b), f"{path}: length")
    kind = type(a).__name__
    if kind == "Categorical":
        equal(a.ordered, b.ordered, f"{path}: ordered")
        check_index(a.categories, b.categories, f"{path}.categories")
        check_numpy(np.asarray(a.codes), np.asarray(b.codes), f"{path}.codes")
        return
    same_dtype(a.dtype, b.dtype, path)
    if kind == "NumpyExtensionArray":
        check_numpy(a.to_numpy(), b.to_numpy(), path)
    elif kind in ("IntegerArray", "FloatingArray", "BooleanArray"):
        check_numpy(a._mask, b._mask, f"{path}: mask")
        check_numpy(a._data[~a._mask], b._data[~b._mask], path)
    elif kind in ("DatetimeArray", "TimedeltaArray", "PeriodArray"):
        check_numpy(a.asi8, b.asi8, path)
    elif kind == "IntervalArray":
        check_index(a.left, b.left, f"{path}.left")
        check_index(a.right, b.right, f"{path}.right")
        equal(a.closed, b.closed, f"{path}.closed")
    elif kind == "SparseArray":
        check_value(
            np.asarray(a.fill_value)[()], np.asarray(b.fill_value)[()], f"{path}.fill_value"
        )
        check_value(a.sp_values, b.sp_values, f"{path}.sp_values")
        same_type(a.sp_index, b.sp_index, f"{path}.sp_index")
        equal(a.sp_index.indices.tolist(), b.sp_index.indices.tolist(), f"{path}.sp_index")
    elif kind == "ArrowExtensionArray":
        from .pyarrow import check as check_arrow

        check_arrow(a._pa_array, b._pa_array, path)
    else:
        check_value(list(a), list(b), path)
