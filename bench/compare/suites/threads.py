"""The headline frame by 1, 2, 4 ... threads, for the formats with a setting for it."""

from __future__ import annotations

from ..context import Context
from ..frames.headline import headline


def run(context: Context) -> None:
    frame = headline(context.scaled(context.options.rows))
    keys = [peer.key for peer in context.pool.get() if peer.has_threads]
    most = context.options.threads
    counts = [1 << i for i in range(most.bit_length()) if 1 << i <= most]
    for threads in dict.fromkeys([*counts, most]):
        context.pool.set_threads(threads)
        try:
            outcome = context.compare(
                f"headline-{threads}-threads" if threads > 1 else "headline-1-thread",
                frame,
                peers=keys,
                fixed=True,
                threads=threads,
                section="threads",
            )
        finally:
            context.pool.set_threads(0)
        outcome.remove_files()
