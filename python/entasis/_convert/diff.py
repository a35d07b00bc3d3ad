"""Compares two tables by schema and by values."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from entasis._arguments import options as _options
from entasis._arguments.options import shown
from entasis._memory import reported
from entasis.errors import ArgumentError, ColumnNotFoundError, UnsupportedTypeError

from . import arrays as _arrays
from . import compare as _compare
from . import libraries as _libraries
from .inputs.arrow import TableInput
from .inputs.file import FileInput
from .inputs.open import of_value
from .inputs.polars import PolarsInput
from .inputs.value import ValueInput
from .left_out import LEFT_OUT, of_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeAlias

    from .inputs.base import Input

    # The position of a row, or its key.
    Row: TypeAlias = Any

# The most lines of each list that `repr` shows.
_SHOWN = 10
_UNNAMED = re.compile(r"__index_level_(\d+)__")


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
            return f"<entasis.Diff: {_rows(self.n_rows)}, no difference>"
        lines = [f"<entasis.Diff: {_rows(self.n_rows)} compared>"]
        for column, one, other in self.schema[:_SHOWN]:
            if column is None:
                lines.append(f"  columns in another order: {one} | {other}")
            else:
                lines.append(f"  column {column!r}: {one or 'missing'} | {other or 'missing'}")
        lines += _more(self.schema)
        counts = list(self.columns.items())
        lines += [f"  column {column!r}: {n:,} differ{'s' if n == 1 else ''}" for column, n in counts[:_SHOWN]]
        lines += _more(counts)
        for row, column, a, b in self.rows[:_SHOWN]:
            lines.append(f"  row {shown(row)}, {column!r}: {_short(a)} | {_short(b)}")
        lines += _more(self.rows)
        for side, n, only in (("a", self.n_only_a, self.only_a), ("b", self.n_only_b, self.only_b)):
            if n:
                dots = ", ..." if n > 5 else ""
                lines.append(f"  only in {side}: {_rows(n)} ({', '.join(map(shown, only[:5]))}{dots})")
        return "\n".join(lines)


def diff(
    a: Any,
    b: Any,
    *,
    key: str | Iterable[str] | None = None,
    columns: str | Iterable[str] | None = None,
    limit: int = 100,
    tolerance: float | None = None,
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
        sides = [_Table(one, wanted, keys) for one in (a, b)]
        found = _Differences(_options.integer_between("limit", limit, "a number of differences", 0, None), tolerance)
        names = found.schemas(sides[0], sides[1], wanted, keys)
        if keys:
            _by_key(sides[0], sides[1], keys, names, found)
        else:
            _by_position(sides[0], sides[1], names, found)
        return found.diff


class _Table:
    """A table that is compared, with the levels of its index as first columns."""

    def __init__(self, value: Any, wanted: list[str], keys: list[str]) -> None:
        self._given = of_value(value)
        if self._given.host == "tree":
            raise UnsupportedTypeError(f"{self._given.name} holds no table, and only tables are compared")
        if isinstance(self._given, PolarsInput):
            self._given = ValueInput(self._given.whole(), self._given.name)
        self.name = self._given.name
        if wanted and isinstance(self._given, (FileInput, ValueInput)):
            # Other columns may have types that Arrow lacks.
            self._given = _some(self._given, [*wanted, *keys])
        lost = of_values(self._given.losses())
        if lost:
            raise UnsupportedTypeError(
                f"{self.name}: column {shown(lost[0][0])}: {lost[0][1].removeprefix(f'{LEFT_OUT}: ')}; "
                "choose other columns with columns="
            )
        schema = self._given.schema()
        self._order, self.names = _levels_first(schema)
        for name in self.names if len(set(self.names)) < len(self.names) else ():
            if self.names.count(name) > 1:
                raise ArgumentError(f"{self.name}: several columns have the name {shown(name)}")
        self.types = {name: schema.field(i).type for name, i in zip(self.names, self._order, strict=True)}

    def batches(self) -> Iterator[Any]:
        """The rows in batches."""
        for batch in self._given.batches():
            yield batch.select(self._order).rename_columns(self.names)

    def is_sorted(self, keys: list[str]) -> bool:
        """Whether the keys ascend. Reads the columns of the keys."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        last: Any = None
        for batch in self.batches():
            part = batch.select(keys)
            whole = part if last is None else pa.concat_tables([last, part])
            order = np.asarray(pc.sort_indices(_sortable(whole), [(name, "ascending") for name in keys]))
            if not (order[:-1] <= order[1:]).all():
                return False
            last = part.slice(max(part.num_rows - 1, 0))
        return True

    def sorted(self, keys: list[str]) -> Iterator[Any]:
        """The rows in the order of the keys, in batches."""
        import pyarrow as pa
        import pyarrow.compute as pc

        parts = list(self.batches())
        if parts:
            whole = pa.concat_tables(parts).combine_chunks()
            order = pc.sort_indices(_sortable(whole.select(keys)), [(name, "ascending") for name in keys])
            yield from TableInput(whole.take(order)).batches()


def _some(given: Input, wanted: list[str]) -> Input:
    """The columns of a file or frame that it has."""
    file = given.file()
    known = {*map(str, file.column_names)}
    found = FileInput(file).selected([name for name in dict.fromkeys(wanted) if name in known], None, None)
    found.name = given.name
    return found


