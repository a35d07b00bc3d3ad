"""Facts about a file that a manifest has."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from entasis._open import open_value
from entasis._view import statistics as _statistics
from entasis._view.read import read as read_view

if TYPE_CHECKING:
    from entasis._view.view import View

# The types of columns with bounds in a manifest, by the beginnings of their names.
_BOUNDED = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "f32", "f64", "date", "timestamp", "utf8")
# Short columns share blocks, whose statistics cover all of them. Their values are read.
_SHORT = 1 << 16


class Bounds(NamedTuple):
    """Bounds of a column of a file. None is unknown.

    Attributes
    ----------
    low, high
        The least value, or a lower bound of strings, and the greatest one.
    n_missing
        The number of missing values.
    has_nan
        Whether a value is NaN.
    """

    low: Any
    high: Any
    n_missing: int | None
    has_nan: bool | None


class FileFacts(NamedTuple):
    """A file of a manifest.

    Attributes
    ----------
    path
        The path relative to the folder, with `/`.
    length
        The bytes of the file.
    end
        The last bytes of the file, which have its id and its root checksum.
    generation
        The number of the generation.
    n_rows
        The number of rows.
    texts
        The texts of the keys; None is missing.
    bounds
        The bounds of columns, by name.
    """

    path: str
    length: int
    end: bytes
    generation: int
    n_rows: int
    texts: tuple[str | None, ...]
    bounds: dict[str, Bounds]


def bounded(kind: str) -> bool:
    """Whether a manifest has bounds of columns of a type."""
    return kind.partition("[")[0] in _BOUNDED


def facts(folder: str, path: str, texts: tuple[str | None, ...]) -> FileFacts:
    """Open a file, and collect its facts."""
    file: Any = open_value(os.path.join(folder, *path.split("/")))
    view: View = file._view
    length, end = view.handle.fingerprint()
    found = {}
    # Labels need not be text, so columns are named by number.
    for number, (name, kind) in enumerate(zip(*view.schema(), strict=True)):
        if bounded(kind):
            found[name] = _bounds(view, number)
    return FileFacts(path, length + len(end), end, view.handle.generation, view.n_rows, texts, found)


def _bounds(view: View, number: int) -> Bounds:
    blocks = _statistics.described(view.handle, [number])
    if any(block["n_missing"] is None for block in blocks):
        return _of_values(view, number) if view.n_rows <= _SHORT else Bounds(None, None, None, None)
    n_missing = sum(block["n_missing"] for block in blocks)
    has_nan = any(block["has_nan"] for block in blocks)
    filled = [block for block in blocks if block["min"] is not None]
    is_known = all(block["min"] is not None or block["n_missing"] == block["n_rows"] for block in blocks)
    if not filled or not is_known:
        return Bounds(None, None, n_missing, has_nan)
    low = min(block["min"] for block in filled)
    high = None if any(block["is_cut"] for block in filled) else max(block["max"] for block in filled)
    return Bounds(low, high, n_missing, has_nan)


def _of_values(view: View, number: int) -> Bounds:
    """The bounds of a short column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = read_view(view.narrow([number], view.rows), "pyarrow", 1, index=False, is_restored=False)
    column = table.column(0)
    column = column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column
    has_nan = bool(pa.types.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py())
    found = pc.min_max(column.filter(pc.invert(pc.is_nan(column))) if has_nan else column)
    return Bounds(found["min"], found["max"], column.null_count, has_nan)
