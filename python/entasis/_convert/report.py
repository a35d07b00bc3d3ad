"""Reports of differences, for people."""

from __future__ import annotations

from typing import Any

from entasis._arguments.options import shown

# The most rows of one table that a line names.
_ONLY = 5


def lines(found: Any, a: str, b: str, n: int) -> list[str]:
    """A report on a `Diff` of tables with these names. It lists at most `n` differences of each kind."""
    if not found:
        return [f"no difference in {n_rows(found.n_rows)}"]
    return [f"{a} and {b} differ; {n_rows(found.n_rows)} compared", *differences(found, a, b, n)]


def differences(found: Any, a: str, b: str, n: int) -> list[str]:
    """The differences of a `Diff`, at most `n` of each kind."""
    listed: list[str] = []
    for column, one, other in found.schema[:n]:
        if column is None:
            listed.append(f"columns in another order: {one} | {other}")
        else:
            listed.append(f"column {column!r}: {one or 'missing'} | {other or 'missing'}")
    listed += _more(found.schema, n)
    counts = list(found.columns.items())
    listed += [f"column {column!r}: {count:,} differ{'s' if count == 1 else ''}" for column, count in counts[:n]]
    listed += _more(counts, n)
    for row, column, x, y in found.rows[:n]:
        listed.append(f"row {shown(row)}, {column!r}: {_short(x)} | {_short(y)}")
    listed += _more(found.rows, n)
    for side, count, only in ((a, found.n_only_a, found.only_a), (b, found.n_only_b, found.only_b)):
        if count:
            rows = ", ".join(map(shown, only[:_ONLY]))
            dots = ", ..." if count > _ONLY else ""
            listed.append(f"only in {side}: {n_rows(count)} ({rows}{dots})")
    return listed


def n_rows(n: int) -> str:
    """A number of rows as text."""
    return f"{n:,} row{'' if n == 1 else 's'}"


def _more(values: list[Any], n: int) -> list[str]:
    return [f"... {len(values) - n:,} more"] if len(values) > n else []


def _short(value: Any) -> str:
    text = repr(value)
    text = "".join(letter if letter.isprintable() else "?" for letter in text[:200])
    return text if len(text) <= 60 else text[:57] + "..."
