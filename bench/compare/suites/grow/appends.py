"""Appends of 1,000 rows to files of 10^5 to 10^8 rows: does the length of the file matter?

Each format appends 100 times without waiting for the disk and 100 times with it. Formats that do
not wait by themselves get a `fsync` of their new files and folders, within the time.
"""

from __future__ import annotations

import math
import os
import sys
from typing import Any

from ... import files
from ...context import Context
from ...frames.orders import orders
from ...run import failure
from .growth import PEERS, Growth, append_all, check, keep, over, show, start, turns, write

ROWS = 1_000  # of one append
N = 100  # appends of each kind
CHECKED = 2  # appends before the first comparison
SECONDS = 3.0  # seconds of a turn, after which a slow format stops appending
SMALL, TALL, LARGE = 100_000, 10_000_000, 100_000_000  # rows of the file
LARGE_PEERS = ("entasis", "lance")  # a check of other formats needs several times the memory
KINDS = {"append": False, "append-durable": True}
TITLES = {"append": "not forced to the disk", "append-durable": "forced to the disk"}
DURABLE = "forces each append to the disk in any case"
FORCED = "its new files and folders are forced to the disk after the append"


def run(context: Context) -> None:
    sizes = [SMALL, TALL, *([LARGE] if context.options.large else [])]
    found = {}
    for i, full in enumerate(sizes):
        # Each append rewrites a file of fewer than 8,192 rows, which would measure something else.
        size = context.scaled(full, least=(i + 1) * SMALL) if i else SMALL
        found[size] = _size(context, full, size)
    for kind in KINDS:
        _show(kind, {size: results[kind] for size, results in found.items()})


def _size(context: Context, full: int, size: int) -> dict[str, list[Growth]]:
    """The results of each kind, for files of `size` rows before the appends."""
    frame = f"orders-1e{len(str(full)) - 1}"
    whole = orders(size + (CHECKED + len(KINDS) * N) * ROWS)
    # A separate frame numbers its rows from 0, as new rows do.
    pieces = [
        whole.iloc[first : first + ROWS].reset_index(drop=True)
        for first in range(size, len(whole), ROWS)
    ]
    results = start(context, frame, LARGE_PEERS if full == LARGE else PEERS)
    prepared: dict[str, list[Any]] = {}
    for result in results:
        with failure(result):
            write(result, result.peer.prepare(whole.iloc[:size]), result.path)
            prepared[result.peer.key] = [result.peer.prepare(piece) for piece in pieces]
            append_all(result, prepared[result.peer.key][:CHECKED])
            check(result, whole.iloc[: size + CHECKED * ROWS])
    rounds = min(context.options.rounds, N)
    found = {}
    for kind, durable in KINDS.items():
        found[kind] = [_of_kind(result, durable=durable) for result in results]
        for turn, result in turns(f"{frame}: {kind}", rounds, found[kind]):
            n = N * (turn + 1) // rounds - N * turn // rounds
            values = prepared[result.peer.key][result.n_appended :][:n]
            os.sync()
            with failure(result):
                seconds = append_all(result, values, durable=durable, most=SECONDS)
                result.append_s.append(seconds)
        for result, before in zip(found[kind], results, strict=True):
            before.n_appended, before.failure = result.n_appended, result.failure
            if result.failure is None:
                # Join the rounds, because the slowest of all appends counts.
                result.append_s = [[s for turn in result.append_s for s in turn]]
                with failure(result):
                    check(result, whole.iloc[: size + result.n_appended * ROWS])
                    result.n_bytes = files.size(result.path)
        keep(context, frame, kind, found[kind], (size, whole.shape[1]))
    for result in results:
        files.remove(result.path)
    return found


def _of_kind(result: Growth, *, durable: bool) -> Growth:
    """The same file with new measurements."""
    notes = list(result.notes)
    if result.peer.is_always_durable and not durable:
        notes.append(DURABLE)
    if durable and not result.peer.is_durable:
        notes.append(FORCED)
    return Growth(
        result.peer,
        result.path,
        once=result.once,
        notes=notes,
        failure=result.failure,
        n_appended=result.n_appended,
    )


def _show(kind: str, found: dict[int, list[Growth]]) -> None:
    def of(size: int, result: Growth) -> Growth | None:
        same = (other for other in found[size] if other.peer.key == result.peer.key)
        return next((other for other in same if other.failure is None), None)

    def value(size: int, name: str) -> Any:
        def cell(result: Growth) -> float:
            other = of(size, result)
            return math.nan if other is None else getattr(other, name) * 1e3

        return cell

    cells = {}
    for size in found:
        cells[f"{size:,} median ms"] = (",.2f", value(size, "append"))
        cells[f"{size:,} slowest ms"] = (",.2f", value(size, "slowest"))
    median = {size: value(size, "append") for size in found}
    for size in list(found)[1:]:
        cells[f"{size:,} / {SMALL:,}"] = (
            ".2f",
            lambda result, size=size: over(median[size](result), median[SMALL](result)),
        )
    title = f"append {ROWS:,} rows of 10 columns to so many, {TITLES[kind]}"
    show(f"{title}, pandas", found[SMALL], cells)
    for size in list(found)[1:]:
        for result in found[size]:
            if result.failure is not None:
                text = f"{size:,} rows: {result.peer.label}: {result.failure}"
                print(f"note: {text}", file=sys.stderr)
