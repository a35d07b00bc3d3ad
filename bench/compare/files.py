"""Output of a peer: a file, or a folder of files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
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


def copy(path: Path, to: Path) -> None:
    """Copy the file, or the folder with all files in it, to a path that does not exist."""
    if path.is_dir():
        shutil.copytree(path, to)
    else:
        shutil.copyfile(path, to)


def stamps(path: Path) -> dict[Path, tuple[int, int]]:
    """Length and time of change of the file, or of all files in the folder."""
    parts = path.rglob("*") if path.is_dir() else [path]
    found = {part: part.stat() for part in parts if part.is_file()}
    return {part: (stat.st_size, stat.st_mtime_ns) for part, stat in found.items()}


def force(parts: Iterable[Path]) -> None:
    """Wait until the files and their names are on the disk."""
    parts = list(parts)
    for path in [*parts, *{part.parent for part in parts}]:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
