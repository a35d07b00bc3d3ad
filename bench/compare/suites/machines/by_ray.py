"""Ray Data with two processors: writes, and sums of a column."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ... import files
from ...calls import Call, in_turn, keep, show
from ...context import Context
from . import rows
from .by_dask import ENTASIS, PARQUET, PROCESSES, _check_sum

HOST = "ray"


def run(context: Context) -> None:
    try:
        import ray
    except ImportError:
        print("note: Ray is not installed: pip install 'ray[data]'\n")
        return
    ray.init(num_cpus=PROCESSES, include_dashboard=False, log_to_driver=False)
    try:
        ray.data.DataContext.get_current().enable_progress_bars = False
        _run(context, ray)
    finally:
        ray.shutdown()


def _run(context: Context, ray: Any) -> None:
    n_parts, n = rows.sizes(context, PROCESSES)
    frame = f"{n_parts * n:,} rows"
    folders = {key: (context.work / f"machines.{key}").resolve() for key in (ENTASIS, PARQUET)}
    labels = {ENTASIS: "Entasis", PARQUET: "Parquet"}
    expected = rows.expected(n_parts, n)[rows.SUMMED]
    numbers = ray.data.range(n_parts, override_num_blocks=n_parts)
    base = ray.put(_table(n))
    given = numbers.map_batches(
        partial(_partition, base=base), batch_size=1, batch_format="pyarrow"
    )
    writes, reads = [], []
    for key, write in (("entasis", _write), ("parquet", _write_parquet)):
        call = Call(key, labels[key], partial(write, given, folders[key]))
        call.before = partial(files.remove, folders[key])
        reader = partial(READERS[key], folders[key])
        call.checked(lambda _, reader=reader: _check_sum(expected, reader()))  # type: ignore[misc]
        writes.append(call)
    in_turn(context, "Ray: write", writes)
    for key in READERS:
        call = Call(key, labels[key], partial(READERS[key], folders[key]))
        call.checked(partial(_check_sum, expected))
        reads.append(call)
    in_turn(context, "Ray: sum of a column", reads)
    shape, size = (n_parts * n, rows.N_COLUMNS), files.size(folders[ENTASIS])
    for kind, calls in (("write", writes), ("sum", reads)):
        keep(context, frame, kind, HOST, calls, shape, size, section=rows.SECTION)
    show(f"Ray, two processors, {frame}", {"write": writes, "sum of a column": reads})
    for folder in folders.values():
        files.remove(folder)


def _table(n_rows: int) -> Any:
    """The rows that all partitions repeat, which the tasks share in memory."""
    import pyarrow as pa

    return pa.Table.from_pandas(rows.base(n_rows), preserve_index=False)


def _partition(batch: Any, base: Any) -> Any:
    """The rows of a partition."""
    import ray

    whole, number = ray.get(base), batch["id"][0].as_py()
    ids = np.arange(number * len(whole), (number + 1) * len(whole))
    return whole.set_column(0, "id", [ids])


def _write(given: Any, folder: Path) -> None:
    import entasis.ray

    given.write_datasink(entasis.ray.datasink(folder))


def _write_parquet(given: Any, folder: Path) -> None:
    given.write_parquet(str(folder))


def _sum(folder: Path) -> float:
    import entasis.ray
    import ray

    found: Any = ray.data.read_datasource(entasis.ray.datasource(folder)).sum(rows.SUMMED)
    return float(found)


def _sum_parquet(folder: Path) -> float:
    import ray

    found: Any = ray.data.read_parquet(str(folder)).sum(rows.SUMMED)
    return float(found)


READERS: dict[str, Callable[[Path], float]] = {ENTASIS: _sum, PARQUET: _sum_parquet}
