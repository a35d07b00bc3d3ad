"""Bar charts and line charts as SVG, drawn by matplotlib."""

from __future__ import annotations

import hashlib
import io
import re
from itertools import cycle
from typing import Any, NamedTuple

from cycler import cycler
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullFormatter

from .values import Record, byte_unit, digits, is_base, is_ours, name, time_unit

ACCENT, LIGHT, GREY, TEXT, FAINT = "#2256c4", "#8fabe4", "#c2c8d1", "#3b424c", "#767d87"
OTHERS = ["#c77a12", "#2b8a77", "#8a58b8", "#b8475a", "#6b8e23", "#4a90b8", "#8c6d5a"]
CYCLE = cycler(linestyle=["-", "--", ":"]) * cycler(color=OTHERS)
ENTASIS, FLOOR = "Entasis", "floor"  # labels of series with a style of their own
STYLES: dict[str, dict[str, Any]] = {
    ENTASIS: {"color": ACCENT, "linewidth": 2.5, "zorder": 3},
    FLOOR: {"color": FAINT, "linestyle": ":", "marker": ""},
}
SETTINGS: Any = {
    "svg.fonttype": "none",  # text stays text, in the font of the page
    "svg.hashsalt": "entasis",  # the same file from the same results
    "text.parse_math": False,
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 3.5,
    "legend.frameon": False,
    **dict.fromkeys(("text.color", "xtick.color", "ytick.color", "axes.labelcolor"), TEXT),
}
QUANTITIES = {
    "speed": (byte_unit, "/s", "longer is faster"),
    "time": (time_unit, "", "shorter is faster"),
    "size": (byte_unit, "", "shorter is smaller"),
}


class Bars(NamedTuple):
    """One bar per record, the best first, and optionally a dotted line across them."""

    title: str
    quantity: str  # a key of QUANTITIES
    values: list[tuple[Record, float]]
    line: tuple[str, float] | None = None


class Lines(NamedTuple):
    """Values over a number, for each label."""

    title: str
    remark: str
    series: dict[str, dict[float, float]]


def bar_chart(panels: list[Bars]) -> str:
    """The panels in one row."""
    n_rows = max(len(panel.values) for panel in panels)
    with rc_context(SETTINGS):
        figure, row = _figure(len(panels), 0.55 + 0.22 * n_rows)
        for axes, panel in zip(row, panels, strict=True):
            _draw_bars(axes, panel)
            axes.set_ylim(n_rows - 0.5, -0.5)
        return _svg(figure)


def line_chart(panels: list[Lines], x_title: str, log_unit: str | None = None) -> str:
    """The panels in one row over one legend; with a unit of y, both axes are logarithmic."""
    labels = list(dict.fromkeys(label for panel in panels for label in panel.series))
    others = [label for label in labels if label not in STYLES]
    styles = STYLES | dict(zip(others, cycle(CYCLE), strict=False))
    with rc_context(SETTINGS):
        figure, row = _figure(len(panels), 3.0)
        for axes, (title, remark, series) in zip(row, panels, strict=True):
            for label, points in series.items():
                style = {"marker": "o", "label": label} | styles[label]
                axes.plot(*zip(*sorted(points.items()), strict=True), **style)
            _set_titles(axes, title, remark)
            _set_scales(axes, log_unit)
            axes.set_xlabel(x_title)
            axes.grid(axis="y", alpha=0.4)
        if len(labels) > 1:
            lines = {line.get_label(): line for axes in row for line in axes.lines}
            handles = [lines[label] for label in labels]
            figure.legend(handles, labels, loc="outside lower left", ncols=2 * len(panels))
        return _svg(figure)


def _figure(n_panels: int, height: float) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(max(5.0, 4.0 * n_panels), height), layout="constrained")
    return figure, list(figure.subplots(1, n_panels, squeeze=False)[0])


def _set_titles(axes: Axes, title: str, remark: str, pad: float = 8) -> None:
    axes.set_title(title, loc="left", weight="bold", pad=pad)
    axes.set_title(remark, loc="right", size=8, color=FAINT, pad=pad)


def _set_scales(axes: Axes, log_unit: str | None) -> None:
    if log_unit is None:
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        return
    axes.set(xscale="log", yscale="log")
    for axis, unit in ((axes.xaxis, ""), (axes.yaxis, log_unit)):
        low, high = axis.get_view_interval()
        axis.set_major_locator(LogLocator(subs=(1,) if high > 100 * low else (1, 2, 5)))
        axis.set_major_formatter(EngFormatter(unit))
        axis.set_minor_formatter(NullFormatter())


def _draw_bars(axes: Axes, panel: Bars) -> None:
    is_speed = panel.quantity == "speed"
    records, values = zip(*sorted(panel.values, key=lambda v: v[1], reverse=is_speed), strict=True)
    choose_unit, suffix, remark = QUANTITIES[panel.quantity]
    unit, factor = choose_unit(max(values))
    lengths = [value / factor for value in values]
    colours = [ACCENT if is_base(r) else LIGHT if is_ours(r) else GREY for r in records]
    places = range(len(records))
    bars = axes.barh(places, lengths, 0.64, color=colours)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
    axes.bar_label(bars, [digits(length) for length in lengths], padding=3, bbox=box)
    axes.set_yticks(places, [name(record) for record in records])
    for label, record in zip(axes.get_yticklabels(), records, strict=True):
        if is_base(record):
            label.set(color=ACCENT, weight="bold")
    end = max(lengths)
    if panel.line:
        title, x = panel.line[0], panel.line[1] / factor
        end = max(end, x)
        axes.axvline(x, color=FAINT, linestyle=":", linewidth=1)
        text = f"{title} {digits(x)}"
        axes.annotate(text, (x, 1), xycoords=("data", "axes fraction"), size=8, ha="center")
    axes.set(xlim=(0, 1.2 * end), xticks=[])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    _set_titles(axes, f"{panel.title}, {unit}{suffix}", remark, pad=14)


def _svg(figure: Figure) -> str:
    """An SVG element with ids of its own, because one page holds many of them."""
    file = io.StringIO()
    metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(file, format="svg", transparent=True, metadata=metadata)
    svg = file.getvalue()
    own = hashlib.sha256(svg.encode()).hexdigest()[:8]
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>c{own}-", svg[svg.index("<svg") :])
    return svg.replace("<svg", '<svg class="chart"', 1)
