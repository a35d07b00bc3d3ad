"""Folders of files as one table: opening and counting, queries of engines, and writing by keys.

The same rows are in folders of Parquet files, with the same keys in the names of folders. Answers
and rows are compared before anything is measured.
"""

from __future__ import annotations

from ...context import Context
from . import files, queries, write


def run(context: Context) -> None:
    files.run(context)
    queries.run(context)
    queries.tpch(context)
    write.run(context)
