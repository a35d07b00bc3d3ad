"""Files as datasets of pyarrow, which DuckDB and others scan too."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

from entasis._entasis import Handle, default_threads
from entasis._hosts.arrow.pyarrow import as_table
from entasis._libraries.library_errors import of_column
from entasis._view.dense import filtered, mask
from entasis._view.query import Query
from entasis._view.read import read as read_view
from entasis.errors import MissingLibraryError

try:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as error:  # pragma: no cover
    raise MissingLibraryError("datasets need pyarrow: pip install 'entasis[pyarrow]'") from error

from .ahead import together
from .batch_dataset import BatchDataset, is_largest
from .bound import bound
from .names import numbers_by_name
from .narrow import narrow_decimals
from .supported import advising, supported
from .text_len import text_len, too_long
from .windows import CELLS, Sizes, Window, spans, windows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._typing import Narrow, OnRefused
    from entasis._view.view import View

    from .projection import Projection

# The most windows that are read together.
MOST_TOGETHER = 8


class Dataset(BatchDataset):
    """The rows of a query as a dataset of pyarrow.

    With `narrow="strings"` strings that repeat have a dictionary. With `narrow=True` decimals of up
    to 18 digits also are decimal64.
    """

    def __init__(
        self,
        query: Query,
        nan: Literal["ieee", "largest"] = "ieee",
        on_unsupported: OnRefused = "error",
        narrow: Narrow = False,
    ) -> None:
        is_largest(nan)
        decimals = narrow_decimals(narrow)
        query = supported(query, "pyarrow", on_unsupported)
        self._query, self._narrow = query, narrow
        self._view: View = query.passing()
        # The rows in the types of the file.
        self._of_file = self._view
        if narrow:
            self._view = self._view.narrowed(decimals)
        with advising("to_dataset()"):
            schema = _table(self._view.part(slice(0))).schema
        self._numbers = numbers_by_name(self._view, schema.names)
        super().__init__(schema, nan)

    @cached_property
    def _wide(self) -> Dataset:
        """The same rows without narrow types."""
        return Dataset(Query(self._of_file), self._order) if self._narrow else self

    @property
    def _order(self) -> Literal["ieee", "largest"]:
        return "largest" if self._nan_is_largest else "ieee"

    @property
    def _tested(self) -> pa.Schema:
        return self._wide._schema

    @property
    def files(self) -> list[str]:
        """The path of the file."""
        return [str(self._view.table.path)]

    def _bound(self, tree: tuple[Any, ...]) -> tuple[Any, ...] | None:
        return bound(self._view, self._numbers, tree)

    def _has_nan(self, name: str) -> bool:
        return self._view.handle.nan_is_null([self._numbers[name]]) != [True]

    def _batches(self, names: list[str], filter: pc.Expression | None) -> Iterator[pa.RecordBatch]:
        tree, rest = self._split(filter)
        if rest is None:
            for window in self._windows(names, tree):
                yield from self._of_window(names, window)
            return
        used = self._referenced(rest) or names[:1]
        others = [name for name in names if name not in used]
        for window, table in self._wide._tables(used, tree):
            # The added column has a unique name, so no filter refers to it.
            row = max(table.column_names, key=len) + " "
            table = table.append_column(row, pa.array(np.arange(len(window.rows))))
            if window.kept is not None:
                table = table.filter(mask(window.kept.bits, window.kept.first, len(table)))
            table = table.filter(rest)
            passed = table[row].to_numpy()
            table = narrowed(table.select(used), self._schema)
            size = max(1, CELLS // len(names))
            for start in range(0, len(passed), size):
                positions = range(start, min(start + size, len(passed)))
                here = Window(positions, _at(window.rows, passed[start : start + size]))
                if not others:
                    yield from table.slice(start, size).select(names).to_batches()
                    continue
                for some, found in self._fitting(others, here):
                    part = table.slice(some.positions.start, len(some.rows))
                    for name in others:
                        part = part.append_column(found.schema.field(name), found[name])
                    yield from part.select(names).to_batches()

    def _read_ahead(self, names: list[str], filter: pc.Expression | None) -> Iterator[pa.RecordBatch]:
        tree, rest = self._split(filter)
        if rest is not None:
            return super()._read_ahead(names, filter)
        # One window has too few rows for several threads, but fits the caches of a processor.
        n = min(default_threads(), MOST_TOGETHER)
        windows = self._windows(names, tree, n_together=MOST_TOGETHER)
        return together((partial(self._of_window, names, window) for window in windows), n)

    def _of_window(self, names: list[str], window: Window) -> list[pa.RecordBatch]:
        """The rows of a window that pass, in batches."""
        return [batch for table in self._passing_of(names, window) for batch in table.to_batches()]

    def _passing_of(self, names: list[str], window: Window) -> Iterator[pa.Table]:
        """The rows of a window that pass."""
        if window.kept is not None and self._can_drop(names):
            rows = window.kept.found.between(window.rows.start, window.rows.stop)
            table = self._read(names, rows)
            if table is not None:
                yield table
                return
        for some, table in self._fitting(names, window):
            yield self._passing(table, names, some)

    def _can_drop(self, names: list[str]) -> bool:
        """Whether the core drops rows of these columns itself."""
        if type(self._view.handle) is not Handle:
            return False
        types = (self._schema.field(name).type for name in names)
        return all(of.num_fields == 0 for of in types) and min(self._numbers[name] for name in names) >= 0

    def _windows(self, names: list[str], tree: tuple[Any, ...] | None, n_together: int = 1) -> Iterator[Window]:
        """The rows that pass, in windows. Some may have other rows too."""
        numbers = [self._numbers[name] for name in names]
        sizes = Sizes(len(names), text_len=text_len(self._view, numbers), n_together=n_together)
        return spans(self._view, tree, sizes, numbers)

    def _tables(self, names: list[str], tree: tuple[Any, ...] | None) -> Iterator[tuple[Window, pa.Table]]:
        """The windows of the rows that pass, with their columns."""
        for window in self._windows(names, tree):
            yield from self._fitting(names, window)

    def _fitting(self, names: list[str], window: Window) -> Iterator[tuple[Window, pa.Table]]:
        """A window with its columns, in parts if a column would exceed the offsets of its type."""
        table = self._read(names, window.rows)
        if table is not None:
            yield window, table
        elif len(window.rows) > 1:
            for half in window.halves():
                yield from self._fitting(names, half)
        else:
            raise too_long(int(window.rows[0]))

    def _passing(self, table: pa.Table, names: list[str], window: Window) -> pa.Table:
        """The rows of a window that pass."""
        if window.kept is None:
            return table
        bits, first = window.kept.bits, window.kept.first
        some = filtered(table, bits, first)
        if some is not None:
            return some
        passing = np.unpackbits(bits, count=first + len(window.rows), bitorder="little")[first:]
        found = self._read(names, window.rows.start + np.flatnonzero(passing))
        assert found is not None, "some of the rows fit if all do"
        return found

    def _read(self, names: list[str], rows: Any) -> pa.Table | None:
        """Some rows; None if a column would exceed the offsets of its type."""
        numbers = [self._numbers[name] for name in names]
        if self._view.table.memory_map and not isinstance(rows, range):
            # A mapped file yields only neighbouring rows, without a copy.
            first, last = int(rows.min()), int(rows.max())
            every = self._read(names, range(first, last + 1))
            return None if every is None else every.take(rows - first)
        table = _table(self._view.narrow(numbers, rows))
        wanted = pa.schema([self._schema.field(name) for name in names])
        if table.schema.equals(wanted):
            return table
        if any(map(_is_wider, table.schema.types, wanted.types)):
            return None
        try:
            return table.cast(wanted)
        except pa.ArrowException as error:
            parts = ((name, partial(table[name].cast, wanted.field(name).type)) for name in names)
            raise of_column(error, parts) from error

    def count_rows(self, filter: pc.Expression | None = None, **options: Any) -> int:
        """Count the rows, or those that pass a filter."""
        if filter is None:
            return self._view.n_rows
        tree, rest = self._split(filter)
        if rest is not None or tree is None:
            names = self._referenced(filter)[:1] or self._schema.names[:1]
            return sum(batch.num_rows for batch in self._batches(names, filter))
        rows = self._view.rows
        if rows is None or (isinstance(rows, range) and rows.step == 1 and len(rows)):
            start, stop = (0, self._view.n_rows) if rows is None else (rows.start, rows.stop)
            return self._view.handle.count_filtered(tree, start, stop, None)
        return sum(len(window.rows) for window in windows(self._view, tree, Sizes(1)))

    def take(
        self, indices: Any, columns: Projection = None, filter: pc.Expression | None = None, **options: Any
    ) -> pa.Table:
        """Read rows by their positions among the rows that pass the filter."""
        if filter is not None:
            return self.scanner(columns, filter, **options).take(indices)
        positions = np.asarray(indices, np.int64)
        if len(positions) and not 0 <= positions.min() <= positions.max() < self._view.n_rows:
            raise IndexError(f"take: a position is not from 0 to {self._view.n_rows - 1}")
        return Dataset(Query(self._of_file.part(positions)), narrow=self._narrow).to_table(columns, **options)

    def __reduce__(self) -> tuple[Any, ...]:
        return Dataset, (self._query, self._order, "error", self._narrow)


def narrowed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table whose columns get the types that those of these names have in a schema."""
    for position, name in enumerate(table.column_names):
        field = schema.field(name)
        if table.schema.field(position).type != field.type:
            table = table.set_column(position, field, table[name].cast(field.type))
    return table


def _is_wider(of: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether a column or a field in it has offsets of 64 bits instead of 32."""
    narrow = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
    if of == narrow.get(wanted):
        return True
    if pa.types.is_dictionary(of) and pa.types.is_dictionary(wanted):
        return _is_wider(of.value_type, wanted.value_type)
    if pa.types.is_large_list(of) and pa.types.is_list(wanted):
        return True
    n = of.num_fields
    return n > 0 and n == wanted.num_fields and any(_is_wider(of.field(i).type, wanted.field(i).type) for i in range(n))


def _at(rows: Any, positions: Any) -> Any:
    """The rows at ascending positions among `rows`."""
    return rows.start + rows.step * positions if isinstance(rows, range) else rows[positions]


def _table(view: View) -> pa.Table:
    """The rows of a view as a table, even if an array or a batch was written."""
    found = read_view(view, "pyarrow")
    return found if isinstance(found, pa.Table) else as_table(found)[0]
