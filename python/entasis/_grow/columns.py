"""Rules for columns of rows to append that all libraries share."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from entasis._arguments.options import shown
from entasis.errors import ArgumentError, ColumnNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


# The index's key among the parts of a value that need a wider type. A column's key is its position
# or name.
INDEX = -1


def refused(what: str, old: Any, new: Any, reason: str = "", wider: Any = None) -> ArgumentError:
    """The error for a column whose type does not hold the rows. `what` names it.

    `reason` says what does not fit. With `wider=True` the column would have the type `wider`.
    """
    lacking = f": it does not hold {reason}" if reason else ""
    advice = "convert one of them" if wider is None else f"widen=True makes it {wider}"
    return ArgumentError(f"{what} is {old} in the file and {new} in the rows to append{lacking}; {advice}")


def no_missing(what: str, dtype: Any, wider: Any = None) -> ArgumentError:
    """The error for a column that the rows lack, and whose type has no missing value."""
    advice = "pass the column" if wider is None else f"pass the column, or widen=True makes it {wider}"
    return ArgumentError(f"{what} is {dtype}, which has no missing value: {advice}")


def unreadable(value: Any, library: str, instead: str) -> ArgumentError:
    """The error for a value that holds no rows. `instead` says what to pass."""
    if isinstance(value, (str, bytes, PathLike)):
        return ArgumentError(f"{shown(value)} has no rows: pass {instead}, or for a file entasis.open(path)")
    return ArgumentError(f"{shown(value)} can't be appended to a file of {library}: pass {instead}")


def is_records(value: Any) -> bool:
    """Whether a value is a list of dicts, one for each row."""
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def check_lists(value: Mapping[Any, Any]) -> None:
    """Check that the columns in a dict have an axis."""
    for label, column in value.items():
        is_sized = hasattr(column, "__len__") or hasattr(column, "__iter__")
        if isinstance(column, (str, bytes)) or not is_sized or getattr(column, "shape", None) == ():
            raise ArgumentError(f"column {shown(label)} is {shown(column)}, not a list of values")


def positions(old: list[Any], new: list[Any], fill: bool) -> tuple[list[int | None], list[int]]:
    """Find the column of the rows to append for each label of the file.

    With `fill`, the position of a missing column is None. Also returns the positions of columns
    that the file lacks.
    """
    if len(set(old)) < len(old) or len(set(new)) < len(new):
        if old != new:
            raise ArgumentError(
                "labels of columns occur twice: rows can be appended only with the same labels in order"
            )
        return list(range(len(old))), []
    position_of: dict[Any, int] = {label: position for position, label in enumerate(new)}
    known = set(old)
    more = [label for label in new if label not in known]
    if more and not fill:
        raise ColumnNotFoundError(
            f"the file has no column {listed(more)}: leave it out, or fill=True adds it to the file"
        )
    found = [position_of.get(label) for label in old]
    lacking = [label for label, position in zip(old, found, strict=True) if position is None]
    if lacking and not fill:
        raise ColumnNotFoundError(f"the rows to append have no column {listed(lacking)}: fill=True makes it missing")
    return found, [position_of[label] for label in more]


def check_length(n: int, n_rows: int) -> None:
    """Check that new columns have the rows of the file."""
    if n != n_rows:
        raise ArgumentError(f"the new columns have {n:,} rows, the file {n_rows:,}")


def check_names(labels: list[Any]) -> None:
    """Check that labels are strings."""
    for label in labels:
        if type(label) is not str:
            raise ArgumentError(f"the name {shown(label)} of a column is not a string")


def listed(labels: Iterable[Any], most: int = 5) -> str:
    found = [shown(label) for label in labels]
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")
