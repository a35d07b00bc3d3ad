"""Compares two streams of batches by position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import arrays as _arrays

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

# The rows of a window.
WINDOW = 1 << 16


def windows(a: Iterator[Any], b: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
    """Tables of equal lengths from two streams; at the end of one, None with the rest of the other."""
    rest: list[Any] = [None, None]
    streams = (a, b)
    while True:
        for i in (0, 1):
            while rest[i] is None or rest[i].num_rows == 0:
                found = next(streams[i], None)
                if found is None:
                    rest[i] = None
                    break
                rest[i] = found
        if rest[0] is None or rest[1] is None:
            break
        n = min(rest[0].num_rows, rest[1].num_rows, WINDOW)
        yield rest[0].slice(0, n), rest[1].slice(0, n)
        rest = [one.slice(n) for one in rest]
    for i in (0, 1):
        while rest[i] is not None:
            if rest[i].num_rows:
                yield (rest[i], None) if i == 0 else (None, rest[i])
            rest[i] = next(streams[i], None)


def first_difference(a: Iterator[Any], b: Iterator[Any], skipped: Collection[Any]) -> str | None:
    """Say where two streams differ first; None if they are equal."""
    import numpy as np

    at = 0
    for one, other in windows(a, b):
        if one is None or other is None:
            return f"one has {at:,} rows, the other more"
        if at == 0 and one.num_columns != other.num_columns and not skipped:
            return f"one has {one.num_columns} columns, the other {other.num_columns}"
        names = one.schema.names
        is_aligned = other.schema.names == names
        for i, name in enumerate(names):
            if name in skipped:
                continue
            j = i if is_aligned else other.schema.get_field_index(name)
            if j < 0:
                return f"column {name!r} is missing"
            pair = _arrays.comparable(one.column(i), other.column(j))
            if pair is None:
                return f"column {name!r} has the type {other.schema.field(j).type}, not {one.schema.field(i).type}"
            mask = _arrays.differing(*pair)
            if mask.any():
                row = int(np.flatnonzero(mask)[0])
                return f"column {name!r}, row {at + row:,}"
        at += one.num_rows
    return None
