"""The formats of a suite, frame by frame: bars of speeds and sizes, all numbers, an overview."""

from __future__ import annotations

import math
from html import escape

from .charts import Bars, bar_chart
from .markup import Column, card, details, record_table, table
from .values import (
    Record,
    digits,
    groups,
    host_label,
    is_base,
    name,
    number,
    seconds,
    size,
    speed,
    successes,
)

N_OVERVIEW = 4  # the fewest frames of a suite for an overview
N_OPEN = 2  # the most frames of a suite that are shown without a click
TINY = 100_000  # bytes; smaller frames show times instead of speeds
RATIOS = {"read_s": ("Read", "time"), "write_s": ("Write", "time"), "file_bytes": ("File", "size")}
COLUMNS = [
    Column("write", "write_s", seconds),
    Column("read", "read_s", seconds),
    Column("file", "file_bytes", size),
    Column("write ×", "write_s", digits, "base_write_s"),
    Column("read ×", "read_s", digits, "base_read_s"),
    Column("size ×", "file_bytes", digits, "base_file_bytes"),
    Column("floor ×", "read_s", digits, "floor_s"),
    Column("write peak", "write_peak_bytes", size),
    Column("read peak", "read_peak_bytes", size),
]
HOW = {
    "speed": "Speed is the size of the frame in memory over the seconds of the call.",
    "time": "The frame is small, so this shows times, not speeds.",
    "values": "Trees of values have no size in memory, so this shows times, not speeds.",
    "floor": " The floor is a copy of the same bytes into fresh memory by as many threads: no "
    "reader that fills fresh memory can be much faster.",
    "numbers": "×: the value over that of Entasis, above 1 slower or larger; floor ×: the time to "
    "read over the floor. Peaks: the memory that the call added at its height. Numbers at names: "
    "what the format does not keep.",
    "overview": "Above 1 the format is slower or larger than Entasis on that frame, below 1 faster "
    "or smaller.",
}


def suite_html(records: list[Record]) -> str:
    """All frames of one suite."""
    frames = list(groups(records, lambda r: (r.get("frame"), r.get("host"))).values())
    parts = [_overview(frames)] if len(frames) >= N_OVERVIEW else []
    for i, frame in enumerate(frames):
        is_folded = i >= N_OPEN or len(frames) >= N_OVERVIEW
        body = _charts(frame) + _numbers(frame)
        parts.append(card(str(frame[0]["frame"]), _about(frame), body, is_folded=is_folded))
    return "".join(parts)


def find_base(records: list[Record]) -> Record:
    """The record of Entasis; empty without one."""
    return next((record for record in successes(records) if is_base(record)), {})


def over(record: Record, base: Record, key: str) -> float | None:
    """The value of a record over that of Entasis."""
    value, other = number(record, key), number(base, key)
    return value / other if value and other else None


def _about(records: list[Record]) -> str:
    first, base = records[0], find_base(records)
    rows, columns = number(first, "n_rows"), number(first, "n_columns")
    memory = number(first, "memory_bytes")
    read, write = number(base, "read_s"), number(base, "write_s")
    parts = [
        f"{rows:,.0f} rows × {columns:,.0f} columns" if rows and columns else "",
        f"{size(memory)} in memory" if memory else "",
        host_label(first),
        f"Entasis writes in {seconds(write)}, reads in {seconds(read)}" if read and write else "",
    ]
    return " · ".join(filter(None, parts))


def _charts(records: list[Record]) -> str:
    """Write speed, read speed and size of every format that was measured."""
    good = successes(records)
    memory = number(records[0], "memory_bytes")
    quantity, value = ("time", number) if (memory or 0) < TINY else ("speed", speed)
    floors = [f for r in good if (f := speed(r, "floor_s"))] if quantity == "speed" else []
    panels = [
        Bars(title, what, [(r, v) for r in good if (v := find(r, key))], line)
        for title, what, find, key, line in (
            ("Write", quantity, value, "write_s", None),
            ("Read", quantity, value, "read_s", ("floor", floors[0]) if floors else None),
            ("File", "size", number, "file_bytes", ("in memory", memory) if memory else None),
        )
    ]
    panels = [panel for panel in panels if panel.values]
    if not panels:
        return ""
    rounds = max(len(r.get(f"every_{way}_s") or []) for r in good for way in ("read", "write"))
    how = f"Medians of {rounds} interleaved rounds" if rounds > 1 else "Interleaved rounds"
    how += f", from and into {host_label(records[0])}, conversion included, files in the page "
    how += f"cache. {HOW[quantity if memory else 'values']}{HOW['floor'] if floors else ''}"
    return f'{bar_chart(panels)}<p class="how">{escape(how)}</p>'


def _numbers(records: list[Record]) -> str:
    """All numbers of one comparison, the properties that formats lose, and the refusals."""
    base = find_base(records)
    notes: dict[str, int] = {}
    rows = []
    for record in successes(records):
        known = [notes.setdefault(str(n), len(notes) + 1) for n in record.get("notes") or []]
        mark = f"<sup>{', '.join(map(str, sorted(known)))}</sup>" if known else ""
        rows.append(record | {"mark": mark} | {f"base_{key}": base.get(key) for key in RATIOS})
    lost = "".join(f"<li>{escape(note)}</li>" for note in notes)
    body = f'{record_table(COLUMNS, rows)}<p class="how">{HOW["numbers"]}</p><ol>{lost}</ol>'
    failed = groups((r for r in records if r.get("failure")), lambda r: str(r["failure"]))
    failures = "".join(
        f'<p class="failure"><b>{escape(", ".join(map(name, them)))}</b>: {escape(why)}</p>'
        for why, them in failed.items()
    )
    return (details("All numbers", body) if rows else "") + failures


def _overview(frames: list[list[Record]]) -> str:
    """Read time, write time and size of each format as ratios to Entasis, for many frames."""
    rest = [r for frame in frames for r in successes(frame) if not is_base(r)]
    body = ""
    for key, (title, what) in RATIOS.items():
        labels = list(dict.fromkeys(name(record) for record in rest if number(record, key)))
        rows = []
        for frame in frames:
            found = {name(r): over(r, find_base(frame), key) for r in successes(frame)}
            head = f"{escape(str(frame[0]['frame']))} <small>{host_label(frame[0])}</small>"
            rows.append([head, *(_heat(found.get(label)) for label in labels)])
        content = table(["frame", *labels], rows, "heat")
        body += details(f"{title}: {what} over that of Entasis", content, is_open=key == "read_s")
    return card("All frames", "", body, HOW["overview"])


def _heat(ratio: float | None) -> str:
    """A cell with a ratio. Its colour is stronger the further the ratio is from 1."""
    if ratio is None:
        return "–"
    kind = "more" if ratio >= 1 else "less"
    depth = min(100, abs(math.log10(ratio)) * 60 + 5)
    return f'<span class="{kind}" style="--depth:{depth:.0f}%">{digits(ratio)}</span>'
