"""Hostile bytes as a file on the disk."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# In memory where possible: a target writes thousands of files per second.
_FOLDER = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@contextmanager
def at_path(data: bytes, suffix: str = ".entasis") -> Iterator[str]:
    """A path of a file with these bytes, which is removed afterwards."""
    handle, path = tempfile.mkstemp(suffix, dir=_FOLDER)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        yield path
    finally:
        Path(path).unlink()
