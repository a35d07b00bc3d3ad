"""Lengths of the strings of some rows, so that no engine's array exceeds its offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entasis._columns.fields import FieldColumn
from entasis.errors import UnsupportedTypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from entasis._view.view import View


def text_len(view: View, numbers: Iterable[int]) -> Callable[[int, int], int] | None:
    """A function that counts the string bytes in a range of a file's rows; None without string
    columns.

    Parameters
    ----------
    view
        The file, or a view of it.
    numbers
        The numbers of the columns. Strings inside of nested columns do not count.
    """
    handle = view.handle
    # A range index has a number below zero.
    found = handle.columns([number for number in numbers if number >= 0 and type(number) is not FieldColumn])
    texts = [column.index for column in found if column.physical in ("utf8", "binary")]
    return (lambda start, stop: handle.text_len(texts, start, stop)) if texts else None


def too_long(row: int) -> UnsupportedTypeError:
    """The error for a row whose value alone exceeds the offsets of its type."""
    return UnsupportedTypeError(
        f"row {row}: a value of more than 2 GiB does not fit the type of its column in Arrow; "
        "read the file instead of streaming it"
    )
