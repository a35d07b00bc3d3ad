"""Places of a text that do not fit."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from entasis.errors import CsvWarning, ProblemError, ProblemWarning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._entasis import CsvTable


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
    file: str | None = None
    """The name of the text if several are read."""


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


def of(found: tuple[int, list[tuple[int, int, int, str | None, str, str, str | None]]]) -> Problems:
    """The problems as the core returns them."""
    n, problems = found
    return Problems(n, [Problem(*problem) for problem in problems])


@contextmanager
def listed() -> Iterator[None]:
    """Give a `ProblemError` of the core its problems."""
    try:
        yield
    except ProblemError as error:
        error.problems = of(getattr(error, "_problems", (0, [])))
        raise


def warn(table: CsvTable, on_error: str, *, are_returned: bool, depth: int = 2) -> Problems:
    """Warn a caller of what a reading decided, and of problems that are not returned.

    `depth` is the number of frames from the caller of this function to the code of the user.
    """
    met = of(table.problems)
    for message in table.warnings:
        warnings.warn(message, CsvWarning, stacklevel=depth + 1)
    if met.n and not are_returned:
        warnings.warn(ProblemWarning(_summary(met, on_error), met), stacklevel=depth + 1)
    return met


def warn_met(found: tuple[int, list[tuple[int, int, int, str | None, str, str, str | None]]], on_error: str) -> None:
    """Warn the caller of the caller of the problems of rows that were read batch by batch."""
    met = of(found)
    if met.n:
        summary = _summary(met, on_error, "`problems` of this warning lists them")
        warnings.warn(ProblemWarning(summary, met), stacklevel=4)


def _summary(problems: Problems, on_error: str, advice: str = "Pass problems=True for a list of them") -> str:
    first = problems[0]
    where = (
        f"line {first.line}"
        + ("" if first.file is None else f" of {first.file!r}")
        + ("" if first.column is None else f", column {first.column!r}")
    )
    count = "a place of the text does" if problems.n == 1 else f"{problems.n:,} places of the text do"
    verb = "was" if problems.n == 1 else "were"
    what = "left out" if on_error == "skip" else "made missing or left out"
    return (
        f"{count} not fit and {verb} {what}; the first is {where}: {first.text[:60]!r}, expected {first.expected}. "
        f"{advice}"
    )
