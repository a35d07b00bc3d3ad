"""Texts of open files: `repr`, and schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from entasis.errors import escaped

_MOST = 40


class Schema(Mapping[str, str]):
    """Names and types of columns, printed as an aligned list.

    A look-up finds the first column with a name.
    """

    def __init__(self, names: list[str], types: list[str]) -> None:
        self._names, self._types = names, types

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Name and type of each column."""
        return list(zip(self._names, self._types, strict=True))

    @cached_property
    def _found(self) -> dict[str, str]:
        found = dict(zip(self._names, self._types, strict=True))
        if len(found) < len(self._names):
            # Keep the order of the names, with the type of the first column of each name.
            found.update(zip(reversed(self._names), reversed(self._types), strict=True))
        return found

    def __getitem__(self, name: str) -> str:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return "\n".join(lines(self.pairs))

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)


def lines(pairs: list[tuple[str, str]], most: int | None = None) -> list[str]:
    """A line for each column. If there are more than `most`, the middle is left out."""
    shown: list[tuple[str, str] | None] = list(pairs)
    if most is not None and len(pairs) > most:
        half = most // 2
        shown = [*pairs[:half], None, *pairs[-half:]]
    shown = [(escaped(pair[0]), pair[1]) if pair else None for pair in shown]
    width = min(max((len(pair[0]) for pair in shown if pair), default=0), 60)
    rest = len(pairs) - (most or 0)
    return [f"{pair[0]:<{width}}  {pair[1]}" if pair else f"... {rest:,} more" for pair in shown]


def text(path: str, n_rows: int, pairs: list[tuple[str, str]], host: str | None) -> str:
    """The `repr` of a file."""
    by = f", written by {host}" if host else ""
    head = f"<entasis.File '{escaped(path)}': {n_rows:,} rows x {len(pairs):,} columns{by}>"
    return "\n".join([head, *(f"  {line}" for line in lines(pairs, _MOST))])
