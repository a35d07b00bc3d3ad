"""The results as one HTML page that needs nothing else: no scripts, fonts or other files."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from ..targets import amount_text
from . import series
from .comparisons import find_base, over, suite_html
from .markup import card, table
from .values import (
    Record,
    digits,
    groups,
    host_label,
    is_ours,
    name,
    number,
    seconds,
    size,
    speed,
    successes,
)

STYLE = Path(__file__).with_name("page.css")
NEAR = 1.15  # a target missed by at most this factor is near
VERDICTS = ("miss", "near", "pass")
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
SECTIONS: dict[str, tuple[str, Callable[[list[Record]], str]]] = {
    "compression": ("Compression", series.compression_html),
    "threads": ("Threads", series.threads_html),
    "access": ("Reading a part", series.access_html),
    "sweep": ("Time per row", series.sweep_html),
    "grow": ("Files that grow", series.growth_html),
}
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Entasis: measurements</title><style>
{style}</style></head><body><header><h1>Entasis</h1>
<p>Lightning-fast files for data frames, measured against other formats: the same frames, the same
machine, in one run.</p>{summary}<nav>{links}</nav></header><main>{body}</main>
<footer><p>Every format wrote and read each frame once before anything was timed, and the values
that came back were compared one by one; a format that returned wrong values has no times. Formats
took turns in every round. Times differ between machines and hours: compare ratios.</p></footer>
</body></html>
"""


def write_html(path: Path, host: Record, sections: dict[str, list[dict[str, Any]]]) -> None:
    """Write the page, without the parts that lack data."""
    compared = sections.get("comparisons") or []
    parts = [("machine", "Machine and versions", _machine(host))]
    parts.append(("targets", "Targets", _targets(sections.get("targets") or [])))
    for suite, records in groups(compared, lambda r: str(r.get("suite"))).items():
        title = SUITES.get(suite, suite.capitalize())
        parts.append((f"suite-{suite}", title, suite_html(records)))
    for key, (title, draw) in SECTIONS.items():
        parts.append((key, title, draw(sections.get(key) or [])))
    parts = [part for part in parts if part[2]]
    links = "".join(f'<a href="#{key}">{escape(title)}</a>' for key, title, _ in parts)
    body = "".join(
        f'<section id="{key}"><h2>{escape(title)}</h2>{content}</section>'
        for key, title, content in parts
    )
    style = STYLE.read_text(encoding="utf-8")
    page = PAGE.format(style=style, summary=_summary(compared), links=links, body=body)
    path.write_text(page, encoding="utf-8")


def _summary(records: list[Record]) -> str:
    """The headline frame in four numbers."""
    headline = groups(
        (r for r in records if r.get("suite") == "headline"),
        lambda r: (r.get("frame"), r.get("host")),
    )
    frame = next(iter(headline.values()), [])
    base = find_base(frame)
    if not base:
        return ""
    numbers = {}
    for key, text in (
        ("read_s", f"reads the headline frame into {host_label(base)} in"),
        ("write_s", "writes it in"),
    ):
        if (fast := speed(base, key)) and (time := number(base, key)):
            numbers[f"{text} {seconds(time)}"] = f"{digits(fast / 1e9)} GB/s"
    file, memory = number(base, "file_bytes"), number(base, "memory_bytes")
    if file and memory:
        numbers[f"of its {size(memory)}: the file"] = f"{digits(file / memory * 100)} %"
    others = [r for r in successes(frame) if not is_ours(r) and number(r, "read_s")]
    if others:
        best = min(others, key=lambda r: float(r["read_s"]))
        if (factor := over(best, base, "read_s")) and factor >= 1:
            numbers[f"as fast to read as the next fastest, {name(best)}"] = f"{digits(factor)} ×"
    cells = "".join(f"<div><b>{n}</b> {escape(text)}</div>" for text, n in numbers.items())
    return f'<div class="figures">{cells}</div>'


def _targets(records: list[Record]) -> str:
    """Each target, the measurement, and whether it is met."""
    ranked = sorted(records, key=lambda record: VERDICTS.index(_verdict(record)))
    rows = [_target_row(record) for record in ranked]
    verdicts = [_verdict(record) for record in records]
    lead = (
        f"{verdicts.count('pass')} of {len(records)} met, {verdicts.count('near')} near "
        f"(missed by at most {NEAR - 1:.0%}), {verdicts.count('miss')} missed."
    )
    how = (
        "×: the value of Entasis over that of what it is compared with, in the same run; where a "
        "target is for several frames, this is the worst of them."
    )
    body = f"<p>{lead}</p>{table(('', 'what', 'measured', 'at most'), rows, 'targets')}"
    return card("", "", body, how) if records else ""


def _verdict(record: Record) -> str:
    if record["met"]:
        return "pass"
    return "near" if record["measured"] <= record["limit"] * NEAR else "miss"


def _target_row(record: Record) -> list[str]:
    verdict, where = _verdict(record), record["suite"]
    if record["frame"] != where:
        where += f": {record['frame']}"
    if record["n_frames"] > 1:
        where += f", the worst of {record['n_frames']}, {record['n_met']} met"
    what = escape(record["what"].replace("<=", "≤"))
    amounts = [record["measured"], record["limit"]]
    if record["over"] is None:
        texts = [amount_text(amount, record["quantity"]) for amount in amounts]
    else:
        texts = [f"{amount:.3f}".rstrip("0").rstrip(".") + " ×" for amount in amounts]
    return [f'<b class="{verdict}">{verdict}</b>', f"{what}<small>{escape(where)}</small>", *texts]


def _machine(host: Record) -> str:
    facts = {key.replace("_", " ").removesuffix(" bytes"): value for key, value in host.items()}
    if "memory" in facts:
        facts["memory"] = size(float(facts["memory"]))
    if "commit" in facts:
        facts["commit"] = facts["commit"] or "unknown"
    items = "".join(
        f"<div><dt>{escape(title)}</dt><dd>{escape(str(value))}</dd></div>"
        for title, value in facts.items()
        if value is not None
    )
    return f'<div class="card"><dl class="figures">{items}</dl></div>' if items else ""
