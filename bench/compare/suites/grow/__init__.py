"""Files that grow: appended rows, added columns, batches.

Each experiment compares formats with each other. Most also compare a format with writing the same
rows at once.
"""

from __future__ import annotations

import sys

import entasis as en

from ...context import Context
from . import appends, bulk, columns, many, rows, streams


def run(context: Context) -> None:
    appends.run(context)
    bulk.run(context)
    many.run(context)
    rows.run(context)
    for function, experiment in (("add_columns", columns.run), ("writer", streams.run)):
        if hasattr(en, function):
            experiment(context)
        else:
            print(f"note: grow: left out: this build of entasis has no {function}", file=sys.stderr)
