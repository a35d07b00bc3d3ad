"""Arrays of objects: strings with missing ones as such, all else as values of any kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis.errors import UnsupportedTypeError

if TYPE_CHECKING:
    from entasis._entasis import Builder


def add(
    builder: Builder, array: Any, position: Any, flavour: int, name: str = "", what: str | None = None
) -> tuple[int | None, int | None]:
    """Adds an array. Returns the numbers of the extra column, and of one with the kinds of missing strings.

    `what` is how errors call the array: they say `what[3]` of the fourth value.
    """
    try:
        return builder.text(array, position, name=name, flavour=flavour)
    except UnsupportedTypeError:
        return builder.objects(array, position, name=name, flavour=flavour, what=what), None


def add_whole(builder: Builder, array: Any, flavour: int, name: str = "", what: str | None = None) -> int:
    """Adds an array as one extra column, also when values are missing in several ways. Returns its number."""
    missing = {type(value) for value in array.tolist() if type(value) is not str}
    if len(missing) > 1:
        number = builder.objects(array, None, name=name, flavour=flavour, what=what)
    else:
        number, _ = add(builder, array, None, flavour, name, what)
    assert number is not None, "an extra column has a number"
    return number
