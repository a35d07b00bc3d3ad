"""Queries to each engine over each format: equality first, then rounds in which they take turns."""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ... import files
from ...context import Context
from ...floor import Floor
from ...hosts import WrongData
from ...peers.duckdb import DuckParquet
from ...run import SLOW, failure
from ...table import Column, aligned
from ...timing import progress, timed
from ..scan.questions import PATIENCE, repeats
from .engine import ENTASIS, LABELS, MEMORY, PARQUET, DuckDb, Engine, Polars
from .query import Query, check

SECTION = "engines"
ROOM = 1 << 28  # bytes of memory made available before each call; for smaller tables their size


@dataclass
class Source:
    """The tables of one format, opened by one engine."""

    engine: Engine
    format: str
    opened: Any
    n_bytes: int | None


@dataclass(kw_only=True)
class Timed:
    """The measurements of one call: seconds, one number per round."""

    call: Callable[[], Any]
    seconds: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failure: str | None = None

    @property
    def median_s(self) -> float | None:
        return statistics.median(self.seconds) if self.seconds else None

    @property
    def cell(self) -> str:
        """The median in milliseconds, for a table."""
        return f"{self.median_s * 1e3:,.2f}" if self.median_s is not None else ""


@dataclass(kw_only=True)
class Outcome(Timed):
    """The measurements of one source and one query."""

    source: Source
    explain: str | None = None


def engines(context: Context, only: str | None = None) -> list[Engine]:
    """The engines that are installed, or one of them."""
    peers = context.pool.get([DuckDb.parquet, Polars.parquet], host="arrow", fixed=True)
    every = [DuckDb(peer) if isinstance(peer, DuckParquet) else Polars() for peer in peers]
    return [engine for engine in every if only in (None, engine.key)]


def write(context: Context, key: str, frame: str, tables: dict[str, pa.Table]) -> dict[str, Path]:
    """Write tables by a format, and return their paths."""
    (peer,) = context.pool.get([key], host="arrow", fixed=True)
    paths = {}
    for name, table in tables.items():
        # Plans take the name of the table from the file's name.
        paths[name] = context.work / f"{frame}.{name}.{key}"
        files.remove(paths[name])
        peer.write(peer.prepare(table), paths[name])
    return paths


def ask(
    context: Context,
    frame: str,
    tables: dict[str, pa.Table],
    queries: list[Query],
    *,
    only: str | None = None,
    write: Callable[[Context, str, str, dict[str, pa.Table]], dict[str, Path]] = write,
    section: str = SECTION,
) -> None:
    """Write the tables by each format, and measure all queries.

    `only` is the key of the only engine. `write` may make folders. The records go to `section`.
    """
    entasis = write(context, ENTASIS, frame, tables)
    written = [entasis]
    sources = []
    for engine in engines(context, only):
        parquet = write(context, engine.parquet, frame, tables)
        written.append(parquet)
        formats: list[tuple[str, dict[str, Any]]]
        formats = [(ENTASIS, entasis), (PARQUET, parquet), (MEMORY, tables)]
        for format, named in formats:
            size = sum(map(files.size, named.values())) if format != MEMORY else None
            sources.append(Source(engine, format, engine.open(format, named), size))
    os.sync()
    n_rows = max(table.num_rows for table in tables.values())
    columns = {column: name for name, table in tables.items() for column in table.column_names}
    found = {}
    for query in queries:
        outcomes = _answered(query, sources, columns)
        found[query.title] = outcomes
        title = f"{frame}: {query.title}"
        in_rounds(context, title, outcomes, sum(table.nbytes for table in tables.values()))
        for outcome in outcomes:
            _keep(context, frame, n_rows, query, outcome, section)
    sources.clear()
    gc.collect()
    for paths in written:
        for path in paths.values():
            files.remove(path)
    _show(f"{frame} ({n_rows:,} rows): median ms", found)


