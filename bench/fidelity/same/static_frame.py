"""Frames, series, indexes and buses of StaticFrame."""

from __future__ import annotations

from typing import Any

import static_frame as sf

from .different import LAYOUT, Different, equal, equal_of, same_type
from .numpy import check_array
from .values import check_value

# The order in memory is not kept for narrower blocks, and for types other than numbers and times.
_ORDERED = 8


def check(a: Any, b: Any, path: str) -> None:
    """Raises `Different` when `b` is not the same as `a`."""
    check_value(a.name, b.name, f"{path}.name")
    if isinstance(a, sf.Frame):
        check_index(a.index, b.index, f"{path}.index")
        check_index(a.columns, b.columns, f"{path}.columns")
        equal(a.shape, b.shape, f"{path}.shape")
        if not LAYOUT.get():
            for label, x, y in zip(
                a.columns, a.iter_array(axis=0), b.iter_array(axis=0), strict=True
            ):
                check_array(x, y, f"{path}[{label!r}]")
            return
        blocks = (a._blocks._blocks, b._blocks._blocks)
        equal_of(lambda of: [x.shape for x in of], *blocks, f"{path}: shapes of blocks")
        for i, (x, y) in enumerate(zip(*blocks, strict=True)):
            _check(x, y, f"{path}: block {i}")
    elif isinstance(a, sf.Series):
        check_index(a.index, b.index, f"{path}.index")
        _check(a.values, b.values, path)
    elif isinstance(a, (sf.Bus,)):
        check_index(a.index, b.index, f"{path}.index")
        for label in a.index:
            check_value(a.loc[label], b.loc[label], f"{path}[{label!r}]")
    else:
        check_index(a, b, path)


def _check(a: Any, b: Any, path: str) -> None:
    is_told = a.ndim == 2 and a.shape[1] >= _ORDERED and a.dtype.kind not in "OUSVT"
    check_array(a, b, path, order=is_told)
    if LAYOUT.get() and b.flags.writeable:
        raise Different(f"{path}: can be written to")


def check_index(a: Any, b: Any, path: str) -> None:
    """Two indexes are the same: labels, names, and whether they are automatic."""
    same_type(a, b, path)
    check_value(a.name, b.name, f"{path}.name")
    equal(len(a), len(b), f"{path}: length")
    if a.depth == 1:
        if LAYOUT.get():
            equal(a._map is None, b._map is None, f"{path}: automatic")
        _check(a.values, b.values, path)
        return
    equal(a.depth, b.depth, f"{path}.depth")
    if not LAYOUT.get():
        equal([*a.index_types.values], [*b.index_types.values], f"{path}: classes of levels")
        for i in range(a.depth):
            check_array(a.values_at_depth(i), b.values_at_depth(i), f"{path}: level {i}")
        return
    for i, (x, y) in enumerate(zip(a._indices, b._indices, strict=True)):
        check_index(x, y, f"{path}: level {i}")
    check_array(a._indexers, b._indexers, f"{path}: indexers")
