"""Search for a key in a sorted column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments.options import shown
from entasis._filter import bind as _bind
from entasis._filter.conditions import Col, col
from entasis._memory import reported
from entasis.errors import ArgumentError

from .statistics import is_ascending, records

if TYPE_CHECKING:
    from entasis._entasis import Column, Handle

    from .table import OpenTable
    from .view import View


@reported
def position(view: View, label: Any, key: Any, side: str) -> int:
    """The position at which a key keeps the order of a sorted column. See `File.search`."""
    if side not in ("left", "right"):
        raise ArgumentError(f"side={shown(side)}: 'left' or 'right'")
    if isinstance(label, Col):
        raise ArgumentError("search takes the label of a column, not a field or another expression")
    rows = view.rows
    if rows is not None and not (isinstance(rows, range) and rows.step > 0):
        raise ArgumentError("a search takes all rows or a slice of them, not rows in another order")
    condition = col(label) < key if side == "left" else col(label) <= key
    handle = view.handle
    tree = _bind.tree(condition, handle, view.narrow(None, None).resolve)
    number = tree[1]
    if not is_sorted(view.table, number):
        # A key or type that does not compare raises a more exact error here.
        handle.count_filtered(tree, 0, 0, 1)
        raise ArgumentError(
            f"the column {shown(label)} is not known to be in ascending order without missing values and NaN: count "
            "values with f.count(en.col(...) < key), or sort the table before it is written"
        )
    before = handle.count_filtered(tree, 0, handle.n_rows, 1)
    if rows is None:
        return before
    return len(range(rows.start, min(before, rows.stop), rows.step)) if before > rows.start else 0


def is_sorted(table: OpenTable, number: int) -> bool:
    """Whether a column or index level is in ascending order. The table caches the answer."""
    known = table.sorted
    if number not in known:
        known[number] = _is_sorted(table.handle, number)
    return known[number]


def _is_sorted(handle: Handle, number: int) -> bool:
    (column,) = handle.columns([number])
    if column.dictionary is not None and not column.ordered:
        # Levels of an index compare by label, so the labels need the order of their codes.
        (labels,) = handle.columns([column.dictionary])
        if not is_ascending(labels, records(handle, labels), lambda rows: _values(handle, labels, rows)):
            return False
    return is_ascending(column, records(handle, column), lambda rows: _values(handle, column, rows))


def _values(handle: Handle, column: Column, rows: Any) -> Any:
    """The values of a column at some rows, in a form that compares."""
    import numpy as np

    (entry, *_) = handle.read([column.index], rows, "numpy", False, 0, None, column.n_values)
    values = entry[3]
    return values.reshape(-1) if isinstance(values, np.ndarray) else np.array(values.to_objects(None), object)
