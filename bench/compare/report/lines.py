"""Lines over a number: threads, rows, a compression setting. Linear or logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 380, 250
LEFT, RIGHT, TOP, BOTTOM = 52, 10, 10, 40
DASHES = ("", "5 3", "1.5 3")
COLOURS = 7  # of page.css, for those that are not Entasis

Point = tuple[float, float]
Ticks = Callable[[float], str]


@dataclass
class Series:
    label: str
    points: list[Point]
    style: int = 0  # 0 for Entasis, -1 for the floor, otherwise one of a kind

    @property
    def classes(self) -> str:
        if self.style <= 0:
            return "base" if self.style == 0 else "below"
        return f"c{(self.style - 1) % COLOURS}"

    @property
    def dash(self) -> str:
        dash = "2 3" if self.style < 0 else DASHES[max(0, self.style - 1) // COLOURS % len(DASHES)]
        return f' stroke-dasharray="{dash}"' if dash else ""


@dataclass
class Axis:
    """One direction: its range, whether it is logarithmic, and the text of its ticks."""

    title: str
    tell: Ticks
    log: bool = False
    at: Sequence[float] | None = None  # ticks, if not chosen here

    def fit(self, values: list[float], start: float, end: float) -> None:
        """Choose the range and the ticks for the values."""
        low, high = min(values), max(values)
        if self.log:
            self.low, self.high = _log_range(low, high)
            self.ticks = list(self.at or _decades(self.low, self.high))
        else:
            self.ticks = list(self.at or _even(max(high, 1e-12)))
            self.low, self.high = min(0.0, low), max(high, self.ticks[-1])
            if self.at:
                self.low, self.high = min(self.at), max(self.at)
        self.start, self.end = start, end

    def place(self, value: float) -> float:
        low, high = self.low, self.high
        if self.log:
            value, low, high = math.log10(value), math.log10(low), math.log10(high)
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)


def lines(title: str, remark: str, x: Axis, y: Axis, series: list[Series]) -> str:
    """An SVG of the lines, Entasis on top."""
    points = [point for one in series for point in one.points]
    x.fit([point[0] for point in points], LEFT + 6, WIDTH - RIGHT - 6)
    y.fit([point[1] for point in points], HEIGHT - BOTTOM, TOP)
    parts = [_grid(x, y)]
    for one in sorted(series, key=lambda one: one.style == 0):
        ordered = sorted(one.points)
        radius = 3 if one.style == 0 else 2.2
        path = " ".join(f"{x.place(a):.1f},{y.place(b):.1f}" for a, b in ordered)
        dots = "".join(
            f'<circle cx="{x.place(a):.1f}" cy="{y.place(b):.1f}" r="{radius}">'
            f"<title>{escape(f'{one.label}: {x.tell(a)}: {y.tell(b)}')}</title></circle>"
            for a, b in ordered
        )
        shown = "" if one.style < 0 else dots
        parts.append(
            f'<g class="line {one.classes}"><polyline points="{path}"{one.dash}/>{shown}</g>'
        )
    return (
        f'<div class="panel"><h4>{escape(title)} <small>{escape(remark)}</small></h4>'
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(title)}">{"".join(parts)}</svg></div>'
    )


def legend(series: list[Series]) -> str:
    """Which line is whose, once for several pictures."""
    unique = {one.label: one for one in series}
    ordered = sorted(unique.values(), key=lambda one: (one.style < 0, one.style))
    items = "".join(
        f'<li><svg viewBox="0 0 26 10" aria-hidden="true"><g class="line {one.classes}">'
        f'<polyline points="1,5 25,5"{one.dash}/></g></svg>{escape(one.label)}</li>'
        for one in ordered
    )
    return f'<ul class="legend">{items}</ul>'


def _grid(x: Axis, y: Axis) -> str:
    parts = []
    for tick in y.ticks:
        at = y.place(tick)
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
            f'<text class="tick" x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">'
            f"{escape(y.tell(tick))}</text>"
        )
    for tick in x.ticks:
        at = x.place(tick)
        parts.append(
            f'<line class="mark" x1="{at:.1f}" x2="{at:.1f}" y1="{HEIGHT - BOTTOM}" '
            f'y2="{HEIGHT - BOTTOM + 4}"/>'
            f'<text class="tick" x="{at:.1f}" y="{HEIGHT - BOTTOM + 17}" text-anchor="middle">'
            f"{escape(x.tell(tick))}</text>"
        )
    parts.append(
        f'<text class="axis" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 5}" '
        f'text-anchor="middle">{escape(x.title)}</text>'
    )
    return "".join(parts)


def _even(high: float) -> list[float]:
    """About five round steps from 0 to at least `high`."""
    rough = high / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(f * power for f in (1, 2, 2.5, 5, 10) if f * power >= rough * 0.999)
    return [i * step for i in range(math.ceil(high / step - 1e-9) + 1)]


def _log_range(low: float, high: float) -> tuple[float, float]:
    """A little more than the values take, with at least one decade inside."""
    low, high = low / 1.15, high * 1.15
    decade = 10.0 ** math.floor(math.log10(high))
    if decade < low:  # no decade between: go down to it or up to the next one
        if low / decade < 10 * decade / high:
            low = decade
        else:
            high = 10 * decade
    return low, high


def _decades(low: float, high: float) -> list[float]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    found = [10.0**power for power in range(first, last + 1)]
    if len(found) <= 2:  # a short range: some steps between
        found = [f * 10.0**p for p in range(first - 1, last + 1) for f in (1, 2, 5)]
        found = [tick for tick in found if low <= tick <= high]
    return found
