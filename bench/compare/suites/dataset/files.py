"""1,000 files: opening them as one table, counting rows, and the rows of one file by its key."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ... import files
from ...calls import Call, in_turn, keep, show
from ...context import Context
from ...hosts import WrongData
from ..engines.engine import PARQUET, Polars, parquet_scanned
from . import tables

FILES, LEAST_FILES = 1000, 3
ROWS, LEAST_ROWS = 100_000, 100
FRAME = "files"


def run(context: Context) -> None:
    import polars as pl

    n_files = context.scaled(FILES, least=LEAST_FILES)
    n_rows = context.scaled(ROWS, least=LEAST_ROWS)
    folders = {}
    for key in (tables.ENTASIS, Polars.parquet):
        (peer,) = context.pool.get([key], host="arrow", fixed=True)
        folders[key] = (context.work / f"{FRAME}.{key}").resolve()
        tables.write(peer, folders[key], tables.tables(n_files, n_rows))
    os.sync()
    own, other = folders[tables.ENTASIS], folders[Polars.parquet]
    part = n_files // 2
    rows = pl.DataFrame(tables.with_key(tables.table(part, n_rows), part))
    expected: dict[str, Any] = {"open": rows.columns, "count": n_files * n_rows, "key": rows}
    found = {}
    for kind, title in (
        ("open", f"open {n_files:,} files"),
        ("count", f"count the rows of {n_files:,} files"),
        ("key", f"the {n_rows:,} rows of a key"),
    ):
        calls = [
            Call(tables.ENTASIS, "Entasis", partial(_own(kind), own, part)),
            Call(PARQUET, "Parquet zstd, Polars", partial(_of_polars(kind), other, part)),
        ]
        for call in calls:
            call.checked(partial(_check, expected[kind]))
        in_turn(context, title, calls)
        shape, size = (n_files * n_rows, rows.width), files.size(own)
        keep(context, FRAME, kind, "polars", calls, shape, size, section=tables.SECTION)
        found[title] = calls
    for folder in folders.values():
        files.remove(folder)
    show(f"{n_files:,} files of {n_rows:,} rows", found, unit="ms")


def _own(kind: str) -> Callable[[Path, int], Any]:
    import entasis as en

    calls: dict[str, Callable[[Path, int], Any]] = {
        "open": lambda folder, part: en.scan(str(folder)).column_names,
        "count": lambda folder, part: en.scan(str(folder)).count(),
        "key": lambda folder, part: en.scan(str(folder), filter=en.col(tables.KEY) == part).read(
            to="polars"
        ),
    }
    return calls[kind]


def _of_polars(kind: str) -> Callable[[Path, int], Any]:
    import polars as pl

    calls: dict[str, Callable[[Path, int], Any]] = {
        "open": lambda folder, part: parquet_scanned(folder).collect_schema().names(),
        "count": lambda folder, part: parquet_scanned(folder).select(pl.len()).collect().item(),
        "key": lambda folder, part: (
            parquet_scanned(folder).filter(pl.col(tables.KEY) == part).collect()
        ),
    }
    return calls[kind]


def _check(expected: Any, got: Any) -> list[str]:
    is_same = expected.equals(got) if hasattr(expected, "equals") else expected == got
    if not is_same:
        raise WrongData("the rows differ")
    return []
