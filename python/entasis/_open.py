"""Opens files as the kind of value that they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._file.file import File

if TYPE_CHECKING:
    from ._tree.tree import Tree


def open_value(path: str) -> File | Tree:
    """Open the file at a path."""
    return value_of(File(path))


def value_of(file: File) -> File | Tree:
    """The value of an opened file: a `Tree` if it is not a frame."""
    if file._view.handle.is_table:
        return file
    from ._tree.tree import root

    return root(file._view.table)
