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
# Values and bytes of the longest window.
_CELLS = 1 << 22
_BYTES = 1 << 28
# Rows of a block, and so of a segment that is decoded at once.
_BLOCK = 1 << 16
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
        The places, among these rows, of those that pass the condition; None if all do. `windows`
        has the rows that pass alone. `spans` may have others: where most rows pass, reading all of
        them takes less time than picking.
    """

    positions: Any
    rows: Any
    kept: Any = None


class Sizes:
    """The lengths of windows in rows. They grow up to a number of values, and of bytes if known."""

    def __init__(self, n_columns: int, first: int | None = None, least: int | None = None) -> None:
        most = max(_LEAST if least is None else least, _CELLS // max(n_columns, 1))
        # Windows that end where blocks end decode no block twice.
        self._most = most if most < _BLOCK else most - most % _BLOCK
        self.size = min(_FIRST if first is None else first, self._most)

    def grow(self) -> None:
        """Set the size of the next window."""
        self.size = min(self.size * _GROWTH, self._most)

    def measured(self, n_rows: int, memory_len: int) -> None:
        """Take into account how many bytes the rows of the last window took."""
        if n_rows and memory_len:
            self._most = min(self._most, max(1, n_rows * _BYTES // memory_len))
            self.size = min(self.size, self._most)


def windows(view: File, tree: tuple[Any, ...] | None, sizes: Sizes) -> Iterator[Window]:
    """The rows of a view that pass a condition, in order.

    Parameters
    ----------
    view
        The view.
    tree
        The condition as the core takes it; None for all rows.
    sizes
        The lengths of the windows.
    """
    for passed in _passed(view, tree):
        n, start = len(passed.rows), 0
        while start < n:
            stop = min(start + sizes.size, n)
            sizes.grow()
            yield Window(passed.positions[start:stop], passed.rows[start:stop])
            start = stop


def spans(view: File, tree: tuple[Any, ...] | None, sizes: Sizes) -> Iterator[Window]:
    """As `windows`, where windows of which most rows pass have all rows."""
    own = view._rows
    are_neighbours = own is None or (isinstance(own, range) and own.step == 1)
    for window in windows(view, tree, sizes):
        yield _closed(window) if are_neighbours else window


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
            found = _consecutive(found)
            yield Window(_moved(found, start - int(first)), found)
        else:
            every = np.asarray(rows, np.int64)
            places = np.flatnonzero(np.isin(every, found))
            yield Window(places + start, every[places])
        start, size = stop, min(size * _TEST_GROWTH, _MOST_TESTED)


def _consecutive(rows: Any) -> Any:
    """Ascending numbers, as a range if none between them is missing. A range decodes faster."""
    if len(rows) and int(rows[-1]) - int(rows[0]) == len(rows) - 1:
        return range(int(rows[0]), int(rows[-1]) + 1)
    return rows


def _moved(rows: Any, by: int) -> Any:
    return range(rows.start + by, rows.stop + by) if isinstance(rows, range) else rows + by
