"""Columns: what a caller asks for, made into numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _rows
from ._options import integer
from .errors import ArgumentError, ColumnNotFoundError, DuplicateColumnError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from ._entasis import Handle

    # A label of any type, several of them, or positions in a slice or range.
    Columns = Hashable | slice | Iterable[Any]


def resolve(handle: Handle, columns: Columns | None) -> list[int] | None:
    """The numbers of columns given by names or positions; None for all."""
    if columns is None:
        return None
    if isinstance(columns, slice):
        return list(_rows.sliced(range(handle.n_columns), columns))
    return [one(handle, column) for column in listed(columns)]


def listed(columns: Any) -> Any:
    """What a caller asks for, one by one."""
    if isinstance(columns, str) or integer(columns) is not None:
        return [columns]
    if hasattr(columns, "__iter__") and not isinstance(columns, (bytes, bytearray)):
        return columns
    raise ArgumentError(f"columns are names (str) or positions (int), one or several, not {columns!r}")


def one(handle: Handle, column: Any) -> int:
    """The number of a column given by its name, or by its position (from the end when negative)."""
    if isinstance(column, str):
        found = handle.find(column)
        if len(found) == 1:
            return found[0]
        if found:
            places = ", ".join(map(str, found[:5])) + (", ..." if len(found) > 5 else "")
            raise DuplicateColumnError(
                f"the name '{column}' stands for {len(found)} columns: select by position instead ({places})"
            )
        raise ColumnNotFoundError(f"there is no column '{column}'{_hint(handle, column)}")
    # A boolean is an index too for Python: a mask would be taken for the first two columns, over and over.
    position = integer(column)
    if position is None:
        raise ArgumentError(f"a column is selected by a name (str) or position (int), not by {type(column).__name__}")
    n = handle.n_columns
    number = position + n if position < 0 else position
    if not 0 <= number < n:
        raise ColumnNotFoundError(f"there is no column at position {position}: the table has {n} columns")
    return number


def names(handle: Handle, columns: list[int] | None) -> list[str]:
    """The names of columns given by their numbers; None for all."""
    if columns is None:
        return handle.names()
    if _are_many(handle, columns):
        everything = handle.names()
        return [everything[column] for column in columns]
    return [column.name for column in handle.columns(columns)]


def schema(handle: Handle, columns: list[int] | None) -> tuple[list[str], list[str]]:
    """The names and types of columns given by their numbers; None for all."""
    if columns is not None and not _are_many(handle, columns):
        infos = handle.columns(columns)
        return [info.name for info in infos], [info.type_name for info in infos]
    names, types = handle.schema()
    if columns is None:
        return names, types
    return [names[column] for column in columns], [types[column] for column in columns]


def _are_many(handle: Handle, columns: list[int]) -> bool:
    """Whether one pass over all columns costs less than a look at each of these."""
    return len(columns) > max(16, handle.n_columns // 64)


def _hint(handle: Handle, name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, handle.names()[:10_000], n=3)
    return f"; close to it: {', '.join(map(repr, close))}" if close else ""
