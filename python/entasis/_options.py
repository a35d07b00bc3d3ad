"""Options that many functions take."""

from __future__ import annotations

from .errors import ArgumentError


def threads(n: int | None) -> int | None:
    """A number of threads, checked; None for as many as there are processors."""
    if n is None:
        return None
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ArgumentError(f"threads={n!r}: a positive integer, or None for as many as there are processors")
    return n
