"""Dask with two worker processes: writes, sums of a column, and the memory of a worker."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ... import files, memory
from ...calls import Call, in_turn, keep, show
from ...context import Context
from ...hosts import WrongData
from . import rows

ENTASIS, PARQUET = "entasis", "parquet"
PARTITION = "partition"
HOST = "dask"
PROCESSES = 2
ARE_PROCESSES = True  # tests of this suite take threads


def run(context: Context) -> None:
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        print("note: Dask is not installed: pip install 'dask[dataframe]' distributed\n")
        return
    # Strings stay as they are, in both formats.
    with (
        dask.config.set({"dataframe.convert-string": False}),
        LocalCluster(
            n_workers=PROCESSES,
            threads_per_worker=1,
            processes=ARE_PROCESSES,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        _run(context, client)


def _run(context: Context, client: Any) -> None:
    n_parts, n = rows.sizes(context, PROCESSES)
    frame = f"{n_parts * n:,} rows"
    folders = {key: (context.work / f"machines.{key}").resolve() for key in (ENTASIS, PARQUET)}
    labels = {ENTASIS: "Entasis", PARQUET: "Parquet"}
    expected = rows.expected(n_parts, n)
    given = _given(n_parts, n)
    # The rows that all partitions repeat are made before the first measurement.
    client.run(rows.prepare, n)
    writes = []
    for key, write in (("entasis", _write), ("parquet", _write_parquet)):
        call = Call(key, labels[key], partial(write, given, folders[key]))
        call.before = partial(files.remove, folders[key])
        call.checked(partial(_check_sums, expected, folders[key], READERS[key]))
        writes.append(call)
    in_turn(context, "Dask: write", writes)
    # The last calls left both folders.
    os.sync()
    reads = []
    for key, reader in READERS.items():
        call = Call(key, labels[key], partial(_sum, reader, folders[key]))
        call.checked(partial(_check_sum, expected[rows.SUMMED]))
        reads.append(call)
    in_turn(context, "Dask: sum of a column", reads)
    shape = n_parts * n, rows.N_COLUMNS
    size = files.size(folders[ENTASIS])
    for kind, calls in (("write", writes), ("sum", reads)):
        keep(context, frame, kind, HOST, calls, shape, size, section=rows.SECTION)
    show(f"Dask, two processes, {frame}", {"write": writes, "sum of a column": reads})
    _memory(context, client, folders[ENTASIS], frame, shape)
    for folder in folders.values():
        files.remove(folder)


def _given(n_parts: int, n_rows: int) -> Any:
    """The rows, which the tasks make."""
    import dask.dataframe as dd

    head = rows.base(n_rows)[:0]
    return dd.from_map(rows.partition, range(n_parts), n_rows=n_rows, meta=head)


def _write(given: Any, folder: Path) -> None:
    import entasis.dask

    entasis.dask.write(given, folder)


def _write_parquet(given: Any, folder: Path) -> None:
    given.to_parquet(folder)


def _read(folder: Path) -> Any:
    import entasis.dask

    return entasis.dask.read(folder)


def _read_parquet(folder: Path) -> Any:
    import dask.dataframe as dd

    return dd.read_parquet(folder)


READERS: dict[str, Callable[[Path], Any]] = {ENTASIS: _read, PARQUET: _read_parquet}


def _sum(reader: Callable[[Path], Any], folder: Path) -> float:
    return float(reader(folder)[rows.SUMMED].sum().compute())


def _check_sum(expected: float, found: float) -> list[str]:
    if not np.isclose(found, expected, rtol=1e-9):
        raise WrongData(f"the sum is {found}, not {expected}")
    return []


def _check_sums(
    expected: dict[str, float], folder: Path, reader: Callable[[Path], Any], _: Any
) -> list[str]:
    """Compare the sums of numbers, and the texts and times of the last partition."""
    whole = reader(folder)
    found = whole[list(expected)].astype("float64").sum().compute()
    for name, value in expected.items():
        if not np.isclose(found[name], value, rtol=1e-6):
            raise WrongData(f"column {name}: the sum is {found[name]}, not {value}")
    part = whole.get_partition(0).compute().reset_index(drop=True)
    given = rows.base(len(part))
    for name in ("word", "city", "time"):
        if not (part[name].astype(str) == given[name].astype(str)).all():
            raise WrongData(f"column {name}: the values differ")
    return []


def _memory(
    context: Context, client: Any, folder: Path, frame: str, shape: tuple[int, int]
) -> None:
    """Record the memory that a worker adds to read all columns, and the largest partition."""
    whole = _read(folder)
    # Short work loads all code, and makes the pools of memory.
    whole.partitions[:PROCESSES].map_partitions(len).compute()
    largest = int(whole.map_partitions(_bytes, meta=("bytes", "int64")).max().compute())
    client.run(gc.collect)
    before = client.run(memory.reset)
    whole.map_partitions(len).sum().compute()
    peaks = client.run(memory.peak)
    client.run(gc.enable)
    worker = Call(ENTASIS, "a worker", lambda: None)
    worker.peak_bytes = max(peaks[name] - before[name] for name in peaks)
    part = Call(PARTITION, "the largest partition", lambda: None)
    part.peak_bytes = largest
    keep(
        context,
        frame,
        "memory",
        HOST,
        [worker, part],
        shape,
        files.size(folder),
        section=rows.SECTION,
    )
    for call in (worker, part):
        print(f"  {call.label}: {(call.peak_bytes or 0) / 2**20:,.0f} MiB of memory")
    print(flush=True)


def _bytes(part: Any) -> int:
    return int(part.memory_usage(deep=True).sum())
