"""Whether two values are the same: types, state of indexes, kinds of cells, bits of NaN, order in memory.

`check` raises `Different` with the path of the first difference. It doesn't use the comparisons of the
libraries: they take much for equal that is not.
"""

from __future__ import annotations

import sys
from typing import Any

from .different import Different
from .values import check_value

__all__ = ["Different", "check", "is_same"]

_HOSTS = ("pandas", "polars", "pyarrow", "static_frame", "numpy")


def check(a: Any, b: Any, path: str = "value") -> None:
    """Raises `Different` when `b` is not the same as `a`."""
    check_value(a, b, path)


def is_same(a: Any, b: Any) -> bool:
    """Whether `b` is the same as `a`."""
    try:
        check(a, b)
    except Different:
        return False
    return True


def libraries() -> list[str]:
    """The libraries that are imported."""
    return [host for host in _HOSTS if host in sys.modules]
