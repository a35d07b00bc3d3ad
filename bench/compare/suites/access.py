"""Reads of a part of a file: some rows, some columns, or only its schema.

- From the open file of the headline frame: two columns of 1 to 10^6 rows at random positions, and
  of 10,000 scattered rows.
- Opening a file for its schema.
- Opening a wide file and reading one column.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ..context import Context
from ..frames.headline import headline
from ..frames.wide import mixed
from ..hosts import WrongData, host
from ..run import Comparison, Result
from . import some_rows

if TYPE_CHECKING:
    import pandas as pd

COUNTS = [1, 1_000, 100_000, 1_000_000]
SCATTERED = 10_000
WIDE = ((100, 10_000), (10, 100_000))  # rows, columns
N_READS = 50
PEERS = (
    "entasis",
    "feather-raw",
    "feather-lz4",
    "parquet-zstd",
    "polars-snappy",
    "polars-zstd",
    "ipc-raw",
    "vortex",
    "lance",
    "duckdb",
)
WIDE_PEERS = ("entasis", "feather-raw", "feather-lz4", "parquet-zstd", "polars-zstd", "vortex")


def run(context: Context) -> None:
    frame = headline(context.scaled(context.options.rows))
    outcome = context.compare("headline", frame, peers=PEERS, rounds=0, quiet=True, section=None)
    some_rows.run(context, frame, outcome, COUNTS)
    some_rows.take(context, frame, outcome, SCATTERED)
    _open(context, frame, outcome, "schema")
    outcome.remove_files()
    for n_rows, n_columns in WIDE:
        wide = mixed(n_rows, context.scaled(n_columns, least=6))
        name = f"wide-{n_rows}x{n_columns}"
        outcome = context.compare(name, wide, peers=WIDE_PEERS, rounds=0, quiet=True, section=None)
        _open(context, wide, outcome, "schema")
        _open(context, wide, outcome, "column")
        outcome.remove_files()


def _open(context: Context, frame: pd.DataFrame, outcome: Comparison, kind: str) -> None:
    """Opening a file for its schema, or for one of its columns."""
    rows, kept, failures = [], [], []
    for result in outcome.results:
        if result.failure is not None:
            failures.append(f"  {result.peer.label}: {result.failure}")
            continue
        seconds = some_rows.measured(
            context, result, failures, partial(_measure, result, frame, kind)
        )
        if seconds is None:
            continue
        record = {
            "suite": context.suite,
            "frame": outcome.name,
            "kind": kind,
            "format": result.peer.key,
            "label": result.peer.label,
            "n_rows": len(frame) if kind == "column" else 0,
            "n_columns": 1 if kind == "column" else frame.shape[1],
            "n": len(seconds),
            **some_rows.spread(seconds),
        }
        kept.append(record)
        rows.append([result.peer.label, *some_rows.milliseconds(record)])
        context.keep_raw(outcome.name, "pandas", result.peer.key, f"open-{kind}", seconds)
    what = "open and schema" if kind == "schema" else "open and read one column"
    shape = f"{len(frame):,} rows x {frame.shape[1]:,} columns"
    some_rows.print_times(f"{outcome.name} ({shape}): {what}", rows, failures)
    context.keep("access", kept)


def _measure(result: Result, frame: pd.DataFrame, kind: str) -> list[float]:
    peer, path = result.peer, result.path
    action: Callable[[], Any]
    if kind == "schema":
        actions = [partial(peer.schema, path)] * N_READS
    else:
        step = max(1, frame.shape[1] // N_READS)
        labels = [str(frame.columns[i * step % frame.shape[1]]) for i in range(N_READS)]
        actions = [partial(peer.column, path, label) for label in labels]
        expected = frame[[labels[0]]].reset_index(drop=True)
        got = actions[0]()[[labels[0]]].reset_index(drop=True)
        lost = host("pandas").differences(expected, got)
        if lost and peer.exact:
            raise WrongData("; ".join(lost))
    seconds: list[float] = []
    actions[0]()
    for action in actions:
        begin = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - begin)
        if sum(seconds) > some_rows.SECONDS and len(seconds) >= 5:
            break
    return seconds
