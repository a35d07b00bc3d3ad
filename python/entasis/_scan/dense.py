"""Filters that most rows pass: all rows are read, and the others are dropped.

That takes less time than reading rows by their numbers.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from entasis._entasis import RowBits

# The share of rows that pass from which all rows are read.
SHARE = 0.75
# Libraries whose frames take a mask, with several threads.
HOSTS = ("pyarrow", "polars")


def range_of(found: RowBits, share: float = SHARE) -> range | None:
    """The rows to read, from the first one that passes to the last; None if too few of them pass."""
    first, last = found.span
    return range(first, last) if 0 < share * (last - first) <= found.count else None


def kept(frame: Any, found: RowBits) -> Any | None:
    """The rows of a frame that pass.

    Parameters
    ----------
    frame
        The rows of `range_of`: a frame, or the array or Series that was written.
    found
        A bit for each row that was tested.

    Returns
    -------
    Any
        A value of the same type; None for values that take no mask.
    """
    import numpy as np

    start, stop = found.span
    if found.count == stop - start:
        return frame
    bits, at = np.asarray(found), start - found.first
    pa, pl = sys.modules.get("pyarrow"), sys.modules.get("polars")
    if pa is not None and isinstance(frame, (pa.Table, pa.RecordBatch, pa.Array, pa.ChunkedArray)):
        return filtered(frame, bits, at)
    if pl is not None and isinstance(frame, (pl.DataFrame, pl.Series)):
        some = np.unpackbits(bits, count=at + stop - start, bitorder="little")[at:]
        return frame.filter(pl.Series(some.view(bool)))
    return None


def filtered(values: Any, bits: Any, at: int) -> Any | None:
    """The rows of a table or array of pyarrow whose bits are set, from bit `at` on.

    None if pyarrow lacks the filter of a type, such as runs.
    """
    import pyarrow as pa

    try:
        return values.filter(mask(bits, at, len(values)))
    except pa.ArrowNotImplementedError:
        return None


def mask(bits: Any, at: int, n: int) -> Any:
    """Bits from bit `at` on as booleans of pyarrow. They are not copied."""
    import pyarrow as pa

    return pa.BooleanArray.from_buffers(pa.bool_(), n, [None, pa.py_buffer(bits)], offset=at)
