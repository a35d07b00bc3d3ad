"""Conversion: files of fst and R into Python, Parquet and Entasis into each other.

Each result is compared with the values before anything is measured. Then the calls take turns.
"""

from __future__ import annotations

from ...context import Context
from . import fst, parquet, r_files


def run(context: Context) -> None:
    fst.run(context)
    r_files.run(context)
    parquet.run(context)
