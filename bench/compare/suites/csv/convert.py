"""Conversion of texts into files, against reading alone and DuckDB's copy into Parquet."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from ... import files
from ...calls import Call, in_turn, keep, show
from ...context import Context
from .equal import differences
from .measure import chosen, left_out, of_reader
from .read import reference
from .readers import connection, entasis

READ = "entasis-read"
NAMES = ["scorecard", "lineitem", "taxi", "quoted"]


def run(context: Context) -> None:
    found = {}
    threads = context.options.threads
    for name, path in chosen(context, NAMES).items():
        expected = reference(path, threads)
        calls = [converted(path, context.work, threads, expected)]
        calls.append(of_reader(entasis("arrow", threads, READ, "Entasis, read"), path, expected))
        if find_spec("duckdb"):
            calls.append(copied(path, context.work, threads, expected))
        in_turn(context, f"{name}: conversion", calls)
        keep(context, name, "convert", "arrow", calls, expected.shape, path.stat().st_size)
        found[name] = calls
        for call in calls:
            files.remove(output(context.work, call.key))
    if found:
        show("conversion into a file", found)


def output(folder: Path, key: str) -> Path:
    return folder / f"converted.{key}"


def converted(path: Path, folder: Path, threads: int, expected: pa.Table | None) -> Call:
    import entasis as en

    to = output(folder, "entasis")
    call = Call("entasis", "Entasis", lambda: en.convert(str(path), str(to), threads=threads))
    call.before = partial(files.remove, to)

    def check(_: Any) -> list[str]:
        return [] if expected is None else differences(expected, en.read(str(to), to="pyarrow"))

    call.checked(check)
    return call


def copied(path: Path, folder: Path, threads: int, expected: pa.Table | None) -> Call:
    import pyarrow.parquet as pq

    if (left := left_out("duckdb", "DuckDB, Parquet", path)) is not None:
        return left
    to = output(folder, "duckdb")
    source, target = (str(one).replace("'", "''") for one in (path, to))
    query = f"COPY (FROM read_csv('{source}')) TO '{target}' (FORMAT parquet)"
    call = Call("duckdb", "DuckDB, Parquet", lambda: connection(threads).execute(query))
    call.before = partial(files.remove, to)

    def check(_: Any) -> list[str]:
        return [] if expected is None else differences(expected, pq.read_table(to))

    call.checked(check)
    return call
