"""Columns to dicts of NumPy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._columns import dtype_metadata as _dtype_metadata
from entasis._columns.levels import with_labels
from entasis._columns.missing import kinds_of_missing, restore_missing
from entasis._host_map import interpretation
from entasis.errors import DuplicateColumnError

from . import nested as _nested
from .arrays import arrays

if TYPE_CHECKING:
    from entasis._entasis import Handle


def read(handle: Handle, host: dict[str, Any], columns: list[int] | None, rows: Any, threads: int | None) -> Any:
    """Read columns and rows as a dict of arrays, which includes index levels."""
    names, found = read_columns(handle, host, columns, rows, threads)
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise DuplicateColumnError(f"a dict can't hold two columns with the name '{twice}': select some by position")
    return dict(zip(names, found, strict=True))


def read_columns(
    handle: Handle, host: dict[str, Any], columns: list[int] | None, rows: Any, threads: int | None
) -> tuple[list[str], list[Any]]:
    """Read columns and rows as a list of names and a list of arrays."""
    # StaticFrame has the host variants of NumPy.
    own = host.get("host") in ("numpy", "static_frame")
    columns, renamed = with_labels(handle, host, columns)
    numbers = list(range(handle.n_columns)) if columns is None else columns
    kinds = kinds_of_missing(host, numbers) if own else {}
    n = len(numbers)
    infos = handle.columns(numbers)
    names = [renamed.get(i, info.name) for i, info in enumerate(infos)]
    found: list[Any] = [None] * (n + len(kinds))
    nested = [i for i, info in enumerate(infos) if info.is_nested] if _nested.can_convert(handle) else []
    plain = [i for i in range(len(found)) if i not in nested] if nested else list(range(len(found)))
    wanted = [*numbers, *kinds.values()]
    if plain:
        entries = handle.read([wanted[i] for i in plain], _rows.native(rows), "numpy", own, 0, threads)
        for positions, values, _ in arrays(handle, entries, rows, handle.n_rows, own):
            for position, row in zip(positions.tolist(), values, strict=True):
                found[plain[position]] = row
    for i in nested:
        found[i] = _nested.read(handle, infos[i], rows, threads)
    for i, column in enumerate(kinds):
        with interpretation():
            for position in (k for k, number in enumerate(numbers) if number == column):
                restore_missing(found[position], found[n + i])
    if own and _dtype_metadata.KEY in host:
        _restore_metadata(found, numbers, host)
    return names, found[:n]


@interpretation()
def _restore_metadata(arrays: list[Any], columns: list[int], host: dict[str, Any]) -> None:
    """Restore the metadata of dtypes, in the list."""
    metadata = _dtype_metadata.ColumnMetadata(host, columns)
    for i, column in enumerate(columns):
        number = metadata.number(column)
        if number is not None:
            arrays[i] = metadata.restore(arrays[i], number)
