"""Losses: columns and what they lose, and the reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from entasis.errors import UnsupportedTypeError

# A column, or None for the whole table, and what it loses.
Loss: TypeAlias = "tuple[Any, str]"
LEFT_OUT = "the column is left out"
OF_R = "its attributes in R are left out"

NAN_OF_PANDAS = "columns that Arrow lacks are read by pandas, which makes NaN a missing value in all columns"


def of_values(losses: Iterable[Loss]) -> list[Loss]:
    """The losses of columns that change their values."""
    return [(column, reason) for column, reason in losses if column is not None and reason != OF_R]


def reason(error: UnsupportedTypeError) -> str:
    """The text of an error about a column, without the column and the advice."""
    text = str(error).removeprefix("not supported: ")
    head, colon, rest = text.partition("': ")
    text = rest if colon and head.startswith("column '") else text
    return text.partition("; ")[0].partition(": read it")[0].partition(" (column ")[0]
