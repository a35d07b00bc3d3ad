"""DuckDB and Polars over files of Entasis, over their own Parquet and over tables in memory.

Each engine writes its Parquet itself, with Zstandard. An answer is compared with the answer of the
same engine in memory before it is measured. Then engines and formats take turns in each query.
"""

from __future__ import annotations

from ...context import Context
from . import counties, head, sums, tpch


def run(context: Context) -> None:
    sums.run(context)
    tpch.run(context)
    counties.run(context)
    head.run(context)
