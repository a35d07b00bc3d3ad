"""The same rows through the core, pyarrow's dataset and the engines: the cost that each adds."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from ... import files
from ...conditions import Condition, for_arrow, for_entasis, for_polars, for_sql
from ...context import Context
from ...peers.duckdb import DuckParquet
from ...run import failure
from ...table import Column, aligned
from ..scan.lineitem import Q6, Q6_COLUMNS
from ..scan.questions import Question, answer, differences
from .engine import ENTASIS, DuckDb, Polars
from .measure import Timed, in_rounds, keep, write

FRAME = "lineitem"
LABELS = {
    ENTASIS: "core, to Arrow",
    "entasis-dataset": "dataset of pyarrow",
    "entasis-duckdb": "DuckDB, to Arrow",
    "entasis-to-polars": "core, to Polars",
    "entasis-polars": "Polars",
}


@dataclass(kw_only=True)
class Way(Timed):
    """The measurements of one way to read the rows."""

    key: str


def run(context: Context, table: pa.Table) -> None:
    """Measure the filter and columns of query 6, and all rows of these columns."""
    (path,) = write(context, ENTASIS, FRAME, {FRAME: table}).values()
    os.sync()
    asked = {"TPC-H Q6: four columns": Q6, "all rows: four columns": ()}
    rows, remarks = [], []
    for title, condition in asked.items():
        ways = _ways(context, str(path), table.schema, condition)
        question = Question("cost", title, condition, Q6_COLUMNS)
        expected = answer(table, question) if condition else table.select(Q6_COLUMNS)
        for way in ways:
            with failure(way):
                got = way.call()
                got = got if isinstance(got, pa.Table) else got.to_arrow()
                differences(expected, got, exact=False)
                del got
        del expected
        in_rounds(context, title, ways, table.nbytes)
        for way in ways:
            _keep(context, title, table.num_rows, way)
            if way.failure is not None:
                remarks.append(f"  {title}: {LABELS[way.key]}: {way.failure}")
        cells = {way.key: way.cell for way in ways}
        rows.append([title, *(cells.get(key, "") for key in LABELS)])
    files.remove(path)
    print(f"{FRAME} ({table.num_rows:,} rows): the rows by each engine, median ms", end="\n\n")
    print(aligned([Column("", left=True), *map(Column, LABELS.values())], rows))
    print(*remarks, sep="\n", end="\n\n" if remarks else "\n", flush=True)


def _ways(context: Context, path: str, schema: pa.Schema, condition: Condition) -> list[Way]:
    import entasis as en

    file = en.open(path)
    dataset = file.to_dataset()
    scan = file.filter(for_entasis(condition)) if condition else file
    own = scan.select(Q6_COLUMNS)
    expression = for_arrow(condition, schema) if condition else None
    ways: dict[str, Callable[[], Any]] = {
        ENTASIS: own.to_pyarrow,
        "entasis-dataset": partial(dataset.to_table, columns=Q6_COLUMNS, filter=expression),
    }
    for peer in context.pool.get([DuckDb.parquet, Polars.parquet], host="arrow", fixed=True):
        if isinstance(peer, DuckParquet):
            database = peer.connect(":memory:")
            database.register("lineitem", dataset)
            where = f" WHERE {for_sql(condition, schema)}" if condition else ""
            query = f"SELECT {', '.join(Q6_COLUMNS)} FROM lineitem{where}"
            ways["entasis-duckdb"] = partial(_fetched, database, query)
        else:
            ways["entasis-to-polars"] = own.to_polars
            ways["entasis-polars"] = partial(_collected, file, condition)
    return [Way(key=key, call=call) for key, call in ways.items()]


def _fetched(database: Any, query: str) -> pa.Table:
    return database.sql(query).to_arrow_table()


def _collected(file: Any, condition: Condition) -> Any:
    lazy = file.lazy()
    return (lazy.filter(for_polars(condition)) if condition else lazy).select(Q6_COLUMNS).collect()


def _keep(context: Context, title: str, n_rows: int, way: Way) -> None:
    record = {
        "host": "arrow",
        "format": way.key,
        "label": LABELS[way.key],
        "n_rows": n_rows,
        "n": len(way.seconds),
        "median_s": way.median_s,
        "notes": way.notes,
        "failure": way.failure,
    }
    keep(context, FRAME, "cost", title, record)
    context.keep_raw(FRAME, "arrow", way.key, title, way.seconds)
    context.failed |= way.failure is not None
