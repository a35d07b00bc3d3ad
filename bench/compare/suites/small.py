"""Many small files: 1,000 of 100 rows x 5 columns, written and read one by one.

Microseconds of a file. New files and replaced ones are measured separately, since some
formats make the new file safe before the old one goes.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pandas as pd

from .. import files
from ..context import Context
from ..hosts import WrongData, host
from ..peers import Peer
from ..records import raw, records
from ..run import Comparison, Result, failure
from ..table import Column, aligned
from ..timing import progress, release_memory

FILES = 1_000
ROWS = 100
CHECKED = 10  # files that are compared with what was written
SEED = 5
PEERS = (
    "entasis",
    "feather-raw",
    "feather-lz4",
    "parquet-snappy",
    "polars-zstd",
    "pickle",
    "npz",
    "vortex",
)
CATEGORIES = pd.Index(["low", "middle", "high"], dtype="str")


def run(context: Context) -> None:
    frames = [_frame(i) for i in range(context.scaled(FILES, least=CHECKED))]
    shape = f"{ROWS} rows x {frames[0].shape[1]} columns"
    new = _comparison("small-new", frames, context)
    replaced = _comparison("small-replaced", frames, context)
    values = {}
    for result in new.results:
        values[result.peer.key] = _checked(result, frames)
    fit = [result for result in new.results if result.failure is None]
    again = {result.peer.key: result for result in replaced.results}
    with progress() as say:
        for turn in range(context.options.rounds):
            first = turn % len(fit) if fit else 0
            for result in fit[first:] + fit[:first]:
                say(f"small: round {turn + 1}: {result.peer.label}")
                value = values[result.peer.key]
                files.remove(result.path)
                result.path.mkdir()
                os.sync()
                result.write_s.append(_write(result.peer, value, result.path))
                result.read_s.append(_read(result.peer, len(value), result.path))
                again[result.peer.key].write_s.append(_write(result.peer, value, result.path))
    for result in fit:
        result.n_bytes = round(files.size(result.path) / len(frames))
        again[result.peer.key].n_bytes = result.n_bytes
    for result in new.results:
        again[result.peer.key].failure = result.failure
    _print(f"{len(frames):,} files of {shape}, one by one, pandas", new, again)
    for outcome in (new, replaced):
        context.keep("comparisons", records(context.suite, outcome))
        context.raw += raw(context.suite, outcome)
    context.failed |= any(result.broken for result in new.results)
    new.remove_files()


def _frame(i: int) -> pd.DataFrame:
    rng = np.random.default_rng([SEED, i])
    words = np.array(["apple", "pear", "cherry", "plum", "quince", "fig"], dtype=object)
    codes = rng.integers(0, len(CATEGORIES), ROWS).astype(np.int8)
    return pd.DataFrame(
        {
            "integer": rng.integers(0, 1_000_000, ROWS),
            "real": rng.standard_normal(ROWS),
            "truth": rng.random(ROWS) < 0.5,
            "word": pd.Series(words[rng.integers(0, len(words), ROWS)], dtype="str"),
            "category": pd.Categorical.from_codes(codes, CATEGORIES),
        }
    )


def _comparison(name: str, frames: list[pd.DataFrame], context: Context) -> Comparison:
    pandas = host("pandas")
    n_bytes = sum(part.nbytes for part in pandas.buffers(frames[0]))
    results = [Result(peer, context.work / name) for peer in context.pool.get(PEERS)]
    for result in results:
        result.path = context.work / f"small.{result.peer.key}"
    return Comparison(name, pandas, *frames[0].shape, n_bytes, results, context.options.threads)


def _checked(result: Result, frames: list[pd.DataFrame]) -> list[object]:
    """Convert each frame to the value that the peer writes.

    Check that the first `CHECKED` frames survive writing and reading. Return an empty list after a
    failure.
    """
    path = result.path
    files.remove(path)
    values: list[object] = []
    with failure(result):
        values = [result.peer.prepare(frame) for frame in frames]
        for frame, value in zip(frames[:CHECKED], values, strict=False):
            result.peer.write(value, path)
            got = result.peer.restore(result.peer.read(path), frame)
            lost = host("pandas").differences(frame, got)
            if lost and result.peer.exact:
                raise WrongData("; ".join(lost))
            result.notes = result.peer.notes() + lost
            files.remove(path)
    files.remove(path)
    return values if result.failure is None else []


def _write(peer: Peer, values: list[object], folder: Path) -> float:
    """Write the values to files; return the mean time per file in seconds."""
    paths = [folder / str(i) for i in range(len(values))]
    release_memory()
    begin = time.perf_counter()
    for value, path in zip(values, paths, strict=True):
        peer.write(value, path)
    return (time.perf_counter() - begin) / len(values)


def _read(peer: Peer, n: int, folder: Path) -> float:
    """Read `n` files that `_write` wrote; return the mean time per file in seconds."""
    paths = [folder / str(i) for i in range(n)]
    release_memory()
    begin = time.perf_counter()
    for path in paths:
        peer.read(path)
    return (time.perf_counter() - begin) / n


def _print(title: str, new: Comparison, again: dict[str, Result]) -> None:
    rows = [
        [
            result.peer.label,
            f"{result.write * 1e6:.0f}",
            f"{again[result.peer.key].write * 1e6:.0f}",
            f"{result.read * 1e6:.0f}",
            f"{result.n_bytes:,}",
        ]
        for result in new.results
        if result.failure is None
    ]
    titles = ("write new µs", "replace µs", "read µs", "bytes")
    columns = [Column("format", left=True), *map(Column, titles)]
    print(title, end="\n\n")
    print(aligned(columns, rows))
    failures = [f"  {r.peer.label}: {r.failure}" for r in new.results if r.failure is not None]
    print(*failures, sep="\n", end="\n\n" if failures else "\n", flush=True)
