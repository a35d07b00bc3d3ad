"""Compares rows that have the same key."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from entasis._arguments.options import shown
from entasis.errors import ArgumentError

from . import arrays as _arrays
from . import keys as _keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .collect import Differences
    from .sides import Side


def by_key(a: Side, b: Side, keys: list[str], names: list[str], found: Differences) -> None:
    for name in keys:
        one, other = _arrays.logical(a.types[name]), _arrays.logical(b.types[name])
        if one != other and not _are_both_numbers(one, other):
            raise ArgumentError(f"the key {shown(name)} is {one} in one table and {other} in the other")
    are_sorted = a.is_sorted(keys) and b.is_sorted(keys)
    sides = [_Ordered(side.batches() if are_sorted else side.sorted(keys), keys) for side in (a, b)]
    while True:
        for side in sides:
            while not side.keys and not side.is_finished:
                side.grow()
        # Rows with the last key of a side may go on in its next batch.
        ends = [side.keys[-1] for side in sides if not side.is_finished]
        cut = min(ends) if ends else None
        n, m = (len(side.keys) if cut is None else bisect_left(side.keys, cut) for side in sides)
        if n or m:
            _matched(sides[0].taken(n), sides[1].taken(m), keys, names, found)
        if cut is None:
            return
        if not (n or m):
            for side in sides:
                if not side.is_finished and side.keys[-1] == cut:
                    side.grow()


class _Ordered:
    """Rows of a table in the order of its keys. Some rows are in memory."""

    def __init__(self, batches: Iterator[Any], keys: list[str]) -> None:
        self._batches, self._names = batches, keys
        self.table: Any = None
        self.keys: list[tuple[Any, ...]] = []
        self.is_finished = False
        self.grow()

    def grow(self) -> None:
        """Read another batch."""
        import pyarrow as pa

        batch = next(self._batches, None)
        if batch is None:
            self.is_finished = True
            return
        self.table = batch if self.table is None else pa.concat_tables([self.table, batch])
        columns = [_keys.sortable(batch.select([name])).column(0).to_pylist() for name in self._names]
        self.keys += [tuple(map(_keys.ordered, each)) for each in zip(*columns, strict=True)]

    def taken(self, n: int) -> tuple[Any, list[tuple[Any, ...]]]:
        """Take the first rows."""
        table, keys = self.table, self.keys[:n]
        if table is None:
            return None, []
        self.table, self.keys = table.slice(n), self.keys[n:]
        return table.slice(0, n), keys


def _matched(one: Any, other: Any, keys: list[str], names: list[str], found: Differences) -> None:
    """Compare rows with equal keys. All rows of a key are among these."""
    (a, of_a), (b, of_b) = one, other
    if of_a == of_b:
        found.values(a, b, names, lambda i: _keys.key(a, keys, i))
        return
    in_a: list[int] = []
    in_b: list[int] = []
    only: tuple[list[int], list[int]] = ([], [])
    i = j = 0
    while i < len(of_a) or j < len(of_b):
        if j == len(of_b) or (i < len(of_a) and of_a[i] < of_b[j]):
            only[0].append(i)
            i += 1
        elif i == len(of_a) or of_b[j] < of_a[i]:
            only[1].append(j)
            j += 1
        else:
            in_a.append(i)
            in_b.append(j)
            i, j = i + 1, j + 1
    if in_a:
        x, y = a.take(in_a), b.take(in_b)
        found.values(x, y, names, lambda k: _keys.key(x, keys, k))
    for side, table in ((0, a), (1, b)):
        rows = only[side]
        found.only(side, len(rows), lambda k, rows=rows, table=table: _keys.key(table, keys, rows[k]))


def _are_both_numbers(one: Any, other: Any) -> bool:
    import pyarrow as pa

    return all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in (one, other))
