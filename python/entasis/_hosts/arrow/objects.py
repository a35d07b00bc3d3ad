"""Object columns for Arrow. All values must have one type, as `to_parquet` of pandas requires."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

from entasis.errors import UnsupportedTypeError

_KINDS = (
    bool,
    int,
    float,
    str,
    bytes,
    datetime.date,
    datetime.time,
    datetime.datetime,
    datetime.timedelta,
    decimal.Decimal,
)


def to_arrow(name: str, values: Any) -> Any:
    """Convert an object column to an array of pyarrow, whose type follows from all its values.

    None, NaN, NA and NaT are missing. Arrays of one dtype become lists, which pandas has read as
    arrays from Parquet. Values of several types are refused, and values that Arrow would change.
    """
    import numpy as np
    import pyarrow as pa

    cells = [None if _is_missing(cell) else cell for cell in values]
    kinds = {type(cell) for cell in cells if cell is not None}
    shown = ", ".join(sorted(kind.__name__ for kind in kinds)[:5])
    if kinds == {np.ndarray}:
        return _lists(name, cells)
    if not kinds <= set(_KINDS) or len(kinds) > 1:
        raise UnsupportedTypeError(f"column '{name}': objects ({shown}) have no counterpart in Arrow")
    if len({getattr(cell, "tzinfo", None) for cell in cells if cell is not None}) > 1:
        raise UnsupportedTypeError(f"column '{name}': times in several zones have no counterpart in Arrow")
    try:
        found = pa.array(cells, pa.large_string() if kinds == {str} else None)
        if found.to_pylist() == cells:
            return found
    except (pa.ArrowException, ArithmeticError, TypeError, ValueError):
        # Values that Arrow refuses or that can't be compared count as changed.
        pass
    raise UnsupportedTypeError(f"column '{name}': these objects ({shown}) have no counterpart in Arrow")


def _lists(name: str, cells: list[Any]) -> Any:
    """Arrays as lists."""
    import numpy as np
    import pyarrow as pa

    arrays = [cell for cell in cells if cell is not None]
    if any(array.ndim != 1 for array in arrays):
        raise UnsupportedTypeError(f"column '{name}': arrays of several dimensions have no counterpart in Arrow")
    dtypes = {array.dtype for array in arrays}
    if len(dtypes) > 1:
        shown = ", ".join(sorted(str(dtype) for dtype in dtypes)[:5])
        raise UnsupportedTypeError(f"column '{name}': arrays of several dtypes ({shown}) have no counterpart in Arrow")
    (dtype,) = dtypes
    flat = np.concatenate(arrays)
    if dtype.kind == "O":
        values = to_arrow(name, flat)
    elif dtype.kind in "biuf" or (dtype.kind in "mM" and np.datetime_data(dtype)[0] in ("s", "ms", "us", "ns")):
        values = pa.array(flat.astype(dtype.newbyteorder("="), copy=False), from_pandas=True)
    else:
        raise UnsupportedTypeError(f"column '{name}': arrays of {dtype} have no counterpart in Arrow")
    offsets = np.cumsum([0, *(0 if cell is None else len(cell) for cell in cells)])
    missing = pa.array([cell is None for cell in cells])
    if len(flat) >= 1 << 31:
        return pa.LargeListArray.from_arrays(pa.array(offsets), values, mask=missing)
    return pa.ListArray.from_arrays(pa.array(offsets.astype("i4")), values, mask=missing)


def _is_missing(cell: Any) -> bool:
    if cell is None or (type(cell) is float and cell != cell):
        return True
    return type(cell).__module__.startswith("pandas.") and type(cell).__name__ in ("NAType", "NaTType")
