"""The modules of Dask that are used, all of them public."""

from __future__ import annotations

from typing import Any

from .installed import required

# The first version whose data frames push the selection of columns into `from_map`.
_LEAST = (2025, 1)
_PACKAGE = "dask[dataframe]"

dask: Any = required("dask", _PACKAGE, _LEAST)
frames: Any = required("dask.dataframe", _PACKAGE, _LEAST)
utils: Any = required("dask.dataframe.utils", _PACKAGE, _LEAST)