def _levels_first(schema: Any) -> tuple[list[int], list[str]]:
    """The order of columns, and their names, as `entasis.read` has them for frames of pandas."""
    names = list(schema.names)
    metadata = (schema.metadata or {}).get(b"pandas")
    if metadata is None:
        return list(range(len(names))), names
    levels = [level for level in json.loads(metadata).get("index_columns", []) if isinstance(level, str)]
    first = [names.index(level) for level in levels if level in names]
    order = first + [i for i in range(len(names)) if i not in first]

    def renamed(name: str) -> str:
        level = _UNNAMED.fullmatch(name)
        return name if level is None else "index" if len(levels) == 1 else f"level_{level[1]}"

    return order, [renamed(names[i]) for i in order]


class _Differences:
    """Collects differences."""

    def __init__(self, limit: int, tolerance: float | None) -> None:
        self.diff = Diff()
        self._limit, self._tolerance = limit, tolerance

    def schemas(self, a: _Table, b: _Table, wanted: list[str], keys: list[str]) -> list[str]:
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
                    listed.append((i, name, _value(one, i), _value(other, i)))
        listed.sort(key=lambda each: each[0])
        for i, name, x, y in listed[: max(self._limit - len(found.rows), 0)]:
            found.rows.append((row(i), name, x, y))

    def only(self, side: int, n: int, row: Any) -> None:
        """Count `n` rows that one table alone has."""
        found = self.diff
        rows = (found.only_a, found.only_b)[side]
        rows.extend(row(i) for i in range(min(n, self._limit - len(rows))))
        if side == 0:
            found.n_only_a += n
        else:
            found.n_only_b += n


def _by_position(a: _Table, b: _Table, names: list[str], found: _Differences) -> None:
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


class _Side:
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
        columns = [_sortable(batch.select([name])).column(0).to_pylist() for name in self._names]
        self.keys += [tuple(map(_ordered, each)) for each in zip(*columns, strict=True)]

    def taken(self, n: int) -> tuple[Any, list[tuple[Any, ...]]]:
        """Take the first rows."""
        table, keys = self.table, self.keys[:n]
        if table is None:
            return None, []
        self.table, self.keys = table.slice(n), self.keys[n:]
        return table.slice(0, n), keys


def _by_key(a: _Table, b: _Table, keys: list[str], names: list[str], found: _Differences) -> None:
    for name in keys:
        one, other = _arrays.logical(a.types[name]), _arrays.logical(b.types[name])
        if one != other and not _are_both_numbers(one, other):
            raise ArgumentError(f"the key {shown(name)} is {one} in one table and {other} in the other")
    are_sorted = a.is_sorted(keys) and b.is_sorted(keys)
    sides = [_Side(side.batches() if are_sorted else side.sorted(keys), keys) for side in (a, b)]
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


def _matched(one: Any, other: Any, keys: list[str], names: list[str], found: _Differences) -> None:
    """Compare rows with equal keys. All rows of a key are among these."""
    (a, of_a), (b, of_b) = one, other
    if of_a == of_b:
        found.values(a, b, names, lambda i: _key(a, keys, i))
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
        found.values(x, y, names, lambda k: _key(x, keys, k))
    for side, table in ((0, a), (1, b)):
        rows = only[side]
        found.only(side, len(rows), lambda k, rows=rows, table=table: _key(table, keys, rows[k]))


def _sortable(table: Any) -> Any:
    """Keys in types that sort and compare: numbers for times, and values for codes."""
    import pyarrow as pa

    columns = []
    for column in table.columns:
        plain = _arrays.plain(column)
        columns.append(plain.view(_INTEGER[plain.type.bit_width]()) if pa.types.is_temporal(plain.type) else plain)
    return pa.Table.from_arrays(columns, names=table.column_names)


def _int32() -> Any:
    import pyarrow as pa

    return pa.int32()


def _int64() -> Any:
    import pyarrow as pa

    return pa.int64()


_INTEGER = {32: _int32, 64: _int64}


def _ordered(value: Any) -> tuple[Any, ...]:
    """A value in the order of pyarrow: NaN after numbers, missing values last."""
    if value is None:
        return (2,)
    return (1,) if value != value else (0, value)


def _key(table: Any, keys: list[str], i: int) -> Any:
    found = tuple(_value(table.column(name), i) for name in keys)
    return found[0] if len(found) == 1 else found


def _value(column: Any, i: int) -> Any:
    try:
        return column[i].as_py()
    except (ValueError, OverflowError, ImportError):
        # A time that Python lacks.
        return str(column[i])


def _are_both_numbers(one: Any, other: Any) -> bool:
    import pyarrow as pa

    return all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in (one, other))


def _named(kind: Any) -> str | None:
    return None if kind is None else str(kind)


def _names(what: str, value: str | Iterable[str] | None) -> list[str]:
    if value is None:
        return []
    found = [value] if isinstance(value, str) else list(value)
    if not found or not all(isinstance(name, str) for name in found) or len(set(found)) < len(found):
        raise ArgumentError(f"{what}={shown(value)}: the name of a column, or a list of different names")
    return found


def _plain(value: Any) -> Any:
    """A value that JSON has."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return value.hex() if isinstance(value, bytes) else str(value)


def _rows(n: int) -> str:
    return f"{n:,} row{'' if n == 1 else 's'}"


def _more(values: list[Any]) -> list[str]:
    return [f"  ... {len(values) - _SHOWN:,} more"] if len(values) > _SHOWN else []


def _short(value: Any) -> str:
    text = repr(value)
    text = "".join(letter if letter.isprintable() else "?" for letter in text[:200])
    return text if len(text) <= 60 else text[:57] + "..."
