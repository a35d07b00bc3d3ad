"""The labels of columns, which may have any type, and look-up by label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._arguments.options import close_to, integer, shown
from entasis._columns.fields import FieldColumn, are_among
from entasis._filter.conditions import Col
from entasis._filter.fields import Field
from entasis._host_map import interpretation
from entasis._libraries import registry as _hosts
from entasis.errors import ArgumentError, ColumnNotFoundError, ColumnsOutOfRangeError, DuplicateColumnError

if TYPE_CHECKING:
    from collections.abc import Callable

    from entasis._columns.levels import Levels
    from entasis._entasis import Handle
    from entasis._typing import Columns

    # Reads the levels of the index, once.
    LevelsOf = Callable[[], Levels]

# The error for a missing label searches this many labels for similar ones.
_MOST_COMPARED = 10_000


class TextLabels:
    """Labels that are strings: the names of the columns."""

    are_text = True
    has_tuples = False

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def find(self, label: Any) -> list[int]:
        """The numbers of the columns with this label."""
        return self._handle.find(label) if isinstance(label, str) else []

    def all(self) -> list[Any]:
        """The labels of all columns."""
        return list(self._handle.names())


class RangeLabels:
    """The labels of a frame without names: a range, which pandas compares as integers."""

    are_text = has_tuples = False

    def __init__(self, labels: range) -> None:
        self._labels = labels

    def find(self, label: Any) -> list[int]:
        """The numbers of the columns with this label."""
        if isinstance(label, float) and label.is_integer():
            label = int(label)
        number = integer(label)
        return [self._labels.index(number)] if number is not None and number in self._labels else []

    def all(self) -> list[Any]:
        """The labels of all columns."""
        return list(self._labels)


class IndexLabels:
    """Labels in an index of pandas, which does the look-ups."""

    def __init__(self, index: Any) -> None:
        labels = index.tolist()
        self.index = index
        self.are_text = all(isinstance(label, str) for label in labels)
        self.has_tuples = any(isinstance(label, tuple) for label in labels)

    def find(self, label: Any) -> list[int]:
        """The numbers of the columns with this label."""
        import numpy as np
        from pandas.errors import InvalidIndexError

        try:
            found = self.index.get_loc(label)
        except (ArithmeticError, InvalidIndexError, LookupError, TypeError, ValueError):
            return []
        number = integer(found)
        if number is not None:
            return [number]
        if isinstance(found, slice):
            return list(range(len(self.index))[found])
        return np.flatnonzero(found).tolist()

    def all(self) -> list[Any]:
        """The labels of all columns."""
        return self.index.tolist()  # type: ignore[no-any-return]


class ValueLabels:
    """Labels of StaticFrame: any hashable values. Look-ups need no pandas."""

    def __init__(self, index: Any) -> None:
        self._index = index
        self._labels = [tuple(label) for label in index] if index.depth > 1 else list(index.values)
        self.are_text = all(isinstance(label, str) for label in self._labels)
        self.has_tuples = any(isinstance(label, tuple) for label in self._labels)
        self._numbers: dict[Any, list[int]] = {}
        for number, label in enumerate(self._labels):
            self._numbers.setdefault(self._key(label), []).append(number)

    def _key(self, label: Any) -> Any:
        """A label in a comparable form: NaN equals itself, and times have the index's unit."""
        import numpy as np

        if isinstance(label, (float, np.floating)) and label != label:
            return "NaN", None
        dtype = getattr(self._index, "dtype", None)
        if dtype is not None and getattr(dtype, "kind", "") == "M" and not isinstance(label, str):
            try:
                time = np.datetime64(label)
                found = time.astype(dtype)
            except (TypeError, ValueError):
                return label
            return found if found == time else label
        return tuple(map(self._key, label)) if isinstance(label, tuple) else label

    def find(self, label: Any) -> list[int]:
        """The numbers of the columns with this label."""
        return self._numbers.get(self._key(label), [])

    def all(self) -> list[Any]:
        """The labels of all columns."""
        return self._labels


Labels = TextLabels | RangeLabels | IndexLabels | ValueLabels


