"""A file of batches of 65,536 rows, against one write; with the peak memory of the batches."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ... import files
from ...context import Context
from ...frames.orders import orders
from ...hosts import host
from ...memory import batches, measure_calls
from ...run import failure
from .growth import Growth, check, keep, over, pair, remove, show, start, turns

if TYPE_CHECKING:
    import pandas as pd

PEERS = ("entasis", "feather-lz4", "parquet-snappy")
ROWS = 10_000_000
BATCH = 65_536
LEAST = 4 * BATCH


def run(context: Context) -> None:
    frame = orders(context.scaled(ROWS, least=LEAST))
    results = start(context, "writer", PEERS)
    for result in results:
        with failure(result):
            files.remove(result.path)
            result.peer.prepare(frame)
            _stream(result, frame, result.path)
            check(result, frame)
            result.n_bytes = files.size(result.path)
    for turn, result in turns("writer", context.options.rounds, results):
        with failure(result):
            pair(
                result,
                turn,
                before=files.remove,
                grow=partial(_stream, result, frame),
                once=partial(result.peer.write, frame),
            )
    threads = context.options.threads
    measure_calls(results, host("pandas"), frame, context.work, threads, ("stream",), BATCH)
    remove(results)
    keep(context, "orders", "writer", results, frame.shape)
    show(
        f"{len(frame):,} rows of 10 columns in batches of {BATCH:,}, and in one write, pandas",
        results,
        {
            "batches s": (".3f", lambda r: r.write),
            "one write s": (".3f", lambda r: r.once_write),
            "batches / one": (".2f", lambda r: over(r.write, r.once_write)),
            "peak MiB": (",.0f", lambda r: r.peak_bytes.get("stream", math.nan) / 2**20),
            "file / one": (".2f", lambda r: over(r.n_bytes, r.once_bytes)),
        },
    )


def _stream(result: Growth, frame: pd.DataFrame, path: Path) -> None:
    result.peer.stream(batches(frame, BATCH), path)
