"""Rows of StaticFrame. The result of an append is that of `from_concat`."""

from __future__ import annotations

from typing import Any

from entasis._arguments.options import shown
from entasis.errors import ArgumentError

from .columns import positions, refused
from .numpy import common


def collect(value: Any) -> Any:
    """The value as a frame or series."""
    import static_frame as sf

    if isinstance(value, (sf.Frame, sf.Series)):
        return value
    raise ArgumentError(f"{shown(value)} can't be appended to a file of StaticFrame: pass a Frame or a Series")


def head(value: Any) -> Any:
    """No rows of a value."""
    return value.iloc[:0]


def labels(value: Any) -> list[Any]:
    """The labels of its columns."""
    return list(value.columns) if hasattr(value, "columns") else [value.name]


def fit(old: Any, new: Any, fill: bool) -> tuple[Any, dict[int, Any]]:
    """The rows to append, their columns in the order of the file."""
    if hasattr(old, "columns") != hasattr(new, "columns"):
        raise ArgumentError(f"{shown(new)} can't be appended to this file: pass a {type(old).__name__}")
    if not hasattr(old, "columns"):
        if common(old.dtype, new.dtype) is None:
            raise refused(old.name, old.dtype, new.dtype)
        return new, {}
    found = positions(list(old.columns), list(new.columns), False)
    part = new.iloc[:, [place for place in found if place is not None]]
    dtypes = zip(old.columns, old.dtypes.values, part.dtypes.values, strict=True)
    for label, of_file, of_rows in dtypes:
        if common(of_file, of_rows) is None:
            raise refused(label, of_file, of_rows)
    # The file is written anew: StaticFrame keeps its labels unique, and checks them itself.
    return part, {0: None}


def grow(old: Any, grown: dict[int, Any]) -> Any:
    """A value of the file: `from_concat` makes its types wider."""
    return old


def concat(old: Any, new: Any) -> Any:
    """The value of the file after the append."""
    import static_frame as sf

    is_auto = type(old.index) is sf.Index and type(new.index) is sf.Index and _is_auto(old) and _is_auto(new)
    index = sf.IndexAutoFactory if is_auto else None
    try:
        return type(old).from_concat((old, new), index=index, name=old.name)
    except sf.ErrorInit as error:
        raise ArgumentError(f"labels of the rows to append are in the file already: {error}") from error


def _is_auto(value: Any) -> bool:
    """Whether the labels are positions."""
    return list(value.index.values[:1]) in ([], [0]) and value.index.dtype.kind == "i"


def joined_index(old: Any, new: Any, n_rows: int) -> None:
    """The file is always written anew."""
