"""Measurements of a file that grows, and of the same rows written at once."""

from __future__ import annotations

import gc
import math
import os
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ... import files
from ...context import Context
from ...hosts import WrongData, host
from ...run import SLOW, Result
from ...table import Column, aligned
from ...timing import progress, release_memory, timed

PEERS = ("entasis", "lance", "duckdb", "pytables", "parquet-folder", "feather-lz4")
READS = 3  # calls in one measurement of a read

Cell = Callable[["Growth"], float]


@dataclass
class Growth(Result):
    """Seconds per round: `write_s` of growing and `once_write_s` of writing at once."""

    once: Path = field(kw_only=True)  # the same rows, written at once
    append_s: list[list[float]] = field(default_factory=list)  # single appends of each round
    once_write_s: list[float] = field(default_factory=list)
    once_read_s: list[float] = field(default_factory=list)
    once_bytes: int = 0
    n_appended: int = 0

    @property
    def once_write(self) -> float:
        return _median(self.once_write_s)

    @property
    def once_read(self) -> float:
        return _median(self.once_read_s)

    @property
    def append(self) -> float:
        """The median of all appends."""
        return _median([seconds for turn in self.append_s for seconds in turn])

    @property
    def slowest(self) -> float:
        """The slowest append of a round, in the median of the rounds."""
        return _median([max(turn) for turn in self.append_s])


def _median(values: Sequence[float]) -> float:
    return statistics.median(values) if values else math.nan


def start(context: Context, name: str, keys: Iterable[str] = PEERS) -> list[Growth]:
    """The user's formats or these, with paths for their files."""
    return [
        Growth(
            peer,
            context.work / f"{name}.{peer.key}",
            once=context.work / f"{name}.once.{peer.key}",
        )
        for peer in context.pool.get(keys)
    ]


def turns(name: str, rounds: int, results: list[Growth]) -> Iterator[tuple[int, Growth]]:
    """Each format in each round, a different one first; slow formats only in the first round."""
    with progress() as say:
        for turn in range(rounds):
            first = turn % len(results) if results else 0
            for result in results[first:] + results[:first]:
                if result.failure is None and not (turn and SLOW in result.notes):
                    say(f"grow: {name}: round {turn + 1} of {rounds}: {result.peer.label}")
                    yield turn, result


def write(result: Growth, value: Any, path: Path) -> None:
    """Write a new file and wait until it is on the disk, so that no later call waits for it."""
    files.remove(path)
    result.peer.write(value, path)
    os.sync()


def pair(
    result: Growth,
    turn: int,
    *,
    before: Callable[[Path], Any],
    grow: Callable[[Path], Any],
    once: Callable[[Path], Any],
) -> None:
    """One round: grow the file that `before` makes, and write at once, in alternating order."""

    def growing() -> None:
        before(result.path)
        os.sync()
        result.write_s.append(timed(partial(grow, result.path)))

    def at_once() -> None:
        files.remove(result.once)
        os.sync()
        result.once_write_s.append(timed(partial(once, result.once)))
        result.once_bytes = files.size(result.once)

    for step in (at_once, growing) if turn % 2 else (growing, at_once):
        step()


def appended(result: Growth, value: Any, *, durable: bool = False) -> float:
    """Seconds of one append; `durable` with the wait for the disk, which some formats lack."""
    peer, path = result.peer, result.path
    is_forced = durable and not peer.is_durable
    before = files.stamps(path) if is_forced else {}
    begin = time.perf_counter()
    peer.append(value, path, durable=durable)
    seconds = time.perf_counter() - begin
    if is_forced:
        new = [part for part, stamp in files.stamps(path).items() if before.get(part) != stamp]
        begin = time.perf_counter()
        files.force(new)
        seconds += time.perf_counter() - begin
    result.n_appended += 1
    return seconds


def append_all(
    result: Growth, values: Iterable[Any], *, durable: bool = False, most: float = math.inf
) -> list[float]:
    """Seconds of each append, one after the other, until they took `most` seconds."""
    found: list[float] = []
    release_memory()
    gc.disable()
    try:
        for value in values:
            found.append(appended(result, value, durable=durable))
            if sum(found) > most:
                break
    finally:
        gc.enable()
    return found


def check(result: Growth, expected: Any) -> None:
    """Compare the file with the expected frame; a format with other values gets no times."""
    peer = result.peer
    lost = host("pandas").differences(expected, peer.restore(peer.read(result.path), expected))
    if lost and peer.exact:
        raise WrongData("; ".join(lost))
    result.notes = list(dict.fromkeys([*result.notes, *peer.notes(), *lost]))


def remove(results: Iterable[Growth]) -> None:
    """Remove their files."""
    for result in results:
        files.remove(result.path)
        files.remove(result.once)


def keep(
    context: Context, frame: str, kind: str, results: list[Growth], shape: tuple[int, int]
) -> None:
    """Keep one record per format, and the measurements of each round.

    Single appends are too many to keep, so each round keeps the median and the slowest.
    """
    rows = []
    for result in results:
        rows.append(
            {
                "suite": context.suite,
                "frame": frame,
                "kind": kind,
                "host": "pandas",
                "format": result.peer.key,
                "label": result.peer.label,
                "n_rows": shape[0],
                "n_columns": shape[1],
                "threads": context.options.threads,
                "n_appended": sum(map(len, result.append_s)),
                "median_s": _number(result.append),
                "max_s": _number(result.slowest),
                "write_s": _number(result.write),
                "read_s": _number(result.read),
                "file_bytes": result.n_bytes or None,
                "once_write_s": _number(result.once_write),
                "once_read_s": _number(result.once_read),
                "once_file_bytes": result.once_bytes or None,
                "write_peak_bytes": result.peak_bytes.get("stream"),
                "notes": result.notes,
                "failure": result.failure,
            }
        )
        for direction, seconds in (
            ("append", [_median(turn) for turn in result.append_s]),
            ("append-slowest", [max(turn) for turn in result.append_s]),
            ("write", result.write_s),
            ("read", result.read_s),
            ("write-once", result.once_write_s),
            ("read-once", result.once_read_s),
        ):
            context.keep_raw(frame, "pandas", result.peer.key, f"{kind}-{direction}", seconds)
    context.keep("grow", rows)
    context.failed |= any(result.broken for result in results)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def show(title: str, results: list[Growth], cells: dict[str, tuple[str, Cell]]) -> None:
    """Print a table: a row per format, a column per title with its format of numbers."""
    footnotes: dict[str, int] = {}
    rows = []
    for result in results:
        if result.failure is None:
            marks = [footnotes.setdefault(note, len(footnotes) + 1) for note in result.notes]
            values = [(form, cell(result)) for form, cell in cells.values()]
            told = ["" if math.isnan(value) else format(value, form) for form, value in values]
            rows.append([result.peer.label, *told, " ".join(f"[{mark}]" for mark in sorted(marks))])
    columns = [Column("format", left=True), *map(Column, cells), Column("notes", left=True)]
    print(title, end="\n\n")
    print(aligned(columns, rows))
    lines = [f"[{number}] {text}" for text, number in footnotes.items()]
    lines += [f"  {r.peer.label}: {r.failure}" for r in results if r.failure is not None]
    print("\n".join(lines), end="\n\n" if lines else "\n", flush=True)


def over(value: float, base: float) -> float:
    """A ratio, or NaN without a measurement."""
    return value / base if base else math.nan
