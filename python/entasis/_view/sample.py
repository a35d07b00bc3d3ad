"""Random rows."""

from __future__ import annotations

from typing import Any

from entasis._arguments.options import number, shown
from entasis.errors import ArgumentError

# Neighbouring rows that are drawn together: one vector of a page.
_GROUP = 1_024


def draw(n_rows: int, n: int | None, fraction: float | None, seed: int | None, by: str) -> Any:
    """The positions of random rows, ascending, as an array of int64. See `File.sample`."""
    import numpy as np

    count = _count(n_rows, n, fraction)
    random = np.random.default_rng(seed)
    if by == "rows":
        return np.sort(random.choice(n_rows, count, replace=False, shuffle=False))
    if by != "blocks":
        raise ArgumentError(f"by={shown(by)}: 'rows' or 'blocks'")
    n_groups = -(-n_rows // _GROUP)
    # Draws one more group, because the table's last group can be short.
    drawn = min(n_groups, -(-count // _GROUP) + 1) if count else 0
    groups = random.choice(n_groups, drawn, replace=False)
    rows = (groups[:, None] * _GROUP + np.arange(_GROUP)).ravel()
    return np.sort(rows[rows < n_rows][:count])


def _count(n_rows: int, n: int | None, fraction: float | None) -> int:
    if (n is None) == (fraction is None):
        raise ArgumentError("a sample takes either n, a number of rows, or fraction, a share of them")
    if n is not None:
        count = number(n)
        if not 0 <= count <= n_rows:
            raise ArgumentError(f"n={shown(n)}: the table has {n_rows} rows to draw from")
        return count
    if not isinstance(fraction, (int, float)) or not 0 <= fraction <= 1:
        raise ArgumentError(f"fraction={shown(fraction)}: it is a number from 0 to 1")
    return round(n_rows * fraction)
