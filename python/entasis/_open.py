"""Opens files as the kind of value that they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._file.file import File

if TYPE_CHECKING:
    from ._tree.tree import Tree
    from ._view.view import View


def open_value(path: str) -> File | Tree:
    """Open the file at a path."""
    return value_of(File(path)._view)


def value_of(view: View) -> File | Tree:
    """The value of an opened file: a `Tree` if it is not a frame."""
    if view.handle.is_table:
        return File._of(view)
    from ._tree.tree import root

    return root(view.table)
