"""Formats on one frame: bars of speeds and sizes, the table, and many frames at a glance."""

from __future__ import annotations

import math
from html import escape

from .bars import Bar, bars
from .values import (
    Record,
    byte_unit,
    digits,
    groups,
    host_label,
    is_base,
    is_ours,
    name,
    number,
    ratio,
    seconds,
    size,
    speed,
    text,
    time_unit,
)

MANY = 4  # frames of a suite from which on there is an overview
TINY = 100_000  # bytes of a frame that has times instead of speeds
OPEN = 2  # frames of a suite that are shown without a click


def suite_html(records: list[Record]) -> str:
    """All frames of one suite."""
    frames = list(groups(records, lambda r: (r.get("frame"), r.get("host"))).values())
    parts = [overview(frames)] if len(frames) >= MANY else []
    for i, frame in enumerate(frames):
        body = pictures(frame) + table(frame)
        if len(frames) > OPEN and (i >= OPEN or len(frames) >= MANY):
            parts.append(f'<details class="card"><summary>{_head(frame)}</summary>{body}</details>')
        else:
            parts.append(f'<div class="card">{_head(frame)}{body}</div>')
    return "".join(parts)


def fit(records: list[Record]) -> list[Record]:
    return [record for record in records if not record.get("failure")]


def find_base(records: list[Record]) -> Record | None:
    return next((record for record in fit(records) if is_base(record)), None)


def _head(records: list[Record]) -> str:
    first = records[0]
    told = []
    rows, columns = number(first, "n_rows"), number(first, "n_columns")
    if rows and columns:
        told.append(f"{rows:,.0f} rows × {columns:,.0f} columns")
    if memory := number(first, "memory_bytes"):
        told.append(f"{size(memory)} in memory")
    told.append(host_label(first))
    base = find_base(records)
    if base and (read := number(base, "read_s")) and (write := number(base, "write_s")):
        told.append(f"Entasis writes in {seconds(write)}, reads in {seconds(read)}")
    title = text(first, "frame") or "frame"
    return f'<h3>{title} <span class="about">{" · ".join(told)}</span></h3>'


def pictures(records: list[Record]) -> str:
    """Write speed, read speed and size of every format that was measured."""
    good = fit(records)
    first = records[0]
    floor = speed(next((r for r in good if number(r, "floor_s")), first), "floor_s")
    memory = number(first, "memory_bytes")
    if memory is None or memory < TINY:
        panels = [_times("Write", good, "write_s"), _times("Read", good, "read_s")]
    else:
        panels = [_speeds("Write", good, "write_s", None), _speeds("Read", good, "read_s", floor)]
    panels += [
        _sizes(good, memory),
    ]
    if not any(panels):
        return ""
    every = ("every_read_s", "every_write_s")
    rounds = max((len(r.get(key) or []) for r in good for key in every), default=0)
    medians = f"Medians of {rounds} interleaved rounds" if rounds > 1 else "Interleaved rounds"
    host = host_label(first)
    how = f"{medians}, from and into {host}, conversion included, files in the page cache. "
    if memory is None:
        how += "Trees of values have no size in memory, so this shows times, not speeds."
    elif memory < TINY:
        how += "The frame is small, so this shows times, not speeds."
    else:
        how += "Speed is the size of the frame in memory over the seconds of the call."
    if floor and not (memory and memory < TINY):
        how += (
            " The floor is a copy of the same bytes into fresh memory by as many threads: "
            "no reader that fills fresh memory can be much faster."
        )
    return f'<div class="panels three">{"".join(panels)}</div><p class="how">{how}</p>'


def _kind(record: Record) -> str:
    return "base" if is_base(record) else "ours" if is_ours(record) else ""


def _speeds(title: str, records: list[Record], key: str, floor: float | None) -> str:
    values = {i: v for i, r in enumerate(records) if (v := speed(r, key))}
    if not values:
        return ""
    unit, factor = byte_unit(max(values.values()))
    items = [
        Bar(name(records[i]), v / factor, _kind(records[i]), seconds(float(records[i][key])))
        for i, v in values.items()
    ]
    line = ("floor", floor / factor) if floor else None
    return bars(f"{title}, {unit}/s", "longer is faster", items, shortest_first=False, line=line)


def _times(title: str, records: list[Record], key: str) -> str:
    values = {i: v for i, r in enumerate(records) if (v := number(r, key))}
    if not values:
        return ""
    unit, factor = time_unit(max(values.values()))
    items = [
        Bar(name(records[i]), v / factor, _kind(records[i]), seconds(v)) for i, v in values.items()
    ]
    return bars(f"{title}, {unit}", "shorter is faster", items, shortest_first=True, line=None)


def _sizes(records: list[Record], memory: float | None) -> str:
    values = {i: v for i, r in enumerate(records) if (v := number(r, "file_bytes"))}
    if not values:
        return ""
    unit, factor = byte_unit(max(values.values()))
    items = [
        Bar(name(records[i]), v / factor, _kind(records[i]), f"{v:,.0f} bytes")
        for i, v in values.items()
    ]
    line = ("in memory", memory / factor) if memory else None
    return bars(f"File, {unit}", "shorter is smaller", items, shortest_first=True, line=line)


