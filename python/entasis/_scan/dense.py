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


def range_of(found: RowBits) -> range | None:
    """The rows to read, from the first one that passes to the last; None if too few of them pass."""
    first, last = found.span
    return range(first, last) if 0 < SHARE * (last - first) <= found.count else None


def kept(frame: Any, found: RowBits) -> Any | None:
    """The rows of a frame that pass.

    Parameters
    ----------
    frame
        The rows of `range_of`.
    found
        A bit for each row that was tested.

    Returns
    -------
    Any
        A frame; None for values that take no mask.
    """
    import numpy as np

    start, stop = found.span
    if found.count == stop - start:
        return frame
    bits, at = np.asarray(found), start - found.first
    pa, pl = sys.modules.get("pyarrow"), sys.modules.get("polars")
    if pa is not None and isinstance(frame, pa.Table):
        mask = pa.BooleanArray.from_buffers(pa.bool_(), stop - start, [None, pa.py_buffer(bits)], offset=at)
        try:
            return frame.filter(mask)
        except pa.ArrowNotImplementedError:
            # pyarrow lacks the filter of a type, such as runs.
            return None
    if pl is not None and isinstance(frame, pl.DataFrame):
        some = np.unpackbits(bits, count=at + stop - start, bitorder="little")[at:]
        return frame.filter(pl.Series(some.view(bool)))
    return None
