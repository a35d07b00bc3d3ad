"""Writes a frame with unsupported columns: leaves them out, or replaces them by a function."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from entasis._libraries import frame_columns
from entasis._libraries import registry as _hosts
from entasis.errors import ArgumentError, EntasisError, UnsupportedTypeError, printable

if TYPE_CHECKING:
    from collections.abc import Callable

_SHOWN = 10


def without(frame: Any, on_unsupported: Callable[[Any, str], Any] | str, error: UnsupportedTypeError) -> Any:
    """Return a frame without its unsupported columns, or with replacements for them.

    Raises `error`, the error for the whole frame, if no column is the cause.
    """
    columns = frame_columns.of(frame)
    if columns is None:
        if on_unsupported == "skip":
            raise error
        return on_unsupported(frame, "value")  # type: ignore[operator]
    refused = [(i, name, column, reason) for i, (name, column, one) in enumerate(columns) if (reason := _refusal(one))]
    if not refused:
        raise error
    if on_unsupported == "skip":
        left_out = [printable(reason) for _, _, _, reason in refused]
        more = f"; and {len(left_out) - _SHOWN} more" if len(left_out) > _SHOWN else ""
        warnings.warn(f"left out, as they can't be kept: {'; '.join(left_out[:_SHOWN])}{more}", stacklevel=4)
        numbers = {i for i, _, _, _ in refused}
        return _select(frame, [i for i in range(len(columns)) if i not in numbers])
    for i, name, column, _ in refused:
        path = f"df[{name!r}]"
        instead = on_unsupported(column, path)  # type: ignore[operator]
        if not hasattr(instead, "__len__") or isinstance(instead, (str, bytes, dict)) or len(instead) != len(column):
            what = f"{len(instead)} values" if hasattr(instead, "__len__") else type(instead).__name__
            raise ArgumentError(f"{path}: on_unsupported gives {what} for a column of {len(column)} values")
        frame = _replace(frame, i, name, instead)
    return frame


def _refusal(one: Any) -> str | None:
    """The reason why a frame of one column can't be written; None if it can."""
    try:
        _hosts.build(one)
    except UnsupportedTypeError as error:
        return str(error)
    except EntasisError:
        # The error for the whole frame is more exact.
        return None
    return None


def _select(frame: Any, positions: list[int]) -> Any:
    """Select columns of a frame by positions."""
    root = "numpy" if type(frame) is dict else type(frame).__module__.partition(".")[0]
    if root == "numpy":
        names = list(frame)
        return {names[i]: frame[names[i]] for i in positions}
    if root == "polars":
        return frame.select([frame.columns[i] for i in positions])
    if root == "pyarrow":
        return frame.select(positions)
    return frame.iloc[:, positions]


def _replace(frame: Any, position: int, name: Any, column: Any) -> Any:
    """Replace a column of a frame, and keep its label."""
    import numpy as np

    root = "numpy" if type(frame) is dict else type(frame).__module__.partition(".")[0]
    if root == "numpy":
        return frame | {name: np.asarray(column)}
    if root == "pandas":
        frame = frame.copy(deep=False)
        # Take the values of a Series by position, ignoring the index.
        frame.isetitem(position, getattr(column, "array", column))
        return frame
    if root == "polars":
        import polars as pl

        return frame.with_columns(pl.Series(name, column))
    if root == "pyarrow":
        return frame.set_column(position, name, column)
    return frame.assign.iloc[:, position](np.asarray(column))
