"""The forms in which values are taken apart, as the native half takes them (section 5.2 of the format)."""

from __future__ import annotations

from typing import Any

# Kinds of cells.
ELLIPSIS, NA, NAT = 3, 4, 5
FULL_TIME, FULL_DATETIME, FULL_TIMEDELTA, OBJECT = 73, 74, 75, 77

UNSUPPORTED = ("unsupported",)


def object_parts(name: str, *parts: Any) -> tuple[Any, ...]:
    return ("parts", OBJECT, (name, *parts))
