"""How speed and size depend on something: compression, threads, rows selected, rows at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape

from .bars import Bar, bars
from .lines import Axis, Point, Series, legend, lines
from .values import (
    BASE,
    Record,
    byte_unit,
    count,
    digits,
    duration,
    groups,
    is_base,
    is_ours,
    name,
    number,
    seconds,
    speed,
    text,
    time_unit,
)

Value = Callable[[Record], float | None]
SETTINGS = (0.0, 20.0, 40.0, 60.0, 80.0, 100.0)


def compression_html(records: list[Record]) -> str:
    """Speeds and size at each setting, by frame."""
    known = [r for r in _fit(records) if _setting(r) is not None]
    frames = groups(known, lambda r: r.get("frame")).values()
    return "".join(_compression(frame) for frame in frames)


def _compression(records: list[Record]) -> str:
    unit, factor = byte_unit(_fastest(records))
    styles = _styles(records, _family)
    fast, small = "higher is faster", "lower is smaller"
    values: list[tuple[str, str, Value]] = [
        (f"Write, {unit}/s", fast, _speed_of("write_s", factor)),
        (f"Read, {unit}/s", fast, _speed_of("read_s", factor)),
        ("File, MB", small, lambda r: _scaled(number(r, "file_bytes"), 1e6)),
    ]
    drawn = [_series(records, _family, _setting, y, styles) for _, _, y in values]
    panels = [
        _panel(title, told, "compression", series, SETTINGS)
        for (title, told, _), series in zip(values, drawn, strict=True)
    ]
    how = (
        "The same frame written with each setting, medians of interleaved rounds. "
        "Speed is the size of the frame in memory over the seconds of the call."
    )
    every = [one for series in drawn for one in series]
    return _figure(text(records[0], "frame"), panels, every, how, "three")


def threads_html(records: list[Record]) -> str:
    """Speeds by the number of threads. One number of threads is a course of nothing."""
    known = [r for r in _fit(records) if number(r, "threads")]
    counts = sorted({float(r["threads"]) for r in known})
    if len(counts) < 2:
        return ""
    parts = []
    for them in groups(known, _frame_of_threads).values():
        unit, factor = byte_unit(_fastest(them))
        styles = _styles(them, name)
        both = [
            _series(them, name, lambda r: number(r, "threads"), _speed_of(key, factor), styles)
            for key in ("write_s", "read_s")
        ]
        both[1] += _floor(them, lambda r: number(r, "threads"), _speed_of("floor_s", factor))
        panels = [
            _panel(f"{title}, {unit}/s", "higher is faster", "threads", series, counts)
            for title, series in zip(("Write", "Read"), both, strict=True)
        ]
        how = (
            "One frame, written and read with each number of threads, medians of interleaved "
            "rounds. Formats without a setting for the number are left out."
        )
        parts.append(_figure(_frame_of_threads(them[0]), panels, both[0] + both[1], how))
    return "".join(parts)


def access_html(records: list[Record]) -> str:
    """Reads of a part: lines over the number of rows, bars for what has no number of rows."""
    parts = []
    good = [r for r in _fit(records) if number(r, "median_s")]
    for them in groups(good, lambda r: tuple(map(r.get, ("suite", "frame", "kind")))).values():
        kind = str(them[0].get("kind") or "rows")
        title = text(them[0], "frame")
        many = {number(r, "n_rows") for r in them} - {None}
        if kind == "rows" and len(many) > 1:
            series = _series(
                them,
                name,
                lambda r: number(r, "n_rows"),
                lambda r: number(r, "median_s"),
                _styles(them, name),
            )
            panel = lines(
                "Time of a read",
                "lower is faster; both axes logarithmic",
                Axis("rows selected", count, log=True),
                Axis("", duration, log=True),
                series,
            )
            how = (
                "Two columns of randomly selected rows, read from an open file, medians. "
                "Formats that support it do not read the rest of the file."
            )
            parts.append(_figure(title, [panel, _spread(them)], series, how))
        else:
            parts.append(_bars_of_access(title, kind, them))
    return "".join(parts)


KINDS = {
    "rows": ("rows at random places", "rows of two columns at random places of an open file"),
    "take": ("scattered rows", "single rows of two columns all over an open file"),
    "schema": ("open and tell the schema", "opening the file for its columns and their types"),
    "column": ("open and read one column", "opening the file and reading one column of it"),
}


def _bars_of_access(title: str, kind: str, records: list[Record]) -> str:
    short, long = KINDS.get(kind, (kind, kind))
    unit, factor = time_unit(max(number(r, "median_s") or 0 for r in records))
    items = []
    for record in records:
        median = number(record, "median_s") or 0
        hint = f"median {seconds(median)}"
        if late := number(record, "p95_s"):
            hint += f", 95 % within {seconds(late)}"
        kind_of_bar = "base" if is_base(record) else "ours" if is_ours(record) else ""
        items.append(Bar(name(record), median / factor, kind_of_bar, hint))
    rows = number(records[0], "n_rows")
    head = f"{rows:,.0f} {short}" if rows and kind in ("rows", "take") else short.capitalize()
    panel = bars(f"{head}, {unit}", "shorter is faster", items, shortest_first=True, line=None)
    return _figure(title, [panel, _spread(records)], [], f"Time of {escape(long)}, medians.")


def _spread(records: list[Record]) -> str:
    """Median, late and worst reads as a table."""
    body = []
    for record in records:
        cells = [number(record, key) for key in ("median_s", "p95_s", "max_s")]
        rows = number(record, "n_rows")
        kind = ' class="base"' if is_base(record) else ""
        told = "".join(f"<td>{seconds(cell) if cell else ''}</td>" for cell in cells)
        body.append(
            f"<tr{kind}><th>{escape(name(record))}</th>"
            f"<td>{f'{rows:,.0f}' if rows else ''}</td>{told}</tr>"
        )
    head = "".join(f"<th>{t}</th>" for t in ("format", "rows", "median", "95 %", "worst"))
    return (
        f'<div class="panel"><div class="scroll tall"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div></div>"
    )


def sweep_html(records: list[Record]) -> str:
    """Nanoseconds per row over the number of rows."""
    good = [r for r in _fit(records) if _rows(r)]
    if len({_rows(r) for r in good}) < 2:
        return ""
    styles = _styles(good, name)
    writes = _series(good, name, _rows, _per_row("write_s"), styles)
    reads = _series(good, name, _rows, _per_row("read_s"), styles)
    reads += _floor(good, _rows, _per_row("floor_s"))
    panels = [
        lines(
            f"{title}, ns per row",
            "lower is faster; both axes logarithmic",
            Axis("rows of the frame", count, log=True),
            Axis("", lambda value: f"{value:g}", log=True),
            series,
        )
        for title, series in (("Write", writes), ("Read", reads))
        if series
    ]
    how = (
        "The headline frame cut to so many rows; a flat line means that the time is all for the "
        "rows. Small files are read several times in a row, and the mean is taken."
    )
    return _figure("", panels, writes + reads, how)


def _fit(records: Iterable[Record]) -> list[Record]:
    return [record for record in records if not record.get("failure")]


def _setting(record: Record) -> float | None:
    value = record.get("compression")
    return float(value) if isinstance(value, int | float) else None


def _fastest(records: list[Record]) -> float:
    speeds = [speed(r, key) for r in records for key in ("write_s", "read_s")]
    return max((value for value in speeds if value), default=1.0)


def _scaled(value: float | None, factor: float) -> float | None:
    return value / factor if value else None


def _speed_of(key: str, factor: float) -> Value:
    return lambda record: _scaled(speed(record, key), factor)


def _rows(record: Record) -> float | None:
    return number(record, "rows", "n_rows")


def _per_row(key: str) -> Value:
    def value(record: Record) -> float | None:
        time, rows = number(record, key), _rows(record)
        return time / rows * 1e9 if time and rows else None

    return value


def _family(record: Record) -> str:
    """Entasis for entasis-30."""
    key = str(record.get("format", ""))
    stem, _, level = key.rpartition("-")
    stem = stem if level.isdecimal() and stem else key
    return stem.capitalize() if stem == BASE else stem


def _frame_of_threads(record: Record) -> str:
    """The frame without the number of threads in its name."""
    return (
        text(record, "frame")
        .partition("-1-thread")[0]
        .partition(f"-{record['threads']}-threads")[0]
    )


def _styles(records: list[Record], label: Callable[[Record], str]) -> dict[str, int]:
    """A style per label: 0 for Entasis, the others in the order in which they come."""
    found: dict[str, int] = {}
    for record in records:
        own = is_base(record) or label(record) == "Entasis"
        if label(record) not in found:
            used = sum(style > 0 for style in found.values())
            found[label(record)] = 0 if own else used + 1
    return found


def _series(
    records: list[Record],
    label: Callable[[Record], str],
    x: Value,
    y: Value,
    styles: dict[str, int],
) -> list[Series]:
    found = []
    for key, them in groups(records, label).items():
        points = [(a, b) for r in them if (a := x(r)) is not None and (b := y(r)) is not None]
        if points:
            found.append(Series(str(key), points, styles[str(key)]))
    return found


def _floor(records: list[Record], x: Value, y: Value) -> list[Series]:
    found: dict[float, Point] = {}
    for record in records:
        a, b = x(record), y(record)
        if a is not None and b is not None:
            found.setdefault(a, (a, b))
    return [Series("floor", list(found.values()), -1)] if found else []


def _panel(title: str, remark: str, below: str, series: list[Series], at: Sequence[float]) -> str:
    if not series:
        return ""
    tell = "{:g}".format
    return lines(title, remark, Axis(below, tell, at=at), Axis("", _tick), series)


def _tick(value: float) -> str:
    return f"{value:g}" if value < 1_000 else digits(value)


def _figure(
    title: str, panels: list[str], series: list[Series], how: str, kind: str = "two"
) -> str:
    if not any(panels):
        return ""
    head = f"<h3>{title}</h3>" if title else ""
    told = legend(series) if len({one.label for one in series}) > 1 else ""
    return (
        f'<div class="card">{head}<div class="panels {kind}">{"".join(panels)}</div>'
        f'{told}<p class="how">{how}</p></div>'
    )
