"""How each library reads a text into a frame of a host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from typing import Any

import pyarrow as pa

HOSTS = {"polars": "Polars", "arrow": "Arrow", "pandas": "pandas"}
DEFAULTS = "defaults"
LIMIT = 40.0  # seconds after which DuckDB is interrupted


@dataclass(frozen=True)
class Way:
    """Settings of a reader, and its call."""

    title: str
    read: Callable[[Path], Any]


@dataclass(frozen=True)
class Reader:
    """A library with its settings, the usual ones first."""

    key: str
    label: str
    ways: list[Way]
    once: bool = False  # so slow that one round is enough
    table: Callable[[Any], pa.Table] = field(default=lambda got: arrow(got))


def readers(host: str, threads: int, expected: pa.Table) -> list[Reader]:
    """All readers that make frames of a host, with Entasis first.

    Polars looks for dates only where there are some in the expected table, as this takes time.
    """
    has_dates = any(pa.types.is_temporal(kind) for kind in expected.schema.types)
    found = [entasis(host, threads), _polars(host, has_dates), _duckdb(host, threads)]
    found.append(_pyarrow(host, threads))
    if host == "pandas":
        found += [_pandas("pyarrow"), _pandas("c")]
    return [reader for reader in found if reader is not None]


def arrow(frame: Any) -> pa.Table:
    """A frame as an Arrow table, for comparisons."""
    if isinstance(frame, pa.Table):
        return frame
    if hasattr(frame, "to_arrow"):
        return frame.to_arrow()
    return pa.Table.from_pandas(frame, preserve_index=False)


def entasis(host: str, threads: int, key: str = "entasis", label: str = "Entasis") -> Reader:
    import entasis as en

    to: Any = {"arrow": "pyarrow"}.get(host, host)
    read = partial(_swapped, en.read_csv, to=to, threads=threads)
    return Reader(key, label, [Way(DEFAULTS, read)])


def _swapped(read: Callable[..., Any], path: Path, **options: Any) -> Any:
    return read(str(path), **options)


def _polars(host: str, has_dates: bool) -> Reader:
    def way(title: str, **options: Any) -> Way:
        return Way(title, lambda path: of_polars(_read(path, **options), host))

    def _read(path: Path, **options: Any) -> Any:
        import polars as pl

        return pl.read_csv(path, try_parse_dates=has_dates, **options)

    every = way("types from all rows", infer_schema_length=None)
    ways = [way("types from 100 rows"), way("types from 10,000 rows", infer_schema_length=10_000)]
    return Reader("polars", "Polars", [*ways, every])


def of_polars(frame: Any, host: str) -> Any:
    if host == "polars":
        return frame
    return frame.to_arrow() if host == "arrow" else frame.to_pandas()


@cache
def connection(threads: int) -> Any:
    """A connection to DuckDB with a database in memory."""
    import duckdb

    return duckdb.connect(":memory:", config={"threads": str(threads)})


def fetched(relation: Any, host: str) -> Any:
    if host == "polars":
        return relation.pl()
    return relation.to_arrow_table() if host == "arrow" else relation.df()


def _duckdb(host: str, threads: int) -> Reader | None:
    if find_spec("duckdb") is None:
        return None
    database = connection(threads)

    def way(title: str, **options: Any) -> Way:
        def read(path: Path) -> Any:
            # DuckDB looks at types for minutes where there are thousands of columns.
            timer = Timer(LIMIT, database.interrupt)
            timer.start()
            try:
                return fetched(database.read_csv(str(path), **options), host)
            finally:
                timer.cancel()

        return Way(title, read)

    ways = [way("types from 20,480 rows"), way("types from all rows", sample_size=-1)]
    return Reader("duckdb", "DuckDB", ways)


def _pyarrow(host: str, threads: int) -> Reader:
    from pyarrow import csv

    def read(path: Path, **options: Any) -> Any:
        table = csv.read_csv(
            path,
            parse_options=csv.ParseOptions(**options),
            # Empty text without quotes is missing, as it is for Entasis.
            convert_options=csv.ConvertOptions(
                strings_can_be_null=True, quoted_strings_can_be_null=False
            ),
        )
        if host == "arrow":
            return table
        if host == "pandas":
            return table.to_pandas()
        import polars as pl

        return pl.from_arrow(table)

    pa.set_cpu_count(threads)
    ways = [
        Way(DEFAULTS, read),
        Way("line ends in fields", partial(_swapped, read, newlines_in_values=True)),
    ]
    return Reader("pyarrow", "pyarrow", ways)


def _pandas(engine: str) -> Reader:
    import pandas as pd

    def way(title: str, **options: Any) -> Way:
        return Way(title, partial(_swapped, pd.read_csv, engine=engine, **options))

    ways = [way(DEFAULTS)]
    if engine == "c":
        ways.append(way("exact floats", float_precision="round_trip"))
        ways.append(
            way("exact floats, columns as a whole", float_precision="round_trip", low_memory=False)
        )
    return Reader(f"pandas-{engine}", f"pandas {engine}", ways, once=engine == "c")
