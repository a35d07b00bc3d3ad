"""Places of a text that do not fit."""

from __future__ import annotations

from typing import NamedTuple


class Problem(NamedTuple):
    """A place of a text that does not fit."""

    row: int
    """The number of the row, from 0. Rows that were left out count, the header and blank lines do not."""
    line: int
    """The line, from 1."""
    byte: int
    """The offset of the row or of the field in the text, decompressed and in UTF-8."""
    column: str | None
    """The name of the column; None for a whole row."""
    text: str
    """The field, or the row."""
    expected: str
    """What was expected."""


class Problems(list[Problem]):
    """The first 100,000 problems of a text.

    Attributes
    ----------
    n
        The number of all.
    """

    def __init__(self, n: int = 0, problems: list[Problem] | None = None) -> None:
        super().__init__(problems or [])
        self.n = n

    def __reduce__(self) -> tuple[type[Problems], tuple[int, list[Problem]]]:
        return Problems, (self.n, list(self))


def of(found: tuple[int, list[tuple[int, int, int, str | None, str, str]]]) -> Problems:
    """The problems as the core returns them."""
    n, problems = found
    return Problems(n, [Problem(*problem) for problem in problems])
