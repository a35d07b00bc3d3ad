"""Results as text tables, JSON and CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    """The table of one comparison, with what formats lost as footnotes."""
    fit = [result for result in comparison.results if result.failure is None]
    base = next((r for r in fit if r.peer.key == BASE), fit[0] if fit else None)
    columns = [
        Column("format", left=True),
        *map(Column, ("write s", "read s", "file MB", "write x", "read x", "size x", "floor x")),
        Column("notes", left=True),
    ]
    footnotes: dict[str, int] = {}
    rows: list[Sequence[str] | None] = [
        _row(result, base, comparison.floor, footnotes) for result in fit if base is not None
    ]
    if comparison.floor_s:
        memory = f"{comparison.memory_bytes / 1e6:.1f}"
        rows += [None, ["floor", "", _seconds(comparison.floor), memory, *[""] * 5]]
    shape = f"{comparison.n_rows:,} rows x {comparison.n_columns} columns"
    lines = [
        f"{comparison.name}: {shape}, {comparison.memory_bytes / 1e6:,.1f} MB in memory",
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


def _row(result: Result, base: Result, floor: float, footnotes: dict[str, int]) -> list[str]:
    marks = [footnotes.setdefault(note, len(footnotes) + 1) for note in result.notes]
    return [
        result.peer.label,
        _seconds(result.write),
        _seconds(result.read),
        f"{result.n_bytes / 1e6:.1f}",
        *(
            ["1", "1", "1"]
            if result is base
            else [
                _ratio(result.write / base.write),
                _ratio(result.read / base.read),
                _ratio(result.n_bytes / base.n_bytes),
            ]
        ),
        _ratio(result.read / floor),
        " ".join(f"[{mark}]" for mark in sorted(marks)),
    ]


def _seconds(value: float) -> str:
    return f"{value:.3f}" if value >= 0.1 else f"{value:.4f}"


def _ratio(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def records(comparison: Comparison) -> list[dict[str, Any]]:
    """One record per format, for JSON and CSV."""
    found = []
    for result in comparison.results:
        record: dict[str, Any] = {
            "frame": comparison.name,
            "n_rows": comparison.n_rows,
            "n_columns": comparison.n_columns,
            "memory_bytes": comparison.memory_bytes,
            "format": result.peer.key,
            "file_bytes": result.n_bytes,
            "write_s": result.write if result.write_s else None,
            "read_s": result.read if result.read_s else None,
            "floor_s": comparison.floor if comparison.floor_s else None,
            "notes": result.notes,
            "failure": result.failure,
            "every_write_s": result.write_s,
            "every_read_s": result.read_s,
        }
        found.append(record)
    return found


def write_json(path: Path, machine: dict[str, Any], sections: dict[str, list[Any]]) -> None:
    path.write_text(json.dumps({"machine": machine, **sections}, indent=1) + "\n")


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    names = [name for name in rows[0] if not name.startswith("every_")] if rows else []
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore")
        writer.writeheader()
        for row in rows:
            writer.writerow({**row, "notes": "; ".join(row["notes"])})
