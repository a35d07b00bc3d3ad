"""A pandas frame as plain arrays, for formats that hold nothing else, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .base import Refused

MISSING = 255  # among codes of booleans
LARGEST = 2 << 30  # bytes of one column of fixed-width strings


def as_static_frame(frame: pd.DataFrame) -> Any:
    """The frame with its labels as a StaticFrame, if all columns are plain arrays; else None."""
    import static_frame as sf

    if not all(isinstance(dtype, np.dtype) and dtype.kind != "O" for dtype in frame.dtypes):
        return None
    if not all(type(label) is str for label in frame.columns) or frame.index.nlevels > 1:
        return None
    columns = sf.Index(np.array(frame.columns, dtype="U"))
    if isinstance(frame.index, pd.RangeIndex):
        return sf.Frame.from_pandas(frame, index=sf.IndexAutoFactory, columns=columns)
    if not isinstance(frame.index.dtype, np.dtype) or frame.index.dtype.kind == "O":
        return None
    return sf.Frame.from_pandas(frame, index=sf.Index(frame.index.to_numpy()), columns=columns)


def as_pandas(frame: Any) -> pd.DataFrame:
    """The result of `to_pandas` of a StaticFrame.

    With columns of several types, its time grows with the square of their number.
    """
    if frame._blocks.unified:
        return frame.to_pandas()
    with pd.option_context("future.infer_string", False):
        columns = enumerate(frame.iter_array(axis=0))
        made = pd.DataFrame(
            {i: column.copy() for i, column in columns},
            index=frame.index.to_pandas(),
            copy=False,
        )
        made.columns = frame.columns.to_pandas()
    return made


def plain_columns(frame: pd.DataFrame) -> tuple[dict[str, np.ndarray], list[str]]:
    """The columns as arrays without missing values or objects, and notes on the conversions."""
    kinds: dict[str, None] = {}
    columns = {}
    for i, label in enumerate(frame.columns):
        columns[label], note = _plain(frame.iloc[:, i])
        if note:
            kinds[note] = None
    if not isinstance(frame.index, pd.RangeIndex):
        kinds["without the index"] = None
    return columns, list(kinds)


def _plain(column: pd.Series) -> tuple[np.ndarray, str | None]:
    array: Any = column.array
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return array.codes, "codes instead of categories"
    if isinstance(dtype, pd.BooleanDtype):
        codes = array._data.astype(np.uint8)
        codes[array._mask] = MISSING
        return codes, "codes 0, 1, 255 instead of booleans with missing values"
    if isinstance(dtype, pd.StringDtype) or pd.api.types.is_object_dtype(dtype):
        return _strings(column), "fixed-width strings"
    if isinstance(dtype, np.dtype):
        return np.asarray(column), None
    if isinstance(dtype, pd.DatetimeTZDtype):
        return np.asarray(array.tz_convert("UTC").tz_localize(None)), "without the time zone"
    if hasattr(array, "_mask") and not array._mask.any():
        return array._data, None
    raise Refused(f"column {column.name}: {dtype} has no plain array")


def _strings(column: pd.Series) -> np.ndarray:
    if column.isna().any():
        raise Refused(f"column {column.name}: strings with missing values need objects")
    values = column.to_numpy(dtype=object)
    if column.dtype.kind == "O" and not all(type(value) is str for value in values):
        raise Refused(f"column {column.name}: Python objects")
    longest = int(column.str.len().max()) if len(column) else 1
    if 4 * longest * len(column) > LARGEST:
        raise Refused(f"column {column.name}: fixed-width strings would take over 2 GiB")
    if len(column) and column.str.endswith("\0").any():
        raise Refused(f"column {column.name}: a string ends in NUL, which fixed width loses")
    return values.astype("U")


def from_plain(columns: dict[str, np.ndarray], frame: pd.DataFrame) -> pd.DataFrame:
    """The frame that `plain_columns` took apart; `frame` has the types and categories."""
    restored: dict[str, Any] = {}
    for label, values in columns.items():
        dtype = frame[label].dtype
        if isinstance(dtype, pd.CategoricalDtype):
            restored[label] = pd.Categorical.from_codes(values, dtype=dtype)
        elif isinstance(dtype, pd.BooleanDtype):
            restored[label] = pd.arrays.BooleanArray(values == 1, values == MISSING)
        elif isinstance(dtype, pd.DatetimeTZDtype):
            restored[label] = pd.Series(values).dt.tz_localize("UTC").dt.tz_convert(dtype.tz)
        elif isinstance(dtype, np.dtype) and dtype.kind != "O":
            restored[label] = values
        else:
            restored[label] = pd.Series(values.astype(object)).astype(dtype)
    return pd.DataFrame(restored, copy=False)
