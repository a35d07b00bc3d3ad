"""Time per row of the headline frame from 10^4 to 10^8 rows: it should be flat."""

from __future__ import annotations

from ..context import Context
from ..frames.headline import headline
from ..table import Column, aligned

ROWS = (
    10_000,
    100_000,
    300_000,
    1_000_000,
    3_000_000,
    10_000_000,
    30_000_000,
    100_000_000,
)
PEERS = ("entasis", "feather-lz4", "parquet-zstd")  # unless the user chose some


def run(context: Context) -> None:
    rows: list[list[str] | None] = []
    for full in ROWS:
        n_rows = context.scaled(full)
        frame = headline(n_rows)
        # Small files are written and read one after the other, because the first call after freeing
        # memory has a cost that is not per row.
        outcome = context.compare(
            f"headline-{n_rows}",
            frame,
            peers=PEERS,
            rounds=max(context.options.rounds, min(50, context.scaled(20_000_000) // n_rows)),
            repeats=max(1, min(20, 2_000_000 // n_rows)),
            section="sweep",
            quiet=True,
        )
        outcome.remove_files()
        if rows:
            rows.append(None)
        floor = f"{outcome.floor / n_rows * 1e9:.2f}"
        for result in outcome.results:
            if result.failure is not None:
                rows.append([f"{n_rows:,}", f"{result.peer.label}: {result.failure}", *[""] * 4])
                continue
            per_row = (result.write / n_rows * 1e9, result.read / n_rows * 1e9)
            times = (f"{value:.2f}" for value in per_row)
            size = f"{result.n_bytes / n_rows:.2f}"
            rows.append([f"{n_rows:,}", result.peer.label, *times, floor, size])
    titles = ("write ns/row", "read ns/row", "floor ns/row", "bytes/row")
    columns = [Column("rows"), Column("format", left=True), *map(Column, titles)]
    print("headline: time per row by the number of rows", end="\n\n")
    print(aligned(columns, rows), end="\n\n", flush=True)
