"""Names and types of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .fields import are_among

if TYPE_CHECKING:
    from entasis._entasis import Handle

    from .levels import Levels


def names(handle: Handle, columns: list[int] | None, levels: Levels | None = None) -> list[str]:
    """The names of the columns with these numbers; None for all columns.

    Index levels have numbers that no column has, and names from `levels`.
    """
    if columns is None:
        return handle.names()
    n = handle.n_columns
    if levels is not None and any(levels.has(column, n) for column in columns):
        return [
            levels.name(column) if levels.has(column, n) else handle.columns([column])[0].name for column in columns
        ]
    if _are_many(handle, columns):
        everything = handle.names()
        return [everything[column] for column in columns]
    return [column.name for column in handle.columns(columns)]


def schema(handle: Handle, columns: list[int] | None, levels: Levels | None = None) -> tuple[list[str], list[str]]:
    """The names and types of the columns with these numbers; None for all columns."""
    if columns is not None and levels is not None and any(levels.has(column, handle.n_columns) for column in columns):
        types = ["i64" if column < 0 else handle.columns([column])[0].type_name for column in columns]
        return names(handle, columns, levels), types
    if columns is not None and not _are_many(handle, columns):
        infos = handle.columns(columns)
        return [info.name for info in infos], [info.type_name for info in infos]
    found, types = handle.schema()
    if columns is None:
        return found, types
    return [found[column] for column in columns], [types[column] for column in columns]


def _are_many(handle: Handle, columns: list[int]) -> bool:
    """Whether one pass over all columns costs less than a look-up per requested column."""
    return len(columns) > max(16, handle.n_columns // 64) and not are_among(columns)
