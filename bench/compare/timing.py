"""Seconds of a call that begins with fresh memory, and a line of progress."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def timed(
    action: Callable[[], Any], repeats: int = 1, *, before: Callable[[], None] | None = None
) -> float:
    """Seconds that `action` takes, the mean of `repeats`.

    The result is dropped, and all free memory is returned before the first call. `before` is
    called before each, outside the timing.
    """
    release_memory()
    gc.disable()
    seconds = 0.0
    try:
        for _ in range(repeats):
            if before is not None:
                before()
            start = time.perf_counter()
            value = action()
            seconds += time.perf_counter() - start
            del value
    finally:
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
    """A line of progress on the terminal; nothing when piped."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    try:
        yield lambda text: print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
