"""Reading of whole texts into each host, and by one thread."""

from __future__ import annotations

import gc
from pathlib import Path

import pyarrow as pa

from ...context import Context
from . import fread
from .measure import ENTASIS, Call, chosen, in_turn, keep, of_reader, show
from .readers import HOSTS, entasis, readers

ONE = "entasis-1-thread"


def run(context: Context) -> None:
    found: dict[str, dict[str, list[Call]]] = {host: {} for host in HOSTS}
    by_threads: dict[str, list[Call]] = {}
    for name, path in chosen(context).items():
        expected = reference(path, context.options.threads)
        agreeing = 0
        for host in HOSTS:
            calls = found[host][name] = _measured(context, name, path, host, expected)
            agreeing += sum(c.failure is None and c.key != ENTASIS for c in calls)
        if not agreeing:
            print(f"error: {name}: no other reader has the values of Entasis", flush=True)
            context.failed = True
        if context.options.threads > 1:
            by_threads[name] = _threads(context, name, path, expected)
        del expected
        gc.collect()
    for host, label in HOSTS.items():
        show(f"texts into {label}", found[host])
    if by_threads:
        show("texts into Arrow, by the number of threads", by_threads)


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
