"""NumPy arrays of decoded columns, in the written dtype or NumPy's nearest one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._columns import dtypes as _dtypes
from entasis._columns.intervals import bounds, is_interval
from entasis._columns.variants import BIG, CLONGDOUBLE, FIXED, RECORD, STRING, UNITS
from entasis._host_map import interpretation
from entasis.errors import CorruptFileError, OutOfMemoryError, UnsupportedTypeError

if TYPE_CHECKING:
    from entasis._entasis import ArrowColumn, Column


def from_entry(entry: tuple[Any, ...], own: bool, n_rows: int) -> tuple[Any, Any]:
    """Make an array of one entry of `Handle.read`.

    Parameters
    ----------
    entry
        An entry of any kind but "objects" and "categories", and not of a categorical column.
    own
        Whether NumPy or StaticFrame wrote the column.
    n_rows
        The number of rows that were read.

    Returns
    -------
    positions, array
        The positions of the entry's columns, and an array with a row for each of them.
    """
    import numpy as np

    kind, at, column, values, mask = entry
    if kind == "block":
        if own and column.host_variant & BIG and values.dtype.itemsize > 1:
            # The native module returns a big-endian dtype with values in native order.
            values = values.byteswap(inplace=True)
        return np.asarray(at), values
    if kind == "arrow":
        return np.asarray(at), _strings(column, values, len(at), own)
    if own and column.physical == "fixed bytes":
        values = _rows_of_bytes(column, values)
    elif is_interval(column):
        with interpretation():
            values = bounds(column, values)
    return np.array([at]), _single(kind, column, values, mask, n_rows).reshape(1, n_rows)


def _strings(column: Column, values: ArrowColumn, k: int, own: bool) -> Any:
    """Strings of `k` columns, stored one after the other, as an array with a row for each."""
    import numpy as np

    n = len(values) // k
    if own and column.host_variant & ~BIG == FIXED:
        if values.has_missing:
            raise _unsupported(column)
        letter = "S" if column.physical == "binary" else "U"
        with interpretation():
            fixed = zeros((k, n), f"{letter}{_width(column.host_detail)}")
        if not values.to_fixed(fixed):
            raise CorruptFileError(f"column '{column.name}': a string is longer than {fixed.dtype} holds")
        return _swapped(fixed) if column.host_variant & BIG else fixed
    if own and column.host_variant == STRING:
        return _dtypes.decode_string(column.host_detail, values).reshape(k, n)
    out = np.empty((k, n), dtype=object)
    missing = _missing(column) if own else None
    for i in range(k):
        out[i] = values.slice(i * n, n).to_objects(missing)
    return out


def zeros(shape: Any, dtype: str) -> Any:
    """An array of zeros. Raises `OutOfMemoryError` if memory does not suffice."""
    import numpy as np

    try:
        return np.zeros(shape, dtype)
    except MemoryError as error:
        raise OutOfMemoryError(f"no memory for strings of {dtype}: {error}") from error


def _width(host_detail: Any) -> int:
    """Check the width of a dtype of strings, in characters."""
    if type(host_detail) is not int or host_detail < 0:
        raise TypeError("a width is a number")
    return host_detail


def _swapped(array: Any) -> Any:
    """The same values in the other byte order, in place."""
    return array.byteswap(inplace=True).view(array.dtype.newbyteorder())


@interpretation()
def _rows_of_bytes(column: Column, values: Any) -> Any:
    """View fixed bytes in the dtype that was written."""
    host_variant = column.host_variant & ~BIG
    if host_variant == RECORD:
        return values.view(_dtypes.decode(column.host_detail, values.dtype.itemsize))
    if host_variant == UNITS:
        values = values.view(f"U{values.dtype.itemsize // 4}")
    elif host_variant != CLONGDOUBLE:
        return values
    return _swapped(values) if column.host_variant & BIG else values


def _missing(column: Column) -> Any:
    import numpy as np

    if column.missing == "NaN":
        return np.nan
    if column.missing in ("NA", "NaT"):
        import pandas as pd

        return pd.NA if column.missing == "NA" else pd.NaT
    return None


def _single(kind: str, column: Column, values: Any, mask: Any, n_rows: int) -> Any:
    """Convert the values of one column that is not a plain block."""
    import numpy as np

    if kind == "null":
        return np.full(n_rows, None, dtype=object)
    if column.logical == "time":
        values = values.astype("i8").view(f"m8[{column.unit}]")
    elif column.logical == "date":
        values = values.astype("M8[D]")
    if mask is None or not mask.any():
        return values
    if values.dtype.kind in "mM":
        values[mask] = np.array("NaT", values.dtype)
        return values
    if values.dtype.kind in "fc":
        values[mask] = np.nan
        return values
    raise _unsupported(column)


def _unsupported(column: Column) -> UnsupportedTypeError:
    return UnsupportedTypeError(
        f"column '{column.name}': {column.type_name} with missing values has no counterpart in NumPy: "
        "read it with to='pandas', 'polars' or 'pyarrow', or leave it out with columns="
    )
