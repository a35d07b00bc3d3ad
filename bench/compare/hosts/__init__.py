"""The libraries whose frames are written and read."""

from __future__ import annotations

from functools import cache

from .base import Host, WrongData

__all__ = ["Host", "WrongData", "host"]


@cache
def host(key: str) -> Host:
    """The host of that name; its library is imported only now."""
    if key == "pandas":
        from .pandas import Pandas

        return Pandas()
    if key == "arrow":
        from .arrow import Arrow

        return Arrow()
    if key == "static_frame":
        from .static_frame import StaticFrame

        return StaticFrame()
    raise ValueError(f"unknown host {key}; known: pandas, arrow, static_frame")
