"""Values of any kind: cells, labels, trees, and the frames inside of them."""

from __future__ import annotations

import struct
from importlib import import_module
from typing import Any

from .different import Different, equal, same_type, shown

_FRAMES = ("pandas", "polars", "pyarrow", "static_frame")
_LIBRARIES = (*_FRAMES, "numpy", "scipy")


def check_value(a: Any, b: Any, path: str) -> None:
    """Raises `Different` when `b` is not the same as `a`."""
    same_type(a, b, path)
    kind = type(a)
    root = _library(kind)
    if kind is float:
        _check_bits(a, b, path)
    elif kind is complex:
        _check_bits(a.real, b.real, path)
        _check_bits(a.imag, b.imag, path)
    elif kind in (list, tuple) or (isinstance(a, tuple) and hasattr(a, "_fields")):
        equal(len(a), len(b), f"{path}: length")
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            check_value(x, y, f"{path}[{i}]")
    elif isinstance(a, dict):
        check_value(list(a), list(b), f"{path}: keys")
        for key, x in a.items():
            check_value(
                x, b[key] if key in b else list(b.values())[list(a).index(key)], f"{path}[{key!r}]"
            )
    elif kind in (set, frozenset):
        order = sorted(map(_tagged, a)), sorted(map(_tagged, b))
        equal(*order, path)
    elif root == "numpy":
        import_module(f"{__package__}.numpy").check(a, b, path)
    elif root in _FRAMES:
        import_module(f"{__package__}.{root}").check(a, b, path)
    elif root == "scipy":
        _check_sparse(a, b, path)
    else:
        _check_plain(a, b, path)


def _library(kind: type) -> str:
    """The library of a class, or of the nearest base class from a library."""
    for base in kind.__mro__:
        root = base.__module__.partition(".")[0]
        if root in _LIBRARIES:
            return root
    return ""


def _check_bits(a: float, b: float, path: str) -> None:
    if struct.pack("<d", a) != struct.pack("<d", b):
        raise Different(f"{path}: {b!r} ({b.hex()}) instead of {a!r} ({a.hex()}), or other bits")


def _tagged(value: Any) -> tuple[str, str]:
    return type(value).__name__, repr(value)


def _check_sparse(a: Any, b: Any, path: str) -> None:
    equal((a.shape, a.dtype, a.format), (b.shape, b.dtype, b.format), path)
    check_value(a.toarray(), b.toarray(), path)


def _check_plain(a: Any, b: Any, path: str) -> None:
    if a is b:
        return
    # Only the text shows a zone or a fold.
    if repr(a) != repr(b) or not (a == b or a != a):
        raise Different(f"{path}: {shown(b)} instead of {shown(a)}")
