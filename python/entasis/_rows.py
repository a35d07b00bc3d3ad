"""Rows: what a caller asks for, made into a range or an array of row numbers."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from ._options import integer
from .errors import ArgumentError, RowsOutOfRangeError

if TYPE_CHECKING:
    from typing import Protocol, SupportsIndex

    class ArrayLike(Protocol):
        """A sequence, array, index or series of any library."""

        def __len__(self) -> int: ...
        def __getitem__(self, key: Any, /) -> Any: ...

    Rows = tuple[int | None, int | None] | slice | range | SupportsIndex | ArrayLike

# All rows are None; a range has no negative number in it; an array is of int64 and has none either.
Resolved = Any


def resolve(rows: Rows | None, n_rows: int) -> Resolved:
    """The rows of a table of `n_rows`: None for all, a range, or an array of int64."""
    if rows is None:
        return None
    if isinstance(rows, tuple):
        return _pair(rows, n_rows)
    if isinstance(rows, slice):
        return sliced(range(n_rows), rows)
    if isinstance(rows, range):
        if not rows:
            return range(0)
        first, last = rows[0], rows[-1]
        if min(first, last) < 0 or max(first, last) >= n_rows:
            raise RowsOutOfRangeError(f"rows {first} to {last} are out of range: the table has {n_rows} rows")
        return rows
    row = integer(rows)
    if row is None:
        # A boolean is an index too for Python, but no row.
        if isinstance(rows, bool):
            raise ArgumentError(f"rows can't be {rows!r}")
        return _array(rows, n_rows)
    first = row + n_rows if row < 0 else row
    if not 0 <= first < n_rows:
        raise RowsOutOfRangeError(f"row {row} is out of range: the table has {n_rows} rows")
    return range(first, first + 1)


def sliced(numbers: Any, part: slice) -> Any:
    """The part of a range or list that a slice of the caller's tells."""
    try:
        return numbers[part]
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{part!r}: {error}") from None


def _pair(rows: tuple[Any, ...], n_rows: int) -> range:
    if len(rows) != 2:
        raise ArgumentError(f"rows as a tuple are (start, stop), not {len(rows)} numbers; use a list for row numbers")
    try:
        start = 0 if rows[0] is None else operator.index(rows[0])
        stop = n_rows if rows[1] is None else operator.index(rows[1])
    except TypeError:
        raise ArgumentError(f"rows as a tuple are two integers (start, stop), not {rows!r}") from None
    if start < 0 or stop > n_rows or start > stop:
        raise RowsOutOfRangeError(f"rows {start} to {stop} are out of range: the table has {n_rows} rows")
    return range(start, stop)


def _array(rows: Any, n_rows: int) -> Any:
    import numpy as np

    array = np.asarray(rows)
    if array.ndim != 1:
        raise ArgumentError(f"rows are one-dimensional, not of {array.ndim} dimensions")
    if array.dtype == np.bool_:
        if len(array) != n_rows:
            raise RowsOutOfRangeError(f"the mask has {len(array)} values, the table {n_rows} rows")
        return np.flatnonzero(array).astype(np.int64, copy=False)
    if len(array) == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind not in "iu":
        raise ArgumentError(f"rows are integers or booleans, not {array.dtype}")
    low, high = int(array.min()), int(array.max())
    if low < -n_rows or high >= n_rows:
        row = low if low < -n_rows else high
        raise RowsOutOfRangeError(f"row {row} is out of range: the table has {n_rows} rows")
    array = array.astype(np.int64, copy=False)
    return np.where(array < 0, array + n_rows, array) if low < 0 else array


def count(rows: Resolved, n_rows: int) -> int:
    """How many rows are selected."""
    return n_rows if rows is None else len(rows)


def compose(outer: Resolved, inner: Resolved) -> Resolved:
    """The rows `inner` of the rows `outer`."""
    if outer is None:
        return inner
    if inner is None:
        return outer
    if isinstance(inner, range):
        return outer[as_slice(inner)]
    if isinstance(outer, range):
        return inner * outer.step + outer.start
    return outer[inner]


def as_slice(rows: range) -> slice:
    """The slice that takes what a range of row numbers has in it."""
    if len(rows) == 0:
        return slice(0, 0)
    # A stop before row 0 can't be told by a number: it would count from the end.
    return slice(rows.start, rows.stop if rows.stop >= 0 else None, rows.step)


def native(rows: Resolved) -> Any:
    """The form that the native half takes."""
    if rows is None or not isinstance(rows, range):
        return rows
    if len(rows) == 0:
        return (0, 0, 1)
    return (rows.start, rows.stop, rows.step)
