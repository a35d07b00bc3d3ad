"""Text files: reading into Polars, Arrow and pandas, parts of a text, gzip, conversion, length.

Each result is compared with the others before anything is measured. Then the readers take turns.
The libraries are those that are installed, whatever `--peers` says.
"""

from __future__ import annotations

from ...context import Context
from . import convert, inflate, lengths, parts, read, sniff


def run(context: Context) -> None:
    read.run(context)
    parts.run(context)
    inflate.run(context)
    convert.run(context)
    lengths.run(context)
    sniff.run(context)
