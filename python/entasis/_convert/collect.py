"""Collects the differences of two tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments.options import shown
from entasis.errors import ColumnNotFoundError

from . import arrays as _arrays
from . import keys as _keys
from .differences import Diff

if TYPE_CHECKING:
    from collections.abc import Callable

    from .sides import Side


class Differences:
    """Collects differences."""

    def __init__(self, limit: int, tolerance: float | None, done: Callable[[int], object]) -> None:
        self.diff = Diff()
        self._limit, self._tolerance, self._done = limit, tolerance, done

    def schemas(self, a: Side, b: Side, wanted: list[str], keys: list[str]) -> list[str]:
        """Compare the schemas. Returns the names of the columns whose values are compared."""
        for name in [*wanted, *keys]:
            if name not in a.types and name not in b.types:
                raise ColumnNotFoundError(f"no table has a column {shown(name)}")
        for name in keys:
            for side in (a, b):
                if name not in side.types:
                    raise ColumnNotFoundError(f"{side.name} has no column {shown(name)} of the key")
        every = wanted or list(dict.fromkeys([*a.names, *b.names]))
        common = []
        for name in dict.fromkeys([*keys, *every]):
            one, other = a.types.get(name), b.types.get(name)
            if one is None or other is None or _arrays.logical(one) != _arrays.logical(other):
                self.diff.schema.append((name, _named(one), _named(other)))
            if one is not None and other is not None and name not in keys:
                common.append(name)
        in_a, in_b = ([name for name in side.names if name in every] for side in (a, b))
        if in_a != in_b and sorted(in_a) == sorted(in_b):
            self.diff.schema.append((None, ", ".join(in_a), ", ".join(in_b)))
        return common

    def values(self, a: Any, b: Any, names: list[str], row: Any) -> None:
        """Compare rows that belong together. `row(i)` is the position or key of the `i`th."""
        import numpy as np

        found = self.diff
        found.n_rows += a.num_rows
        listed: list[tuple[int, str, Any, Any]] = []
        for name in names:
            one, other = a.column(name), b.column(name)
            pair = _arrays.comparable(one, other)
            if pair is None:
                # The schema says that the types differ.
                continue
            rows = np.flatnonzero(_arrays.differing(*pair, self._tolerance))
            if len(rows):
                found.columns[name] = found.columns.get(name, 0) + len(rows)
                for i in rows[: self._limit - len(found.rows)].tolist():
                    listed.append((i, name, _keys.value(one, i), _keys.value(other, i)))
        listed.sort(key=lambda each: each[0])
        for i, name, x, y in listed[: max(self._limit - len(found.rows), 0)]:
            found.rows.append((row(i), name, x, y))
        self._done(found.n_rows)

    def only(self, side: int, n: int, row: Any) -> None:
        """Count `n` rows that one table alone has."""
        found = self.diff
        rows = (found.only_a, found.only_b)[side]
        rows.extend(row(i) for i in range(min(n, self._limit - len(rows))))
        if side == 0:
            found.n_only_a += n
        else:
            found.n_only_b += n


def _named(kind: Any) -> str | None:
    return None if kind is None else str(kind)
