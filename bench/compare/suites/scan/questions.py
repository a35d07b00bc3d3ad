"""One question to each format: equality first, then rounds in which they take turns."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ... import files
from ...conditions import Condition, for_arrow
from ...context import Context
from ...floor import Floor
from ...hosts import WrongData, host
from ...peers import Filters
from ...run import MOST, QUICK, SLOW, Result, failure
from ...table import Column, aligned
from ...timing import progress, timed

PEERS = (
    "entasis",
    "polars-snappy",
    "duckdb-snappy",
    "duckdb",
    "parquet-snappy",
    "vortex",
    "lance",
)
IN_MEMORY = "entasis-in-memory"
PATIENCE = 20.0  # seconds of one call, beyond which a format is measured in one round
LOOKS = 3  # calls; the quickest decides the number of repeats
UNORDERED = "rows in another order"


@dataclass(frozen=True)
class Question:
    """A condition, and the columns to return. Without columns it asks for the count."""

    kind: str  # of the targets
    title: str
    condition: Condition
    columns: list[str] | None = None


def ask(
    context: Context,
    frame: str,
    table: pa.Table,
    questions: list[Question],
    *,
    in_memory: bool = False,
) -> None:
    """Write the table by each format, and measure all questions.

    With `in_memory`, a reference reads all rows and filters them by Arrow.
    """
    peers = context.pool.get(PEERS, host="arrow")
    if in_memory:
        peers += context.pool.get([IN_MEMORY], host="arrow", fixed=True)
    written = [Result(peer, context.work / f"{frame}.{peer.key}") for peer in peers]
    opened: dict[str, Filters] = {}
    for result in written:
        files.remove(result.path)
        with failure(result):
            result.peer.write(result.peer.prepare(table), result.path)
            result.n_bytes = files.size(result.path)
            opened[result.peer.key] = result.peer.filters(result.path, table.schema)
    os.sync()
    found = {
        question.title: _ask(context, frame, table, question, written, opened)
        for question in questions
    }
    opened.clear()
    gc.collect()
    for result in written:
        files.remove(result.path)
    shape = f"{table.num_rows:,} rows x {table.num_columns} columns"
    _show(f"{frame} ({shape}): filters into Arrow, median ms", found)


def _ask(
    context: Context,
    frame: str,
    table: pa.Table,
    question: Question,
    written: list[Result],
    opened: dict[str, Filters],
) -> list[Result]:
    expected = answer(table, question)
    n_found = expected if isinstance(expected, int) else expected.num_rows
    results, calls, often = [], {}, {}
    for before in written:
        result = Result(before.peer, before.path, n_bytes=before.n_bytes, failure=before.failure)
        results.append(result)
        if result.failure is not None:
            continue
        with failure(result):
            call = prepared(opened[result.peer.key], question)
            begin = time.perf_counter()
            got = call()
            seconds = time.perf_counter() - begin
            result.notes = differences(expected, got, exact=result.peer.exact)
            del got
            if seconds > PATIENCE:
                result.notes.append(SLOW)
            calls[result.peer.key] = call
            often[result.peer.key] = repeats(call, seconds)
    fit = [result for result in results if result.failure is None]
    buffers = [] if isinstance(expected, int) else host("arrow").buffers(expected)
    floor = Floor(buffers, context.options.threads) if buffers else None
    rounds = context.options.rounds
    with progress() as say:
        for turn in range(rounds):
            first = turn % len(fit) if fit else 0
            for result in fit[first:] + fit[:first]:
                if result.failure is not None or (turn and SLOW in result.notes):
                    continue
                say(f"{frame}: {question.title}: {turn + 1} of {rounds}: {result.peer.label}")
                key = result.peer.key
                if floor is not None:
                    timed(floor.copy)  # the machine has the memory at hand for every format
                with failure(result):
                    result.read_s.append(timed(calls[key], often[key]))
    if floor is not None:
        floor.close()
    _keep(context, frame, table.num_rows, question, n_found, results)
    return results


def answer(table: pa.Table, question: Question) -> Any:
    """The count or the rows, as Arrow finds them in the table that was written."""
    found = table.filter(for_arrow(question.condition, table.schema))
    if question.columns is None:
        return found.num_rows
    return found.select(question.columns)


def prepared(filters: Filters, question: Question) -> Callable[[], Any]:
    """The call that is timed."""
    if question.columns is None:
        return filters.count(question.condition)
    return filters.rows(question.condition, question.columns)


def differences(expected: Any, got: Any, *, exact: bool) -> list[str]:
    """Properties that a format dropped. If not `exact`, another order of rows is only noted."""
    if isinstance(expected, int):
        if got != expected:
            raise WrongData(f"{got} rows instead of {expected}")
        return []
    same = host("arrow").differences
    try:
        lost = same(expected, got)
    except WrongData:
        if exact or got.shape != expected.shape or got.column_names != expected.column_names:
            raise
        lost = [*same(_sorted(expected), _sorted(got)), UNORDERED]
    if lost and exact:
        raise WrongData("; ".join(lost))
    return lost


def _sorted(table: pa.Table) -> pa.Table:
    """The rows in the order of all columns, from the first to the last."""
    plain = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    keys = [(str(i), "ascending") for i in range(len(plain))]
    order = pc.sort_indices(pa.table(plain, names=[name for name, _ in keys]), sort_keys=keys)
    return table.take(order)


def repeats(call: Callable[[], Any], seconds: float) -> int:
    """Calls in one measurement."""
    if seconds < 1:
        # The first call loads code and gets pages, so the least of several counts.
        seconds = min(timed(call) for _ in range(LOOKS))
    return max(1, min(MOST, round(QUICK / max(seconds, 1e-6))))


def best(results: Iterable[Result]) -> Result | None:
    """The fastest of the formats that are compared with Entasis."""
    others = [r for r in results if r.read_s and not r.peer.key.startswith("entasis")]
    return min(others, key=lambda r: r.read, default=None)


def _keep(
    context: Context,
    frame: str,
    n_rows: int,
    question: Question,
    n_found: int,
    results: list[Result],
) -> None:
    fastest = best(results)
    for result in results:
        key, is_measured = result.peer.key, bool(result.read_s)
        record = {
            "format": key,
            "label": result.peer.label,
            "n_rows": n_rows,
            "n_found": n_found,
            "n_columns": len(question.columns or []),
            "n": len(result.read_s),
            "median_s": result.read if is_measured else None,
            "best": fastest.peer.label if fastest is not None else None,
            "best_median_s": fastest.read if fastest is not None else None,
            "file_bytes": result.n_bytes or None,
            "notes": result.notes,
            "failure": result.failure,
        }
        keep(context, frame, question.kind, question.title, record)
        context.keep_raw(frame, "arrow", key, question.title, result.read_s)
    context.failed |= any(result.broken for result in results)


def keep(context: Context, frame: str, kind: str, title: str, record: dict[str, Any]) -> None:
    """Keep a record of one format and one question."""
    same = {"suite": context.suite, "frame": frame, "kind": kind, "work": title, "host": "arrow"}
    context.keep("scan", [{**same, "threads": context.options.threads, **record}])


def _show(title: str, found: dict[str, list[Result]]) -> None:
    """Print a row per question and a column per format."""
    results = next(iter(found.values()), [])
    columns = [Column("", left=True), *(Column(r.peer.label) for r in results)]
    columns.append(Column("over the best other"))
    rows = []
    notes: dict[tuple[str, str], list[str]] = {}
    for name, them in found.items():
        own = next((r for r in them if r.peer.key == "entasis" and r.read_s), None)
        fastest = best(them)
        ratio = f"{own.read / fastest.read:.2f}" if own is not None and fastest is not None else ""
        cells = [f"{r.read * 1e3:,.2f}" if r.read_s else "" for r in them]
        rows.append([name, *cells, ratio])
        for r in them:
            for note in [*r.notes, *([r.failure] if r.failure is not None else [])]:
                notes.setdefault((r.peer.label, note), []).append(name)
    print(title, end="\n\n")
    print(aligned(columns, rows))
    for (label, note), names in notes.items():
        where = f"{len(names)} questions" if len(names) > 1 else names[0]
        print(f"  {label}: {note} ({where})")
    print(flush=True)
