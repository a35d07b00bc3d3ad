"""Columns: what a caller asks for, made into numbers."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from .errors import ArgumentError, ColumnNotFoundError, DuplicateColumnError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._entasis import Handle


def resolve(handle: Handle, columns: str | int | Iterable[str | int] | None) -> list[int] | None:
    """The numbers of columns given by names or positions; None for all."""
    if columns is None:
        return None
    if isinstance(columns, (str, int)):
        columns = [columns]
    return [one(handle, column) for column in columns]


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
    try:
        position = operator.index(column)
    except TypeError:
        message = f"a column is selected by a name (str) or position (int), not by {type(column).__name__}"
        raise ArgumentError(message) from None
    n = handle.n_columns
    number = position + n if position < 0 else position
    if not 0 <= number < n:
        raise ColumnNotFoundError(f"there is no column at position {position}: the table has {n} columns")
    return number


def _hint(handle: Handle, name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, handle.names()[:10_000], n=3)
    return f"; close to it: {', '.join(map(repr, close))}" if close else ""
