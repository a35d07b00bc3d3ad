"""Look up labels in a sorted pandas index by reading only a few of its labels.

pandas compares the labels, so its rules hold, for example for partial time strings.
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from entasis.errors import CorruptFileError, UnsupportedTypeError

from . import row_labels as _row_labels
from .search import is_sorted
from .statistics import records

if TYPE_CHECKING:
    from .table import OpenTable
    from .view import View

# Shorter indexes are read whole.
_FEW = 1 << 16
# The distance, in rows, between the labels that a search reads first in a block.
_STEP = 256
# From this float on there are integers between neighbours.
_INEXACT = 2.0**53
_LABELS = (int, float, str, bytes, datetime.datetime, datetime.timedelta)
_LOGICAL = ("plain", "timestamp", "duration", "date")


def find(view: View, key: Any) -> range | None:
    """The rows that `loc` of pandas finds for a label or a slice of labels.

    None if the index is not known to be sorted, if the key has another form, or if deciding needs
    more labels, as for all keys that pandas refuses.

    Raises
    ------
    KeyError
        No row has the label.
    """
    table, is_slice = view.table, isinstance(key, slice)
    ends = (key.start, key.stop) if is_slice else (key,)
    if view.rows is not None or view.n_rows <= _FEW or table.has_index_in_memory:
        return None
    if key is None or (is_slice and key.step not in (None, 1)) or not all(map(_is_label, ends)):
        return None
    labels = _labels(table)
    if labels is None:
        return None
    try:
        found = labels.between(*ends) if is_slice else labels.between(key, key)
        return found if is_slice else labels.checked(key, found)
    except KeyError:
        if is_slice:
            return None
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        # Reading all labels gives the error of pandas.
        return None


def _is_label(value: Any) -> bool:
    import numpy as np

    if value is None or isinstance(value, bool) or value != value:
        return value is None
    if isinstance(value, (float, np.floating)) and _INEXACT <= abs(float(value)) < np.inf:
        # It can equal several integers.
        return False
    return isinstance(value, (*_LABELS, np.number, np.datetime64, np.timedelta64))


def _labels(table: OpenTable) -> _SortedLabels | None:
    if table.sorted_labels is None:
        try:
            table.sorted_labels = _opened(table) or False
        except (CorruptFileError, UnsupportedTypeError):
            # The statistics are damaged, but labels can be read without statistics.
            table.sorted_labels = False
    return table.sorted_labels or None


def _opened(table: OpenTable) -> _SortedLabels | None:
    """The labels of a file, if they are one sorted level of a type with an order."""
    index = table.host.get("index") if table.host.get("host") == "pandas" else None
    if not isinstance(index, dict) or index.get("kind") != "column" or len(table.levels.columns) != 1:
        return None
    (column,) = table.handle.columns(table.levels.columns)
    if column.logical not in _LOGICAL or column.physical == "bool" or not is_sorted(table, column.index):
        return None
    return _SortedLabels(table, records(table.handle, column)["first"])


class _SortedLabels:
    """The labels of a sorted index. The first one of each block is kept."""

    def __init__(self, table: OpenTable, first: Any) -> None:
        self._handle, self._first, self._n = table.handle, first, table.handle.n_rows
        # The frequency of times does not affect look-ups, and computing it takes long.
        index = {key: value for key, value in table.host["index"].items() if key != "freq"}
        self._host = {**table.host, "index": index}
        self._labels = self._read(first)

    def _read(self, rows: Any) -> Any:
        return _row_labels.index(self._handle, self._host, rows)

    def between(self, start: Any, stop: Any) -> range:
        """The rows with labels from `start` to `stop`, both included."""
        blocks = self._labels.slice_indexer(start, stop)
        first = 0 if start is None else self._bound(blocks.start, slice(start, None))
        end = self._n if stop is None else self._bound(blocks.stop, slice(None, stop))
        return range(first, max(first, end))

    def _bound(self, n_blocks: int, part: slice) -> int:
        """The row at which a slice begins or ends, in the last of the first `n_blocks` blocks."""
        if n_blocks == 0:
            return 0
        first = int(self._first[n_blocks - 1])
        end = self._n if n_blocks == len(self._first) else int(self._first[n_blocks])
        for step in (_STEP, 1):
            rows = range(first, end, step)
            found = self._read(rows).slice_indexer(part.start, part.stop)
            # The first label is before the bound, so `n` is 1 or more.
            n = int(found.stop if part.start is None else found.start)
            first, end = rows[n - 1], min(rows[n - 1] + step, end)
        return first + 1

    def checked(self, key: Any, found: range) -> range | None:
        """The rows of a label, which lie between its bounds. None if the bounds are unknown.

        Raises
        ------
        KeyError
            No row has the label.
        """
        if isinstance(key, str) and hasattr(self._labels, "indexer_between_time"):
            # A period of time, or a moment if all times of the index are whole periods.
            if found:
                return found
            if found.start in (0, self._n):
                raise KeyError(key)
            try:
                self._labels.get_loc(key)
            except KeyError:
                return None
            return found
        near = range(max(found.start - 1, 0), min(found.start + 2, self._n))
        _row_labels.positions(self._read(near), key, lambda _: False, "row")
        return found or None
