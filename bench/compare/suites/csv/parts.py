"""Some columns of a text, and some of its rows, into Polars."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from ...calls import in_turn, keep, show
from ...conditions import Condition, Term, for_entasis, for_polars, for_sql
from ...context import Context
from ..scan.questions import Question, answer
from .measure import chosen, of_reader
from .read import reference
from .readers import DEFAULTS, Reader, Way, connection, entasis

ALL = "entasis-all"
COLUMNS = ["loan_amnt", "addr_state"]
DAY = datetime.date(1992, 3, 20)  # about 1 % of the rows were shipped until then
CONDITION: Condition = (Term("l_shipdate", "<=", DAY),)


def run(context: Context) -> None:
    for name, path in chosen(context, ["loans"]).items():
        expected = reference(path, context.options.threads)
        title = f"{len(COLUMNS)} of {expected.num_columns} columns"
        _measure(context, name, path, "columns", title, expected, COLUMNS, ())
    for name, path in chosen(context, ["lineitem"]).items():
        expected = reference(path, context.options.threads)
        found = answer(expected, Question("filter", "", CONDITION, expected.column_names))
        title = f"{found.num_rows:,} of {expected.num_rows:,} rows"
        _measure(context, name, path, "filter", title, expected, None, CONDITION)


def _measure(
    context: Context,
    name: str,
    path: Path,
    kind: str,
    title: str,
    whole: pa.Table,
    columns: list[str] | None,
    condition: Condition,
) -> None:
    threads = context.options.threads
    part = whole.select(columns) if columns else whole
    if condition:
        part = answer(whole, Question(kind, title, condition, whole.column_names))
    calls = [
        of_reader(reader, path, whole if reader.key == ALL else part)
        for reader in part_readers(threads, columns, condition, whole.schema)
    ]
    in_turn(context, f"{name}: {title}", calls)
    keep(context, name, kind, "polars", calls, whole.shape, path.stat().st_size)
    show(f"{title} into Polars", {name: calls})


def part_readers(
    threads: int, columns: Sequence[str] | None, condition: Condition, schema: pa.Schema
) -> list[Reader]:
    """Readers of some columns, or of the rows that fit a condition."""
    import entasis as en

    filter = for_entasis(condition) if condition else None

    def mine(path: Path) -> Any:
        return en.read_csv(str(path), "polars", columns=columns, filter=filter, threads=threads)

    found = [
        Reader("entasis", "Entasis", [Way(DEFAULTS, mine)]),
        entasis("polars", threads, ALL, "Entasis, all"),
        _polars(columns, condition),
    ]
    if find_spec("duckdb"):
        found.append(_duckdb(threads, columns, condition, schema))
    if columns:
        found.append(Reader("pyarrow", "pyarrow", [Way(DEFAULTS, partial(_included, columns))]))
    return found


def _polars(columns: Sequence[str] | None, condition: Condition) -> Reader:
    """Polars looks for dates only for the condition, as this takes time."""

    def lazy(n_rows: int, path: Path) -> Any:
        import polars as pl

        dates = bool(condition)
        frame = pl.scan_csv(path, try_parse_dates=dates, infer_schema_length=n_rows)
        frame = frame.select(columns) if columns else frame
        return (frame.filter(for_polars(condition)) if condition else frame).collect()

    ways = [Way(f"types from {n:,} rows", partial(lazy, n)) for n in (100, 10_000)]
    return Reader("polars", "Polars", ways)


def _duckdb(
    threads: int, columns: Sequence[str] | None, condition: Condition, schema: pa.Schema
) -> Reader:
    def query(path: Path) -> Any:
        named = ", ".join(columns) if columns else "*"
        where = f" WHERE {for_sql(condition, schema)}" if condition else ""
        text = str(path).replace("'", "''")
        return connection(threads).sql(f"SELECT {named} FROM read_csv('{text}'){where}").pl()

    return Reader("duckdb", "DuckDB", [Way(DEFAULTS, query)])


def _included(columns: Sequence[str], path: Path) -> Any:
    import polars as pl
    from pyarrow import csv

    options = csv.ConvertOptions(include_columns=columns, strings_can_be_null=True)
    return pl.from_arrow(csv.read_csv(path, convert_options=options))
