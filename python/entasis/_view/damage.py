"""Reading with `on_damage="missing"`: values of damaged blocks are missing."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from entasis.errors import ArgumentError, CorruptFileError, DamageWarning, printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from .table import OpenTable

# Damaged places that a warning names.
_SHOWN = 3


def read(table: OpenTable, read_table: Callable[[OpenTable], Any], threads: int | None) -> Any:
    """Call `read_table`. If it finds damage, repeat with the damaged values missing, and warn.

    Damaged values that can't be missing are still an error.
    """
    if table.memory_map:
        raise ArgumentError("on_damage='missing' is for values that are read: leave memory_map=True out")
    try:
        return read_table(table)
    except CorruptFileError:
        found = table.handle.without_damage(threads)
        if found is None:
            raise
    handle, damages, n_damages = found
    if table.number is not None:
        handle = handle.table(table.number)
    value = read_table(table.with_handle(handle))
    warnings.warn(_warning(table.path, damages, n_damages), stacklevel=4)
    return value


def _warning(path: str, damages: list[Any], n_damages: int) -> DamageWarning:
    what = "1 place is damaged" if n_damages == 1 else f"{n_damages:,} places are damaged"
    shown = "; ".join(damage.message for damage in damages[:_SHOWN])
    more = f"; and {n_damages - _SHOWN:,} more" if n_damages > _SHOWN else ""
    message = f"{what} in {path!r}, and values there are missing: {shown}{more}"
    return DamageWarning(printable(message), damages, n_damages)
