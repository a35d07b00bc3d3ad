"""The modules of Dask that are used, all of them public."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .installed import required

if TYPE_CHECKING:
    from types import ModuleType

# The first version whose data frames push the selection of columns into `from_map`.
_LEAST = (2025, 1)
_PACKAGE = "dask[dataframe]"

dask: ModuleType = required("dask", _PACKAGE, _LEAST)
frames: ModuleType = required("dask.dataframe", _PACKAGE, _LEAST)
utils: ModuleType = required("dask.dataframe.utils", _PACKAGE, _LEAST)