def of(handle: Handle, host: dict[str, Any]) -> Labels:
    """The labels of a file's columns. Strings and ranges are read on demand."""
    library = host.get("host")
    spec = host.get("columns") if library in ("pandas", "static_frame") else None
    if spec is None or (type(spec) is dict and spec.get("kind") == "names"):
        return TextLabels(handle)
    with interpretation():
        if spec["kind"] == "range":
            labels = range(spec["start"], spec["stop"], spec["step"])
            if len(labels) != handle.n_columns:
                raise ValueError(f"{len(labels)} labels of {handle.n_columns} columns")
            return RangeLabels(labels)
    found = _hosts.reader(library, None).column_labels(handle, host)
    return IndexLabels(found) if library == "pandas" else ValueLabels(found)


def by_name(handle: Handle, columns: Any) -> list[int] | None:
    """Fast path: the numbers of a column or a list of columns.

    None if a name is missing or not unique.
    """
    find = handle.find
    if type(columns) is str:
        found = find(columns)
        return found if len(found) == 1 else None
    numbers = []
    for column in columns:
        if type(column) is not str or len(found := find(column)) != 1:
            return None
        numbers += found
    return numbers


def are_texts(key: Any) -> bool:
    """Whether a key is a string, or a list or array of strings: names of columns."""
    if isinstance(key, str):
        return True
    if isinstance(key, list):
        return bool(key) and all(isinstance(part, str) for part in key)
    if isinstance(key, (slice, range, int)) or not hasattr(key, "__len__") or not hasattr(key, "tolist"):
        return type(key).__module__.startswith("polars") and str(getattr(key, "dtype", "")) == "String"
    is_text = getattr(getattr(key, "dtype", None), "kind", "O") in "OU" and getattr(key, "ndim", 1) == 1
    return is_text and are_texts(key.tolist())


def is_one(key: Any, numbers: list[int] | None) -> bool:
    """Whether a key is a label, not a list or a slice, that stands for one column."""
    if numbers is None or len(numbers) != 1 or isinstance(key, slice):
        return False
    is_label = isinstance(key, (str, bytes, tuple, Col)) or not hasattr(type(key), "__iter__")
    return is_label or getattr(key, "ndim", None) == 0


def listed(columns: Any, labels: Labels) -> list[Any]:
    """The labels of a selection, one by one."""
    if type(columns) is list:
        return columns
    if isinstance(columns, Col):
        return [columns]
    if isinstance(columns, str) or integer(columns) is not None:
        return [columns]
    if isinstance(columns, tuple):
        return [columns] if labels.has_tuples else list(columns)
    if isinstance(columns, (set, frozenset)):
        raise ArgumentError("columns have an order, and a set has none: use a list")
    root = type(columns).__module__.partition(".")[0]
    if root == "static_frame":
        # Iterating over a Series of StaticFrame gives its labels.
        return list(columns.values) if hasattr(columns, "index") else [_as_label(part) for part in columns]
    if root == "pandas" and hasattr(columns, "tolist"):
        return list(columns.tolist())
    if getattr(columns, "ndim", None) == 0 and hasattr(columns, "item"):
        return [columns[()]]
    if hasattr(columns, "__iter__") and not isinstance(columns, (bytes, bytearray)) and columns.__iter__ is not None:
        return list(columns)
    if labels.are_text:
        raise ArgumentError(f"columns are names (str) or positions (int), one or several, not {shown(columns)}")
    return [columns]


def _as_label(part: Any) -> Any:
    """Convert a label of a StaticFrame hierarchy, an array, to a tuple."""
    return tuple(part) if type(part).__name__ == "ndarray" else part


def resolve(columns: Columns, labels: Labels, levels: LevelsOf, handle: Handle, view: list[int] | None) -> list[int]:
    """The numbers of the selected columns.

    Index levels have numbers that no column has.

    Parameters
    ----------
    columns
        The labels or positions of the columns.
    labels, levels
        The labels of the columns, and the levels of the index, both read on demand.
    handle
        The table.
    view
        The columns to select from; None for all.
    """
    n = handle.n_columns
    if isinstance(columns, (slice, range)):
        width = n if view is None else len(view)
        positions = _rows.resolve(columns, width, noun="column")
        numbers = list(range(width) if positions is None else positions)
        return numbers if view is None else [view[position] for position in numbers]
    return [_one(column, labels, levels, handle, view) for column in listed(columns, labels)]


