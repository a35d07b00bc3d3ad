"""Numbers and booleans of pandas: columns of NumPy, nullable and Arrow dtypes."""

from __future__ import annotations

from typing import Any

from . import exact
from .host_types import Unfit, value_at

_NAMES = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64", "boolean")


def numpy_dtype(dtype: Any) -> Any:
    """The dtype of NumPy for numbers or booleans. None for other dtypes."""
    import numpy as np
    import pandas as pd

    if isinstance(dtype, np.dtype):
        return dtype if dtype.kind in "biufc" else None
    if isinstance(dtype, pd.ArrowDtype):
        from pyarrow import types

        kind = dtype.pyarrow_dtype
        is_plain = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
        return np.dtype(kind.to_pandas_dtype()) if is_plain else None
    return dtype.numpy_dtype if is_nullable(dtype) else None


def is_nullable(dtype: Any) -> bool:
    """Whether a dtype is a nullable one of pandas."""
    return str(dtype) in _NAMES


def convert(column: Any, dtype: Any) -> Any:
    """An array of NumPy or a nullable array with the values of a series."""
    import numpy as np

    of_rows, of_file = numpy_dtype(column.dtype), numpy_dtype(dtype)
    if (of_rows.kind == "b") != (of_file.kind == "b"):
        raise Unfit
    mask = column.isna().to_numpy()
    has_missing = bool(mask.any())
    if isinstance(column.dtype, np.dtype):
        values = column.to_numpy()
    else:
        values = column.to_numpy(dtype=of_rows, na_value=of_rows.type(0))
    is_plain = isinstance(dtype, np.dtype)
    if has_missing and is_plain and of_file.kind in "biu":
        raise value_at("a missing value", int(mask.argmax()))
    if of_rows.kind != "b":
        values = exact.convert(np.where(mask, of_rows.type(0), values) if has_missing else values, of_file)
    if is_plain:
        return np.where(mask, of_file.type(np.nan), values) if has_missing else values
    # An array of a nullable dtype shares its arguments.
    return dtype.construct_array_type()(values.copy(), mask)
