"""The modules of Ray that are used, all of them public."""

from __future__ import annotations

from typing import Any

from .installed import required

# The version whose interface of data sources is used here. Earlier ones hand over no conditions.
_LEAST = (2, 60)
_PACKAGE = "ray[data]"

data: Any = required("ray.data", _PACKAGE, _LEAST)
blocks: Any = required("ray.data.block", _PACKAGE, _LEAST)
