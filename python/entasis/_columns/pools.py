"""Pools: columns that hold the values of all arrays of one dtype in a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._columns.arrays import from_entry
from entasis._entasis import Handle
from entasis.errors import CorruptFileError

if TYPE_CHECKING:
    from entasis._entasis import Column


def read_pool(handle: Handle, column: int, start: int, stop: int, threads: int | None) -> Any:
    """Read the values `start` to `stop` of a pool."""
    (info,) = handle.columns([column])
    if stop > info.n_values:
        raise CorruptFileError(f"an array ends at value {stop} of a pool with {info.n_values} values")
    found = _view(handle, info, start, stop)
    if found is not None:
        return found
    rows = None if (start, stop) == (0, info.n_values) else range(start, stop)
    return _pool_rows(handle, info, rows, threads)


def read_pool_at(handle: Handle, column: int, indices: Any, threads: int | None) -> Any:
    """Read the values of a pool at these indices, an array of int64."""
    (info,) = handle.columns([column])
    if len(indices) and int(indices.max()) >= info.n_values:
        raise CorruptFileError(f"an array has value {indices.max()} of a pool with {info.n_values} values")
    if len(indices):
        start = int(indices.min())
        found = _view(handle, info, start, int(indices.max()) + 1)
        if found is not None:
            return found[indices - start]
    return _pool_rows(handle, info, indices, threads)


def _view(handle: Handle, info: Column, start: int, stop: int) -> Any:
    """Values of a pool as a view of a mapped file; None if the caller must read them."""
    if type(handle) is Handle:
        return None
    entry = handle.view(info, start, stop)
    if entry is None:
        return None
    _, (found,) = from_entry(entry, True, stop - start)
    return found


def _pool_rows(handle: Handle, info: Column, rows: Any, threads: int | None) -> Any:
    import numpy as np

    entries = handle.read([info.index], _rows.native(rows), "numpy", True, 0, threads, info.n_values)
    ((kind, _, _, values, mask),) = entries
    is_vector = kind not in ("block", "arrow") and info.logical == "plain" and info.physical != "fixed bytes"
    if is_vector and mask is not None and mask.any() and values.dtype.kind in "biu":
        # A vector of R with missing values becomes a masked array.
        return np.ma.MaskedArray(values, mask)
    if info.dictionary is not None or info.logical == "object":
        raise CorruptFileError(f"a pool has the type {info.type_name}")
    _, values = from_entry(entries[0], True, _rows.count(rows, info.n_values))
    return values[0]
