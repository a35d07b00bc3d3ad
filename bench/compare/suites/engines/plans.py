"""The joins and scans of a plan, to see where an engine joins in another order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

# Lines of a plan of Polars that concern joins and scans.
JOINS = re.compile(r"JOIN|BUILD SIDE|PLAN ON|SCAN|DF \[|ESTIMATED ROWS|SELECTION")
PATH = re.compile(r"(\w+ SCAN) \[(?:[^\]]*/)?[^./\]]+\.(\w+)\.[^/\]]*\]")


@dataclass(frozen=True)
class Plan:
    """The order of the joins, and the lines of the plan that concern joins and scans.

    `order` has the tables as the plan lists them. In DuckDB the last one is the build side of a
    join. In Polars a hint about the build side is a part of the order.
    """

    order: tuple[str, ...]
    text: str

    @property
    def has_joins(self) -> bool:
        return "JOIN" in self.text


def duckdb_plan(root: Any, columns: dict[str, str]) -> Plan:
    """The plan in the JSON that EXPLAIN returns."""
    order: list[str] = []
    lines: list[str] = []

    def visit(node: Any, depth: int) -> None:
        name, more = str(node.get("name", "")).strip(), node.get("extra_info") or {}
        below = depth
        if node.get("children"):
            if "JOIN" in name:
                lines.append(f"{'  ' * depth}{name}: {more.get('Conditions', '')}")
                below += 1
        else:
            # The name of a table is not in the plan, but the names of its columns are.
            found = {columns[c] for c in _texts(more.get("Projections")) if c in columns}
            table = " ".join(sorted(found)) or "?"
            order.append(table)
            rows = more.get("Estimated Cardinality", "?")
            lines.append(f"{'  ' * depth}{name} {table}: {rows} rows expected")
        for child in node.get("children") or []:
            visit(child, below)

    for node in root:
        visit(node, 0)
    return Plan(tuple(order), "\n".join(lines))


def polars_plan(text: str) -> Plan:
    """The plan in the text of `explain`."""
    lines = [line for line in text.splitlines() if JOINS.search(line)]
    lines = [PATH.sub(r"\1 \2", line) for line in lines]
    order = [
        line.split(" SCAN ")[-1].strip()
        for line in lines
        if " SCAN " in line or "BUILD SIDE" in line
    ]
    return Plan(tuple(order), "\n".join(lines))


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [] if value is None else [value]
    return [str(text).strip('"') for text in values]
