"""Results as text tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .run import Comparison, Result

BASE = "entasis"
LEGEND = """\
write x, read x, size x: this format's value over that of {} (above 1: slower, larger).
floor: the output bytes copied by the same threads into fresh memory (huge pages).
floor x: read time over the floor."""


@dataclass
class Column:
    title: str
    left: bool = False


def aligned(columns: Sequence[Column], rows: Sequence[Sequence[str] | None]) -> str:
    """A table; None among the rows is a line."""
    widths = [
        max([len(column.title), *(len(row[i]) for row in rows if row is not None)])
        for i, column in enumerate(columns)
    ]

    def line(cells: Sequence[str]) -> str:
        parts = [
            cell.ljust(width) if column.left else cell.rjust(width)
            for cell, width, column in zip(cells, widths, columns, strict=True)
        ]
        return "  ".join(parts).rstrip()

    rule = "  ".join("-" * width for width in widths)
    body = [rule if row is None else line(row) for row in rows]
    return "\n".join([line([column.title for column in columns]), rule, *body])


def comparison_text(comparison: Comparison) -> str:
    """The table of one comparison. Footnotes list the properties that formats lost."""
    fit = [result for result in comparison.results if result.failure is None]
    base = next((r for r in fit if r.peer.key == BASE), fit[0] if fit else None)
    memory = any(result.peak_bytes for result in fit)
    titles = ["write s", "read s", "file MB", "write x", "read x", "size x", "floor x"]
    titles += ["write peak MB", "read peak MB"] if memory else []
    columns = [Column("format", left=True), *map(Column, titles), Column("notes", left=True)]
    footnotes: dict[str, int] = {}
    rows: list[Sequence[str] | None] = [
        _row(result, base, comparison.floor, footnotes, memory)
        for result in fit
        if base is not None
    ]
    if comparison.floor_s:
        size = f"{comparison.memory_bytes / 1e6:.1f}"
        floor = ["floor", "", seconds_text(comparison.floor), size]
        rows += [None, floor + [""] * (len(columns) - len(floor))]
    shape = f"{comparison.n_rows:,} rows x {comparison.n_columns} columns"
    lines = [
        f"{comparison.name}: {shape}, {comparison.memory_bytes / 1e6:,.1f} MB in memory, "
        f"{comparison.host.label}",
        *(f"  {remark}" for remark in comparison.remarks),
        "",
        aligned(columns, rows),
    ]
    if base is not None:
        lines += ["", LEGEND.format(base.peer.label)]
    lines += [f"[{number}] {text}" for text, number in footnotes.items()]
    lines += [
        f"  {result.peer.label}: {result.failure}"
        for result in comparison.results
        if result.failure is not None
    ]
    return "\n".join(lines)


def _row(
    result: Result, base: Result, floor: float, footnotes: dict[str, int], memory: bool
) -> list[str]:
    marks = [footnotes.setdefault(note, len(footnotes) + 1) for note in result.notes]
    peaks = [peak_text(result, direction) for direction in ("write", "read")]
    return [
        result.peer.label,
        seconds_text(result.write),
        seconds_text(result.read),
        f"{result.n_bytes / 1e6:.1f}" if result.n_bytes else "",
        *(
            ["1", "1", "1"]
            if result is base
            else [
                ratio_text(result.write / base.write),
                ratio_text(result.read / base.read),
                ratio_text(result.n_bytes / base.n_bytes) if result.n_bytes else "",
            ]
        ),
        ratio_text(result.read / floor),
        *(peaks if memory else []),
        " ".join(f"[{mark}]" for mark in sorted(marks)),
    ]


def peak_text(result: Result, direction: str) -> str:
    peak = result.peak_bytes.get(direction)
    return "" if peak is None else f"{peak / 1e6:.0f}"


def seconds_text(value: float) -> str:
    """Seconds with about three digits; empty without a measurement."""
    if math.isnan(value):
        return ""
    if value >= 0.1:
        return f"{value:.3f}"
    return f"{value:.4f}" if value >= 0.01 else f"{value:.5f}"


def ratio_text(value: float) -> str:
    if math.isnan(value):
        return ""
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"
