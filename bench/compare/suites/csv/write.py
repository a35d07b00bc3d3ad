"""Writing of tables as texts, plain and in gzip.

Each text is read again and compared with the table. Other writers may lose values, such as digits
of doubles, which is a note: they are measured all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from ... import files
from ...calls import Call, in_turn, keep, show
from ...context import Context
from ...fwrite import fwritten
from ...hosts import WrongData
from .equal import differences
from .measure import chosen
from .read import reference
from .readers import connection

Compression = Literal["gzip"] | None
Write = Callable[[], Any]
ZIPPED = ["lineitem", "taxi"]


def run(context: Context) -> None:
    plain, zipped = {}, {}
    for name, path in chosen(context).items():
        plain[name] = _measured(context, name, path, None)
        if name in ZIPPED:
            zipped[name] = _measured(context, name, path, "gzip")
    for title, found in (("tables into texts", plain), ("tables into texts in gzip", zipped)):
        if found:
            show(title, found)


def _measured(context: Context, name: str, path: Path, compression: Compression) -> list[Call]:
    threads = context.options.threads
    table = reference(path, threads)
    suffix = ".csv.gz" if compression else ".csv"
    targets = {key: context.work / f"written.{key}{suffix}" for key in (*WRITERS, "fwrite")}
    writers = (
        WRITERS if compression is None else {key: WRITERS[key] for key in ("entasis", "polars")}
    )
    calls = [
        _call(key, table, targets[key], threads, compression) for key in writers if find_spec(key)
    ]
    with fwritten(path, targets["fwrite"], context.work, threads) as write:
        if write is not None:
            calls.append(_checked(Call("fwrite", "fwrite", write, write), targets["fwrite"], table))
        title = f"{name} into {'gzip' if compression else 'a text'}"
        in_turn(context, title, calls)
    for call in calls:
        if targets[call.key].exists():
            call.notes.append(f"{targets[call.key].stat().st_size / 1e6:.1f} MB")
    kind = "write-gzip" if compression else "write"
    n_bytes = targets["entasis"].stat().st_size
    keep(context, name, kind, "arrow", calls, table.shape, n_bytes)
    for target in targets.values():
        files.remove(target)
    return calls


def _call(key: str, table: pa.Table, target: Path, threads: int, compression: Compression) -> Call:
    write = WRITERS[key](table, target, threads, compression)
    call = Call(key, LABELS[key], write, before=partial(files.remove, target))
    return _checked(call, target, table)


def _checked(call: Call, target: Path, table: pa.Table) -> Call:
    """Write once, and compare."""
    import entasis as en

    def check(_: object) -> list[str]:
        try:
            return differences(table, en.read_csv(str(target), "pyarrow", header=True))
        except (WrongData, en.EntasisError) as error:
            if call.key == "entasis":
                raise
            return [f"other values are read back: {error}"]

    call.checked(check)
    return call


def _entasis(table: pa.Table, target: Path, threads: int, compression: Compression) -> Write:
    import entasis as en

    return lambda: en.write_csv(table, str(target), threads=threads, compression=compression)


def _polars(table: pa.Table, target: Path, _: int, compression: Compression) -> Write:
    import polars as pl

    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return lambda: frame.write_csv(target, compression=compression or "uncompressed")


def _duckdb(table: pa.Table, target: Path, threads: int, _: Compression) -> Write:
    to = str(target).replace("'", "''")
    database = connection(threads)
    database.register("source", table)
    return lambda: database.execute(f"COPY source TO '{to}' (FORMAT csv)")


def _pyarrow(table: pa.Table, target: Path, threads: int, _: Compression) -> Write:
    from pyarrow import csv

    pa.set_cpu_count(threads)
    return lambda: csv.write_csv(table, target)


WRITERS: dict[str, Callable[[pa.Table, Path, int, Compression], Write]] = {
    "entasis": _entasis,
    "polars": _polars,
    "duckdb": _duckdb,
    "pyarrow": _pyarrow,
}
LABELS = {"entasis": "Entasis", "polars": "Polars", "duckdb": "DuckDB", "pyarrow": "pyarrow"}
