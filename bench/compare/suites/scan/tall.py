"""Questions to an Entasis file of 10^8 rows whose time should not grow with the file.

A count that statistics decide, samples, and one row by its key.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from ... import files
from ...context import Context
from ...frames.headline import headline
from ...hosts import WrongData, host
from ...timing import release_memory
from ..some_rows import milliseconds, print_times, spread
from .questions import keep

ROWS = 100_000_000
LEAST = 100_000
SAMPLE = 10_000
N = {"count-statistics": 200, "sample": 30, "sample-blocks": 30, "key": 200}  # calls of each kind
CHECKED = 3  # calls of each kind that are compared with the table
GAP = 4  # the greatest distance of two keys
SEED = 37


def run(context: Context) -> None:
    import entasis as en

    table = tall(context.scaled(ROWS, least=LEAST))
    path = context.work / "tall.entasis"
    en.write(table, str(path))
    os.sync()
    n_rows = table.num_rows
    keys = table.column("Key").to_numpy()
    rng = np.random.default_rng(SEED)
    wanted = keys[rng.integers(0, n_rows, N["key"])].tolist()
    file = en.open(str(path))
    four = file.select(["Logical", "Integer", "Real", "Factor"])
    every = en.col("Integer").between(1, 100)
    n = min(SAMPLE, n_rows // 10)

    def count(i: int) -> int:
        return int(file.count(every))

    def sample(i: int) -> Any:
        return four.sample(n, seed=i)

    def sample_blocks(i: int) -> Any:
        return four.sample(n, seed=i, by="blocks")

    def key(i: int) -> Any:
        return file.filter(en.col("Key") == wanted[i]).to_pyarrow()

    for i in range(CHECKED):
        if count(i) != n_rows:
            raise WrongData("the count differs")
        for by in ("rows", "blocks"):
            _check_sample(table, keys, file.sample(n, seed=i, by=by), n)
        _equal(table.slice(int(np.searchsorted(keys, wanted[i])), 1), key(i))
    titles = {
        "count-statistics": "count that statistics decide",
        "sample": f"sample of {n:,} rows, four columns",
        "sample-blocks": f"sample of {n:,} rows by blocks, four columns",
        "key": "one key of the sorted column, five columns",
    }
    calls: dict[str, Callable[[int], Any]] = {
        "count-statistics": count,
        "sample": sample,
        "sample-blocks": sample_blocks,
        "key": key,
    }
    seconds: dict[str, list[float]] = {kind: [] for kind in calls}
    rounds = context.options.rounds
    for turn in range(rounds):
        for kind, call in calls.items():
            release_memory()
            first, last = (N[kind] * end // rounds for end in (turn, turn + 1))
            seconds[kind] += [_seconds(call, i) for i in range(first, last)]
    for kind, times in seconds.items():
        record: dict[str, Any] = {
            "format": "entasis",
            "label": "Entasis",
            "n_rows": n_rows,
            "n_found": {"count-statistics": n_rows, "key": 1}.get(kind, n),
            "n": len(times),
            "file_bytes": files.size(path),
            "notes": [],
            "failure": None,
            **spread(times),
        }
        keep(context, "tall", kind, titles[kind], record)
        context.keep_raw("tall", "arrow", "entasis", titles[kind], times)
        print_times(
            f"tall ({n_rows:,} rows): {titles[kind]}", [["Entasis", *milliseconds(record)]], []
        )
    file.close()
    files.remove(path)


def tall(n_rows: int) -> pa.Table:
    """The headline frame with a key of ascending integers, each once."""
    table = pa.Table.from_pandas(headline(n_rows), preserve_index=False).replace_schema_metadata()
    steps = np.random.default_rng(SEED).integers(1, GAP, n_rows, endpoint=True)
    return table.append_column("Key", pa.array(np.cumsum(steps, out=steps)))


def _seconds(call: Callable[[int], Any], i: int) -> float:
    begin = time.perf_counter()
    call(i)
    return time.perf_counter() - begin


def _check_sample(table: pa.Table, keys: np.ndarray, got: pa.Table, n: int) -> None:
    """A sample has rows of the table, each once, in the order of the table."""
    places = np.searchsorted(keys, got.column("Key").to_numpy())
    if len(places) != n or (np.diff(places) <= 0).any():
        raise WrongData("a sample with other rows than asked for")
    _equal(table.take(pa.array(places)), got)


def _equal(expected: pa.Table, got: pa.Table) -> None:
    if lost := host("arrow").differences(expected, got):
        raise WrongData("; ".join(lost))
