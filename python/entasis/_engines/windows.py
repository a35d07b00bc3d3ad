"""The rows of a view in windows, so that an engine gets the first ones at once."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from entasis._view.dense import SHARE, range_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from entasis._entasis import RowBits
    from entasis._view.view import View

# Rows of the first window. Later windows are longer, so that several threads have work. Engines ask
# for a few windows ahead, even where they need one row.
_FIRST = 1 << 14
# Rows of a window of a table with very many columns.
_LEAST = 1 << 10
_GROWTH = 2
# Values and bytes of the longest window.
CELLS = 1 << 22
_BYTES = 1 << 28
# Rows of a block, which is decoded as one segment.
_BLOCK = 1 << 16
# Blocks that are fetched ahead from a store at a time, of all columns together.
_AHEAD = 128
# Rows that are tested together: at first, the growth, and at most. A row that passes takes 8 bytes.
_FIRST_TESTED = 1 << 16
_TEST_GROWTH = 16
_MOST_TESTED = 1 << 24


class Window(NamedTuple):
    """Some rows of a view.

    Attributes
    ----------
    positions
        Their positions in the view, ascending: a range or an array of int64.
    rows
        Their numbers in the file.
    kept
        Which of these rows pass the condition; None if all do. `windows` yields only rows that
        pass. `spans` may yield others too: where most rows pass, reading all of them takes less
        time than picking.
    """

    positions: Any
    rows: Any
    kept: Mask | None = None

    def halves(self) -> Iterator[Window]:
        """The two halves of a window of several rows."""
        n = len(self.rows)
        for part in (slice(0, n // 2), slice(n // 2, n)):
            kept = None if self.kept is None else self.kept.later(part.start)
            yield Window(self.positions[part], self.rows[part], kept)


class Mask(NamedTuple):
    """A bit for each row of a window, least significant first.

    Attributes
    ----------
    bits
        The bits of these rows and others, as an array of bytes.
    first
        The position of the first row.
    found
        The rows that pass, as the core has them.
    """

    bits: Any
    first: int
    found: RowBits

    def later(self, n: int) -> Mask:
        """The bits of a later window."""
        return self._replace(first=self.first + n)


class Sizes:
    """The lengths of windows in rows.

    They grow up to a number of values. A window of long strings takes at most about `_BYTES`, by
    the records of its blocks.

    Parameters
    ----------
    n_columns
        The number of columns.
    first, least
        The first length, and the least number of rows of a full window.
    text_len
        The bytes of the strings in a range of rows of the file; None if there are none.
    n_together
        How many windows are read together. They share the greatest number of values and bytes.
    """

    def __init__(
        self,
        n_columns: int,
        first: int | None = None,
        least: int | None = None,
        text_len: Callable[[int, int], int] | None = None,
        n_together: int = 1,
    ) -> None:
        self._text_len, self._most_len = text_len, _BYTES // n_together
        most = max(_LEAST if least is None else least, CELLS // n_together // max(n_columns, 1))
        # Windows of a block or more are whole blocks. They end at block ends, so that no block is
        # decoded twice.
        self._most = most if most < _BLOCK else most - most % _BLOCK
        self.size = min(_FIRST if first is None else first, self._most)

    def next(self, rows: Any) -> int:
        """The size of a window that begins with these rows. The next one may be longer."""
        size = min(self.size, len(rows))
        self.size = min(self.size * _GROWTH, self._most)
        while self._text_len is not None and size > 1 and self._len(rows[:size]) > self._most_len:
            size //= 2
        return size

    def _len(self, rows: Any) -> int:
        """The bytes of the strings in some rows, which may lie apart."""
        ends = (rows[0], rows[-1]) if isinstance(rows, range) else (rows.min(), rows.max())
        start, stop = int(min(ends)), int(max(ends)) + 1
        assert self._text_len is not None, "there are strings"
        return self._text_len(start, stop) * len(rows) // (stop - start)

    def measured(self, n_rows: int, memory_len: int) -> None:
        """Limit the lengths of later windows by the bytes that the last window took."""
        if n_rows and memory_len:
            self._most = min(self._most, max(1, n_rows * self._most_len // memory_len))
            self.size = min(self.size, self._most)


def windows(view: View, tree: tuple[Any, ...] | None, sizes: Sizes, numbers: Sequence[int] = ()) -> Iterator[Window]:
    """The rows of a view that pass a condition, in order.

    Parameters
    ----------
    view
        The view.
    tree
        The condition as the core takes it; None for all rows.
    sizes
        The lengths of the windows.
    numbers
        The columns that are read. Those of a file on a store are fetched ahead.
    """
    return _fetched(view, numbers, (window for passed in _passed(view, tree) for window in _cut(passed, sizes)))


def spans(view: View, tree: tuple[Any, ...] | None, sizes: Sizes, numbers: Sequence[int] = ()) -> Iterator[Window]:
    """As `windows`. A part has all its rows if most of them pass."""
    found = (window for passed in _passed(view, tree, SHARE) for window in _cut(passed, sizes))
    return _fetched(view, numbers, found)


def _fetched(view: View, numbers: Sequence[int], found: Iterator[Window]) -> Iterator[Window]:
    """The windows of a view. On a store the rows of later windows are fetched meanwhile."""
    columns = [number for number in numbers if number >= 0]
    if not columns or not getattr(view.handle, "is_remote", False):
        yield from found
        return
    own = range(view.handle.n_rows) if view.rows is None else view.rows
    last = own.stop if isinstance(own, range) and own.step == 1 else 0
    # An engine that wants a few rows ends soon, so the first steps are short.
    step, longest = _BLOCK, _BLOCK * max(1, _AHEAD // len(columns))
    to, ahead = 0, deque[tuple[int, Any]]()
    for window in found:
        if isinstance(window.rows, range) and len(window.rows):
            start, stop = window.rows[0], window.rows[-1] + 1
            to = max(to, start - start % _BLOCK)
            while to < min(stop + step, last):
                end = min(to + step, last)
                ahead.append((end, view.handle.announce(columns, to, end)))
                to, step = end, min(2 * step, longest)
            # Engines read a few windows later than they ask for these.
            while ahead and ahead[0][0] + longest <= start:
                ahead.popleft()
        yield window


def _cut(passed: Window, sizes: Sizes) -> Iterator[Window]:
    """The windows of rows that were tested together."""
    n, start, kept = len(passed.rows), 0, passed.kept
    while start < n:
        stop = start + sizes.next(passed.rows[start:])
        here = None if kept is None else kept.later(start)
        yield Window(passed.positions[start:stop], passed.rows[start:stop], here)
        start = stop


def _passed(view: View, tree: tuple[Any, ...] | None, share: float = 1.0) -> Iterator[Window]:
    """The rows of a view that pass, in parts that are tested together.

    A part has all its rows, and a mask, if at least this share of them passes.
    """
    import numpy as np

    own = range(view.n_rows) if view.rows is None else view.rows
    if tree is None:
        yield Window(range(view.n_rows), own)
        return
    is_range = isinstance(own, range) and own.step == 1
    start, size = 0, _FIRST_TESTED
    while start < view.n_rows:
        stop = min(start + size, view.n_rows)
        rows = own[start:stop]
        if is_range:
            yield _found(view, tree, rows, start, share)
        else:
            every = np.asarray(rows, np.int64)
            found = view.handle.filtered_rows(tree, int(every.min()), int(every.max()) + 1, None)
            positions = np.flatnonzero(np.isin(every, np.asarray(found)))
            yield Window(positions + start, every[positions])
        start, size = stop, min(size * _TEST_GROWTH, _MOST_TESTED)


def _found(view: View, tree: tuple[Any, ...], rows: range, position: int, share: float) -> Window:
    """The passing rows among consecutive ones, whose first is at `position` in the view."""
    import numpy as np

    found = view.handle.filtered_bits(tree, rows.start, rows.stop, None)
    by, dense = position - rows.start, range_of(found, share)
    if dense is None:
        numbers = np.asarray(found.numbers())
        return Window(numbers + by, numbers)
    kept = None if found.count == len(dense) else Mask(np.asarray(found), dense.start - found.first, found)
    return Window(range(dense.start + by, dense.stop + by), dense, kept)
