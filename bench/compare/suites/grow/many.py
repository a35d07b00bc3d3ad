"""1,000 appends of 1,000 rows, then reads before and after compacting the file.

The same rows written at once are the reference for the file and the read.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import entasis as en
import pandas as pd

from ... import files
from ...context import Context
from ...frames.orders import orders
from ...run import SLOW, failure
from ...timing import timed
from .growth import READS, Growth, append_all, check, keep, over, remove, show, start, turns, write

ROWS = 1_000
N = 1_000
CHECKED = 10  # appends before the first comparison
PATIENCE = 20.0  # seconds of all appends, beyond which a format is measured in one round


def run(context: Context) -> None:
    n = context.scaled(N, least=CHECKED)
    whole = orders((n + 1) * ROWS)
    pieces = [
        whole.iloc[first : first + ROWS].reset_index(drop=True)
        for first in range(0, len(whole), ROWS)
    ]
    results = start(context, "many")
    can_compact = hasattr(en, "compact")
    compacted = {result.peer.key: _compacted(result) for result in results if can_compact}
    values: dict[str, tuple[Any, list[Any]]] = {}
    for result in results:
        with failure(result):
            value = result.peer.prepare(whole)
            values[result.peer.key] = value, [result.peer.prepare(piece) for piece in pieces]
            first, *rest = values[result.peer.key][1]
            write(result, first, result.path)
            append_all(result, rest[:CHECKED])
            check(result, whole.iloc[: (CHECKED + 1) * ROWS])
    for turn, result in turns("many", context.options.rounds, results):
        value, parts = values[result.peer.key]
        with failure(result):
            _grow(result, value, parts, whole if turn == 0 else None)
        again = compacted.get(result.peer.key)
        if again is not None and result.failure is None and again.failure is None:
            with failure(again):
                _compact(again, result, whole if turn == 0 else None)
    remove([*results, *compacted.values()])
    keep(context, "orders", "many", results, whole.shape)
    _show(f"{n:,} appends of {ROWS:,} rows to a file, then a read, pandas", results)
    if not compacted:
        print("note: grow: compact: left out: this build of entasis has none", file=sys.stderr)
        return
    able = [
        result
        for result in compacted.values()
        if result.write_s or not (result.failure or "").startswith("refused")
    ]
    keep(context, "orders", "compact", able, whole.shape)
    _show_compacted(f"the same files, compacted after {n:,} appends, pandas", able)


def _grow(result: Growth, value: Any, parts: list[Any], whole: pd.DataFrame | None) -> None:
    """One round: the appends, the same rows at once, and reads of both."""
    peer = result.peer
    write(result, parts[0], result.path)
    seconds = append_all(result, parts[1:])
    if sum(seconds) > PATIENCE:
        result.notes.append(SLOW)
    if whole is not None:
        check(result, whole)
    files.remove(result.once)
    once_write_s = timed(partial(peer.write, value, result.once))
    os.sync()
    result.append_s.append(seconds)
    result.write_s.append(sum(seconds))
    result.once_write_s.append(once_write_s)
    result.n_bytes, result.once_bytes = files.size(result.path), files.size(result.once)
    _read(result, result.path, result.once)


def _read(result: Growth, path: Path, once: Path) -> None:
    """Read both files, in turn."""
    pairs = [(path, result.read_s), (once, result.once_read_s)]
    for place, seconds in pairs if len(result.read_s) % 2 else pairs[::-1]:
        seconds.append(timed(partial(result.peer.read, place), READS))


def _compacted(result: Growth) -> Growth:
    path = result.path.with_name(f"compacted.{result.peer.key}")
    return Growth(result.peer, path, once=result.once)


def _compact(result: Growth, grown: Growth, whole: pd.DataFrame | None) -> None:
    """One round: compact a copy of the file that grew, and read it."""
    files.remove(result.path)
    files.copy(grown.path, result.path)
    os.sync()
    seconds = timed(partial(result.peer.compact, result.path))
    if whole is not None:
        check(result, whole)
    os.sync()
    result.write_s.append(seconds)
    result.n_bytes, result.once_bytes = files.size(result.path), files.size(result.once)
    _read(result, result.path, result.once)


def _show(title: str, results: list[Growth]) -> None:
    cells = {
        "appends s": (".3f", lambda r: r.write),
        "median ms": (",.2f", lambda r: r.append * 1e3),
        "slowest ms": (",.2f", lambda r: r.slowest * 1e3),
        "written at once s": (".3f", lambda r: r.once_write),
        **_READ,
    }
    show(title, results, cells)


def _show_compacted(title: str, results: list[Growth]) -> None:
    show(title, results, {"compact s": (".3f", lambda r: r.write), **_READ})


_READ: dict[str, tuple[str, Any]] = {
    "read ms": (",.2f", lambda r: r.read * 1e3),
    "read / at once": (".2f", lambda r: over(r.read, r.once_read)),
    "file MB": (",.2f", lambda r: r.n_bytes / 1e6),
    "file / at once": (".2f", lambda r: over(r.n_bytes, r.once_bytes)),
}
