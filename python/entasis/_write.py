"""Writes values whole: collects them, builds columns or cells, and hands these to the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _register
from ._arguments import options as _options
from ._arguments.options import threads as _threads
from ._file.file import Scan
from ._file.opened import Opened
from ._libraries import registry as _hosts
from .errors import ArgumentError, ColumnNotFoundError, UnsupportedTypeError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta

    from ._entasis import Destination, Key, Password
    from ._tree.document import OnUnsupported


def destination(
    path: str | None,
    compression: int | Mapping[str, int] | Mapping[str | None, int] | None,
    threads: int | None,
    durable: bool | None,
    wait: float,
    edition: int | None = None,
    keep: int | timedelta | None = None,
    *,
    overwrite: bool = True,
    secret: Key | Password | None = None,
) -> Destination:
    """Check the options of a write."""
    default, apart = _compression(compression)
    return {
        "path": path,
        "compression": default,
        "column_compression": apart,
        "edition": None if edition is None else _options.edition(edition),
        "keep": None if keep is None else _options.keep(keep),
        "threads": _threads(threads),
        "durable": _options.durable(durable),
        "wait": _options.wait(wait),
        "is_new": not overwrite,
        "progress": None,
        "change": None,
        "stream": None,
        "secret": secret,
    }


def of_scan(value: Any) -> Any:
    """The rows of a scan as a view of the scan's file; any other value unchanged."""
    return value.view() if isinstance(value, Scan) else value


def without_index(value: Any) -> Any:
    """A frame or series with positions as row labels."""
    value = of_scan(value)
    if isinstance(value, Opened):
        return value._to_store(index=False)
    if type(value) is not dict and not _hosts.is_frame(value):
        value = _hosts.collect(value)
    return _hosts.without_index(value)


def is_source(value: Any) -> bool:
    """Whether a value's rows may be elsewhere: in a file, a scan, a stream or a dataset."""
    return type(value) is not dict and not _hosts.is_frame(value) and _register.functions(type(value)) is None


def _collected(value: Any) -> tuple[Any, bool]:
    """A value in memory, and whether it is written as a table."""
    if is_source(value):
        value = of_scan(value)
        value = value._to_store() if isinstance(value, Opened) else _hosts.collect(value)
    return value, _hosts.is_columns(value) if type(value) is dict else _hosts.is_frame(value)


def write_whole(
    value: Any, to: Destination, metadata: Any, on_unsupported: OnUnsupported, *, is_table: bool = False
) -> bytes | None:
    """Write a value; `is_table` marks it as a frame. Returns the content if `to` has no path."""
    if on_unsupported not in ("error", "skip") and not callable(on_unsupported):
        raise ArgumentError(f"on_unsupported={_options.shown(on_unsupported)}: 'error', 'skip' or a function")
    if not is_table:
        value, is_table = _collected(value)
    try:
        builder, host_map = _hosts.build(value) if is_table else (None, {})
    except UnsupportedTypeError as error:
        if on_unsupported == "error":
            raise
        from ._hosts.unsupported_columns import without

        # A column that the user's function returned is not replaced again.
        value, is_table = _collected(without(value, on_unsupported, error))
        builder, host_map = _hosts.build(value) if is_table else (None, {})
    if to["column_compression"]:
        names = set() if builder is None else set(builder.names)
        for name, _ in to["column_compression"]:
            if name not in names:
                raise ColumnNotFoundError(f"compression names a column '{name}', which does not exist")
    if builder is not None and metadata is None and not builder.has_trees:
        found: bytes | None = builder.write(host_map, to)
        return found
    from ._tree.document import Document

    document = Document(on_unsupported, to)
    if builder is not None:
        table, cell = document.add_frame(value, builder, host_map), None
    else:
        table, cell = None, document.add(value, "value")
    metadata_cell = None if metadata is None else document.add(metadata, "metadata")
    return document.write(to, table, cell, metadata_cell)


def _compression(
    compression: int | Mapping[str, int] | Mapping[str | None, int] | None,
) -> tuple[int | None, list[tuple[str, int]]]:
    """The compression of most columns, and of single ones by name. None is the default."""
    if compression is None:
        return None, []
    if isinstance(compression, int) or _options.integer(compression) is not None:
        return _level(compression), []
    if not hasattr(compression, "items"):
        raise ArgumentError(
            f"compression={_options.shown(compression)}: an integer from 0 to 100, or a dict of them per column"
        )
    levels = {name: _level(level) for name, level in compression.items()}
    default = levels.pop(None, None)
    for name in levels:
        if not isinstance(name, str):
            raise ArgumentError(f"the keys of compression are column names (str), not {type(name).__name__}")
    return default, [(str(name), level) for name, level in levels.items()]


def _level(level: Any) -> int:
    found = _options.integer(level)
    if found is None or not 0 <= found <= 100:
        raise ArgumentError(f"compression={_options.shown(level)}: an integer from 0 to 100")
    return found