def _answered(query: Query, sources: list[Source], columns: dict[str, str]) -> list[Outcome]:
    """One outcome per source. Checks its answer, and notes a plan that differs."""
    outcomes = [
        Outcome(source=source, call=source.engine.call(source.opened, query)) for source in sources
    ]
    expected = {
        outcome.source.engine.key: outcome.source.engine.answer(outcome.call())
        for outcome in outcomes
        if outcome.source.format == MEMORY
    }
    first, *others = expected.values()
    for other in others:
        try:
            check(first, other)
        except WrongData as error:
            raise ValueError(f"{query.title}: the engines differ: {error}") from error
    plans = {}
    for outcome in outcomes:
        source, engine = outcome.source, outcome.source.engine
        with failure(outcome):
            begin = time.perf_counter()
            got = outcome.call()
            if time.perf_counter() - begin > PATIENCE:
                outcome.notes.append(SLOW)
            check(expected[engine.key], engine.answer(got))
            del got
            plans[engine.key, source.format] = engine.plan(source.opened, query, columns)
    for key in expected:
        own, other = plans.get((key, ENTASIS)), plans.get((key, PARQUET))
        if own is None or other is None or not own.has_joins or own.order == other.order:
            continue
        for outcome in outcomes:
            if outcome.source.engine.key == key and outcome.source.format != MEMORY:
                outcome.explain = plans[key, outcome.source.format].text
    return outcomes


def in_rounds(context: Context, title: str, calls: Sequence[Timed], n_bytes: int) -> None:
    """Measure calls in turn on tables of that size. Another one begins in each round."""
    fit = [one for one in calls if one.failure is None]
    often = [repeats(one.call, timed(one.call)) for one in fit]
    floor = Floor([np.ones(min(ROOM, n_bytes), np.uint8)], context.options.threads)
    rounds = context.options.rounds
    with progress() as say:
        for turn in range(rounds):
            first = turn % len(fit) if fit else 0
            order = list(zip(fit, often, strict=True))
            for one, n in order[first:] + order[:first]:
                if one.failure is not None or (turn and SLOW in one.notes):
                    continue
                say(f"{title}: {turn + 1} of {rounds}")
                timed(floor.copy)  # the machine has the memory at hand for every format
                with failure(one):
                    one.seconds.append(timed(one.call, n))
    floor.close()


def _keep(
    context: Context, frame: str, n_rows: int, query: Query, outcome: Outcome, section: str
) -> None:
    source = outcome.source
    record = {
        "host": source.engine.key,
        "format": source.format,
        "label": LABELS[source.format],
        "n_rows": n_rows,
        "n": len(outcome.seconds),
        "median_s": outcome.median_s,
        "file_bytes": source.n_bytes,
        "notes": outcome.notes,
        "failure": outcome.failure,
    }
    if outcome.explain is not None:
        record["explain"] = outcome.explain
    keep(context, frame, query.kind, query.title, record, section)
    context.keep_raw(frame, source.engine.key, source.format, query.title, outcome.seconds)
    context.failed |= outcome.failure is not None and source.format == ENTASIS


def keep(
    context: Context,
    frame: str,
    kind: str,
    title: str,
    record: dict[str, Any],
    section: str = SECTION,
) -> None:
    """Keep a record of one format and one query."""
    same = {"suite": context.suite, "frame": frame, "kind": kind, "work": title}
    context.keep(section, [{**same, "threads": context.options.threads, **record}])


def _show(title: str, found: dict[str, list[Outcome]]) -> None:
    """Print a row per query and engine, with a column per format, and the plans that differ."""
    columns = [Column("", left=True), Column("", left=True), *map(Column, LABELS.values())]
    columns.append(Column("over Parquet"))
    rows, remarks = [], []
    for name, outcomes in found.items():
        for engine in dict.fromkeys(outcome.source.engine for outcome in outcomes):
            own = {o.source.format: o for o in outcomes if o.source.engine is engine}
            mine, base = own[ENTASIS].median_s, own[PARQUET].median_s
            over = f"{mine / base:.2f}" if mine is not None and base is not None else ""
            rows.append([name, engine.label, *(own[format].cell for format in LABELS), over])
            for format, outcome in own.items():
                where = f"{name}, {engine.label}, {LABELS[format]}"
                remarks += [f"  {where}: {note}" for note in outcome.notes]
                if outcome.failure is not None:
                    remarks.append(f"  {where}: {outcome.failure}")
                if outcome.explain is not None:
                    remarks += [f"  {where}: another plan for the joins:", outcome.explain]
    print(title, end="\n\n")
    print(aligned(columns, rows))
    print(*remarks, sep="\n", end="\n\n" if remarks else "\n", flush=True)
