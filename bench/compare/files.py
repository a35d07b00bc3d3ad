"""Output of a peer: a file, or a folder of files."""

from __future__ import annotations

import shutil
from pathlib import Path


def remove(path: Path) -> None:
    """Remove it, and files that a database may have left next to it."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.with_name(path.name + ".wal").unlink(missing_ok=True)


def size(path: Path) -> int:
    """Bytes of the file, or of all files in the folder."""
    if path.is_dir():
        return sum(part.stat().st_size for part in path.rglob("*") if part.is_file())
    return path.stat().st_size
