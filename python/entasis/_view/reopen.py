"""Pickles of open files: the place of the file, and the view of it."""

from __future__ import annotations

import os
from typing import Any

from entasis.errors import ArgumentError, FileError

from . import table as _frame

# A pickle holds the content of a file in memory up to this length.
_MOST_BYTES = 64 << 20
# Path or content, memory_map, classes, fingerprint of the file, the number of the table in a tree
# or None, the limits, the number of the generation or None, and the rule for NaN or None.
Source = tuple[Any, ...]


def source(frame: _frame.Frame) -> Source:
    """The data with which another process opens the same file."""
    content, fingerprint = frame.content, frame.handle.fingerprint()
    if content is not None and len(content) > _MOST_BYTES:
        n = f"{len(content):,}"
        raise ArgumentError(f"a File of {n} bytes in memory is not pickled: write them to a file and open its path")
    found = os.path.abspath(frame.path) if content is None else content
    handle, options = frame.handle, (frame.limits, frame.generation, frame.handle.nan_to_null)
    return found, frame.memory_map, handle.classes, fingerprint, frame.table, *options


def frame(found: Source) -> _frame.Frame:
    """Open a source. Raises `FileError` if the file was replaced meanwhile."""
    source, memory_map, types, fingerprint, table, limits, generation, nan_to_null = found
    frame = _frame.opened(source, memory_map=memory_map, types=types, limits=limits, generation=generation)
    path = frame.path
    if frame.handle.fingerprint() != fingerprint:
        error = FileError(f"the file was replaced since its File was pickled: open it again (file {path!r})")
        error.file = error.filename = path
        raise error
    if nan_to_null is not None:
        frame = frame.with_nan_to_null(nan_to_null)
    if table is None:
        return frame
    return _frame.Frame(frame.handle.table(table), path, table=table, content=frame.content, limits=limits)
