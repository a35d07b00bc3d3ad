"""How many cases the tests of a change and of a release take (docs/testing.md)."""

from __future__ import annotations

import os
from typing import TypeVar

_Value = TypeVar("_Value")

LONG = bool(os.environ.get("ENTASIS_TEST_LONG"))
RELEASE = LONG or bool(os.environ.get("ENTASIS_TEST_RELEASE"))


def by_tier(change: _Value, release: _Value, long: _Value | None = None) -> _Value:
    """The value for the tests of a change, of a release, or of the long tier (by default a release)."""
    if LONG and long is not None:
        return long
    return release if RELEASE else change
