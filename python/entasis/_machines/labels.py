"""Where partitions end so that equal labels are in one partition, as the divisions of Dask demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._dataset.query import Query
from entasis._dataset.read import read
from entasis._dataset.table import Table
from entasis._view.search import is_sorted

if TYPE_CHECKING:
    from entasis._view.view import View

    from .rows import Source

# Types whose order is the same in files and in pandas.
_LOGICAL = ("plain", "timestamp", "duration", "date")
# A label may take as many partitions. A longer one would need too much memory.
_MOST_PARTITIONS = 2


class _Labels:
    """The labels of a file: its index, or a column that becomes one."""

    def __init__(self, source: Source, number: int, index: str | None) -> None:
        self._table = Table(source.query.table.files.of([number]), fills=False)
        self._columns = [] if index is None else [index]

    def are_sorted(self) -> bool:
        """Whether the labels ascend, without missing ones."""
        view = self._table.first
        if self._columns:
            if self._columns[0] in self._table.files.keys.names:
                return self.at(0) is not None and self.at(0) == self.at(0)
            return _is_sorted(view, view.names().index(self._columns[0]))
        index = view.table.host.get("index") if view.written_by == "pandas" else None
        if not isinstance(index, dict):
            return False
        if index["kind"] == "range":
            return bool(index["step"] > 0)
        levels = view.table.levels.columns
        return index["kind"] == "column" and len(levels) == 1 and _is_sorted(view, levels[0])

    def at(self, row: int) -> Any:
        """The label of a row."""
        query = Query(self._table, self._columns, (row, row + 1))
        frame = read(query, "pandas", 1, index=True)
        return frame[self._columns[0]].iloc[0] if self._columns else frame.index[0]

    def begin(self, label: Any, low: int, high: int) -> int:
        """The first row from `low` on with a label, which row `high` has. The labels ascend."""
        while low < high:
            middle = (low + high) // 2
            if self.at(middle) < label:
                low = middle + 1
            else:
                high = middle
        return low


def _is_sorted(view: View, number: int) -> bool:
    (column,) = view.handle.columns([number])
    return column.logical in _LOGICAL and column.physical != "bool" and is_sorted(view.table, number)


def divided(source: Source, most: int, index: str | None) -> tuple[list[tuple[int, int]], list[Any]] | None:
    """Where partitions begin, and the first label of each and the last label of all.

    Opens each file, and reads some labels.

    Parameters
    ----------
    most
        The number of rows of a partition that is cut off nowhere else.
    index
        The column that has the labels; None for the labels that are stored as such.

    Returns
    -------
    tuple
        None if labels do not ascend, or if one has the rows of more than two partitions.
    """
    starts: list[tuple[int, int]] = []
    found: list[Any] = []
    # The rows before each file, for the lengths of partitions.
    before = [0]
    for n in source.lengths:
        before.append(before[-1] + n)
    earlier: tuple[int, _Labels, Any] | None = None
    for number, n in enumerate(source.lengths):
        if not n:
            continue
        labels = _Labels(source, number, index)
        if not labels.are_sorted():
            return None
        for row in range(0, n, most):
            here = labels.at(row)
            place = number, row
            if row or earlier is not None:
                at, of, last = (number, labels, labels.at(row - 1)) if row else earlier or (0, labels, here)
                if last > here:
                    return None
                if last == here:
                    if found[-1] == here:
                        # The partition before takes these rows too.
                        end = before[number] + min(row + most, n)
                        if end - before[starts[-1][0]] - starts[-1][1] > _MOST_PARTITIONS * most:
                            return None
                        continue
                    low = starts[-1][1] if starts[-1][0] == at else 0
                    place = at, of.begin(here, low, (row or source.lengths[at]) - 1)
            starts.append(place)
            found.append(here)
        earlier = number, labels, labels.at(n - 1)
    if earlier is None:
        return None
    return starts, [*found, earlier[2]]
