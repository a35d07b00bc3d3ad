"""If most rows pass a filter, reads all rows and drops those that fail.

That takes less time than reading rows by their numbers.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from entasis._entasis import RowBits

# If at least this share of rows passes, all rows are read. The first share is for filtering with
# one thread, the second for filtering columns in parallel.
SHARE = 0.75
SHARE_SIDE_BY_SIDE = 0.6
# Libraries whose frames take a mask, with several threads.
HOSTS = ("pyarrow", "polars")
# From this many rows on, the columns of a table are filtered in parallel; pyarrow itself uses one
# thread.
_MANY = 1 << 17


def range_of(found: RowBits, share: float = SHARE) -> range | None:
    """The rows to read, from the first to the last passing one; None if too few rows pass."""
    first, last = found.span
    return range(first, last) if 0 < share * (last - first) <= found.count else None


def kept(frame: Any, found: RowBits, threads: int | None = None) -> Any | None:
    """The rows of a frame that pass.

    Parameters
    ----------
    frame
        The rows of `range_of`: a frame, or the array or Series that was written.
    found
        A bit for each row that was tested.
    threads
        The most threads; None for as many as pyarrow uses.

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
        return filtered(frame, bits, at, threads)
    if pl is not None and isinstance(frame, (pl.DataFrame, pl.Series)):
        some = np.unpackbits(bits, count=at + stop - start, bitorder="little")[at:]
        return frame.filter(pl.Series(some.view(bool)))
    return None


def filtered(values: Any, bits: Any, at: int, threads: int | None = 1) -> Any | None:
    """The rows of a table or array of pyarrow whose bits are set, from bit `at` on.

    None if pyarrow lacks the filter of a type, such as runs.
    """
    import pyarrow as pa

    passing = mask(bits, at, len(values))
    try:
        if isinstance(values, pa.Table) and len(values) >= _MANY:
            n_threads = min(values.num_columns, threads or pa.cpu_count())
            if n_threads > 1:
                from concurrent.futures import ThreadPoolExecutor

                with ThreadPoolExecutor(n_threads) as pool:
                    columns = list(pool.map(lambda column: column.filter(passing), values.columns))
                return pa.Table.from_arrays(columns, schema=values.schema)
        return values.filter(passing)
    except pa.ArrowNotImplementedError:
        return None


def mask(bits: Any, at: int, n: int) -> Any:
    """Bits from bit `at` on as booleans of pyarrow. They are not copied."""
    import pyarrow as pa

    return pa.BooleanArray.from_buffers(pa.bool_(), n, [None, pa.py_buffer(bits)], offset=at)
