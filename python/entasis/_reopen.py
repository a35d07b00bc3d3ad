"""Pickles of open files: where the bytes are and which part was seen, never the bytes of columns."""

from __future__ import annotations

import os
from typing import Any

from . import _frame
from ._cells import Cells
from ._file import File
from ._tree import Tree
from .errors import FileError

# How the bytes are found again: ("path", path, memory_map, classes, mark of the file, number of the table or None).
Source = tuple[Any, ...]


def source(frame: _frame.Frame) -> Source:
    """What another process needs to find the same file."""
    path = os.path.abspath(frame.path)
    return "path", path, frame.memory_map, list(frame.types.values()), frame.handle.mark(), frame.table


def file(found: Source, columns: list[int] | None, rows: Any) -> File:
    """Columns and rows of a frame."""
    return File._of(_open(found), columns, rows)


def tree(found: Source, where: str, info: dict[str, Any], rows: Any) -> Tree:
    """A part of a tree."""
    frame = _open(found)
    return Tree._at(Cells(frame.handle, frame.path, frame.types), where, info, rows)


def _open(found: Source) -> _frame.Frame:
    _, path, memory_map, types, mark, table = found
    frame = _frame.opened(path, memory_map=memory_map, types=types)
    if frame.handle.mark() != mark:
        error = FileError(f"the file was replaced since its File was pickled: open it again (file {path!r})")
        error.file = error.filename = path
        raise error
    if table is None:
        return frame
    return _frame.Frame(frame.handle.table(table), path, frame.types, table=table)
