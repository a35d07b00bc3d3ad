"""A column of doubles that is added to a file, against writing it alone."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from ... import files
from ...context import Context
from ...frames.headline import headline
from ...run import failure
from .growth import check, keep, over, pair, remove, show, start, turns, write

PEERS = ("entasis", "lance", "feather-lz4")
LEAST = 20_000
SEED = 8


def run(context: Context) -> None:
    frame = headline(context.scaled(context.options.rows, least=LEAST))
    doubles = np.random.default_rng(SEED).standard_normal(len(frame))
    column = pd.DataFrame({"Double": doubles}, copy=False)
    results = start(context, "column", PEERS)
    values = {}
    for result in results:
        with failure(result):
            # Do not prepare the column: a peer keeps the types of the last frame that it prepared.
            values[result.peer.key] = result.peer.prepare(frame)
            write(result, values[result.peer.key], result.path)
            before = files.size(result.path)
            result.peer.add_columns(column, result.path)
            result.n_bytes = files.size(result.path) - before
            check(result, frame.assign(Double=doubles))
    for turn, result in turns("column", context.options.rounds, results):
        peer = result.peer
        with failure(result):
            pair(
                result,
                turn,
                before=partial(write, result, values[peer.key]),
                grow=partial(peer.add_columns, column),
                once=partial(peer.write, column),
            )
    remove(results)
    keep(context, "headline", "column", results, (len(frame), 1))
    show(
        f"headline: add a column of {len(frame):,} doubles, and write it alone, pandas",
        results,
        {
            "add ms": (",.2f", lambda r: r.write * 1e3),
            "write ms": (",.2f", lambda r: r.once_write * 1e3),
            "add / write": (".2f", lambda r: over(r.write, r.once_write)),
            "more MB": (",.2f", lambda r: r.n_bytes / 1e6),
            "alone MB": (",.2f", lambda r: r.once_bytes / 1e6),
        },
    )
