"""One append of as many rows as a whole frame, against writing these rows alone."""

from __future__ import annotations

from functools import partial

import pandas as pd

from ... import files
from ...context import Context
from ...frames.headline import headline
from ...run import failure
from .growth import check, keep, over, pair, remove, show, start, turns, write

BASE = 1_000_000  # rows of the file before
LEAST = 20_000


def run(context: Context) -> None:
    base = headline(context.scaled(BASE, least=LEAST))
    rows = headline(context.scaled(context.options.rows, least=LEAST))
    results = start(context, "bulk")
    values = {}
    for result in results:
        peer = result.peer
        with failure(result):
            values[peer.key] = (peer.prepare(base), peer.prepare(rows))
            write(result, values[peer.key][0], result.path)
            peer.append(values[peer.key][1], result.path)
            check(result, pd.concat([base, rows], ignore_index=True))
            result.n_bytes = files.size(result.path)
    for turn, result in turns("bulk", context.options.rounds, results):
        peer, (old, new) = result.peer, values[result.peer.key]
        with failure(result):
            pair(
                result,
                turn,
                before=partial(write, result, old),
                grow=partial(peer.append, new),
                once=partial(peer.write, new),
            )
    remove(results)
    keep(context, "headline", "bulk", results, rows.shape)
    show(
        f"headline: append {len(rows):,} rows to {len(base):,}, and write them alone, pandas",
        results,
        {
            "append s": (".4f", lambda r: r.write),
            "write s": (".4f", lambda r: r.once_write),
            "append / write": (".2f", lambda r: over(r.write, r.once_write)),
        },
    )
