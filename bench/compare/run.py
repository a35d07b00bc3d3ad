"""Measure formats in one run: equality first, then rounds in which they take turns."""

from __future__ import annotations

import gc
import math
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from . import files
from .floor import Floor
from .hosts import Host, WrongData
from .peers import Peer, Refused
from .timing import progress, timed

QUICK = 0.03  # seconds that repeated quick calls take together
LOOKS = 5  # calls; the quickest decides the number of repeats
MOST = 30  # calls in one measurement
PATIENCE = 60.0  # seconds of one write and read, beyond which a format is measured once
SLOW = "slow: measured in one round alone"


@dataclass
class Result:
    """Measurements of one format on one frame: seconds of a call, one number per round."""

    peer: Peer
    path: Path
    write_s: list[float] = field(default_factory=list)
    read_s: list[float] = field(default_factory=list)
    n_bytes: int = 0
    notes: list[str] = field(default_factory=list)
    failure: str | None = None
    peak_bytes: dict[str, int] = field(default_factory=dict)  # by direction
    check_s: tuple[float, float] = (0.0, 0.0)  # the first write and read
    value: Any = None  # the writer's argument, while it is measured

    @property
    def write(self) -> float:
        return statistics.median(self.write_s) if self.write_s else math.nan

    @property
    def read(self) -> float:
        return statistics.median(self.read_s) if self.read_s else math.nan

    @property
    def broken(self) -> bool:
        """Whether a format that must be exact failed. Refusing a frame does not count."""
        failed = self.failure is not None and not self.failure.startswith("refused")
        return failed and self.peer.exact


@dataclass
class Comparison:
    """All formats on one frame."""

    name: str
    host: Host
    n_rows: int
    n_columns: int
    memory_bytes: int
    results: list[Result]
    threads: int
    floor_s: list[float] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def floor(self) -> float:
        return statistics.median(self.floor_s) if self.floor_s else math.nan

    def remove_files(self) -> None:
        for result in self.results:
            files.remove(result.path)


def compare(
    name: str,
    frame: Any,
    host: Host,
    peers: list[Peer],
    folder: Path,
    *,
    rounds: int,
    threads: int,
    repeats: int | None = 1,
    touch: bool = False,
    written: Sequence[Result] = (),
) -> Comparison:
    """Write and read `frame` by every peer, in turn, `rounds` times.

    The formats of `written`, whose files hold the frame already, only take turns in writing.

    Each measurement is the mean of `repeats` calls, one after the other; with None, of enough calls
    for about 30 ms. With `touch`, a reading ends with the look-up of one element. The files stay in
    `folder`. A peer that refuses the frame or returns other values has a `failure` and no times.
    """
    floor = Floor(host.buffers(frame), threads)
    results = []
    with progress() as say:
        for peer in peers:
            say(f"{name}: {peer.label}: equality")
            results.append(_checked(peer, frame, host, folder / f"{name}.{peer.key}"))
        results += written
        fit = [result for result in results if result.failure is None]
        n_rows, n_columns = host.shape(frame)
        outcome = Comparison(name, host, n_rows, n_columns, floor.n_bytes, results, threads)
        # Current objects live until the end, so the collections before each call may skip them.
        gc.freeze()
        often = {id(result): _repeats(result, repeats, host, touch) for result in fit}
        for turn in range(rounds):
            # A different format begins in each round, so that no format always follows the same
            # one.
            first = turn % len(fit) if fit else 0
            order = [
                result
                for result in fit[first:] + fit[:first]
                if result.failure is None and not (turn and SLOW in result.notes)
            ]
            for result in order:
                say(f"{name}: round {turn + 1} of {rounds}: {result.peer.label}: write")
                action: Callable[[], Any] = partial(result.peer.write, result.value, result.path)
                new = partial(files.remove, result.path)
                with failure(result):
                    result.write_s.append(timed(action, often[id(result)][0], before=new))
                    result.peer.settle()
            say(f"{name}: round {turn + 1} of {rounds}: sync")
            os.sync()  # so that no file is on its way to the disk while another is read
            for result in (result for result in order if result.peer.is_read):
                # The floor runs before each read. So all readers begin with available memory, and
                # disturbances affect the floor too.
                outcome.floor_s.append(timed(floor.copy, often[id(result)][1]))
                say(f"{name}: round {turn + 1} of {rounds}: {result.peer.label}: read")
                action = _reading(result, host, touch)
                with failure(result):
                    result.read_s.append(timed(action, often[id(result)][1]))
        gc.unfreeze()
    floor.close()
    for result in results:
        result.value = None
    return outcome


class CanFail(Protocol):
    failure: str | None


@contextmanager
def failure(result: CanFail) -> Iterator[None]:
    """Record an exception of a format as its result."""
    try:
        yield
    except WrongData as error:
        result.failure = f"wrong data: {error}"
    except Refused as error:
        result.failure = f"refused: {error}"
    except Exception as error:
        reason = str(error).strip().splitlines()
        result.failure = f"{type(error).__name__}: {reason[0] if reason else ''}"[:200]


def _reading(result: Result, host: Host, touch: bool) -> Any:
    if not touch:
        return partial(result.peer.read, result.path)

    def read() -> Any:
        frame = result.peer.read(result.path)
        host.touch(frame)
        return frame

    return read


def _repeats(result: Result, repeats: int | None, host: Host, touch: bool) -> tuple[int, int]:
    """Calls in one measurement of a write, and of a read."""
    if repeats is not None:
        return repeats, repeats
    found = []
    for i, action in enumerate(
        [partial(result.peer.write, result.value, result.path), _reading(result, host, touch)]
    ):
        seconds = result.check_s[i]
        if seconds < 1:
            # The first call loads code and gets pages, so the least of several counts.
            seconds = min(_again(action, result.path if i == 0 else None) for _ in range(LOOKS))
        found.append(max(1, min(MOST, round(QUICK / max(seconds, 1e-6)))))
    return found[0], found[1]


def _again(action: Callable[[], Any], new: Path | None) -> float:
    """Seconds of a call that reuses the memory of earlier calls."""
    if new is not None:
        files.remove(new)
    start = time.perf_counter()
    value = action()
    seconds = time.perf_counter() - start
    del value
    return seconds


def _checked(peer: Peer, frame: Any, host: Host, path: Path) -> Result:
    """Write, read and compare once; this also warms code paths and the page cache."""
    result = Result(peer, path)
    files.remove(path)
    with failure(result):
        result.value = peer.prepare(frame)
        begin = time.perf_counter()
        peer.write(result.value, path)
        written = time.perf_counter()
        got = peer.read(path)
        end = time.perf_counter()
        result.check_s = (written - begin, end - written)
        lost = host.differences(frame, peer.restore(got, frame))
        if lost and peer.exact:
            raise WrongData("; ".join(lost))
        result.notes = peer.notes() + lost
        if end - begin > PATIENCE:
            result.notes.append(SLOW)
        result.n_bytes = files.size(path)
    if result.failure is not None:
        result.value = None
        files.remove(path)
    return result
