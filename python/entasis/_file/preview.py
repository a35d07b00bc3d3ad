"""The first and last columns and rows of a view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from entasis._view.array import of_columns
from entasis._view.read import read
from entasis.errors import EntasisError

if TYPE_CHECKING:
    from entasis._view.view import View

_MOST_COLUMNS = 20
_MOST_ROWS = 10


class Preview(NamedTuple):
    """Some columns and rows of a view.

    Attributes
    ----------
    shape
        The numbers of rows and columns of the view.
    written_by
        The library whose value was written, if any.
    columns
        Names and types. "..." stands for omitted columns.
    rows
        Positions, and the values as strings. None stands for the rows that are left out.
    refused
        The reason why the values can't be read; None if they can.
    """

    shape: tuple[int, int]
    written_by: str | None
    columns: list[tuple[str, str]]
    rows: list[tuple[int | None, list[str]]]
    refused: str | None = None


def preview(view: View) -> Preview:
    """Read the first and last columns and rows of a view."""
    n, width = view.n_rows, view.n_columns
    half = _MOST_COLUMNS // 2
    chosen: list[int | None] = list(range(width))
    if width > _MOST_COLUMNS:
        chosen = [*range(half), None, *range(width - half, width)]
    positions = [i for i in chosen if i is not None]
    numbers = positions if view.columns is None else [view.columns[i] for i in positions]
    pairs = iter(zip(*view.narrow(numbers, view.rows).schema(), strict=True))
    columns = [("...", "") if i is None else next(pairs) for i in chosen]
    rows = list(range(n)) if n <= _MOST_ROWS else [*range(_MOST_ROWS // 2), *range(n - _MOST_ROWS // 2, n)]
    try:
        cells = [_cells(view, number, rows) for number in numbers]
    except EntasisError as error:
        return Preview((n, width), view.written_by, columns, [], str(error))
    lines: list[tuple[int | None, list[str]]] = []
    for i, row in enumerate(rows):
        if i and row != rows[i - 1] + 1:
            lines.append((None, []))
        left = iter(column[i] for column in cells)
        lines.append((row, ["..." if i is None else next(left) for i in chosen]))
    return Preview((n, width), view.written_by, columns, lines)


def _cells(view: View, column: int, rows: list[int]) -> list[str]:
    """The values of a column in these rows, as strings."""
    view = view.narrow([column], view.compose(rows))
    if view.has_levels():
        # pandas and StaticFrame read a level as an index, not as a column.
        if view.written_by != "pandas":
            return [str(value) for value in of_columns(view, None, None)]
        found = read(view, threads=1, is_restored=False)
        return [str(value) for value in found.index.get_level_values(view.table.levels.position(column))]
    found = read(view, threads=1, is_restored=False)
    if isinstance(found, dict):
        (values,) = found.values()
    elif view.written_by == "pandas" or hasattr(found, "iloc"):
        values = found.iloc[:, 0] if found.ndim == 2 else found
        # `array` of pandas keeps time zones. Iterating over a StaticFrame Series gives its labels.
        values = values.array if hasattr(values, "array") else values.values
    else:
        values = found.to_series(0) if hasattr(found, "to_series") else found.column(0)
    try:
        return [str(value) for value in _as_python(values)]
    except (ArithmeticError, SystemError, ValueError):
        # Python lacks, for example, dates after the year 9999 and code points beyond Unicode.
        return ["?"] * len(rows)


def _as_python(values: Any) -> Any:
    """The values of a column as objects of Python."""
    if hasattr(values, "to_pylist"):
        return values.to_pylist()
    if type(values).__module__.partition(".")[0] != "polars":
        return values
    import polars as pl

    try:
        return values.to_list()
    except pl.exceptions.PanicException as error:
        raise ValueError(str(error)) from None
