"""Files that grow: the time of each format, and what it is against the same rows at once."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from .bars import Bar, bars
from .values import Record, digits, groups, is_base, is_ours, name, number, seconds, size, time_unit

KINDS = {
    "append": "Append 1,000 rows, not forced to the disk",
    "append-durable": "Append 1,000 rows, forced to the disk",
    "bulk": "Append many rows at once",
    "many": "1,000 appends",
    "compact": "Compact after 1,000 appends",
    "column": "Add a column",
    "writer": "Write batches",
}
COLUMNS: list[tuple[str, Callable[[Record], str]]] = [
    ("median of an append", lambda r: _seconds(r, "median_s")),
    ("slowest", lambda r: _seconds(r, "max_s")),
    ("all", lambda r: _seconds(r, "write_s")),
    ("× at once", lambda r: _ratio(r, "write_s")),
    ("read", lambda r: _seconds(r, "read_s")),
    ("read × at once", lambda r: _ratio(r, "read_s")),
    ("file", lambda r: _size(r, "file_bytes")),
    ("file × at once", lambda r: _ratio(r, "file_bytes")),
    ("peak memory", lambda r: _size(r, "write_peak_bytes")),
]


def grow_html(records: list[Record]) -> str:
    """A card for each kind of growth and each frame."""
    fit = [record for record in records if not record.get("failure")]
    return "".join(_card(them) for them in groups(fit, lambda r: (r["kind"], r["frame"])).values())


def _card(records: list[Record]) -> str:
    first = records[0]
    key = "median_s" if first["kind"].startswith("append") else "write_s"
    values = {i: v for i, r in enumerate(records) if (v := number(r, key))}
    if not values:
        return ""
    unit, factor = time_unit(max(values.values()))
    items = [
        Bar(name(records[i]), v / factor, _kind(records[i]), seconds(v)) for i, v in values.items()
    ]
    panel = bars(f"Time, {unit}", "shorter is faster", items, shortest_first=True, line=None)
    known = [column for column in COLUMNS if any(column[1](record) for record in records)]
    head = "".join(f"<th>{title}</th>" for title in ("format", *(title for title, _ in known)))
    body = "".join(
        f"<tr{' class=base' if is_base(record) else ''}><th>{escape(name(record))}</th>"
        f"{''.join(f'<td>{cell(record)}</td>' for _, cell in known)}</tr>"
        for record in records
    )
    table = (
        f'<div class="panel"><div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></div>"
    )
    title = KINDS[first["kind"]]
    shape = f"{first['frame']}, {first['n_rows']:,} rows × {first['n_columns']} columns"
    return (
        f'<div class="card"><h3>{escape(title)} <span class="about">{escape(shape)}</span></h3>'
        f'<div class="panels two">{panel}{table}</div><p class="how">Medians, pandas. '
        "× at once: over the value of the same rows that the same format wrote at once.</p></div>"
    )


def _kind(record: Record) -> str:
    return "base" if is_base(record) else "ours" if is_ours(record) else ""


def _seconds(record: Record, key: str) -> str:
    value = number(record, key)
    return seconds(value) if value else ""


def _size(record: Record, key: str) -> str:
    value = number(record, key)
    return size(value) if value else ""


def _ratio(record: Record, key: str) -> str:
    value, base = number(record, key), number(record, f"once_{key}")
    return digits(value / base) if value and base else ""
