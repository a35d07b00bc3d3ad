"""Reading with `on_damage="missing"`: values of damaged blocks are missing."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from entasis.errors import ArgumentError, CorruptFileError, DamageWarning, printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from entasis._damage import Damage

    from .table import Frame

# Damaged places that a warning names.
_SHOWN = 3


def read(frame: Frame, read_frame: Callable[[Frame], Any], threads: int | None) -> Any:
    """Call `read_frame`. If it meets damage, call it again with the damaged values missing, and warn.

    Damaged values that can't be missing are still an error.
    """
    if frame.memory_map:
        raise ArgumentError("on_damage='missing' is for values that are read: leave memory_map=True out")
    try:
        return read_frame(frame)
    except CorruptFileError:
        found = frame.handle.without_damage(threads)
        if found is None:
            raise
    handle, damages, n_damages = found
    if frame.table is not None:
        handle = handle.table(frame.table)
    value = read_frame(frame.with_handle(handle))
    warnings.warn(_warning(frame.path, damages, n_damages), stacklevel=4)
    return value


def warn_of(lost: Damage, path: str, generation: int) -> None:
    """Warn that another generation of a file is opened than its damaged current one."""
    which = "the newest generation" if lost.generation is None else f"generation {lost.generation}"
    message = f"{which} of {path!r} is damaged, and generation {generation} was opened: {lost.message}"
    # From `open` or `read` on.
    warnings.warn(DamageWarning(printable(message), [lost], 1), stacklevel=5)


def _warning(path: str, damages: list[Any], n_damages: int) -> DamageWarning:
    what = "1 place is damaged" if n_damages == 1 else f"{n_damages:,} places are damaged"
    shown = "; ".join(damage.message for damage in damages[:_SHOWN])
    more = f"; and {n_damages - _SHOWN:,} more" if n_damages > _SHOWN else ""
    message = f"{what} in {path!r}, and values there are missing: {shown}{more}"
    return DamageWarning(printable(message), damages, n_damages)
