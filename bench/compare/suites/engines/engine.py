"""The engines: how each opens the tables of a format, runs a query and explains it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from ...peers.duckdb import DuckParquet
from .plans import Plan, duckdb_plan, polars_plan
from .query import Query

ENTASIS, PARQUET, MEMORY = "entasis", "parquet-zstd", "memory"
LABELS = {ENTASIS: "Entasis", PARQUET: "Parquet zstd", MEMORY: "in memory"}

# Paths by name, of files or of folders with a file for each key; in memory, tables of Arrow.
Tables = dict[str, Any]


class Engine:
    """A query engine. Other methods take what `open` returns as their first argument."""

    key = ""
    label = ""
    parquet = ""  # the key of the peer that writes its Parquet

    def open(self, format: str, tables: Tables) -> Any:
        """Open the tables of a format (not timed)."""
        raise NotImplementedError

    def call(self, opened: Any, query: Query) -> Callable[[], Any]:
        """Prepare the call that is timed."""
        raise NotImplementedError

    def answer(self, got: Any) -> pa.Table:
        """The answer of a call as an Arrow table (not timed)."""
        raise NotImplementedError

    def plan(self, opened: Any, query: Query, columns: dict[str, str]) -> Plan:
        """How the engine joins the tables. `columns` has the table of each column."""
        raise NotImplementedError


class DuckDb(Engine):
    """A connection for each format. It has a view or a registered object for each table."""

    key = "duckdb"
    label = "DuckDB"
    parquet = "duckdb-zstd"

    def __init__(self, peer: DuckParquet) -> None:
        self.peer = peer

    def open(self, format: str, tables: Tables) -> Any:
        database = self.peer.connect(":memory:")
        # Entasis also caches what it read on opening.
        database.execute("SET parquet_metadata_cache = true")
        for name, table in tables.items():
            if format == PARQUET:
                path = parquet(table).replace("'", "''")
                options = ", hive_partitioning = true" if table.is_dir() else ""
                rows = f"read_parquet('{path}'{options})"
                database.execute(f"CREATE VIEW {name} AS SELECT * FROM {rows}")
            elif format == ENTASIS:
                _file(table).to_duckdb(database, name)
            else:
                database.register(name, table)
        return database

    def call(self, opened: Any, query: Query) -> Callable[[], Any]:
        return lambda: opened.sql(query.sql).to_arrow_table()

    def answer(self, got: Any) -> pa.Table:
        return got

    def plan(self, opened: Any, query: Query, columns: dict[str, str]) -> Plan:
        text = opened.execute(f"EXPLAIN (FORMAT json) {query.sql}").fetchall()[0][1]
        return duckdb_plan(json.loads(text), columns)


class Polars(Engine):
    """Frames that read files when a query is collected."""

    key = "polars"
    label = "Polars"
    parquet = "polars-zstd"

    def open(self, format: str, tables: Tables) -> Any:

        if format == ENTASIS:
            return {name: _file(path).lazy for name, path in tables.items()}
        scan = parquet_scanned if format == PARQUET else _in_memory
        # A frame of `scan_parquet` caches what it read from the file, so it is made once.
        frames = {name: scan(table) for name, table in tables.items()}
        return {name: frame.lazy for name, frame in frames.items()}

    def call(self, opened: Any, query: Query) -> Callable[[], Any]:
        return lambda: self._query(opened, query).collect()

    def answer(self, got: Any) -> pa.Table:
        return got.to_arrow()

    def plan(self, opened: Any, query: Query, columns: dict[str, str]) -> Plan:
        return polars_plan(self._query(opened, query).explain())

    def _query(self, opened: Any, query: Query) -> Any:
        return query.polars({name: lazy() for name, lazy in opened.items()})


def parquet(path: Path) -> str:
    """The path of a file, or the pattern of the files in a folder."""
    return f"{path}/**/*.parquet" if path.is_dir() else str(path)


def _file(path: Path) -> Any:
    """An open file, or a scan of the files in a folder."""
    import entasis as en

    return en.scan(str(path)) if path.is_dir() else en.open(str(path))


def parquet_scanned(path: Path) -> Any:
    """A lazy frame of Polars over a file, or over the files in a folder with their keys."""
    import polars as pl

    if path.is_dir():
        return pl.scan_parquet(parquet(path), hive_partitioning=True)
    return pl.scan_parquet(path)


def _in_memory(table: pa.Table) -> Any:
    import polars as pl

    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame.lazy()
