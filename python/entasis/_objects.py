"""Arrays of objects: strings with missing ones as such, all else as values of any kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import UnsupportedTypeError

if TYPE_CHECKING:
    from ._entasis import Builder


def add(builder: Builder, array: Any, position: Any, flavour: int, name: str = "") -> tuple[int | None, int | None]:
    """Adds an array. Returns the numbers of the extra column, and of one with the kinds of missing strings."""
    try:
        return builder.text(array, position, name=name, flavour=flavour)
    except UnsupportedTypeError:
        return builder.objects(array, position, name=name, flavour=flavour), None
