"""Outcomes of reads, and the places of records in a small file, for several attacks."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import entasis as en

COLUMNS, BLOCKS = 2, 6


def refused(
    call: Callable[[], Any], kinds: tuple[type[BaseException], ...] = (en.EntasisError,)
) -> bool:
    """Whether a call raises one of these errors. Any other error is not caught."""
    try:
        call()
    except kinds:
        return True
    return False


def refused_early(call: Callable[[], Any]) -> str:
    """The verdict on a call that asks for much memory."""
    tracemalloc.start()
    is_refused = refused(call, (en.EntasisError, MemoryError))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    if is_refused and peak < 1 << 24:
        return "refused before memory is allocated"
    return f"accepted, or {peak} bytes were allocated"


def section(data: bytes, kind: int) -> int:
    """Where the first part of a section begins, in a file whose sections have one part each."""
    (root_at, root_len) = struct.unpack_from("<QI", data, 72)
    for at in range(root_at + 160, root_at + root_len, 48):
        (found,) = struct.unpack_from("<H", data, at)
        if found == kind:
            return struct.unpack_from("<Q", data, at + 16)[0]
    raise LookupError(f"the file has no section {kind}")


def verified(path: Path) -> bool:
    """Whether `verify` accepts a file."""
    return not refused(lambda: en.verify(path), (en.CorruptFileError,))
