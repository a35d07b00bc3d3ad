"""Strings into Arrow: the tables of qs' README, and columns of well-known kinds."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ..context import Context
from ..frames import text, vectors

ROWS_TABLE = 5_000_000
ROWS_VECTOR = 10_000_000
ROWS_KIND = 1_000_000
SEED = 7
PEERS = (
    "entasis",
    "entasis-80",
    "feather-raw",
    "feather-lz4",
    "feather-zstd",
    "parquet-snappy",
    "parquet-zstd",
    "polars-zstd",
    "vortex",
    "lance",
    "duckdb",
)


def run(context: Context) -> None:
    def compare(name: str, table: pa.Table, remark: str) -> None:
        outcome = context.compare(name, table, [remark], host="arrow", peers=PEERS)
        outcome.remove_files()

    remark = "normal doubles, a permutation, random alphanumeric strings of 50 characters"
    compare("qs-table", vectors.qs_table(context.scaled(ROWS_TABLE)), remark)
    remark = "random alphanumeric strings of 50 characters"
    compare("qs-strings", vectors.strings(context.scaled(ROWS_VECTOR)), remark)
    for name, make in text.KINDS.items():
        values = make(context.scaled(ROWS_KIND), np.random.default_rng(SEED))
        remark = (make.__doc__ or "").splitlines()[0]
        compare(f"strings-{name}", pa.table({"x": values}), remark)
