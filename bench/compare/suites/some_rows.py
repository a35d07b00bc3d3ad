"""Reads of some rows of two columns out of an open file, into pandas."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..context import Context
from ..hosts import WrongData, host
from ..peers import Refused
from ..run import Comparison, Result
from ..table import Column, aligned

if TYPE_CHECKING:
    import pandas as pd

N_READS = 200
SECONDS = 3.0  # a format that is slow gets fewer reads
LEAST = 20  # but not fewer than these
CHECKED = 8  # reads that are compared with the frame

Read = Callable[[], Any]


def run(context: Context, frame: pd.DataFrame, outcome: Comparison, counts: list[int]) -> None:
    """Ranges of each count of rows at random positions, for each format with partial reads."""
    for count in counts:
        if count > len(frame):
            continue
        rng = np.random.default_rng([len(frame), count])
        places = rng.integers(0, len(frame) - count + 1, N_READS)
        jobs = [
            (columns, range(int(start), int(start) + count))
            for columns, start in zip(_pairs(frame, len(places)), places, strict=True)
        ]
        _measure_all(context, frame, outcome, jobs, "rows", f"{count:,} rows at random places")


def take(context: Context, frame: pd.DataFrame, outcome: Comparison, count: int) -> None:
    """`count` rows scattered over the file, in ascending order."""
    count = min(count, len(frame) // 2)
    rng = np.random.default_rng([len(frame), count, 1])
    n_reads = max(LEAST, N_READS // 4)
    jobs = [
        (columns, np.sort(rng.choice(len(frame), count, replace=False, shuffle=False)))
        for columns in _pairs(frame, n_reads)
    ]
    _measure_all(context, frame, outcome, jobs, "take", f"{count:,} random rows")


def _pairs(frame: pd.DataFrame, n: int) -> list[list[str]]:
    labels = [str(label) for label in frame.columns]
    return [[labels[i % len(labels)], labels[(i + 1) % len(labels)]] for i in range(n)]


def _measure_all(
    context: Context,
    frame: pd.DataFrame,
    outcome: Comparison,
    jobs: list[tuple[list[str], Any]],
    kind: str,
    title: str,
) -> None:
    rows, kept = [], []
    failures: list[str] = []
    for result in outcome.results:
        if result.failure is not None:
            continue
        seconds = measured(context, result, failures, partial(_measure, result, frame, jobs, kind))
        if seconds is None:
            continue
        label = f"{result.peer.label} {result.peer.opened}".strip()
        record = {
            "suite": context.suite,
            "frame": outcome.name,
            "kind": kind,
            "format": result.peer.key,
            "label": label,
            "n_rows": len(jobs[0][1]),
            "n_columns": 2,
            "n": len(seconds),
            **spread(seconds),
        }
        kept.append(record)
        rows.append([label, *milliseconds(record)])
        context.keep_raw(
            outcome.name, "pandas", result.peer.key, f"{kind}-{len(jobs[0][1])}", seconds
        )
    print_times(f"{outcome.name}: {title}, two columns, file open", rows, failures)
    context.keep("access", kept)


def measured(
    context: Context, result: Result, failures: list[str], measure: Callable[[], list[float]]
) -> list[float] | None:
    """The seconds of a format; None when it cannot do this or fails (see `failures`)."""
    try:
        return measure()
    except Refused:
        return None
    except WrongData as error:
        failures.append(f"  {result.peer.label}: wrong data: {error}")
        context.failed |= result.peer.exact
    except Exception as error:
        if result.peer.exact:
            raise
        failures.append(f"  {result.peer.label}: {type(error).__name__}: {error}")
    return None


def spread(seconds: list[float]) -> dict[str, float]:
    """Median, 95th percentile and maximum, in seconds."""
    cuts = statistics.quantiles(seconds, n=20) if len(seconds) > 1 else [seconds[0]] * 19
    return {
        "median_s": statistics.median(seconds),
        "p95_s": min(cuts[18], max(seconds)),
        "max_s": max(seconds),
    }


def milliseconds(record: dict[str, Any]) -> list[str]:
    return [f"{record[key] * 1e3:.3f}" for key in ("median_s", "p95_s", "max_s")]


def print_times(title: str, rows: list[list[str]], failures: list[str]) -> None:
    if not rows and not failures:
        return
    print(title, end="\n\n")
    columns = [Column("format", left=True), *map(Column, ("median ms", "95 % ms", "worst ms"))]
    print(aligned(columns, rows))
    print(*failures, sep="\n", end="\n\n" if failures else "\n", flush=True)


def _measure(
    result: Result, frame: pd.DataFrame, jobs: list[tuple[list[str], Any]], kind: str
) -> list[float]:
    opened = result.peer.open(result.path, frame)
    if kind == "take" and opened.take is None:
        raise Refused("no reading of scattered rows")

    def read(columns: list[str], rows: Any) -> pd.DataFrame:
        if kind == "take" and opened.take is not None:
            return opened.take(columns, rows)
        return opened.rows(columns, rows.start, rows.stop)

    for columns, rows in jobs[:: max(1, len(jobs) // CHECKED)]:
        expected = frame.iloc[rows][columns].reset_index(drop=True)
        got = read(columns, rows).reset_index(drop=True)
        lost = host("pandas").differences(expected, got)
        if lost and result.peer.exact:
            raise WrongData("; ".join(lost))
    seconds: list[float] = []
    for columns, rows in jobs:
        begin = time.perf_counter()
        read(columns, rows)
        seconds.append(time.perf_counter() - begin)
        if sum(seconds) > SECONDS and len(seconds) >= LEAST:
            break
    return seconds
