"""The labels of rows: the levels of an index as columns, and rows that are asked for by label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._arguments.options import integer, shown
from entasis._hosts import registry as _hosts
from entasis._hosts.registry import interpretation
from entasis._values.labels import as_text, decode_label
from entasis.errors import ArgumentError, DuplicateColumnError

if TYPE_CHECKING:
    from entasis._entasis import Handle

    from .file import File

# The number of an index that is a range, which is stored in no column.
RANGE = -1


class Levels:
    """The levels of a file's index: their labels, their columns, and their names in other libraries."""

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
                from entasis._hosts.pandas import index as _labels

                self._numbers = _labels.columns_of({key: index[key] for key in index if key != "missing_kinds"})
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
        """The columns beside the table that hold the levels."""
        return [number for number in self._numbers if number != RANGE]

    def names(self) -> list[str]:
        """The names that the levels have in other libraries."""
        return list(self._names)

    def find(self, label: Any) -> int | None:
        """The number of a level, by its label or by its name in other libraries."""
        with interpretation():
            if label is not None and label in self._labels:
                return self._numbers[self._labels.index(label)]
        return self._numbers[self._names.index(label)] if label in self._names else None

    def has(self, number: int, n_columns: int) -> bool:
        """Whether a number is that of a level, and not of a column of the table."""
        return not 0 <= number < n_columns

    def position(self, number: int) -> int:
        """Which of the levels a number is that of."""
        return self._numbers.index(number)

    def name(self, number: int) -> str:
        """The name of a level in other libraries."""
        return self._names[self._numbers.index(number)]

    def label(self, number: int) -> Any:
        """The label of a level; its name in other libraries where it has none."""
        place = self._numbers.index(number)
        return self._names[place] if self._labels[place] is None else self._labels[place]


def _are_labels(labels: Any, key: Any) -> bool:
    """Whether a list of booleans and other values names labels, some of which are booleans: it is no mask then."""
    if not isinstance(key, list) or all(type(part).__name__ in ("bool", "bool_") for part in key):
        return False
    return labels.dtype == object and any(isinstance(label, bool) for label in labels)


def _distinct(handle: Handle, names: list[str]) -> list[str]:
    """Names of levels that no column has: "_index" is added to a name that is taken, then a number from 2 on."""
    found: list[str] = []
    for name in names:
        instead, n = name, 1
        while instead in found or handle.find(instead):
            instead, n = (f"{name}_index" if n == 1 else f"{name}_index_{n}"), n + 1
        found.append(instead)
    return found


def index(handle: Handle, host: dict[str, Any]) -> Any:
    """The labels of all rows, as an index of pandas. Nothing else is read."""
    return _hosts.reader("pandas", None).row_labels(handle, host)


def places(labels: Any, key: Any, has_index: Any, noun: str) -> _rows.Resolved:
    """Where pandas finds a key of `loc` among labels: None for all, a range, or an array of int64.

    Raises `KeyError` where pandas does.
    """
    import numpy as np
    import pandas as pd

    if isinstance(key, slice) and key == slice(None):
        return None
    if callable(key):
        raise ArgumentError(f"f.loc takes labels, not {shown(key)}")
    if _rows.is_mask(key) and not _are_labels(labels, key):
        return _rows.resolve(list(key) if isinstance(key, tuple) else key, len(labels), has_index, noun)
    if type(key).__module__.partition(".")[0] in ("polars", "pyarrow"):
        key = key.to_list() if hasattr(key, "to_list") else key.to_pylist()
    numbers = pd.Series(np.arange(len(labels), dtype=np.int64), index=labels)
    try:
        is_label = isinstance(key, tuple) and labels.nlevels == 1
        found = labels.get_loc(key) if is_label else numbers.loc[key]
    except KeyError:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError, pd.errors.InvalidIndexError) as error:
        raise ArgumentError(f"f.loc can't find {noun}s by {shown(key)}: {type(error).__name__}: {error}") from error
    number = integer(found)
    if number is not None:
        return range(number, number + 1)
    if is_label:
        found = numbers.iloc[found]
    array = np.asarray(found, np.int64)
    if len(array) and array[-1] - array[0] == len(array) - 1 and bool((np.diff(array) == 1).all()):
        return range(int(array[0]), int(array[-1]) + 1)
    return array


def without(host: dict[str, Any]) -> dict[str, Any]:
    """What a file keeps for its host, without the index."""
    if host.get("host") in ("pandas", "static_frame") and str(host.get("class")).startswith("Index"):
        raise ArgumentError("the value is an index, and index=False leaves it out")
    return {**host, "index": None}


def read_with_range(file: File, reader: Any, host: dict[str, Any], threads: int | None) -> Any:
    """A frame of a library without an index, of columns among which is an index that is a range."""
    from .array import np_range

    columns, levels = file._columns or [], file._frame.levels
    name, values = levels.name(RANGE), np_range(file, file._rows)
    others = [column for column in columns if column != RANGE]
    found = reader.read(file._handle, host, others, file._rows, threads)
    places = [place for place, column in enumerate(columns) if column == RANGE]
    if len(places) > 1:
        raise DuplicateColumnError(f"the index {shown(name)} can't be two columns here")
    (place,) = places
    if isinstance(found, dict):
        names = list(found)
        return {key: values if key == name else found[key] for key in [*names[:place], name, *names[place:]]}
    if type(found).__module__.partition(".")[0] == "polars":
        import polars as pl

        return found.insert_column(place, pl.Series(name, values)) if others else pl.DataFrame({name: values})
    import pyarrow as pa

    return found.add_column(place, name, pa.array(values)) if others else pa.table({name: values})
