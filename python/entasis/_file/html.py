"""HTML for notebooks, of frames, other values and descriptions."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .preview import Preview

_MOST_CHARACTERS = 60


def frame(path: str, preview: Preview) -> str:
    """A table with names, types, and the first and last rows of a frame."""
    by = f", written by {escape(preview.written_by)}" if preview.written_by else ""
    n, width = preview.shape
    head = f"<div><b>{escape(path)}</b><br>{n:,} rows x {width:,} columns{by}"
    if preview.refused is not None:
        return f"{head}{_table(preview.columns, [])}{escape(preview.refused)}</div>"
    lines = []
    for row, cells in preview.rows:
        lines.append(["..."] * (len(preview.columns) + 1) if row is None else [str(row), *map(_short, cells)])
    return f"{head}{_table(preview.columns, lines)}</div>"


def closed(text: str) -> str:
    """The text of a closed file."""
    return f"<div>{escape(text)}</div>"


def outline(text: str) -> str:
    """The outline of a value that is not a frame."""
    return f"<div><pre>{escape(text)}</pre></div>"


def items(items: dict[str, Any]) -> str:
    """A table with a row for each item of a description."""
    parts = []
    for name, value in items.items():
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


def _table(columns: list[tuple[str, str]], lines: list[list[str]]) -> str:
    names = "".join(f"<th>{escape(name)}</th>" for name, _ in columns)
    types = "".join(f"<td>{escape(kind)}</td>" for _, kind in columns)
    body = "".join(
        f"<tr><th>{escape(line[0])}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in line[1:])}</tr>"
        for line in lines
    )
    return f"<table><thead><tr><th></th>{names}</tr><tr><td>type</td>{types}</tr></thead><tbody>{body}</tbody></table>"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 3] + "..."
