"""Wide frames of mixed types: what a column costs."""

from __future__ import annotations

from ..context import Context
from ..frames.wide import mixed

SIZES = ((100, 10_000), (1_000, 10_000), (10, 100_000))  # rows, columns
PEERS = (
    "entasis",
    "feather-raw",
    "feather-lz4",
    "parquet-snappy",
    "parquet-zstd",
    "polars-zstd",
    "pickle",
    "npz",
    "numpy-npz",
    "vortex",
    "lance",
)


def run(context: Context) -> None:
    for n_rows, n_columns in SIZES:
        columns = context.scaled(n_columns, least=6)
        name = f"wide-{n_rows}x{n_columns}"
        remark = "64- and 32-bit integers and floats, booleans, times, in turn"
        outcome = context.compare(name, mixed(n_rows, columns), [remark], peers=PEERS, repeats=None)
        outcome.remove_files()
