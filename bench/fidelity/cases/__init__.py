"""The panels, a module per library. A case's name says how it differs from other cases."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ..case import Panel

LIBRARIES = ("pandas", "Polars", "pyarrow", "NumPy", "StaticFrame")
_MODULES = {
    "pandas": "pandas",
    "Polars": "polars",
    "pyarrow": "pyarrow",
    "NumPy": "numpy",
    "StaticFrame": "static_frame",
}


@cache
def panel(library: str) -> Panel:
    """The cases of a library."""
    found: Panel = import_module(f"{__name__}.{_MODULES[library]}").panel()
    return found
