"""Tables and cards of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import NamedTuple

from .values import Record, is_base, name, number


class Column(NamedTuple):
    """A field of records, or its ratio to another field, and how its values are written."""

    title: str
    key: str
    text: Callable[[float], str]
    over: str = ""

    def cell(self, record: Record) -> str:
        value, divisor = number(record, self.key), number(record, self.over) if self.over else 1.0
        return self.text(value / divisor) if value and divisor else ""


def record_table(columns: Iterable[Column], records: list[Record]) -> str:
    """A row per record, without empty columns; its field `mark` is HTML after the name."""
    columns = [column for column in columns if any(column.cell(r) for r in records)]
    rows = [[escape(name(r)) + r.get("mark", ""), *(c.cell(r) for c in columns)] for r in records]
    base = [i for i, record in enumerate(records) if is_base(record)]
    return table(["format", *(column.title for column in columns)], rows, base=base)


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "", base: Sequence[int] = ()
) -> str:
    """Rows of cells in HTML; the rows numbered in `base` are set off."""
    head = "".join(f"<th>{escape(title)}</th>" for title in heads)
    body = "".join(
        f"<tr{' class=base' if i in base else ''}><th>{first}</th>"
        f"{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        for i, (first, *cells) in enumerate(rows)
    )
    content = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="scroll"><table class="{kind}">{content}</table></div>'


def card(title: str, about: str, body: str, how: str = "", *, is_folded: bool = False) -> str:
    """A part of a section: its heading, its body, and how the values were measured."""
    heading = f"<h3>{escape(title)} <small>{escape(about)}</small></h3>" if title else ""
    body += f'<p class="how">{escape(how)}</p>' if how else ""
    if is_folded:
        return f'<details class="card"><summary>{heading}</summary>{body}</details>'
    return f'<div class="card">{heading}{body}</div>'


def details(summary: str, body: str, *, is_open: bool = False) -> str:
    return f"<details{' open' if is_open else ''}><summary>{summary}</summary>{body}</details>"
