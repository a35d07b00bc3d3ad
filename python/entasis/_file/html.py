"""HTML for notebooks, of files, trees and descriptions."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from entasis.errors import EntasisError

if TYPE_CHECKING:
    from entasis._tree.tree import Tree

    from .file import File
    from .info import Info

_MOST_COLUMNS = 20
_MOST_ROWS = 10
_MOST_CHARACTERS = 60


def file(file: File) -> str:
    """A table with names, types, and the first and last rows of a frame."""
    if file.closed:
        return f"<div>{escape(repr(file))}</div>"
    n, width = file.n_rows, file.n_columns
    by = f", written by {escape(file.written_by)}" if file.written_by else ""
    head = f"<div><b>{escape(file.path)}</b><br>{n:,} rows x {width:,} columns{by}"
    half = _MOST_COLUMNS // 2
    chosen: list[int | None] = list(range(width))
    if width > _MOST_COLUMNS:
        chosen = [*range(half), None, *range(width - half, width)]
    shown = file.iloc[:, [number for number in chosen if number is not None]]
    pairs = iter(shown.schema.pairs)
    columns = [("...", "") if number is None else next(pairs) for number in chosen]
    rows = list(range(n)) if n <= _MOST_ROWS else [*range(_MOST_ROWS // 2), *range(n - _MOST_ROWS // 2, n)]
    try:
        cells = [_cells(shown, i, rows) for i in range(shown.n_columns)]
    except EntasisError as error:
        return f"{head}{_table(columns, [])}{escape(str(error))}</div>"
    lines = []
    for i, row in enumerate(rows):
        if i and row != rows[i - 1] + 1:
            lines.append(["..."] * (len(columns) + 1))
        left = iter(column[i] for column in cells)
        lines.append([str(row), *("..." if number is None else next(left) for number in chosen)])
    return f"{head}{_table(columns, lines)}</div>"


def _cells(file: File, column: int, rows: list[int]) -> list[str]:
    """The values of a column in these rows, as strings."""
    view = file.iloc[rows, [column]]
    if view._has_levels():
        # pandas and StaticFrame read a level as the index, not as a column.
        if view.written_by != "pandas":
            return [_short(value) for value in view.__array__()]
        level = view._frame.levels.position((view._columns or [0])[0])
        found = view._read(None, 1, None, is_restored=False)
        return [_short(value) for value in found.index.get_level_values(level)]
    found = view._read(None, 1, None, is_restored=False)
    if isinstance(found, dict):
        (values,) = found.values()
    elif file.written_by == "pandas" or hasattr(found, "iloc"):
        values = found.iloc[:, 0] if found.ndim == 2 else found
        # `array` of pandas keeps time zones. Iterating over a StaticFrame Series gives its labels.
        values = values.array if hasattr(values, "array") else values.values
    else:
        values = found.to_series(0) if hasattr(found, "to_series") else found.column(0)
    try:
        return [_short(value) for value in _as_python(values)]
    except (ArithmeticError, SystemError, ValueError):
        # Python has no dates after the year 9999, and no code points beyond Unicode, for example.
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


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 3] + "..."


def _table(columns: list[tuple[str, str]], lines: list[list[str]]) -> str:
    names = "".join(f"<th>{escape(name)}</th>" for name, _ in columns)
    types = "".join(f"<td>{escape(kind)}</td>" for _, kind in columns)
    body = "".join(
        f"<tr><th>{escape(line[0])}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in line[1:])}</tr>"
        for line in lines
    )
    return f"<table><thead><tr><th></th>{names}</tr><tr><td>type</td>{types}</tr></thead><tbody>{body}</tbody></table>"


def tree(tree: Tree) -> str:
    """The outline of a value that is not a frame."""
    return f"<div><pre>{escape(repr(tree))}</pre></div>"


def info(info: Info) -> str:
    """A table with a row for each item of a description."""
    parts = []
    for name, value in info.to_dict().items():
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            parts.append(f"<tr><th>{escape(name)}</th><td>{_records(value)}</td></tr>")
        else:
            parts.append(f"<tr><th>{escape(name)}</th><td>{escape(_short(value))}</td></tr>")
    return f"<div><table><tbody>{''.join(parts)}</tbody></table></div>"


def _records(items: list[dict[str, Any]]) -> str:
    keys = list(dict.fromkeys(key for item in items[:100] for key in item))
    head = "".join(f"<th>{escape(key)}</th>" for key in keys)
    lines = [[escape(_short(item.get(key, ""))) for key in keys] for item in items[:100]]
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in line)}</tr>" for line in lines)
    more = f"<tr><td>... and {len(items) - 100:,} more</td></tr>" if len(items) > 100 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}{more}</tbody></table>"
