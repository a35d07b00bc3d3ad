"""Compares two tables by schema and by values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import options as _options
from entasis._arguments.options import shown
from entasis._arguments.progress import shown as _progress
from entasis._memory import reported
from entasis.errors import ArgumentError

from . import compare as _compare
from . import libraries as _libraries
from .by_key import by_key
from .collect import Differences
from .sides import Side

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .differences import Diff


def diff(
    a: Any,
    b: Any,
    *,
    key: str | Iterable[str] | None = None,
    columns: str | Iterable[str] | None = None,
    limit: int = 100,
    tolerance: float | None = None,
    progress: bool | Callable[..., Any] | None = None,
) -> Diff:
    """Compare two tables: files of any format that `convert` reads, open files, or frames.

    Columns are matched by their names. Values are compared where one of the types holds the values
    of both columns. NaN equals NaN, and differs from a missing value; -0.0 differs from 0.0.

    Parameters
    ----------
    a, b
        A path, the content of a file, an open file, a scan, or a frame.
    key
        The names of columns that identify a row. None compares rows by position.
    columns
        The names of the columns to compare. None compares all.
    limit
        How many differences `rows`, `only_a` and `only_b` list at most. All are counted.
    tolerance
        The greatest distance of floats that count as equal. None compares their bits.
    progress
        True shows a bar after one second. A function is called with the rows that were compared,
        with all rows or None, and with `unit="rows"`.

    Returns
    -------
    Diff
        It is true if the tables differ.

    Raises
    ------
    ColumnNotFoundError
        A column of `key`, or one of `columns` that neither table has.
    UnsupportedTypeError
        A column has a type that Arrow lacks: choose others with `columns`. Or the file holds no
        table.

    Notes
    -----
    By position, and by keys in ascending order, memory is for some windows of 65,536 rows. With
    other keys both tables are sorted in memory. Missing values of pandas are missing, also where
    they are NaN. Rows with equal keys are matched in their order.

    Examples
    --------
    >>> a = pd.DataFrame({"id": [1, 2, 3], "price": [3.0, 5.0, 4.0]})
    >>> b = pd.DataFrame({"id": [3, 1, 4], "price": [4.0, 3.5, 1.0]})
    >>> en.write(a, "old.entasis")
    >>> b.to_parquet("new.parquet")
    >>> en.diff("old.entasis", "new.parquet", key="id")
    <entasis.Diff: 2 rows compared>
      column 'price': 1 differs
      row 1, 'price': 3.0 | 3.5
      only in a: 1 row (2)
      only in b: 1 row (4)
    """
    with reported:
        _libraries.need("diff", "pyarrow")
        keys = _names("key", key)
        wanted = _names("columns", columns)
        if tolerance is not None and (isinstance(tolerance, bool) or not tolerance >= 0):
            raise ArgumentError(f"tolerance={shown(tolerance)}: a number, 0 or more")
        sides = [Side(one, wanted, keys) for one in (a, b)]
        limit = _options.integer_between("limit", limit, "a number of differences", 0, None)
        with _progress(progress, "comparing", "rows") as show:
            known = [side.n_rows for side in sides if side.n_rows is not None]
            total = max(known) if len(known) == len(sides) else None
            found = Differences(limit, tolerance, (lambda n: None) if show is None else (lambda n: show(n, total)))
            names = found.schemas(sides[0], sides[1], wanted, keys)
            if keys:
                by_key(sides[0], sides[1], keys, names, found)
            else:
                _by_position(sides[0], sides[1], names, found)
        return found.diff


def _by_position(a: Side, b: Side, names: list[str], found: Differences) -> None:
    at = 0
    for one, other in _compare.windows(a.batches(), b.batches()):
        start = at
        if one is not None and other is not None:
            found.values(one, other, names, lambda i, start=start: start + i)
            at += one.num_rows
            continue
        side = 0 if other is None else 1
        n = (one if other is None else other).num_rows
        found.only(side, n, lambda i, start=start: start + i)
        at += n


def _names(what: str, value: str | Iterable[str] | None) -> list[str]:
    if value is None:
        return []
    found = [value] if isinstance(value, str) else list(value)
    if not found or not all(isinstance(name, str) for name in found) or len(set(found)) < len(found):
        raise ArgumentError(f"{what}={shown(value)}: the name of a column, or a list of different names")
    return found
