"""The floor of a read: its output bytes, copied by as many threads into fresh memory.

All copies go into one new piece of memory, so that small columns have huge pages too.
NumPy asks for these from 4 MiB on, as a fast reader does for its output, and releases
the GIL while it copies: the threads here run at the speed of the memory.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

HUGE_PAGE = 2 << 20
CHUNK = 2 * HUGE_PAGE  # what a thread takes at once
NUMPY_HUGE = 4 << 20  # the size from which NumPy asks for huge pages
LINE = 64  # bytes that every copy is aligned to


class Floor:
    """Copies the buffers of a frame into fresh memory."""

    def __init__(self, frame: pd.DataFrame, threads: int) -> None:
        self.sources = buffers(frame)
        self.n_bytes = sum(source.nbytes for source in self.sources)
        room = HUGE_PAGE + sum(source.nbytes + LINE for source in self.sources)
        self.room = max(room, NUMPY_HUGE)
        self.threads = threads
        self.pool = ThreadPoolExecutor(threads)
        list(self.pool.map(abs, range(threads)))

    def copy(self) -> np.ndarray:
        """One copy; the caller times it and drops the result."""
        arena = np.empty(self.room, np.uint8)
        at = -arena.ctypes.data % HUGE_PAGE
        jobs = []
        for source in self.sources:
            end = at + source.nbytes
            start = at
            while start < end:  # cut at huge pages: no two threads touch the same new page
                stop = min(end, start // CHUNK * CHUNK + CHUNK)
                jobs.append((arena[start:stop], source[start - at : stop - at]))
                start = stop
            at = end + -end % LINE
        chunks = iter(jobs)

        def work(_: int) -> None:
            for target, source in chunks:
                np.copyto(target, source)

        if self.threads == 1 or self.n_bytes < CHUNK:
            work(0)
        else:
            list(self.pool.map(work, range(self.threads)))
        return arena

    def close(self) -> None:
        self.pool.shutdown()


def huge_pages() -> str:
    """How the system gives out huge pages, for the record."""
    setting = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    try:
        return setting.read_text().split("[")[1].split("]")[0]
    except (OSError, IndexError):
        return "unknown"


def buffers(frame: pd.DataFrame) -> list[np.ndarray]:
    """The bytes that a frame consists of (for object columns only the pointers)."""
    found: list[np.ndarray] = []
    for i in range(frame.shape[1]):
        found += _of_array(frame.iloc[:, i].array)
    if not isinstance(frame.index, pd.RangeIndex | pd.MultiIndex):
        found += _of_array(frame.index.array)
    return [part for part in found if part.nbytes]


def _of_array(array: Any) -> list[np.ndarray]:
    if isinstance(array.dtype, pd.CategoricalDtype):
        return [_bytes(array.codes)]
    if hasattr(array, "_mask"):
        return [_bytes(array._data), _bytes(array._mask)]
    if hasattr(array, "__arrow_array__") and not hasattr(array, "_ndarray"):
        import pyarrow as pa

        arrow = pa.array(array)
        chunks = arrow.chunks if isinstance(arrow, pa.ChunkedArray) else [arrow]
        return [
            np.frombuffer(buffer, np.uint8)
            for chunk in chunks
            for buffer in chunk.buffers()
            if buffer is not None
        ]
    return [_bytes(getattr(array, "_ndarray", None) if hasattr(array, "_ndarray") else array)]


def _bytes(values: Any) -> np.ndarray:
    array = np.ascontiguousarray(np.asarray(values))
    if array.dtype == object:
        array = np.empty(len(array), np.intp)
        array.fill(1)
    return array.reshape(-1).view(np.uint8)
