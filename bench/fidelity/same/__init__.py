"""Whether two values are the same: types, state of indexes, kinds of cells, bits of NaN, layout.

`check` raises `Different` with the path of the first difference. It avoids the libraries' own
comparisons, which treat many different values as equal.
"""

from __future__ import annotations

from typing import Any

from .different import LAYOUT, Different
from .values import check_value

__all__ = ["Different", "check", "is_same"]


def check(a: Any, b: Any, path: str = "value", *, layout: bool = True) -> None:
    """Raises `Different` when `b` is not the same as `a`.

    With `layout`, the memory layout must be the same too.
    """
    token = LAYOUT.set(layout)
    try:
        check_value(a, b, path)
    finally:
        LAYOUT.reset(token)


def is_same(a: Any, b: Any) -> bool:
    """Whether `b` is the same as `a`."""
    try:
        check(a, b)
    except Different:
        return False
    return True
