"""Reading with `on_unsupported="skip"`: columns whose type the library lacks are left out."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from entasis._columns.levels import with_labels
from entasis.errors import UnsupportedTypeError, printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from entasis._entasis import Handle

_SHOWN = 10


def every(handle: Handle, host: dict[str, Any], columns: list[int] | None, *, has_index: bool) -> list[int]:
    """The numbers of the columns to read.

    For a library without indexes they include the index levels.
    """
    if not has_index:
        columns, _ = with_labels(handle, host, columns)
    return list(range(handle.n_columns)) if columns is None else columns


def read(
    read_columns: Callable[[list[int] | None], Any], columns: list[int] | None, every: list[int], stacklevel: int = 4
) -> Any:
    """Call `read_columns` without the columns that it refuses, and warn about these.

    After a refusal, each column is tried by itself, because a refusal may depend on values.

    Parameters
    ----------
    columns
        The columns to read; None for all.
    every
        The numbers of all these columns.
    stacklevel
        The depth in the stack of the caller that the warning names, as in `warnings.warn`.
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
            # Row labels or a combination of columns cause the error.
            raise error from None
    more = f"; and {len(refused) - _SHOWN} more" if len(refused) > _SHOWN else ""
    warnings.warn(f"left out: {'; '.join(refused[:_SHOWN])}{more}", stacklevel=stacklevel)
    return found
