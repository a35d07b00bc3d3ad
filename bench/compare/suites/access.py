"""Reads of 1,000 rows of two columns at any place of an open file."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

import numpy as np

from ..context import Context
from ..equality import WrongData, differences
from ..run import Comparison, Result
from ..table import Column, aligned

if TYPE_CHECKING:
    import pandas as pd

N_ROWS = 1_000
N_READS = 200
SECONDS = 3.0  # a format that is slow gets fewer reads


def run(context: Context, frame: pd.DataFrame, outcome: Comparison) -> None:
    """Measure every format of `outcome` whose file can be read in part."""
    n_rows = min(N_ROWS, len(frame))
    rng = np.random.default_rng(len(frame))
    places = rng.integers(0, len(frame) - n_rows + 1, N_READS)
    labels = [str(label) for label in frame.columns]
    pairs = [[labels[i], labels[(i + 1) % len(labels)]] for i in range(len(labels))]
    jobs = [(pairs[i % len(pairs)], int(start)) for i, start in enumerate(places)]

    rows, kept, failures = [], [], []
    for result in outcome.results:
        if result.failure is not None:
            continue
        try:
            seconds = _measure(result, frame, jobs, n_rows)
        except WrongData as error:
            failures.append(f"  {result.peer.label}: wrong data: {error}")
            context.failed |= result.peer.exact
            continue
        if seconds is None:
            continue
        cuts = statistics.quantiles(seconds, n=20)
        label = f"{result.peer.label} {result.peer.opened}".strip()
        median, late, worst = statistics.median(seconds), cuts[18], max(seconds)
        rows.append([label, *(f"{value * 1e3:.3f}" for value in (median, late, worst))])
        kept.append(
            {
                "frame": outcome.name,
                "format": result.peer.key,
                "median_s": median,
                "p95_s": late,
                "max_s": worst,
                "n": len(seconds),
            }
        )
    if not rows and not failures:
        return
    title = f"{outcome.name}: {n_rows:,} rows of two columns at random places, file open"
    print(title, end="\n\n")
    columns = [Column("format", left=True), *map(Column, ("median ms", "95 % ms", "worst ms"))]
    print(aligned(columns, rows))
    print(*failures, sep="\n", end="\n\n" if failures else "\n", flush=True)
    context.keep("access", kept)


def _measure(
    result: Result, frame: pd.DataFrame, jobs: list[tuple[list[str], int]], n_rows: int
) -> list[float] | None:
    read = result.peer.open(result.path, frame)
    if read is None:
        return None
    for columns, start in jobs[:: len(jobs) // 8]:
        expected = frame.iloc[start : start + n_rows][columns].reset_index(drop=True)
        got = read(columns, start, start + n_rows).reset_index(drop=True)
        lost = differences(expected, got)
        if lost and result.peer.exact:
            raise WrongData("; ".join(lost))
    seconds: list[float] = []
    for columns, start in jobs:
        begin = time.perf_counter()
        read(columns, start, start + n_rows)
        seconds.append(time.perf_counter() - begin)
        if sum(seconds) > SECONDS and len(seconds) >= 20:
            break
    return seconds
