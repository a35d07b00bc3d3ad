"""The private name of Dask by which a data frame has its columns without rows, its *meta*."""

from __future__ import annotations

from typing import Any


def head(frame: Any) -> Any:
    """The columns and types of a data frame of Dask, as a frame of pandas without rows."""
    return frame._meta
