"""The rows of a view in windows, so that an engine gets the first ones at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._file.file import File

# Rows of the first window. Later windows are longer, so that several threads have work. Engines ask
# for a few windows ahead, even where they need one row.
_FIRST = 1 << 14
# Rows of a window of a table with very many columns.
_LEAST = 1 << 10
_GROWTH = 2
# Values of the longest window.
_CELLS = 1 << 22
# The same for rows that are tested together. A row that passes takes 8 bytes.
_FIRST_TESTED = 1 << 16
_TEST_GROWTH = 16
_MOST_TESTED = 1 << 24
# Rows are read with those between them, if these make it at most so many times as many.
_DENSE = 4 / 3


class Window(NamedTuple):
    """Some rows of a view.

    Attributes
    ----------
    positions
        Their positions in the view, ascending: a range or an array of int64.
    rows
        Their numbers in the file.
    kept
        The places, among these rows, of those that pass the condition; None if all do. Where most
        rows pass, reading all of them takes less time than picking.
    """

    positions: Any
    rows: Any
    kept: Any = None


def windows(view: File, tree: tuple[Any, ...] | None, n_columns: int) -> Iterator[Window]:
    """The rows of a view that pass a condition, in order.

    Parameters
    ----------
    view
        The view.
    tree
        The condition as the core takes it; None for all rows.
    n_columns
        How many columns are read of them.
    """
    most = max(_LEAST, _CELLS // max(n_columns, 1))
    size = min(_FIRST, most)
    own = view._rows
    are_neighbours = own is None or (isinstance(own, range) and own.step == 1)
    for passed in _passed(view, tree):
        n, start = len(passed.rows), 0
        while start < n:
            stop = min(start + size, n)
            window = Window(passed.positions[start:stop], passed.rows[start:stop])
            yield _closed(window) if are_neighbours else window
            start, size = stop, min(size * _GROWTH, most)


def _closed(window: Window) -> Window:
    """The window with the rows between its own, if these are few. All rows ascend."""
    rows = window.rows
    if isinstance(rows, range):
        return window
    first, last, at = int(rows[0]), int(rows[-1]), int(window.positions[0])
    between = last - first + 1
    if between > _DENSE * len(rows):
        return window
    kept = None if between == len(rows) else rows - first
    return Window(range(at, at + between), range(first, last + 1), kept)


def _passed(view: File, tree: tuple[Any, ...] | None) -> Iterator[Window]:
    """The rows of a view that pass, in parts that are tested together."""
    import numpy as np

    own = range(view.n_rows) if view._rows is None else view._rows
    if tree is None:
        yield Window(range(view.n_rows), own)
        return
    is_range = isinstance(own, range) and own.step == 1
    start, size = 0, _FIRST_TESTED
    while start < view.n_rows:
        stop = min(start + size, view.n_rows)
        rows = own[start:stop]
        if not isinstance(rows, range):
            rows = np.asarray(rows, np.int64)
        ends = (rows[0], rows[-1]) if isinstance(rows, range) else (rows.min(), rows.max())
        first, last = min(ends), max(ends)
        found = np.asarray(view._handle.filtered_rows(tree, int(first), int(last) + 1, None))
        if is_range:
            yield Window(found + (start - int(first)), found)
        else:
            every = np.asarray(rows, np.int64)
            places = np.flatnonzero(np.isin(every, found))
            yield Window(places + start, every[places])
        start, size = stop, min(size * _TEST_GROWTH, _MOST_TESTED)
