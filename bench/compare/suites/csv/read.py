"""Reading of whole texts into each host, and by one thread."""

from __future__ import annotations

import gc
from pathlib import Path

import pyarrow as pa

from ...calls import Call, in_turn, keep, show
from ...context import Context
from . import fread
from .measure import chosen, of_reader
from .readers import HOSTS, entasis, readers

ONE = "entasis-1-thread"


def run(context: Context) -> None:
    for name, path in chosen(context).items():
        expected = reference(path, context.options.threads)
        found: dict[str, list[Call]] = {}
        for host, label in HOSTS.items():
            found[label] = _measured(context, name, path, host, expected)
        show(f"{name} ({path.stat().st_size / 1e6:.0f} MB) into", found)
        others = [call for calls in found.values() for call in calls if call.is_other]
        if all(call.failure is not None for call in others):
            print(f"error: {name}: no other reader has the values of Entasis", flush=True)
            context.failed = True
        if context.options.threads > 1:
            calls = _threads(context, name, path, expected)
            show(f"{name} into Arrow, by threads", {name: calls})
        del expected
        gc.collect()


def reference(path: Path, threads: int) -> pa.Table:
    """The table of Entasis, which all other results are compared with."""
    (way,) = entasis("arrow", threads).ways
    return way.read(path)


def _measured(context: Context, name: str, path: Path, host: str, expected: pa.Table) -> list[Call]:
    threads = context.options.threads
    calls = [of_reader(reader, path, expected) for reader in readers(host, threads, expected)]
    with fread.process(context.work, threads) if host == "pandas" else fread.none() as data_table:
        if data_table is not None:
            calls.append(data_table.call(path, expected))
        in_turn(context, f"{name} into {HOSTS[host]}", calls)
    keep(context, name, "read", host, calls, expected.shape, path.stat().st_size)
    return calls


def _threads(context: Context, name: str, path: Path, expected: pa.Table) -> list[Call]:
    n = context.options.threads
    both = [entasis("arrow", n, label=f"{n} threads"), entasis("arrow", 1, ONE, "1 thread")]
    calls = [of_reader(reader, path, expected) for reader in both]
    in_turn(context, f"{name} by threads", calls)
    keep(context, name, "threads", "arrow", calls, expected.shape, path.stat().st_size)
    return calls
