"""What several attacks share: outcomes of reads, and the place of records in a small file."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import entasis as en

COLUMNS, BLOCKS = 2, 6


def refused(call: Callable[[], Any], *kinds: type[BaseException]) -> bool:
    """Whether a call raises one of these errors. Any other error is not caught."""
    try:
        call()
    except kinds or en.EntasisError:
        return True
    return False


def section(data: bytes, kind: int) -> int:
    """Where the first part of a section begins, in a file whose sections have one part each."""
    (root_at, root_len) = struct.unpack_from("<QI", data, 72)
    for at in range(root_at + 64, root_at + root_len, 48):
        (found,) = struct.unpack_from("<H", data, at)
        if found == kind:
            return struct.unpack_from("<Q", data, at + 16)[0]
    raise LookupError(f"the file has no section {kind}")


def verified(path: Path) -> bool:
    """Whether `verify` accepts a file."""
    return not refused(lambda: en.verify(path), en.CorruptFileError)
