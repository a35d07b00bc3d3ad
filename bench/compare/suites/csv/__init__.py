"""Text files: reading into Polars, Arrow, pandas, parts, gzip, conversion, length, writing.

Each result is compared with the others before anything is measured. Then the readers take turns.
The libraries are those that are installed, whatever `--peers` says.
"""

from __future__ import annotations

from ...context import Context
from . import convert, inflate, lengths, parts, read, read_r, sniff, write


def run(context: Context) -> None:
    read.run(context)
    parts.run(context)
    inflate.run(context)
    convert.run(context)
    lengths.run(context)
    sniff.run(context)
    read_r.run(context)
    write.run(context)