def _one(column: Any, labels: Labels, levels: LevelsOf, handle: Handle, view: list[int] | None) -> int:
    if isinstance(column, Col):
        column = column.label
        if isinstance(column, Field):
            return _field(column, labels, levels, handle, view)
    if labels.are_text and not isinstance(column, str):
        position = integer(column)
        if position is not None:
            return _at(position, view, handle.n_columns)
    try:
        hash(column)
    except TypeError:
        message = f"a column is selected by a label, which has a hash, not by {shown(column)}"
        raise ArgumentError(message) from None
    found = labels.find(column)
    if view is not None and found:
        positions = [i for i, number in enumerate(view) if number in found]
        found = [view[i] for i in positions]
    else:
        positions = found
    if len(found) == 1:
        return found[0]
    if found:
        raise _several(column, positions, labels)
    level = levels().find(column)
    if level is not None:
        return level
    if view is not None and are_among(view):
        for number in view:
            if type(number) is FieldColumn and handle.columns([number])[0].name == column:
                return number
    if labels.are_text and not isinstance(column, str):
        kind = type(column).__name__
        hint_of = "; masks are for f.iloc[:, mask]" if isinstance(column, bool) else ""
        raise ArgumentError(f"a column is selected by a name (str) or position (int), not by {kind}{hint_of}")
    raise ColumnNotFoundError(f"there is no column {shown(column)}{hint(column, labels, levels(), view)}")


def _field(column: Field, labels: Labels, levels: LevelsOf, handle: Handle, view: list[int] | None) -> int:
    """The number of a field of a struct. The view has the field, or a struct around it."""
    number, parents = _one(column.label, labels, levels, handle, None), []
    if not 0 <= number < handle.n_columns:
        raise ArgumentError(f"the level {shown(column.label)} of the index is not a struct, and has no fields")
    for name in column.names:
        parents.append(number)
        number = handle.field(number, name)
    if view is None or number in view or not set(parents).isdisjoint(view):
        return FieldColumn(number, tuple(parents))
    raise ColumnNotFoundError(f"the view has no column {shown(column.label)}, so it has none of its fields")


def _at(position: int, view: list[int] | None, n: int) -> int:
    width = n if view is None else len(view)
    number = position + width if position < 0 else position
    if not 0 <= number < width:
        raise ColumnsOutOfRangeError(f"there is no column at position {position}: the table has {width} columns")
    return number if view is None else view[number]


def _several(column: Any, positions: list[int], labels: Labels) -> DuplicateColumnError:
    some = ", ".join(map(str, positions[:5])) + (", ..." if len(positions) > 5 else "")
    what = "name" if labels.are_text else "label"
    by = "position" if labels.are_text else "position with f.iloc[:, [...]]"
    if labels.has_tuples and not isinstance(column, tuple):
        return DuplicateColumnError(
            f"the label {shown(column)} stands for {len(positions)} columns ({some}): f.loc[:, {shown(column)}] "
            "selects all of them, and f.select one by a tuple of all levels"
        )
    return DuplicateColumnError(
        f"the {what} {shown(column)} stands for {len(positions)} columns: select by {by} instead ({some})"
    )


def hint(column: Any, labels: Labels, levels: Levels, view: list[int] | None) -> str:
    """A hint for the error about a missing label."""
    known = labels.all()
    known = known[:_MOST_COMPARED] if view is None else [known[i] for i in view[:_MOST_COMPARED] if 0 <= i < len(known)]
    found = close_to(column, known + levels.names())
    if isinstance(column, str) and not labels.are_text:
        found += "; the labels are not text, all of them"
    elif integer(column) is not None and not labels.are_text:
        found += "; the labels are not text, so that integers are labels: positions are f.iloc[:, ...]"
    return found
