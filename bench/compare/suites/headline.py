"""The headline experiment of the fst articles, and reads of a few rows out of its file."""

from __future__ import annotations

from .. import frames
from ..context import Context
from . import access


def run(context: Context) -> None:
    frame = frames.headline(context.rows)
    outcome = context.compare(
        "headline",
        frame,
        ["logical (85 % true, 10 % false, 5 % missing), integers 1..100, 20 prices, 10 cities"],
    )
    access.run(context, frame, outcome)
    for result in outcome.results:
        result.path.unlink(missing_ok=True)
