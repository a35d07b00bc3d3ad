"""DuckDB: a database file with one table, or Parquet by its COPY."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..conditions import for_sql
from .base import Filters, Opened, Peer


class DuckPeer(Peer):
    modules = ("duckdb",)
    hosts = ("pandas", "arrow")
    has_threads = True
    threads = 0  # 0: as many as there are CPUs

    def set_threads(self, threads: int) -> None:
        self.threads = threads

    def connect(self, path: str, *, read_only: bool = False) -> Any:
        import duckdb

        config: dict[str, Any] = {"threads": str(self.threads)} if self.threads else {}
        return duckdb.connect(path, read_only=read_only, config=config)

    def fetch(self, relation: Any) -> Any:
        return relation.df() if self.host == "pandas" else relation.to_arrow_table()

    def filters_of(self, database: Any, source: str, schema: Any) -> Filters:
        """Filters of a table, or of anything that FROM accepts."""

        def count(condition: Any) -> Callable[[], int]:
            query = f"SELECT count(*) FROM {source} WHERE {for_sql(condition, schema)}"
            return lambda: database.sql(query).fetchall()[0][0]  # type: ignore[no-any-return]

        def rows(condition: Any, columns: list[str]) -> Callable[[], Any]:
            names = ", ".join(map(_quoted, columns))
            query = f"SELECT {names} FROM {source} WHERE {for_sql(condition, schema)}"
            return lambda: database.sql(query).to_arrow_table()

        return Filters(count, rows)


class DuckDb(DuckPeer):
    key = "duckdb"
    label = "DuckDB database"
    is_durable = True
    is_always_durable = True

    def write(self, value: Any, path: Path) -> None:
        with self.connect(str(path)) as database:
            database.register("value", value)
            database.execute("CREATE TABLE t AS SELECT * FROM value")

    def read(self, path: Path) -> Any:
        with self.connect(str(path), read_only=True) as database:
            return self.fetch(database.sql("SELECT * FROM t"))

    def append(self, value: Any, path: Path, *, durable: bool = False) -> None:
        # DuckDB without the wait may damage the file after a power failure, so that setting is not
        # used.
        with self.connect(str(path)) as database:
            database.register("value", value)
            database.execute("INSERT INTO t SELECT * FROM value")

    def schema(self, path: Path) -> Any:
        with self.connect(str(path), read_only=True) as database:
            return database.sql("DESCRIBE t").fetchall()

    def column(self, path: Path, label: str) -> Any:
        with self.connect(str(path), read_only=True) as database:
            return self.fetch(database.sql(f"SELECT {_quoted(label)} FROM t"))

    def open(self, path: Path, frame: Any) -> Opened:
        database = self.connect(str(path), read_only=True)

        def rows(columns: list[str], start: int, stop: int) -> Any:
            names = ", ".join(map(_quoted, columns))
            return database.sql(
                f"SELECT {names} FROM t WHERE rowid >= {start} AND rowid < {stop}"
            ).df()

        return Opened(rows)

    def filters(self, path: Path, schema: Any) -> Filters:
        return self.filters_of(self.connect(str(path), read_only=True), "t", schema)


class DuckParquet(DuckPeer):
    def __init__(self, codec: str) -> None:
        self.codec = codec
        self.key = f"duckdb-{codec}"
        self.label = f"Parquet {codec} (DuckDB)"

    def write(self, value: Any, path: Path) -> None:
        with self.connect(":memory:") as database:
            database.register("value", value)
            database.execute(
                f"COPY value TO '{_text(path)}' (FORMAT parquet, COMPRESSION {self.codec})"
            )

    def read(self, path: Path) -> Any:
        with self.connect(":memory:") as database:
            return self.fetch(database.sql(f"SELECT * FROM read_parquet('{_text(path)}')"))

    def filters(self, path: Path, schema: Any) -> Filters:
        database = self.connect(":memory:")
        # The other formats also cache what they read on opening.
        database.execute("SET parquet_metadata_cache = true")
        return self.filters_of(database, f"read_parquet('{_text(path)}')", schema)


def _quoted(label: str) -> str:
    return '"' + label.replace('"', '""') + '"'


def _text(path: Path) -> str:
    return str(path).replace("'", "''")
