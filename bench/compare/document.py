"""Fills tables of results into a Markdown page, each between two marks that define it.

    <!-- table SECTION WHERE ... : ROWS COLUMN ... -->
    <!-- end -->

SECTION holds the records: comparisons, threads, compression, access, sweep, grow, scan, engines,
csv, convert, targets.
WHERE are fields of records with a pattern each, such as suite=nine host=pandas. A row is all
records that agree in the field ROWS. A COLUMN is a quantity of Entasis in a unit (`read_ms`,
`file_MB`; `row`, `byte`: nanoseconds a row, a byte of the text), the same quantity of another
format (`read_ms@npz`), or the ratio to it (`read/npz`); a format in another host is
`npz:static_frame`. `read/floor`, `read/once`, `median/best` and `median/least` are ratios to the
floor, to the same rows written at once, to the fastest other format and to the text with the least
time for a byte. Where rows are formats, quantities are the row's own.
A title other than the usual one follows `=`, with `_` for blanks. ROWS has no usual title.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from .report.values import Record, digits, groups
from .targets import BEST, LEAST, ONCE, amount_text

BLOCK = re.compile(r"(<!-- table (.*?) -->\n).*?(<!-- end -->)", re.DOTALL)
FIELDS = {"write": "write_s", "read": "read_s", "file": "file_bytes", "floor": "floor_s"}
FIELDS |= {"median": "median_s", "slowest": "max_s", "peak": "write_peak_bytes"}
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "MB": 1e6, "MiB": 2**20}
UNITS |= {"row": 1e-9, "byte": 1e-9}
PER = {"row": "n_rows", "byte": "file_bytes"}
SHOWN = {"us": "µs", "row": "ns a row", "byte": "ns a byte"}
BASE = "entasis"


def fill(document: Path, sections: dict[str, list[Record]]) -> list[str]:
    """Fill a page's tables; return the marks without results (tables unchanged)."""
    missing = []

    def replaced(match: re.Match[str]) -> str:
        begin, what, end = match.groups()
        made = table(what, sections)
        if made is None:
            missing.append(what)
            return match.group()
        return f"{begin}\n{made}\n\n{end}"

    document.write_text(BLOCK.sub(replaced, document.read_text()))
    return missing


def table(what: str, sections: dict[str, list[Record]]) -> str | None:
    """The table that a mark requests; None if records are missing."""
    where, _, wanted = what.partition(" : ")
    section, *conditions = where.split()
    fields = [condition.partition("=")[::2] for condition in conditions]
    row, *columns = wanted.split() or [""]
    rows, _, head = row.partition("=")
    # A format to compare with may belong to another host than the rows.
    records = [
        record
        for record in sections.get(section, [])
        if all(_fits(record, k, v) for k, v in fields if k != "host") and not record.get("failure")
    ]
    hosts = [pattern for key, pattern in fields if key == "host"]
    own = [record for record in records if all(_fits(record, "host", host) for host in hosts)]
    if not own:
        return None
    if section == "targets":
        return _targets(own)
    cells: list[list[str]] = []
    for name, mine in groups(own, lambda record: record.get(rows)).items():
        first = mine[0]
        same = [r for r in records if r.get(rows) == name] if rows != "format" else mine
        cell = _of_row(first, own) if rows == "format" else _of_frame(first, same)
        label = first.get("label") if rows == "format" else name
        cells.append([_row_name(label), *(cell(column.split("=")[0]) for column in columns)])
    return _markdown([head, *(_title(column, records) for column in columns)], cells)


def _fits(record: Record, key: str, pattern: str) -> bool:
    """Whether a field matches one of the patterns, separated by `|`."""
    return any(fnmatchcase(str(record.get(key)), one) for one in pattern.split("|"))


def _row_name(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _quantity(record: Record | None, spec: str) -> str:
    name, _, unit = spec.partition("_")
    if record is None or record.get(FIELDS[name]) is None:
        return ""
    value = record[FIELDS[name]] / UNITS[unit]
    return digits(value / record[PER[unit]] if unit in PER else value)


def _ratio(record: Record | None, base: Record | None, name: str) -> str:
    mine, theirs = (None if r is None else r.get(FIELDS[name]) for r in (record, base))
    return _times(mine / theirs) if mine is not None and theirs else ""


def _own_base(record: Record, name: str, over: str) -> Record | None:
    """A record's own base of a ratio: the floor, the rows written at once, the fastest other."""
    key = {"floor": "floor_s"}.get(over)
    if over in ("once", "best", "least"):
        key = f"{over}_{FIELDS[name]}"
    return None if key is None else {FIELDS[name]: record.get(key)}


def _times(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def _of_frame(first: Record, same: list[Record]) -> Callable[[str], str]:
    """The cells of a row that is a frame: each names its format."""

    def find(format: str) -> Record | None:
        key, _, host = format.partition(":")
        wanted = {"format": key, "host": host or first.get("host")}
        return next((r for r in same if wanted.items() <= {"host": None, **r}.items()), None)

    # A frame may only have a setting of Entasis, which is a format of its own (`entasis-30`).
    base = find(BASE) or first

    def cell(column: str) -> str:
        name, _, over = column.partition("/")
        if over:
            return _ratio(base, _own_base(base, name, over) or find(over), name)
        spec, _, format = column.partition("@")
        return _quantity(find(format) if format else base, spec)

    return cell


def _of_row(record: Record, own: list[Record]) -> Callable[[str], str]:
    """The cells of a row that is a format."""

    def cell(column: str) -> str:
        name, _, over = column.partition("/")
        if over:
            base = next((r for r in own if r["format"] == over), None)
            return _ratio(record, _own_base(record, name, over) or base, name)
        return _quantity(record, column)

    return cell


def _title(column: str, records: list[Record]) -> str:
    column, _, title = column.partition("=")
    if title:
        return title.replace("_", " ")
    labels = {record["format"]: record["label"] for record in records}
    labels |= {"floor": "the floor", "once": ONCE, "best": BEST, "least": LEAST}
    name, _, over = column.partition("/")
    if over:
        return f"{name} / {labels.get(over.split(':')[0], over)}"
    spec, _, format = column.partition("@")
    name, _, unit = spec.partition("_")
    words = f"{name}, {SHOWN.get(unit, unit)}"
    return f"{labels.get(format.split(':')[0], format)}: {words}" if format else words


def _targets(records: list[Record]) -> str:
    """Each target with the worst measurement and how many frames meet it."""
    cells = []
    for record in records:
        over, measured = record["over"], record["measured"]
        is_ratio = over is not None
        told = f"{_times(measured)} x" if is_ratio else amount_text(measured, record["quantity"])
        several = record["n_frames"] > 1
        met = f"{record['n_met']} of {record['n_frames']}" if several else ""
        frame = record["frame"] if several or record["frame"] != record["suite"] else ""
        verdict = "yes" if record["met"] else met or "no"
        cells.append([record["suite"], frame, record["what"].replace("<=", "≤"), told, verdict])
    return _markdown(["suite", "frame (the worst)", "target", "measured", "met"], cells)


def _markdown(titles: list[str], rows: list[list[str]]) -> str:
    def line(cells: list[str]) -> str:
        return f"| {' | '.join(cells)} |"

    rule = "|" + "---|" * len(titles)
    return "\n".join([line(titles), rule, *map(line, rows)])
