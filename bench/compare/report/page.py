"""The results as one HTML page that needs nothing else: no scripts, fonts or pictures of others."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from . import comparisons, courses, growth
from .values import (
    Record,
    digits,
    groups,
    host_label,
    name,
    number,
    seconds,
    size,
    speed,
    text,
)

STYLE = Path(__file__).with_name("page.css")
NEAR = 1.15  # a target missed by no more than this is near
COLUMN = (  # a column with its entasis, the swelling that makes it look straight
    '<svg viewBox="0 0 22 30" aria-hidden="true"><path d="M1 0h20v3.2H1z"/>'
    '<path d="M4.6 4.6h12.8C18.3 12 19 19 18.4 25.4H3.6C3 19 3.7 12 4.6 4.6z"/>'
    '<path d="M0 26.8h22V30H0z"/></svg>'
)
SUITES = {
    "headline": "The headline frame",
    "nine": "Nine shapes of frames",
    "wide": "Wide frames",
    "strings": "Strings",
    "vectors": "Single vectors",
    "shootout": "The shootout's data sets",
    "real": "Real tables",
    "file": "A table of one's own",
    "objects": "Trees of values",
    "small": "Small files",
}
FACTS = {
    "processor": "Processor",
    "cpus": "CPUs",
    "threads": "Threads",
    "memory_bytes": "Memory",
    "huge_pages": "Huge pages",
    "system": "System",
    "python": "Python",
    "commit": "Commit",
}
COURSES: list[tuple[str, str, Callable[[list[Record]], str]]] = [
    ("compression", "Compression", courses.compression_html),
    ("threads", "Threads", courses.threads_html),
    ("access", "Reading a part", courses.access_html),
    ("sweep", "Time per row", courses.sweep_html),
    ("grow", "Files that grow", growth.grow_html),
]


def write_html(path: Path, host: dict[str, Any], sections: dict[str, list[dict[str, Any]]]) -> None:
    """Write the page, without the parts that lack data."""
    path.write_text(_page(host, sections), encoding="utf-8")


def _page(host: Record, sections: dict[str, list[Record]]) -> str:
    compared = sections.get("comparisons") or []
    parts = [("machine", "Machine and versions", _machine(host))]
    if sections.get("targets"):
        parts.append(("targets", "Targets", _targets(sections["targets"])))
    for i, (suite, records) in enumerate(groups(compared, lambda r: r.get("suite")).items()):
        title = SUITES.get(str(suite), str(suite or "Comparison").capitalize())
        parts.append((f"suite-{i}", title, comparisons.suite_html(records)))
    for key, title, draw in COURSES:
        parts.append((key, title, draw(sections.get(key) or [])))
    parts = [part for part in parts if part[2]]
    links = "".join(f'<a href="#{key}">{escape(title)}</a>' for key, title, _ in parts)
    body = "".join(
        f'<section id="{key}"><h2>{escape(title)}</h2>{content}</section>'
        for key, title, content in parts
    )
    style = STYLE.read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Entasis: measurements</title><style>\n{style}</style></head><body>"
        f"<header><h1>{COLUMN}Entasis</h1><p>Lightning-fast files for data frames, measured "
        "against other formats: the same frames, the same machine, in one run.</p>"
        f"{_figures(compared)}<nav>{links}</nav></header><main>{body}</main>"
        "<footer><p>Every format wrote and read each frame once before anything was timed, and "
        "what came back was compared value by value; a format that returned wrong values has no "
        "times. Formats took turns in every round. Times differ between machines and hours: "
        "compare ratios.</p></footer></body></html>\n"
    )


def _figures(records: list[Record]) -> str:
    """The headline frame in four numbers."""
    frame = next(iter(_by_frame(r for r in records if r.get("suite") == "headline")), [])
    base = comparisons.find_base(frame)
    if base is None:
        return ""
    told = []
    for key, what in (("read_s", "reads"), ("write_s", "writes")):
        if (fast := speed(base, key)) and (time := number(base, key)):
            about = f"{what} the headline frame into {host_label(base)} in {seconds(time)}"
            if key == "write_s":
                about = f"{what} it in {seconds(time)}"
            told.append((f"{digits(fast / 1e9)} GB/s", about))
    file, memory = number(base, "file_bytes"), number(base, "memory_bytes")
    if file and memory:
        told.append((f"{digits(file / memory * 100)} %", f"of its {size(memory)}: the file"))
    rest = [r for r in comparisons.fit(frame) if not r["format"].startswith("entasis")]
    timed = [r for r in rest if number(r, "read_s")]
    if timed and number(base, "read_s"):
        best = min(timed, key=lambda r: number(r, "read_s") or 0)
        factor = comparisons.over(best, base, "read_s")
        if factor and factor >= 1:
            about = f"as fast to read as the next fastest, {escape(name(best))}"
            told.append((f"{digits(factor)} ×", about))
    cells = "".join(f"<div><b>{value}</b><span>{about}</span></div>" for value, about in told)
    return f'<div class="figures">{cells}</div>' if told else ""


def _by_frame(records: Any) -> list[list[Record]]:
    return list(groups(records, lambda r: (r.get("frame"), r.get("host"))).values())


def _targets(records: list[Record]) -> str:
    """Each target, the measurement, and whether it is met."""
    verdicts = [_verdict(record) for record in records]
    order = ("miss", "near", "pass")
    ranked = sorted(zip(verdicts, records, strict=True), key=lambda pair: order.index(pair[0]))
    rows = "".join(
        f'<tr><td><span class="pill {verdict}">{verdict}</span></td>'
        f"<td>{text(record, 'what').replace('&lt;=', '≤')}<small>{_where(record)}</small></td>"
        f'<td class="n">{_amount(record, "measured")}</td>'
        f'<td class="n">{_amount(record, "limit", "target")}</td></tr>'
        for verdict, record in ranked
    )
    tally = "".join(
        f'<span class="{key}" style="flex:{verdicts.count(key)}"></span>'
        for key in reversed(order)
        if key in verdicts
    )
    heads = ("", "what", "measured", "at most")
    head = "".join(f"<th{' class=n' if i > 1 else ''}>{h}</th>" for i, h in enumerate(heads))
    return (
        f'<p class="lead">{verdicts.count("pass")} of {len(records)} met, '
        f"{verdicts.count('near')} near (missed by at most {NEAR - 1:.0%}), "
        f"{verdicts.count('miss')} missed.</p>"
        f'<div class="card"><div class="tally">{tally}</div><div class="scroll">'
        f'<table class="targets"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
        '<p class="how">×: the value of Entasis over that of what it is compared with, in the '
        "same run; where a target is for several frames, this is the worst of them.</p></div>"
    )


def _verdict(record: Record) -> str:
    passed = record.get("passed", record.get("met"))
    if passed:
        return "pass"
    measured, limit = number(record, "measured"), number(record, "limit", "target")
    return "near" if measured and limit and measured <= limit * NEAR else "miss"


def _amount(record: Record, *keys: str) -> str:
    """A ratio, a time where the target is a time, or the text as it is."""
    value = number(record, *keys)
    if value is None:
        return next((text(record, key) for key in keys if record.get(key) is not None), "")
    if "over" in record and record["over"] is None:
        return size(value) if record.get("quantity") == "memory" else seconds(value)
    return f"{digits(value)} ×" if value >= 10 else f"{value:.3f}".rstrip("0").rstrip(".") + " ×"


def _where(record: Record) -> str:
    """The suite and the frame."""
    frame = text(record, "frame")
    several = number(record, "n_frames") or 1
    if several > 1:
        met = record.get("n_met")
        frame += f", the worst of {several:.0f}" + ("" if met is None else f", {met} met")
    suite = text(record, "suite")
    return f"{suite}: {frame}" if frame and frame != suite else suite


def _machine(host: Record) -> str:
    """Machine and versions; empty if unknown."""
    facts = []
    for key, title in FACTS.items():
        value = host.get(key)
        if value is not None:
            told = size(float(value)) if key == "memory_bytes" else str(value)
            facts.append((title, told))
    known = {key: value for key, value in host.items() if key not in FACTS}
    facts += [(key, str(value)) for key, value in known.items() if value is not None]
    items = "".join(
        f"<div{' class=wide' if title == 'Processor' else ''}><dt>{escape(title)}</dt>"
        f"<dd>{escape(value)}</dd></div>"
        for title, value in facts
    )
    return f'<div class="card"><dl class="machine">{items}</dl></div>' if items else ""
