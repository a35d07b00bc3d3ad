"""NumPy arrays of decoded columns of all types, including objects and categoricals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._columns.arrays import from_entry
from entasis._values import cells as _cells
from entasis.errors import UnsupportedTypeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._entasis import Column, Handle


def arrays(handle: Handle, entries: list[Any], rows: Any, n: int, own: bool) -> Iterator[tuple[Any, Any, Column]]:
    """Make arrays of the entries of `Handle.read`.

    Parameters
    ----------
    rows
        The rows that were read, as a resolved selection.
    n
        The length of the columns.
    own
        Whether NumPy or StaticFrame wrote the columns.

    Yields
    ------
    positions, array, column
        Positions of columns, an array with a row for each of them, and their type.
    """
    import numpy as np

    n_rows = _rows.count(rows, n)
    for entry in _cells.fill(handle, entries, rows, n):
        kind, at, column, values, mask = entry
        _refuse(handle, column)
        if kind == "objects":
            yield np.array([at]), values.reshape(1, n_rows), column
        elif kind not in ("block", "arrow", "null") and column.logical == "categorical":
            yield np.array([at]), _categories(handle, column, values, mask).reshape(1, n_rows), column
        else:
            positions, found = from_entry(entry, own, n_rows)
            yield positions, found, column


def _refuse(handle: Handle, column: Column) -> None:
    """Refuse columns, and categories, of types that NumPy lacks."""
    values = column if column.dictionary is None else handle.columns([column.dictionary])[0]
    if values.logical in ("decimal", "period", "interval"):
        hint = "to='pyarrow' or 'pandas'"
        raise UnsupportedTypeError(
            f"column '{column.name}': {values.type_name} has no counterpart in NumPy; use {hint}"
        )


def _categories(handle: Handle, column: Column, codes: Any, mask: Any) -> Any:
    """The values of a categorical."""
    import numpy as np

    assert column.dictionary is not None, "a categorical has categories"
    (dictionary,) = handle.columns([column.dictionary])
    n = dictionary.n_values
    try:
        entries = handle.read([column.dictionary], None, "numpy", False, 0, 1, n)
        ((_, values, _),) = arrays(handle, entries, None, n, False)
    except UnsupportedTypeError as error:
        # A dictionary column has no name, so the error names the categorical.
        message = f"column '{column.name}': categories of {dictionary.type_name} have no counterpart in NumPy"
        raise UnsupportedTypeError(message) from error
    categories = values[0]
    missing = codes < 0 if codes.dtype.kind == "i" else mask
    if missing is None or not missing.any():
        return categories[codes]
    if categories.dtype.kind not in "OfmM":
        what = f"categories of {categories.dtype} with missing values"
        raise UnsupportedTypeError(f"column '{column.name}': {what} have no counterpart in NumPy")
    out = np.empty(len(codes), categories.dtype)
    out[~missing] = categories[codes[~missing]]
    kind = categories.dtype.kind
    out[missing] = np.array("NaT", categories.dtype) if kind in "mM" else {"f": np.nan, "O": None}[kind]
    return out
