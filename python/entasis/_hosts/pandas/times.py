"""Units of times in pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis.errors import UnsupportedTypeError

if TYPE_CHECKING:
    from entasis._entasis import Column

PANDAS_UNITS = ("s", "ms", "us", "ns")


def to_numpy_times(column: Column, values: Any) -> Any:
    """Convert times to a unit of pandas.

    Longer units become seconds, and shorter units are refused.
    """
    import numpy as np

    if column.unit in PANDAS_UNITS:
        return values
    letter = values.dtype.kind
    if column.unit in ("none", "ps", "fs", "as") or (letter == "m" and column.unit in ("Y", "M")):
        raise UnsupportedTypeError(f"column '{column.name}': pandas has no {column.type_name}")
    try:
        seconds = values.astype(f"{letter}8[s]")
        fits = np.array_equal(seconds.astype(values.dtype).view("i8"), values.view("i8"))
    except OverflowError:
        # Older versions of NumPy wrap around.
        fits = False
    if not fits:
        raise UnsupportedTypeError(f"column '{column.name}': values beyond what pandas holds in seconds")
    return seconds
