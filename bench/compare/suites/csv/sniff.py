"""The time to find out how a text is written."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...calls import Call, in_turn, keep, show
from ...context import Context
from .measure import chosen, left_out
from .readers import connection


def run(context: Context) -> None:
    import entasis as en

    found = {}
    for name, path in chosen(context).items():
        calls = [Call("entasis", "sniff_csv", partial(en.sniff_csv, str(path)))]
        if find_spec("duckdb"):
            label = "DuckDB, sniff_csv"
            left = left_out("duckdb", label, path)
            calls.append(left or Call("duckdb", label, partial(_duckdb, context, path)))
        for call in calls:
            if call.failure is None:
                call.checked(lambda _: [])
        in_turn(context, f"{name}: sniff", calls)
        keep(context, name, "sniff", "arrow", calls, (0, 0), path.stat().st_size)
        found[name] = calls
    if found:
        show("dialect and types of a sample", found, "ms")


def _duckdb(context: Context, path: Path) -> Any:
    text = str(path).replace("'", "''")
    return connection(context.options.threads).execute(f"FROM sniff_csv('{text}')").fetchall()
