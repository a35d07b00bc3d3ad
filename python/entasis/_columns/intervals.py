"""Intervals of pandas. A value is stored as fixed bytes that hold both bounds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from entasis._entasis import Column


def is_interval(column: Column) -> bool:
    """Whether a column holds intervals of pandas."""
    is_named = type(column.detail) is dict and column.detail.get("name") == "pandas.bounds"
    return is_named and column.logical == "extension" and "subtype" in column.detail


def bounds(column: Column, values: Any) -> Any:
    """View fixed bytes as records of two bounds."""
    plain, _ = subtype(column)
    if values.dtype.itemsize != 2 * plain.itemsize:
        raise TypeError(f"bounds of {plain} in {values.dtype}")
    return values.view([("left", plain), ("right", plain)])


def subtype(column: Column) -> tuple[Any, str | None]:
    """The dtype of the bounds without a zone, and the zone."""
    import numpy as np

    zoned = re.fullmatch(r"datetime64\[(s|ms|us|ns), (.+)\]", column.detail["subtype"])
    plain = np.dtype(f"M8[{zoned[1]}]" if zoned else column.detail["subtype"])
    if plain.kind not in "iufmM":
        raise TypeError(f"bounds of {plain}")
    return plain, zoned[2] if zoned else None
