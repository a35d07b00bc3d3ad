"""Look-alikes of well-known data sets, into pandas, and a summary over them."""

from __future__ import annotations

from ..context import Context
from ..fwrite import fwrite
from ..summary import over_sets

PEERS = (
    "entasis",
    "entasis-80",
    "feather-raw",
    "feather-lz4",
    "feather-zstd",
    "parquet-snappy",
    "parquet-zstd",
    "polars-zstd",
    "pickle",
    "npz",
    "vortex",
    "lance",
    "duckdb",
    "csv",
    "csv-polars",
    "csv-pyarrow",
)


def run(context: Context) -> None:
    from ..datasets.shootout import SETS

    wanted = context.options.sets.split(",") if context.options.sets else list(SETS)
    found = []
    for name in (name for name in wanted if name in SETS):
        frame = SETS[name](context.options.scale)
        with fwrite(name, frame, context.work, context.options.threads) as written:
            outcome = context.compare(name, frame, peers=PEERS, written=written)
        outcome.remove_files()
        found.append(outcome)
    print(over_sets("all sets, into pandas", found), end="\n\n", flush=True)
