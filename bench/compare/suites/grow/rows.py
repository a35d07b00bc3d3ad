"""Appends of one row: 4,000 of 6 columns from one row on, and 250 of 1,000 columns.

Each format keeps all rows in one file or folder. The table has its size too.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ... import files
from ...context import Context
from ...run import failure
from .growth import Growth, append_all, check, keep, over, remove, show, start, turns, write

PEERS = ("entasis", "lance", "duckdb", "pytables")
SHAPES = {"row": (4_000, 6), "wide-row": (250, 1_000)}  # appends, and columns
CHECKED = 3  # appends before the first comparison
SECONDS = 60.0  # of all appends, after which a slow format stops


def run(context: Context) -> None:
    for kind, (n, width) in SHAPES.items():
        _run(context, kind, context.scaled(n, least=CHECKED + 1), width)


def ticks(n_rows: int, width: int) -> pd.DataFrame:
    """Times, prices of hundredths, and counts, by turns."""
    rng = np.random.default_rng(n_rows)
    start = np.datetime64("2026-01-02T09:00", "us")
    columns: dict[str, np.ndarray] = {}
    for i in range(width):
        if i % 3 == 0:
            columns[f"time{i}"] = start + np.cumsum(rng.integers(1, 10**6, n_rows)).astype("m8[us]")
        elif i % 3 == 1:
            columns[f"price{i}"] = np.round(100 + np.cumsum(rng.standard_normal(n_rows)), 2)
        else:
            columns[f"count{i}"] = rng.integers(0, 1_000, n_rows)
    return pd.DataFrame(columns, copy=False)


def _run(context: Context, kind: str, n: int, width: int) -> None:
    whole = ticks(n + 1, width)
    pieces = [whole.iloc[i : i + 1].reset_index(drop=True) for i in range(n + 1)]
    results = start(context, kind, PEERS)
    for _, result in turns(kind, 1, results):
        with failure(result):
            first, *rest = [result.peer.prepare(piece) for piece in pieces]
            write(result, first, result.path)
            seconds = append_all(result, rest[:CHECKED])
            check(result, whole.iloc[: CHECKED + 1])
            seconds += append_all(result, rest[CHECKED:], most=SECONDS)
            check(result, whole.iloc[: len(seconds) + 1])
            result.append_s.append(seconds)
            result.n_bytes = files.size(result.path)
            files.remove(result.once)
            result.peer.write(result.peer.prepare(whole.iloc[: len(seconds) + 1]), result.once)
            result.once_bytes = files.size(result.once)
    remove(results)
    keep(context, "ticks", kind, results, whole.shape)
    show(
        f"{n:,} appends of one row of {width:,} columns, pandas",
        results,
        {
            "appends": (",.0f", lambda r: float(sum(map(len, r.append_s)))),
            "median ms": (",.2f", lambda r: r.append * 1e3),
            "slowest ms": (",.2f", lambda r: r.slowest * 1e3),
            "file MB": (",.2f", lambda r: r.n_bytes / 1e6),
            "file / at once": (",.1f", _over_once),
        },
    )


def _over_once(result: Growth) -> float:
    return over(result.n_bytes, result.once_bytes)
