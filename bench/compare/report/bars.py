"""Horizontal bars: one per format, the longest first or last, Entasis in colour."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from .values import digits

WIDTH = 390
LABEL = 164  # where the bars begin
ROOM = 46  # for the number after the longest bar
ROW, BAR = 21, 13
TOP = 18  # for the title of the dashed line
LETTERS = 24  # of a label; longer ones are squeezed
OUTLIER = 4.0  # a first bar so many times the next one is cut off, unless it is Entasis


@dataclass
class Bar:
    label: str
    value: float
    kind: str = ""  # "base", "ours" or nothing
    hint: str = ""


def bars(
    title: str,
    remark: str,
    items: list[Bar],
    *,
    shortest_first: bool,
    line: tuple[str, float] | None,
) -> str:
    """An SVG of the bars; `line` is a dashed one across them, with what it is."""
    items = sorted(items, key=lambda item: item.value, reverse=not shortest_first)
    least = line[1] if line else 0.0
    cut = None if shortest_first else _cut(items, least)
    most = cut or max(least, *(item.value for item in items))
    scale = (WIDTH - LABEL - ROOM) / most
    height = TOP + ROW * len(items) + 2
    parts = []
    if line and line[1] <= most:
        x = LABEL + line[1] * scale
        anchor = "end" if x > WIDTH - 90 else "start" if x < LABEL + 40 else "middle"
        parts.append(
            f'<line class="floor" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 3}" y2="{height}"/>'
            f'<text class="note" x="{x:.1f}" y="10" text-anchor="{anchor}">'
            f"{escape(line[0])} {digits(line[1])}</text>"
        )
    for i, item in enumerate(items):
        parts.append(_bar(item, TOP + i * ROW, scale, cut))
    told = ", ".join(f"{item.label} {digits(item.value)}" for item in items)
    return (
        f'<div class="panel"><h4>{escape(title)} <small>{escape(remark)}</small></h4>'
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape(f"{title}: {told}")}">{"".join(parts)}</svg></div>'
    )


def _bar(item: Bar, y: float, scale: float, cut: float | None) -> str:
    broken = cut is not None and item.value > cut
    length = max(1.5, min(item.value, cut or item.value) * scale)
    middle = y + ROW / 2
    end = LABEL + length
    kind = f" {item.kind}" if item.kind else ""
    gap = ""
    if broken:
        x = LABEL + 0.8 * length
        gap = f'<path class="gap" d="M{x:.1f} {middle + 9:.1f} l5 -18"/>'
    label = item.label if len(item.label) <= LETTERS + 8 else item.label[: LETTERS + 7] + "…"
    squeezed = f' textLength="{LABEL - 10}" lengthAdjust="spacingAndGlyphs"'
    return (
        f'<g class="bar{kind}"><title>{escape(f"{item.label}: {item.hint}")}</title>'
        f'<text class="label" x="{LABEL - 8}" y="{middle + 4:.1f}" text-anchor="end"'
        f"{squeezed if len(label) > LETTERS else ''}>{escape(label)}</text>"
        f'<rect x="{LABEL}" y="{middle - BAR / 2:.1f}" width="{length:.1f}" height="{BAR}" rx="2"/>'
        f'{gap}<text class="value" x="{end + 6:.1f}" y="{middle + 4:.1f}">'
        f"{digits(item.value)}</text></g>"
    )


def _cut(items: list[Bar], line: float) -> float | None:
    """Where first bars are cut that would dwarf the rest, as of readers that only map a file."""
    for i, item in enumerate(items[:3]):
        rest = max(line, *(other.value for other in items[i + 1 :]), 0.0)
        if item.kind or not rest:
            break
        if item.value > OUTLIER * rest:
            return 1.25 * rest
    return None
