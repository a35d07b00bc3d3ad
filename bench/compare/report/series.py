"""Speed and size over a setting: compression, threads, rows selected, rows; files that grow."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from .charts import ENTASIS, FLOOR, Bars, Lines, bar_chart, line_chart
from .markup import Column, card, details, record_table, table
from .values import (
    BASE,
    Record,
    byte_unit,
    digits,
    groups,
    name,
    number,
    seconds,
    size,
    speed,
    successes,
)

Label = Callable[[Record], str]
Value = Callable[[Record, str], float | None]
HOW = {
    "compression": "The same frame written with each setting, medians of interleaved rounds. "
    "Speed is the size of the frame in memory over the seconds of the call.",
    "threads": "One frame, written and read with each number of threads, medians of interleaved "
    "rounds. Formats without a setting for the number are left out.",
    "rows": "Two columns of randomly selected rows, read from an open file, medians; both axes "
    "logarithmic. Formats that support it do not read the rest of the file.",
    "sweep": "The headline frame cut to so many rows, both axes logarithmic; a flat line means "
    "that the time is all for the rows. Small files are read several times in a row, and the mean "
    "is taken.",
    "grow": "Medians, pandas. × at once: over the value of the same rows that the same format "
    "wrote at once.",
}
PARTS = {
    "rows": ("rows at random places", "rows of two columns at random places of an open file"),
    "take": ("scattered rows", "single rows of two columns all over an open file"),
    "schema": ("open and read the schema", "opening the file for its columns and their types"),
    "column": ("open and read one column", "opening the file and reading one column of it"),
}
PART_COLUMNS = [
    Column("rows", "n_rows", "{:,.0f}".format),
    Column("median", "median_s", seconds),
    Column("95 %", "p95_s", seconds),
    Column("worst", "max_s", seconds),
]
GROWTH = {
    "append": "Append 1,000 rows, not forced to the disk",
    "append-durable": "Append 1,000 rows, forced to the disk",
    "bulk": "Append many rows at once",
    "many": "1,000 appends",
    "compact": "Compact after 1,000 appends",
    "column": "Add a column",
    "writer": "Write batches",
}
GROWTH_COLUMNS = [
    Column("median of an append", "median_s", seconds),
    Column("slowest", "max_s", seconds),
    Column("all", "write_s", seconds),
    Column("× at once", "write_s", digits, "once_write_s"),
    Column("read", "read_s", seconds),
    Column("read × at once", "read_s", digits, "once_read_s"),
    Column("file", "file_bytes", size),
    Column("file × at once", "file_bytes", digits, "once_file_bytes"),
    Column("peak memory", "write_peak_bytes", size),
]


def compression_html(records: list[Record]) -> str:
    """Speeds and size at each setting, by frame."""
    known = [r for r in successes(records) if r.get("compression") is not None]
    parts = ""
    for frame, them in groups(known, lambda r: r["frame"]).items():
        panels = _speeds(them, _family, "compression")
        sizes = _series(them, _family, "compression", "file_bytes", number, 1e6)
        panels.append(Lines("File, MB", "lower is smaller", sizes))
        parts += _line_card(str(frame), panels, "compression", HOW["compression"])
    return parts


def threads_html(records: list[Record]) -> str:
    """Speeds by the number of threads, if there are several."""
    known = [r for r in successes(records) if number(r, "threads")]
    if len({r["threads"] for r in known}) < 2:
        return ""
    frames = groups(known, lambda r: re.sub(r"-\d+-threads?$", "", r["frame"]))
    return "".join(
        _line_card(str(frame), _speeds(them, name, "threads"), "threads", HOW["threads"])
        for frame, them in frames.items()
    )


def sweep_html(records: list[Record]) -> str:
    """Nanoseconds per row over the number of rows."""
    good = [r for r in successes(records) if number(r, "n_rows")]
    if len({r["n_rows"] for r in good}) < 2:
        return ""
    panels = [
        Lines(f"{title}, ns per row", "lower is faster", series)
        for title, series in _writes_and_reads(good, name, "n_rows", _time_per_row, 1e-9)
    ]
    return _line_card("", panels, "rows of the frame", HOW["sweep"], log_unit="")


def access_html(records: list[Record]) -> str:
    """Partial reads: lines over the number of rows, or bars for a single number."""
    good = [r for r in successes(records) if number(r, "median_s")]
    parts = ""
    for them in groups(good, lambda r: (r["suite"], r["frame"], r["kind"])).values():
        kind, rows = them[0]["kind"], {r["n_rows"] for r in them}
        if kind == "rows" and len(rows) > 1:
            series = _series(them, name, "n_rows", "median_s", number)
            panel = Lines("Time of a read", "lower is faster", series)
            chart, how = line_chart([panel], "rows selected", "s"), HOW["rows"]
        else:
            short, long = PARTS.get(kind, (kind, kind))
            title = f"{max(rows):,} {short}" if kind in ("rows", "take") else short.capitalize()
            chart = bar_chart([Bars(title, "time", [(r, r["median_s"]) for r in them])])
            how = f"Time of {long}, medians."
        parts += _chart_and_table(them[0]["frame"], "", chart, PART_COLUMNS, them, how)
    return parts


def growth_html(records: list[Record]) -> str:
    """A card for each kind of growth and each frame."""
    parts = ""
    for them in groups(successes(records), lambda r: (r["kind"], r["frame"])).values():
        first = them[0]
        key = "median_s" if first["kind"].startswith("append") else "write_s"
        if times := [(r, time) for r in them if (time := number(r, key))]:
            about = f"{first['frame']}, {first['n_rows']:,} rows × {first['n_columns']} columns"
            chart, title = bar_chart([Bars("Time", "time", times)]), GROWTH[first["kind"]]
            parts += _chart_and_table(title, about, chart, GROWTH_COLUMNS, them, HOW["grow"])
    return parts


def _chart_and_table(
    title: str, about: str, chart: str, columns: list[Column], records: list[Record], how: str
) -> str:
    body = f'<div class="panels">{chart}{record_table(columns, records)}</div>'
    return card(title, about, body, how)


def _line_card(
    title: str, panels: list[Lines], x_title: str, how: str, log_unit: str | None = None
) -> str:
    """The chart, and the values of its points as a table."""
    at = sorted({x for panel in panels for points in panel.series.values() for x in points})
    rows = [
        [escape(f"{panel.title}: {label}"), *(digits(points[x]) if x in points else "" for x in at)]
        for panel in panels
        for label, points in panel.series.items()
    ]
    numbers = details("All numbers", table([x_title, *(f"{x:,.0f}" for x in at)], rows))
    return card(title, "", line_chart(panels, x_title, log_unit) + numbers, how)


def _series(
    records: list[Record], label: Label, x: str, key: str, value: Value, factor: float = 1.0
) -> dict[str, dict[float, float]]:
    """The points of each label; the first of several records at one x counts."""
    found: dict[str, dict[float, float]] = {}
    for record in records:
        if y := value(record, key):
            found.setdefault(label(record), {}).setdefault(float(record[x]), y / factor)
    return found


def _writes_and_reads(
    records: list[Record], label: Label, x: str, value: Value, factor: float
) -> list[tuple[str, dict[str, dict[float, float]]]]:
    reads = _series(records, label, x, "read_s", value, factor)
    reads |= _series(records, lambda _: FLOOR, x, "floor_s", value, factor)
    return [("Write", _series(records, label, x, "write_s", value, factor)), ("Read", reads)]


def _speeds(records: list[Record], label: Label, x: str) -> list[Lines]:
    unit, factor = byte_unit(max(speed(r, k) or 0 for r in records for k in ("write_s", "read_s")))
    return [
        Lines(f"{title}, {unit}/s", "higher is faster", series)
        for title, series in _writes_and_reads(records, label, x, speed, factor)
    ]


def _time_per_row(record: Record, key: str) -> float | None:
    time = number(record, key)
    return time and time / record["n_rows"]


def _family(record: Record) -> str:
    """Entasis for entasis-30."""
    key = re.sub(r"-\d+$", "", record["format"])
    return ENTASIS if key == BASE else key
