"""Real tables in Arrow: lineitem, orders and customer of TPC-H, and the user's file.

Decimals and dates keep their Arrow types.
"""

from __future__ import annotations

import pyarrow as pa

from ..context import Context
from ..frames import tpch, user_file

TABLES = ("lineitem", "orders", "customer")
PEERS = (
    "entasis",
    "entasis-80",
    "feather-raw",
    "feather-lz4",
    "feather-zstd",
    "parquet-snappy",
    "parquet-zstd",
    "polars-snappy",
    "polars-zstd",
    "ipc-lz4",
    "vortex",
    "lance",
    "duckdb",
)


def run(context: Context) -> None:
    options = context.options
    scale = options.tpch * options.scale
    for name in TABLES:
        table = user_file.arrow_table(tpch.table(options.data, name, scale))
        _compare(context, f"tpch-{name}", tpch.plain_strings(table), f"scale factor {scale:g}")
    if options.file is not None:
        table = user_file.arrow_table(options.file)
        _compare(context, options.file.stem, table, options.file.name)


def _compare(context: Context, name: str, table: pa.Table, remark: str) -> None:
    # One chunk per column, since row groups of the file are not a property of the table.
    whole = table.combine_chunks()
    outcome = context.compare(name, whole, [remark], host="arrow", peers=PEERS)
    outcome.remove_files()
