"""The headline experiment of the fst articles, and reads of a few rows out of its file."""

from __future__ import annotations

from ..context import Context
from ..frames.headline import headline
from ..peers import every
from . import some_rows

REMARK = "logical (85 % true, 10 % false, 5 % missing), integers 1..100, 20 prices, 10 cities"


def run(context: Context) -> None:
    frame = headline(context.scaled(context.options.rows))
    keys = [peer.key for peer in every()]
    keys[1:1] = ["entasis-80", "csv"]
    outcome = context.compare("headline", frame, [REMARK], peers=keys)
    some_rows.run(context, frame, outcome, [1000])
    outcome.remove_files()
