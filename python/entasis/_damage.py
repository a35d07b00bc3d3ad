"""The damaged places of a file."""

from __future__ import annotations

from typing import NamedTuple


class Damage(NamedTuple):
    """A damaged place of a file, found by `entasis.verify`.

    Attributes
    ----------
    column
        The name of the column. A field of a nested column has the names of its parents before its
        own, joined by dots. None for damage outside of columns.
    start, stop
        The damaged rows; `stop` is the first row after them. In columns that belong to no table
        (row labels, categories, arrays of a tree) these are positions of values. None for damage
        outside of columns.
    message
        What is wrong, and where.
    generation
        The number of the damaged generation. None if it is the requested generation, or the newest
        one if none was requested.
    """

    column: str | None
    start: int | None
    stop: int | None
    message: str
    generation: int | None = None
