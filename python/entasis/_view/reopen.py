"""Pickles of open files: the source of the file, and the view of it."""

from __future__ import annotations

import os
from typing import Any

from entasis.errors import ArgumentError, FileError

from . import table as _table

# The longest content of a file in memory that a pickle holds.
_MOST_BYTES = 64 << 20
# Path, content or object on a store; memory_map; classes; fingerprint of the file; table number in
# a tree, or None; limits; generation number, or None; rule for NaN, or None; the function for
# the key of an encrypted file, or None.
Source = tuple[Any, ...]


def source(table: _table.OpenTable) -> Source:
    """The data with which another process opens the same file."""
    content, fingerprint = table.content, table.handle.fingerprint()
    if isinstance(content, bytes) and len(content) > _MOST_BYTES:
        n = f"{len(content):,}"
        raise ArgumentError(f"a File of {n} bytes in memory is not pickled: write them to a file and open its path")
    found = os.path.abspath(table.path) if content is None else content
    handle, options = table.handle, (table.limits, table.generation, table.handle.nan_to_null)
    # Keys and passwords are not pickled.
    secret = None if table.secret is None else _for_pickle(table.secret)
    return found, table.memory_map, handle.classes, fingerprint, table.number, *options, secret


def table(found: Source) -> _table.OpenTable:
    """Open a source. Raises `FileError` if the file was replaced meanwhile."""
    source, memory_map, types, fingerprint, number, limits, generation, nan_to_null, secret = found
    table = _table.opened(
        source, memory_map=memory_map, types=types, limits=limits, generation=generation, secret=secret
    )
    path = table.path
    if table.handle.fingerprint() != fingerprint:
        error = FileError(f"the file was replaced since its File was pickled: open it again (file {path!r})")
        error.file = error.filename = path
        raise error
    if nan_to_null is not None:
        table = table.with_nan_to_null(nan_to_null)
    if number is None:
        return table
    return _table.OpenTable(
        table.handle.table(number), path, number=number, content=table.content, limits=limits, secret=secret
    )


def with_secret(found: Source, secret: Any) -> Source:
    """A source for a process that was forked, and so has the key or password."""
    return *found[:-1], secret


def _for_pickle(secret: Any) -> Any:
    from entasis._arguments.secrets import for_pickle

    return for_pickle(secret)
