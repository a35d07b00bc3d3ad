"""The forms in which codecs hand parts of a value to the native module."""

from __future__ import annotations

from typing import Any

# Kinds of cells, as the format numbers them.
ELLIPSIS, NA, NAT = 3, 4, 5
FULL_TIME, FULL_DATETIME, FULL_TIMEDELTA, OBJECT = 73, 74, 75, 77

UNSUPPORTED = ("unsupported",)


def object_parts(name: str, *parts: Any) -> tuple[Any, ...]:
    """A value with parts, for which a codec has this name."""
    return ("parts", OBJECT, (name, *parts))
