"""Several comparisons in a few tables."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from functools import partial

from .hosts.base import named
from .run import Comparison, Result
from .table import BASE, Column, aligned, ratio_text, seconds_text


def pivot(title: str, outcomes: list[Comparison]) -> str:
    """Milliseconds to read and to write, and megabytes: a row per frame, a column per format."""
    parts = [title]
    for what, cell in (
        ("read ms", lambda result: f"{result.read * 1e3:.2f}"),
        ("write ms", lambda result: f"{result.write * 1e3:.2f}"),
        ("MB", lambda result: f"{result.n_bytes / 1e6:.2f}"),
    ):
        parts += ["", _pivot(what, outcomes, cell)]
    failures: dict[str, list[str]] = {}
    for outcome in outcomes:
        for result in outcome.results:
            if result.failure is not None:
                failure = f"{result.peer.label}: {result.failure}"
                failures.setdefault(failure, []).append(outcome.name)
    lines = [f"  {named(names, 'frames')}: {failure}" for failure, names in failures.items()]
    return "\n".join([*parts, *([""] if lines else []), *lines])


def _pivot(what: str, outcomes: list[Comparison], cell: Callable[[Result], str]) -> str:
    labels = list(dict.fromkeys(r.peer.label for outcome in outcomes for r in outcome.results))
    rows = []
    for outcome in outcomes:
        cells = {r.peer.label: cell(r) for r in outcome.results if r.failure is None}
        row = [outcome.name, *(cells.get(label, "-") for label in labels)]
        rows.append([*row, f"{outcome.floor * 1e3:.2f}"] if what == "read ms" else row)
    columns = [Column(what, left=True), *map(Column, labels)]
    if what == "read ms":
        columns.append(Column("floor"))
    return aligned(columns, rows)


def over_sets(title: str, outcomes: list[Comparison]) -> str:
    """Seconds over all frames (least, mean, most), and the geometric mean of ratios to Entasis."""
    labels = dict.fromkeys(r.peer.label for outcome in outcomes for r in outcome.results)
    rows = []
    for label in labels:
        row = [label]
        for direction in ("write", "read"):
            seconds = _all(outcomes, label, partial(getattr_float, name=direction))
            if seconds:
                spread = (min(seconds), statistics.mean(seconds), max(seconds))
                row += [seconds_text(value) for value in spread]
            else:
                row += ["", "", ""]
        for name in ("write", "read", "n_bytes"):
            row.append(_mean_ratio(outcomes, label, name))
        rows.append(row)
    titles = [f"{direction} {what}" for direction in ("write", "read") for what in SPREAD]
    columns = [Column("format", left=True), *map(Column, [*titles, "write x", "read x", "size x"])]
    return f"{title}\n\n{aligned(columns, rows)}"


SPREAD = ("min s", "mean s", "max s")


def getattr_float(result: Result, name: str) -> float:
    return float(getattr(result, name))


def _all(outcomes: list[Comparison], label: str, get: Callable[[Result], float]) -> list[float]:
    found = [
        get(r)
        for outcome in outcomes
        for r in outcome.results
        if r.peer.label == label and r.failure is None
    ]
    return [value for value in found if not math.isnan(value)]


def _mean_ratio(outcomes: list[Comparison], label: str, name: str) -> str:
    ratios = []
    for outcome in outcomes:
        fit = [result for result in outcome.results if result.failure is None]
        this = next((getattr_float(r, name) for r in fit if r.peer.label == label), math.nan)
        base = next((getattr_float(r, name) for r in fit if r.peer.key == BASE), math.nan)
        if this > 0 and base > 0:
            ratios.append(this / base)
    return ratio_text(statistics.geometric_mean(ratios)) if ratios else ""
