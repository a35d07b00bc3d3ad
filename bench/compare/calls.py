"""Calls that take turns, their records and their tables."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .context import Context
from .floor import Floor
from .run import SLOW, failure
from .table import Column, aligned
from .timing import progress, timed

ENTASIS, INFLATE = "entasis", "inflate"
PATIENCE = 6.0  # seconds of a call, beyond which its first call is the measurement
QUICK = 0.03  # seconds that repeated quick calls take together
MOST = 30  # calls in one measurement
ROOM = 1 << 28  # bytes of memory made available before each call


@dataclass
class Call:
    """One way to do the work, and its measurements: seconds, one number per round."""

    key: str
    label: str
    call: Callable[[], Any]
    measure: Callable[[], float] | None = None  # for calls that another process times
    before: Callable[[], None] | None = None  # not timed
    seconds: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failure: str | None = None
    first_s: float = 0.0  # the call whose result is compared
    peak_bytes: int | None = None

    @property
    def median_s(self) -> float | None:
        return statistics.median(self.seconds) if self.seconds else None

    @property
    def is_other(self) -> bool:
        """Whether it is another reader, and no other call of Entasis or part of the work."""
        return not self.key.startswith((ENTASIS, INFLATE))

    def checked(self, check: Callable[[Any], list[str]]) -> None:
        """Call once, and compare the result."""
        with failure(self):
            if self.before is not None:
                self.before()
            begin = time.perf_counter()
            got = self.call()
            self.first_s = time.perf_counter() - begin
            self.notes += check(got)
            if self.first_s > PATIENCE:
                self.notes.append(SLOW)


def in_turn(context: Context, title: str, calls: Sequence[Call]) -> None:
    """Measure calls in turn. Another one begins in each round."""
    fit = [call for call in calls if call.failure is None]
    rounds = context.options.rounds
    with _room(context) as touch, progress() as say:
        gc.collect()
        often = {id(call): _repeats(call) for call in fit}
        for turn in range(rounds):
            first = turn % len(fit) if fit else 0
            for call in fit[first:] + fit[:first]:
                if call.failure is not None or (turn and SLOW in call.notes):
                    continue
                if call.first_s > PATIENCE and call.measure is None:
                    call.seconds.append(call.first_s)
                    continue
                say(f"{title}: round {turn + 1} of {rounds}: {call.label}")
                touch()
                with failure(call):
                    if call.measure is not None:
                        call.seconds.append(call.measure())
                    else:
                        n = often[id(call)]
                        call.seconds.append(timed(call.call, n, before=call.before))


@contextmanager
def _room(context: Context) -> Iterator[Callable[[], Any]]:
    """A call that makes memory of the machine available, the same before each reader."""
    size = min(ROOM, round(ROOM * context.options.scale) + (1 << 20))
    floor = Floor([np.ones(size, np.uint8)], context.options.threads)
    try:
        yield lambda: timed(floor.copy)
    finally:
        floor.close()


def _repeats(call: Call) -> int:
    if call.measure is not None or call.first_s > QUICK:
        return 1
    seconds = min(timed(call.call, before=call.before) for _ in range(3))
    return max(1, min(MOST, round(QUICK / max(seconds, 1e-6))))


def keep(
    context: Context,
    frame: str,
    kind: str,
    host: str,
    calls: Sequence[Call],
    shape: tuple[int, int],
    n_bytes: int,
    *,
    threads: int | None = None,
    least_s: float | None = None,
    section: str = "csv",
) -> None:
    """Record all calls on one frame. The failure of Entasis fails the run."""
    records = [
        {
            "suite": context.suite,
            "frame": frame,
            "kind": kind,
            "host": host,
            "format": call.key,
            "label": call.label,
            "n_rows": shape[0],
            "n_columns": shape[1],
            "file_bytes": n_bytes,
            "threads": threads or context.options.threads,
            "median_s": call.median_s,
            "best_median_s": best_s(calls),
            "least_median_s": least_s,
            "write_peak_bytes": call.peak_bytes,
            "notes": call.notes,
            "failure": call.failure,
        }
        for call in calls
    ]
    context.keep(section, records)
    for call in calls:
        context.keep_raw(frame, host, call.key, kind, call.seconds)
        context.failed |= call.failure is not None and call.key.startswith(ENTASIS)


def best_s(calls: Sequence[Call]) -> float | None:
    """Seconds of the fastest call of others."""
    return min((c.median_s for c in calls if c.median_s is not None and c.is_other), default=None)


def show(title: str, found: Mapping[str, Sequence[Call]], unit: str = "s") -> None:
    """Print a row per frame with a column per call, and the notes below."""
    labels = {call.key: call.label for calls in found.values() for call in calls}
    rows, notes, failures = [], dict[str, list[str]](), []
    for name, calls in found.items():
        cells = {call.key: _cell(call, unit) for call in calls}
        mine = next((c.median_s for c in calls if c.key == ENTASIS), None)
        best = best_s(calls)
        ratio = f"{mine / best:.2f}" if mine is not None and best is not None else ""
        rows.append([name, *(cells.get(key, "") for key in labels), ratio])
        for call in calls:
            for note in call.notes:
                notes.setdefault(f"{call.label}: {note}", []).append(name)
            if call.failure is not None:
                failures.append(f"  {name}: {call.label}: {call.failure}")
    print(f"{title}, median {unit}", end="\n\n")
    columns = [Column("", left=True), *map(Column, labels.values()), Column("over the best")]
    print(aligned(columns, rows))
    print(*[f"  {note} ({', '.join(names)})" for note, names in notes.items()], sep="\n")
    print(*failures, sep="\n", end="\n\n" if failures else "\n", flush=True)


def _cell(call: Call, unit: str) -> str:
    if call.median_s is None:
        return "-"
    return f"{call.median_s * 1e3:.2f}" if unit == "ms" else f"{call.median_s:.3f}"
