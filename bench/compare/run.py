"""Measure formats in one run: equality first, then rounds in which they take turns."""

from __future__ import annotations

import ctypes
import gc
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .equality import WrongData, differences
from .floor import Floor
from .peers import Peer, Refused

if TYPE_CHECKING:
    import pandas as pd


@dataclass
class Result:
    """What was measured of one format on one frame."""

    peer: Peer
    path: Path
    write_s: list[float] = field(default_factory=list)
    read_s: list[float] = field(default_factory=list)
    n_bytes: int = 0
    notes: list[str] = field(default_factory=list)
    failure: str | None = None
    value: Any = None  # what is given to the writer, while it is measured

    @property
    def write(self) -> float:
        return statistics.median(self.write_s)

    @property
    def read(self) -> float:
        return statistics.median(self.read_s)


@dataclass
class Comparison:
    """All formats on one frame."""

    name: str
    n_rows: int
    n_columns: int
    memory_bytes: int
    results: list[Result]
    floor_s: list[float] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def floor(self) -> float:
        return statistics.median(self.floor_s)


def compare(
    name: str,
    frame: pd.DataFrame,
    peers: list[Peer],
    folder: Path,
    *,
    rounds: int,
    threads: int,
    repeats: int = 1,
) -> Comparison:
    """Write and read `frame` by every peer, in turn, `rounds` times.

    Each reading is the mean of `repeats`, one after the other.
    The files stay in `folder`. A peer that refuses the frame or returns other values has
    a `failure` and no times.
    """
    floor = Floor(frame, threads)
    results = []
    with progress() as say:
        for peer in peers:
            say(f"{name}: {peer.label}: equality")
            results.append(_checked(peer, frame, folder / f"{name}.{peer.key}"))
        fit = [result for result in results if result.failure is None]
        outcome = Comparison(name, *frame.shape, floor.n_bytes, results)
        for turn in range(rounds):
            # Another one begins in each round, so that no one always follows the same one.
            first = turn % len(fit) if fit else 0
            order = fit[first:] + fit[:first]
            for result in order:
                say(f"{name}: round {turn + 1} of {rounds}: {result.peer.label}: write")
                result.path.unlink(missing_ok=True)
                result.write_s.append(_timed(partial(result.peer.write, result.value, result.path)))
            say(f"{name}: round {turn + 1} of {rounds}: sync")
            os.sync()  # so that no file is on its way to the disk while another is read
            for result in order:
                # The floor comes before each read: it has all readers begin with pages that
                # the machine has at hand, and it sees the same disturbances as they do.
                outcome.floor_s.append(_timed(floor.copy))
                say(f"{name}: round {turn + 1} of {rounds}: {result.peer.label}: read")
                result.read_s.append(_timed(partial(result.peer.read, result.path), repeats))
    floor.close()
    for result in results:
        result.value = None
    return outcome


def _checked(peer: Peer, frame: pd.DataFrame, path: Path) -> Result:
    """Write, read and compare once; this also warms code paths and the page cache."""
    result = Result(peer, path)
    path.unlink(missing_ok=True)
    try:
        result.value = peer.prepare(frame)
        peer.write(result.value, path)
        got = peer.restore(peer.read(path), frame)
        lost = differences(frame, got)
        if lost and peer.exact:
            raise WrongData("; ".join(lost))
        result.notes = peer.notes() + lost
        result.n_bytes = path.stat().st_size
    except WrongData as error:
        result.failure = f"wrong data: {error}"
    except Refused as error:
        result.failure = f"refused: {error}"
    except Exception as error:  # whatever a format raises is its result
        reason = str(error).strip().splitlines()
        result.failure = f"{type(error).__name__}: {reason[0] if reason else ''}"[:200]
    return result


def _timed(action: Callable[[], Any], repeats: int = 1) -> float:
    """Seconds that `action` takes, the mean of `repeats`.

    What it returns is dropped; all memory is given back before the first.
    """
    release_memory()
    gc.disable()
    seconds = 0.0
    for _ in range(repeats):
        start = time.perf_counter()
        value = action()
        seconds += time.perf_counter() - start
        del value
    gc.enable()
    return seconds / repeats


def release_memory() -> None:
    """Give unused memory back to the system, so that each reader begins with fresh memory."""
    gc.collect()
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    trim = getattr(_libc, "malloc_trim", None)
    if trim is not None:
        trim(0)


_libc = ctypes.CDLL(None) if os.name == "posix" else None


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A line on the terminal that tells what is being done; nothing when piped."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    try:
        yield lambda text: print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
