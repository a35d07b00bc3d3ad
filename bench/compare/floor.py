"""The floor of a read: its output bytes, copied by as many threads into fresh memory.

All copies go into one new piece of memory, so that small columns have huge pages too.
Like a fast reader, NumPy requests huge pages from 4 MiB on. It releases the GIL while copying, so
the threads run at memory speed.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

HUGE_PAGE = 2 << 20
CHUNK = 2 * HUGE_PAGE  # what a thread takes at once
NUMPY_HUGE = 4 << 20  # the size from which NumPy asks for huge pages
SMALL = 1 << 20
MANY = 64
LINE = 64  # bytes that every copy is aligned to


class Floor:
    """Copies the buffers of a frame into fresh memory."""

    def __init__(self, buffers: list[np.ndarray], threads: int) -> None:
        self.sources = _together(buffers)
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


def _together(buffers: list[np.ndarray]) -> list[np.ndarray]:
    """Joins many small buffers: the floor measures memory, not the number of calls."""
    small = [buffer for buffer in buffers if buffer.nbytes < SMALL]
    if len(small) < MANY:
        return buffers
    return [buffer for buffer in buffers if buffer.nbytes >= SMALL] + [np.concatenate(small)]


def huge_pages() -> str:
    """How the system gives out huge pages, for the record."""
    setting = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    try:
        return setting.read_text().split("[")[1].split("]")[0]
    except (OSError, IndexError):
        return "unknown"
