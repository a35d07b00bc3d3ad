"""Rules for columns of rows to append that all libraries share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments.options import shown
from entasis.errors import ArgumentError, ColumnNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable


def refused(label: Any, old: Any, new: Any) -> ArgumentError:
    """The error for a column whose types can't be joined."""
    return ArgumentError(
        f"column {label!r} is {old} in the file and {new} in the rows to append: convert one of them; "
        "only types that hold all values of the other are converted"
    )


def positions(old: list[Any], new: list[Any], fill: bool) -> list[int | None]:
    """For each label of the file the position of its column in the rows to append.

    None stands for a missing column, with `fill`.
    """
    if len(set(old)) < len(old) or len(set(new)) < len(new):
        if old != new:
            raise ArgumentError(
                "labels of columns occur twice: rows can be appended only with the same labels in order"
            )
        return list(range(len(old)))
    places: dict[Any, int] = {label: place for place, label in enumerate(new)}
    more = [label for label in new if label not in set(old)]
    if more:
        raise ColumnNotFoundError(f"the file has no column {_listed(more)}: leave it out, or add it to the file")
    found = [places.get(label) for label in old]
    lacking = [label for label, place in zip(old, found, strict=True) if place is None]
    if lacking and not fill:
        raise ColumnNotFoundError(f"the rows to append have no column {_listed(lacking)}: fill=True makes it missing")
    return found


def check_length(n: int, n_rows: int) -> None:
    """Check that new columns have the rows of the file."""
    if n != n_rows:
        raise ArgumentError(f"the new columns have {n:,} rows, the file {n_rows:,}")


def check_names(labels: list[Any]) -> None:
    """Check that labels are strings."""
    for label in labels:
        if type(label) is not str:
            raise ArgumentError(f"the name {shown(label)} of a column is not a string")


def _listed(labels: Iterable[Any], most: int = 5) -> str:
    found = [shown(label) for label in labels]
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")
