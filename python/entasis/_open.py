"""Opens and reads files as the kind of value that they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._file.file import File, is_frame
from .errors import ArgumentError

if TYPE_CHECKING:
    from ._arguments.secrets import Secret
    from ._arguments.sources import Source
    from ._filter.conditions import Filter
    from ._libraries.registry import Host
    from ._tree.tree import Tree
    from ._typing import Columns, OnRefused, Rows


def open_value(source: Source, secret: Secret | None = None) -> File | Tree:
    """Open a file, which `secret` opens if it is encrypted."""
    return value_of(File(source, key=secret))


def value_of(file: File) -> File | Tree:
    """The value of an opened file: a `Tree` if it is not a frame."""
    if file._view.handle.is_table:
        return file
    from ._tree.tree import root

    return root(file._view.table)


def read_value(
    file: File | Tree,
    columns: Columns | None,
    rows: Rows | None,
    filter: Filter | None,
    to: Host | None,
    threads: int | None,
    index: bool,
    nan_to_null: bool | None,
    on_unsupported: OnRefused,
) -> Any:
    """Read an open file."""
    if not is_frame(file):
        # `to=` is also for lists of dicts, and then `columns` are their keys.
        if filter is not None or (to is None and columns is not None):
            raise ArgumentError("the file holds a tree: columns and filter are for frames; open it and choose a part")
        if nan_to_null is not None:
            raise ArgumentError("the file holds a tree: nan_to_null is for frames; open it and choose a part")
        return file.read(columns=columns, rows=rows, to=to, threads=threads, index=index)
    return file.read(
        columns=columns,
        rows=rows,
        filter=filter,
        to=to,
        threads=threads,
        index=index,
        nan_to_null=nan_to_null,
        on_unsupported=on_unsupported,
    )
