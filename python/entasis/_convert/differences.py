"""The differences of two tables."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from . import report as _report

if TYPE_CHECKING:
    from typing import TypeAlias

    # The position of a row, or its key.
    Row: TypeAlias = Any

# The most lines of each list that `repr` shows.
_SHOWN = 10


class Diff:
    """The differences of two tables: `entasis.diff`. It is true if there are any.

    Attributes
    ----------
    schema : list of tuples
        `(column, type in a, type in b)` for columns whose types differ, with None where a table
        lacks the column; and `(None, names in a, names in b)` if the order of the columns differs.
    columns : dict
        The number of values that differ, by column, without columns that are equal.
    rows : list of tuples
        The first differences: `(row, column, value in a, value in b)`. The row is a position or a
        key.
    only_a, only_b : list
        The first rows that one table alone has: positions, or keys.
    n_rows : int
        The number of rows that were compared.
    n_only_a, n_only_b : int
        The number of rows that one table alone has.

    Examples
    --------
    >>> a, b = pd.DataFrame({"x": [1, 2], "y": [3, 4]}), pd.DataFrame({"x": [1, 2], "y": [3, 5]})
    >>> found = en.diff(a, b)
    >>> bool(found), found.columns, found.rows
    (True, {'y': 1}, [(1, 'y', 4, 5)])
    """

    __slots__ = ("columns", "n_only_a", "n_only_b", "n_rows", "only_a", "only_b", "rows", "schema")

    def __init__(self) -> None:
        self.schema: list[tuple[str | None, str | None, str | None]] = []
        self.columns: dict[str, int] = {}
        self.rows: list[tuple[Row, str, Any, Any]] = []
        self.only_a: list[Row] = []
        self.only_b: list[Row] = []
        self.n_rows = self.n_only_a = self.n_only_b = 0

    def __bool__(self) -> bool:
        return bool(self.schema or self.columns or self.n_only_a or self.n_only_b)

    def to_json(self) -> str:
        """Return the differences as a JSON object. Values that JSON lacks become text."""
        found = {"differs": bool(self), **{name: getattr(self, name) for name in self.__slots__}}
        return json.dumps(_plain(found), ensure_ascii=False)

    def __repr__(self) -> str:
        if not self:
            return f"<entasis.Diff: {_report.n_rows(self.n_rows)}, no difference>"
        found = _report.differences(self, "a", "b", _SHOWN)
        return "\n".join([f"<entasis.Diff: {_report.n_rows(self.n_rows)} compared>", *(f"  {line}" for line in found)])


def _plain(value: Any) -> Any:
    """A value that JSON has."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return value.hex() if isinstance(value, bytes) else str(value)
