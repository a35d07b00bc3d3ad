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
MOST_OF_LANCE = 20_000  # columns: beyond, its readings take minutes


def run(context: Context) -> None:
    for n_rows, n_columns in SIZES:
        columns = context.scaled(n_columns, least=6)
        name = f"wide-{n_rows}x{n_columns}"
        remarks = ["64- and 32-bit integers and floats, booleans, times, in turn"]
        peers = list(PEERS)
        if columns > MOST_OF_LANCE:
            peers.remove("lance")
            remarks.append("without Lance, which takes minutes to read so many columns")
        frame = mixed(n_rows, columns)
        outcome = context.compare(name, frame, remarks, peers=peers, repeats=None)
        outcome.remove_files()
