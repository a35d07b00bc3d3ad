"""A stream of rows that is written by 100 keys, against pyarrow, with the peak memory of each."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ... import files
from ...calls import Call, in_turn, keep, show
from ...context import Context
from ...hosts import WrongData
from ...memory import peak, reset
from ..engines.engine import parquet_scanned
from ..engines.query import TOLERANCE
from . import tables

ROWS, LEAST = 100_000_000, 10_000
KEYS = 100
BASE = 4_000_000  # rows in memory, which are written again and again
BATCH = 1 << 17
FRAME = "keys"
FOLDER = Path(__file__).parents[4]


def run(context: Context) -> None:
    n_rows = context.scaled(ROWS, least=LEAST)
    given, threads = base(n_rows), context.options.threads
    expected = _expected(given, n_rows)
    calls = []
    for key, label in (("entasis", "Entasis"), ("pyarrow", "pyarrow")):
        folder = (context.work / f"{FRAME}.{key}").resolve()
        call = Call(key, label, partial(WRITERS[key], given, n_rows, folder, threads))
        call.before = partial(files.remove, folder)
        call.checked(lambda _, folder=folder, key=key: _check(expected, folder, key))  # type: ignore[misc]
        calls.append(call)
    in_turn(context, "write by keys", calls)
    size = files.size(context.work / f"{FRAME}.entasis") if calls[0].failure is None else 0
    for call in calls:
        folder = context.work / f"{FRAME}.{call.key}"
        files.remove(folder)
        if call.failure is None:
            call.peak_bytes = _child(call.key, n_rows, folder.resolve(), threads)
            files.remove(folder)
    keep(
        context,
        FRAME,
        "write",
        "arrow",
        calls,
        (n_rows, len(given.column_names)),
        size,
        section=tables.SECTION,
    )
    show(f"{n_rows:,} rows by {KEYS} keys", {"write": calls})
    for call in calls:
        if call.peak_bytes is not None:
            print(f"  {call.label}: {call.peak_bytes / 2**20:,.0f} MiB of memory")
    print(flush=True)


def base(n_rows: int) -> pa.Table:
    """The rows that a stream repeats."""
    n = min(n_rows, BASE)
    keys = np.random.default_rng(tables.SEED).integers(0, KEYS, n)
    return tables.table(0, n).append_column(tables.KEY, pa.array(keys))


def stream(given: pa.Table, n_rows: int) -> pa.RecordBatchReader:
    """The rows in batches."""

    def batches() -> Iterator[pa.RecordBatch]:
        left = n_rows
        while left > 0:
            yield from given.slice(0, left).to_batches(max_chunksize=BATCH)
            left -= len(given)

    return pa.RecordBatchReader.from_batches(given.schema, batches())


def _by_entasis(given: pa.Table, n_rows: int, folder: Path, threads: int) -> None:
    import entasis as en

    rows = stream(given, n_rows)
    en.write_dataset(rows, str(folder), partition_by=tables.KEY, threads=threads)


def _by_pyarrow(given: pa.Table, n_rows: int, folder: Path, threads: int) -> None:
    import pyarrow.dataset as ds

    pa.set_cpu_count(threads)
    keys = ds.partitioning(pa.schema([(tables.KEY, pa.int64())]), flavor="hive")
    ds.write_dataset(stream(given, n_rows), folder, format="parquet", partitioning=keys)


WRITERS: dict[str, Callable[[pa.Table, int, Path, int], None]] = {
    "entasis": _by_entasis,
    "pyarrow": _by_pyarrow,
}


def _summary(rows: Any) -> Any:
    """Facts of each key that depend on all of its rows."""
    import polars as pl

    return (
        rows.group_by(tables.KEY)
        .agg(
            pl.len().cast(pl.Int64).alias("n"),
            pl.sum("id"),
            pl.sum("price"),
            pl.col("quantity").cast(pl.Int64).sum(),
            pl.col("day").cast(pl.Int32).cast(pl.Int64).sum(),
            pl.col("city").cast(pl.String).str.len_bytes().cast(pl.Int64).sum(),
        )
        .sort(tables.KEY)
        .collect()
    )


def _expected(given: pa.Table, n_rows: int) -> Any:
    import polars as pl

    copies, rest = divmod(n_rows, len(given))
    whole = _summary(pl.DataFrame(given).lazy())
    sums = [name for name in whole.columns if name != tables.KEY]
    parts = [whole.with_columns(pl.col(sums) * copies)]
    if rest:
        parts.append(_summary(pl.DataFrame(given.slice(0, rest)).lazy()))
    return pl.concat(parts).group_by(tables.KEY).sum().sort(tables.KEY)


def _check(expected: Any, folder: Path, key: str) -> list[str]:
    import entasis as en

    rows = en.scan(str(folder)).lazy() if key == "entasis" else parquet_scanned(folder)
    got = _summary(rows)
    for name in expected.columns:
        a, b = expected[name].to_numpy(), got[name].to_numpy()
        is_same = len(a) == len(b) and np.allclose(a, b, rtol=TOLERANCE, atol=0)
        if not is_same:
            raise WrongData(f"column {name}: the rows of keys differ")
    return []


def _child(key: str, n_rows: int, folder: Path, threads: int) -> int | None:
    """Bytes that a writer adds at its peak; None if it failed."""
    job = json.dumps({"key": key, "rows": n_rows, "folder": str(folder), "threads": threads})
    command = [sys.executable, "-m", "bench.compare.suites.dataset.write", job]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    return int(done.stdout) if done.returncode == 0 else None


def _measured(job: dict[str, Any]) -> int:
    """In the child: the growth of resident memory, without the rows that are written."""
    given, folder = base(job["rows"]), Path(job["folder"])
    trial = folder.with_name(folder.name + ".trial")
    # A short table loads all code.
    WRITERS[job["key"]](given.slice(0, 1000), 1000, trial, job["threads"])
    files.remove(trial)
    before = reset()
    WRITERS[job["key"]](given, job["rows"], folder, job["threads"])
    return max(0, peak() - before)


if __name__ == "__main__":
    print(_measured(json.loads(sys.argv[1])))