def table(records: list[Record]) -> str:
    """All numbers of one comparison, what formats lost, and which refused."""
    good = fit(records)
    base = find_base(records)
    peaks = any(number(r, "read_peak_bytes", "write_peak_bytes") for r in good)
    titles = ["write s", "read s", "file MB", "write ×", "read ×", "size ×", "floor ×"]
    titles += ["write peak MB", "read peak MB"] if peaks else []
    head = "".join(f"<th>{title}</th>" for title in titles)
    notes: dict[str, int] = {}
    body = "".join(_row(record, base, notes, peaks) for record in good)
    found = f"<table><thead><tr><th>format</th>{head}</tr></thead><tbody>{body}</tbody></table>"
    footnotes = "".join(f"<li>{escape(note)}</li>" for note in notes)
    footnotes = f'<ol class="notes">{footnotes}</ol>' if notes else ""
    legend = (
        '<p class="how">×: the value over that of Entasis, above 1 slower or larger; '
        "floor ×: the time to read over the floor. "
        + ("Peaks: the memory that the call added at its height. " if peaks else "")
        + ("Numbers at names: what the format does not keep." if notes else "")
        + "</p>"
    )
    numbers = f'<div class="scroll">{found}</div>{legend}{footnotes}' if good else ""
    if good:
        numbers = f'<details class="numbers"><summary>All numbers</summary>{numbers}</details>'
    return numbers + _failures(records)


def _row(record: Record, base: Record | None, notes: dict[str, int], peaks: bool) -> str:
    marks = [notes.setdefault(str(note), len(notes) + 1) for note in record.get("notes") or []]
    label = escape(name(record))
    if marks:
        label += f"<sup>{', '.join(str(mark) for mark in sorted(marks))}</sup>"
    write, read = number(record, "write_s"), number(record, "read_s")
    file, floor = number(record, "file_bytes"), number(record, "floor_s")
    cells = [
        digits(write) if write else "",
        digits(read) if read else "",
        digits(file / 1e6) if file else "",
        *(ratio(over(record, base, key)) for key in ("write_s", "read_s", "file_bytes")),
        ratio(read / floor) if read and floor else "",
    ]
    if peaks:
        found = (number(record, f"{way}_peak_bytes") for way in ("write", "read"))
        cells += [f"{peak / 1e6:,.0f}" if peak else "" for peak in found]
    kind = ' class="base"' if is_base(record) else ""
    return f"<tr{kind}><th>{label}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def over(record: Record, base: Record | None, key: str) -> float | None:
    """The value of a record over that of Entasis."""
    value, other = number(record, key), number(base or {}, key)
    return value / other if value and other else None


def _failures(records: list[Record]) -> str:
    failed = groups((r for r in records if r.get("failure")), lambda r: str(r["failure"]))
    items = "".join(
        f"<li><b>{escape(', '.join(name(r) for r in them))}</b>: {escape(str(why))}</li>"
        for why, them in failed.items()
    )
    return f'<ul class="failures">{items}</ul>' if items else ""


def overview(frames: list[list[Record]]) -> str:
    """Read time, write time and size of each format over those of Entasis, for many frames."""
    rest = [record for frame in frames for record in fit(frame) if not is_base(record)]
    parts = []
    for key, title in (("read_s", "Read"), ("write_s", "Write"), ("file_bytes", "File")):
        labels = dict.fromkeys(name(record) for record in rest if number(record, key))
        rows = [_overview_row(frame, key, list(labels)) for frame in frames]
        head = "".join(f"<th>{escape(label)}</th>" for label in labels)
        opened = " open" if key == "read_s" else ""
        what = "size" if key == "file_bytes" else "time"
        parts.append(
            f'<details class="numbers"{opened}>'
            f"<summary>{title}: {what} over that of Entasis</summary>"
            f'<div class="scroll"><table class="heat"><thead><tr><th>frame</th>{head}</tr></thead>'
            f"<tbody>{''.join(rows)}</tbody></table></div></details>"
        )
    how = (
        "Above 1 the format is slower or larger than Entasis on that frame, "
        "below 1 faster or smaller."
    )
    return f'<div class="card"><h3>All frames</h3>{"".join(parts)}<p class="how">{how}</p></div>'


def _overview_row(frame: list[Record], key: str, labels: list[str]) -> str:
    base = find_base(frame)
    found = {name(r): over(r, base, key) for r in fit(frame)}
    cells = "".join(_heat(found.get(label)) for label in labels)
    hosts = host_label(frame[0])
    return f"<tr><th>{text(frame[0], 'frame')} <small>{hosts}</small></th>{cells}</tr>"


def _heat(value: float | None) -> str:
    """A cell, the more coloured the further it is from 1."""
    if value is None:
        return "<td>–</td>"
    kind = "more" if value >= 1 else "less"
    depth = min(1.0, abs(math.log10(value)) / 1.7 + 0.05)
    return f'<td class="{kind}" style="--t:{depth:.2f}">{digits(value)}</td>'
