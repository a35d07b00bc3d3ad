"""Arrays of objects: stored as strings if all present values are strings, else as cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis.errors import UnsupportedTypeError

if TYPE_CHECKING:
    from entasis._entasis import Builder


def add(
    builder: Builder, array: Any, position: Any, host_variant: int, name: str = "", what: str | None = None
) -> tuple[int | None, int | None]:
    """Add an array of objects.

    Parameters
    ----------
    what
        The name of the array in errors, which call its fourth value `what[3]`.

    Returns
    -------
    number, kinds
        The number of the column, or None for a column of the table. The number of a column that
        records the markers of missing strings, or None if all have one marker.
    """
    try:
        return builder.text(array, position, name=name, host_variant=host_variant)
    except UnsupportedTypeError:
        return builder.objects(array, position, name=name, host_variant=host_variant, what=what), None


def add_whole(builder: Builder, array: Any, host_variant: int, name: str = "", what: str | None = None) -> int:
    """Add an array as one extra column, even if it has several markers of missing values.

    Returns its number.
    """
    missing = {type(value) for value in array.tolist() if type(value) is not str}
    if len(missing) > 1:
        number = builder.objects(array, None, name=name, host_variant=host_variant, what=what)
    else:
        number, _ = add(builder, array, None, host_variant, name, what)
    assert number is not None, "an extra column has a number"
    return number
