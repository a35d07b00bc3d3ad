"""The levels of a file's index, as columns for libraries without indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._host_map import interpretation

from .fields import FieldColumn
from .index_spec import columns_of
from .labels import decode_label
from .text import as_text

if TYPE_CHECKING:
    from entasis._entasis import Handle

# The number of an index that is a range. No column stores it.
RANGE = -1


class Levels:
    """The levels of an index: their labels, their columns, and their names in other libraries."""

    def __init__(self, handle: Handle, host: dict[str, Any]) -> None:
        self._labels: list[Any] = []
        self._numbers: list[int] = []
        self.range: range | None = None
        index = host.get("index") if host.get("host") in ("pandas", "static_frame", "r") else None
        if index is None:
            self._names: list[str] = []
            return
        with interpretation():
            if index["kind"] == "range":
                label = decode_label(index["name"]) if "name" in index else None
                if label is not None:
                    self._labels, self._numbers = [label], [RANGE]
                    self.range = range(index["start"], index["stop"], index["step"])
                    if len(self.range) != handle.n_rows:
                        raise ValueError(f"an index of {len(self.range)} labels for {handle.n_rows} rows")
            else:
                self._numbers = columns_of({key: index[key] for key in index if key != "missing_kinds"})
                names = index["names"] if index["kind"] == "multi" else [index["name"]]
                self._labels = [decode_label(name) for name in names]
                if len(self._labels) != len(self._numbers):
                    raise ValueError("an index has other names than levels")
            stored = [as_text(self._labels[0])] if self.range is not None else []
        if self.range is None and self._numbers:
            stored = [column.name for column in handle.columns(self._numbers)]
        self._names = _distinct(handle, stored)

    @property
    def columns(self) -> list[int]:
        """The extra columns that hold the levels."""
        return [number for number in self._numbers if number != RANGE]

    @property
    def labels(self) -> list[Any]:
        """The labels of the levels."""
        return list(self._labels)

    def range_values(self, rows: Any) -> Any:
        """The labels of an index that is a range, at some rows, as an array of int64."""
        import numpy as np

        labels = self.range
        assert labels is not None, "the index is a range"
        if rows is None or isinstance(rows, range):
            return np.array(_rows.at(labels, rows), np.int64)
        if len(labels) < 2:
            return np.array(labels, np.int64)[rows]
        # As above, labels outside of int64 are an error.
        first, _ = np.int64(labels[0]), np.int64(labels[-1])
        return first + np.asarray(rows, np.int64) * labels.step

    def names(self) -> list[str]:
        """The names that the levels have in other libraries."""
        return list(self._names)

    def find(self, label: Any) -> int | None:
        """The number of a level, found by its label or its name in other libraries."""
        with interpretation():
            if label is not None and label in self._labels:
                return self._numbers[self._labels.index(label)]
        return self._numbers[self._names.index(label)] if label in self._names else None

    def has(self, number: int, n_columns: int) -> bool:
        """Whether a number stands for a level, not for a column of the table."""
        return not 0 <= number < n_columns and type(number) is not FieldColumn

    def position(self, number: int) -> int:
        """The position of the level with this number."""
        return self._numbers.index(number)

    def name(self, number: int) -> str:
        """The name of a level in other libraries."""
        return self._names[self._numbers.index(number)]

    def label(self, number: int) -> Any:
        """The label of a level, or its name in other libraries if it has no label."""
        position = self._numbers.index(number)
        return self._names[position] if self._labels[position] is None else self._labels[position]


def _distinct(handle: Handle, names: list[str]) -> list[str]:
    """Distinguish level names from column names by a suffix "_index", "_index_2" ..."""
    found: list[str] = []
    for name in names:
        instead, n = name, 1
        while instead in found or handle.find(instead):
            instead, n = (f"{name}_index" if n == 1 else f"{name}_index_{n}"), n + 1
        found.append(instead)
    return found


def with_labels(
    handle: Handle, host: dict[str, Any], columns: list[int] | None
) -> tuple[list[int] | None, dict[int, str]]:
    """Choose the columns for a library without an index, and distinct names for levels.

    With `columns` None, the levels of the index come before all columns.

    Returns
    -------
    columns, names
        The numbers of the columns, and new names of levels by their positions.
    """
    n = handle.n_columns
    if columns is None:
        if host.get("index") is None or not (extra := (levels := Levels(handle, host)).columns):
            return None, {}
        columns = [*extra, *range(n)]
        positions = range(len(extra))
    else:
        if not columns or max(columns) < n:
            return columns, {}
        levels = Levels(handle, host)
        positions = [i for i, column in enumerate(columns) if column >= n]  # type: ignore[assignment]
    stored = handle.columns([columns[i] for i in positions])
    wanted = {i: levels.name(columns[i]) for i in positions}
    return columns, {i: wanted[i] for i, of in zip(positions, stored, strict=True) if of.name != wanted[i]}
