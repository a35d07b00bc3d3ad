"""Reading for a library that has nothing for some of the columns: they are left out, and a warning names them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from entasis._hosts.levels import with_labels
from entasis.errors import UnsupportedTypeError, printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from entasis._entasis import Handle

_SHOWN = 10


def every(handle: Handle, host: dict[str, Any], columns: list[int] | None, *, has_index: bool) -> list[int]:
    """The numbers of the columns that are read: with the levels of the index, for a library without one."""
    if not has_index:
        columns, _ = with_labels(handle, host, columns)
    return list(range(handle.n_columns)) if columns is None else columns


def read(read_columns: Callable[[list[int] | None], Any], columns: list[int] | None, every: list[int]) -> Any:
    """What `read_columns` makes of these columns, which are `every` one, without those that it refuses.

    Each column is read by itself once one is refused: whether a library has something for it may depend on its values.
    """
    try:
        return read_columns(columns)
    except UnsupportedTypeError as error:
        refused, kept = [], []
        for column in every:
            try:
                read_columns([column])
                kept.append(column)
            except UnsupportedTypeError as of_column:
                refused.append(printable(str(of_column)))
        if not refused:
            raise
        try:
            found = read_columns(kept)
        except UnsupportedTypeError:
            # Not a column is refused but the labels of rows, or all of them together.
            raise error from None
    more = f"; and {len(refused) - _SHOWN} more" if len(refused) > _SHOWN else ""
    warnings.warn(f"left out: {'; '.join(refused[:_SHOWN])}{more}", stacklevel=4)
    return found
