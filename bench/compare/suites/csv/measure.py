"""Calls that take turns, their records and their tables."""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...context import Context
from ...datasets import texts
from ...floor import Floor
from ...run import SLOW, failure
from ...table import Column, aligned
from ...timing import progress, timed
from .equal import differences
from .readers import Reader

ENTASIS, INFLATE = "entasis", "inflate"
PATIENCE = 6.0  # seconds of a call, beyond which its first call is the measurement
LIMIT = 20.0  # seconds of a reader, beyond which it does not read the text again
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


def of_reader(reader: Reader, path: Path, expected: pa.Table) -> Call:
    """The first way of a reader that gives the expected values; it is called and compared.

    A reader that took long for the same text is left out.
    """
    if (left := left_out(reader.key, reader.label, path)) is not None:
        return left
    lines: list[str] = []
    begin = time.perf_counter()
    for way in reader.ways:
        call = Call(reader.key, reader.label, partial(way.read, path))
        call.checked(lambda got: differences(expected, reader.table(got)))
        if call.failure is None:
            break
        lines.append(f"{way.title}: {call.failure}")
    seconds = time.perf_counter() - begin
    if call.failure is not None:
        call.failure = "; ".join(lines)
    elif lines:
        call.notes.insert(0, f"with {way.title}, as {'; '.join(lines)}")
    if reader.once and SLOW not in call.notes:
        call.notes.append(SLOW)
    if seconds > LIMIT and call.is_other:
        _long[reader.key, path] = seconds
    return call


def left_out(key: str, label: str, path: Path) -> Call | None:
    """A failure instead of a call that would take long; None if it would not."""
    seconds = _long.get((key, path))
    if seconds is None:
        return None
    failure = f"left out: it took {seconds:.0f} s before"
    return Call(key, label, lambda: None, failure=failure)


_long: dict[tuple[str, Path], float] = {}


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
) -> None:
    """Record all calls on one text. The failure of Entasis fails the run."""
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
    context.keep("csv", records)
    for call in calls:
        context.keep_raw(frame, host, call.key, kind, call.seconds)
        context.failed |= call.failure is not None and call.key.startswith(ENTASIS)


def best_s(calls: Sequence[Call]) -> float | None:
    """Seconds of the fastest other reader."""
    return min((c.median_s for c in calls if c.median_s is not None and c.is_other), default=None)


def show(title: str, found: Mapping[str, Sequence[Call]], unit: str = "s") -> None:
    """Print a row per text with a column per reader, and the notes below."""
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


def chosen(context: Context, names: Sequence[str] | None = None) -> dict[str, Path]:
    """The texts that the user chose, of `names` or of all, by their names."""
    options = context.options
    wanted = options.sets.split(",") if options.sets else list(texts.TEXTS)
    known = [name for name in names or texts.TEXTS if name in wanted]
    found = {}
    with progress() as say:
        for name in known:
            say(f"{name}: making the text")
            # TPC-H is part of a text's scale, so that a text has one size on the disk.
            path = texts.text(options.data, name, options.scale)
            found[name] = path.resolve()
            _load(found[name])
    return found


def _load(path: Path) -> None:
    """Bring a file into the page cache, and wait for the disk."""
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 20):
            pass
        os.fsync(file.fileno())
