"""Files as datasets of pyarrow, which DuckDB and others scan too."""

from __future__ import annotations

import operator
import re
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Literal

from entasis._arguments.options import shown
from entasis._hosts.arrow.pyarrow import as_table
from entasis._libraries.library_errors import of_column
from entasis._view.dense import filtered, mask
from entasis._view.query import Query
from entasis._view.read import read as read_view
from entasis.errors import ArgumentError, MissingLibraryError

try:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset as ds
    from pyarrow import fs
except ImportError as error:  # pragma: no cover
    raise MissingLibraryError("datasets need pyarrow: pip install 'entasis[pyarrow]'") from error

from .ahead import ahead
from .bound import bound
from .expressions import parts_of
from .names import numbers_by_name
from .scanner import BatchScanner, Fragment
from .supported import advising, supported
from .text_len import text_len, too_long
from .windows import CELLS, Sizes, Window, spans, windows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._typing import OnRefused
    from entasis._view.view import View

    from .projection import Projection


class Dataset(ds.FileSystemDataset):  # type: ignore[misc]
    """The rows of a query as a dataset of pyarrow.

    A filter is split at *and*. The parts with an exact counterpart are tested on the file. pyarrow
    evaluates the others on the remaining rows.

    The base class refers to a file that does not exist. So code that bypasses these methods gets an
    error instead of an empty dataset.
    """

    def __init__(
        self, query: Query, nan: Literal["ieee", "largest"] = "ieee", on_unsupported: OnRefused = "error"
    ) -> None:
        if nan not in ("ieee", "largest"):
            raise ArgumentError(f'nan={shown(nan)}: it is "ieee" or "largest"')
        query = supported(query, "pyarrow", on_unsupported)
        self._query, self._nan_is_largest = query, nan == "largest"
        self._view: View = query.passing()
        with advising("to_dataset()"):
            schema = _table(self._view.part(slice(0))).schema
        self._schema = pa.schema([_plain(field) for field in schema], metadata=schema.metadata)
        self._numbers = numbers_by_name(self._view, self._schema.names)
        format_, system = ds.IpcFileFormat(), fs.LocalFileSystem()
        nothing = format_.make_fragment(
            "an Entasis file: read it by the methods of its dataset, such as scanner", system
        )
        super().__init__([nothing], self._schema, format_, system)

    @property
    def schema(self) -> pa.Schema:
        """The names and types of the columns. Views of strings are plain strings here."""
        return self._schema

    @property
    def files(self) -> list[str]:
        """The path of the file."""
        return [str(self._view.table.path)]

    @property
    def partition_expression(self) -> pc.Expression:
        """An expression that holds for all rows: always true."""
        return pc.scalar(True)

    def scanner(self, columns: Projection = None, filter: pc.Expression | None = None, **options: Any) -> ds.Scanner:
        """Build a scanner.

        Parameters
        ----------
        columns
            Names of columns, or new names with expressions. None means all columns.
        filter
            The condition on the rows.
        options
            As for `pyarrow.dataset.Dataset.scanner`. With expressions as `columns`, `batch_size`,
            `use_threads` and `memory_pool` are used. All others are for files of pyarrow's own
            formats.
        """
        names = self._schema.names if columns is None else self._needed(columns)
        # Batches without columns would lose the number of rows.
        read = list(dict.fromkeys(names)) or self._schema.names[:1]
        schema = pa.schema([self._schema.field(name) for name in read], metadata=self._schema.metadata)
        rows = BatchScanner(schema, lambda: ahead(self._batches(read, filter)))
        if names and not hasattr(columns, "items") and len(read) == len(names):
            return rows
        kept = {key: options[key] for key in ("batch_size", "use_threads", "memory_pool") if key in options}
        return ds.Scanner.from_batches(rows.to_batches(), schema=schema, columns=_projection(columns), **kept)

    def _needed(self, columns: Any) -> list[str]:
        """The columns that a projection takes from the file."""
        if not hasattr(columns, "items"):
            unknown = [name for name in columns if name not in self._numbers]
            if unknown:
                raise ArgumentError(f"the dataset has no column {unknown[0]!r}")
            return list(columns)
        found = [name for expression in columns.values() for name in self._referenced(expression)]
        return list(dict.fromkeys(found))

    def _referenced(self, expression: pc.Expression) -> list[str]:
        """The columns that an expression names, found by binding it to growing sets of columns."""
        if "FieldPath(" in str(expression):
            # The expression may name columns by number, which counts all columns.
            return list(self._schema.names)
        names: list[str] = []
        while True:
            schema = pa.schema([self._schema.field(name) for name in names])
            try:
                ds.Scanner.from_batches(iter(()), schema=schema, columns={"x": expression})
            except pa.ArrowInvalid as error:
                said = str(error)
                missing = [name for name in self._numbers if name not in names and f"FieldRef.Name({name})" in said]
                if not re.search(r"No match for FieldRef", said) or not missing:
                    raise
                names.append(max(missing, key=len))
            else:
                return names

    def _batches(self, names: list[str], filter: pc.Expression | None) -> Iterator[pa.RecordBatch]:
        """The rows that pass, with these columns."""
        tree, rest = self._split(filter)
        if rest is None:
            for window, table in self._tables(names, tree):
                yield from self._passing(table, names, window).to_batches()
            return
        used = self._referenced(rest) or names[:1]
        others = [name for name in names if name not in used]
        for window, table in self._tables(used, tree):
            # The added column has a unique name, so no filter refers to it.
            row = max(table.column_names, key=len) + " "
            table = table.append_column(row, pa.array(np.arange(len(window.rows))))
            if window.kept is not None:
                table = table.filter(mask(*window.kept, len(table)))
            table = table.filter(rest)
            passed = table[row].to_numpy()
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

    def _tables(self, names: list[str], tree: tuple[Any, ...] | None) -> Iterator[tuple[Window, pa.Table]]:
        """The windows of the rows that pass, with their columns."""
        lens = text_len(self._view, [self._numbers[name] for name in names])
        for window in spans(self._view, tree, Sizes(len(names), text_len=lens)):
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

    def _split(self, filter: pc.Expression | None) -> tuple[tuple[Any, ...] | None, pc.Expression | None]:
        """The conditions that the core tests, and those left for pyarrow. Either may be None."""
        if filter is None:
            return None, None
        trees: list[tuple[Any, ...]] = []
        rest: list[pc.Expression] = []
        for part in parts_of(filter, self._schema, nan_is_largest=self._nan_is_largest):
            tree = None if part.tree is None else bound(self._view, self._numbers, part.tree)
            if tree is None:
                rest.append(part.expression)
            else:
                trees.append(tree)
        left = reduce(operator.and_, rest) if rest else None
        if left is not None and self._nan_is_largest:
            self._refuse_floats(left)
        return ("and", trees) if trees else None, left

    def _refuse_floats(self, expression: pc.Expression) -> None:
        """Refuse a condition on floats that pyarrow would test, since it follows IEEE 754."""
        for name in self._referenced(expression):
            if self._view.handle.nan_is_null([self._numbers[name]]) == [True]:
                # The engine sees no NaN there.
                continue
            if _has_floats(self._schema.field(name).type):
                raise ArgumentError(
                    f'nan="largest": pyarrow alone can test {shown(str(expression))}, and it takes NaN in column '
                    f'{shown(name)} for no number: filter after reading, or use nan="ieee"'
                )

    def _passing(self, table: pa.Table, names: list[str], window: Window) -> pa.Table:
        """The rows of a window that pass."""
        if window.kept is None:
            return table
        some = filtered(table, *window.kept)
        if some is not None:
            return some
        bits, first = window.kept
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

    def head(
        self, num_rows: int, columns: Projection = None, filter: pc.Expression | None = None, **options: Any
    ) -> pa.Table:
        """Read the first rows that pass."""
        found: pa.Table = self.scanner(columns, filter, **options).head(num_rows)
        return found

    def take(
        self, indices: Any, columns: Projection = None, filter: pc.Expression | None = None, **options: Any
    ) -> pa.Table:
        """Read rows by their positions among the rows that pass the filter."""
        if filter is not None:
            return self.scanner(columns, filter, **options).take(indices)
        positions = np.asarray(indices, np.int64)
        if len(positions) and not 0 <= positions.min() <= positions.max() < self._view.n_rows:
            raise IndexError(f"take: a position is not from 0 to {self._view.n_rows - 1}")
        return Dataset(Query(self._view.part(positions))).to_table(columns, **options)

    def to_table(self, columns: Projection = None, filter: pc.Expression | None = None, **options: Any) -> pa.Table:
        """Read the rows that pass as a table."""
        return self.scanner(columns, filter, **options).to_table()

    def to_batches(
        self, columns: Projection = None, filter: pc.Expression | None = None, **options: Any
    ) -> Iterator[pa.RecordBatch]:
        """Read the rows that pass in batches."""
        found: Iterator[pa.RecordBatch] = self.scanner(columns, filter, **options).to_batches()
        return found

    def get_fragments(self, filter: pc.Expression | None = None) -> Iterator[Fragment]:
        """Return the dataset as one fragment, to which the caller still has to pass the filter."""
        yield Fragment(self)

    def filter(self, expression: pc.Expression) -> ds.Dataset:
        """Return the rows that pass as a dataset in memory."""
        return ds.dataset(self.to_table(filter=expression))

    def join(self, right_dataset: ds.Dataset, *args: Any, **options: Any) -> ds.Dataset:
        """Join with another dataset, in memory."""
        return ds.dataset(self.to_table()).join(_in_memory(right_dataset), *args, **options)

    def join_asof(self, right_dataset: ds.Dataset, *args: Any, **options: Any) -> ds.Dataset:
        """Join with the nearest rows of another dataset, in memory."""
        return ds.dataset(self.to_table()).join_asof(_in_memory(right_dataset), *args, **options)

    def sort_by(self, sorting: Any, **options: Any) -> ds.Dataset:
        """Sort the rows, in memory."""
        return ds.dataset(self.to_table()).sort_by(sorting, **options)

    def replace_schema(self, schema: pa.Schema) -> ds.Dataset:
        """Refuse another schema: the columns have the types that the file has."""
        raise ArgumentError("the columns of a file keep their types: cast the table that was read")

    def __reduce__(self) -> tuple[Any, ...]:
        return Dataset, (self._query, "largest" if self._nan_is_largest else "ieee")


def _has_floats(of: pa.DataType) -> bool:
    if pa.types.is_dictionary(of):
        return _has_floats(of.value_type)
    return pa.types.is_floating(of) or any(_has_floats(of.field(i).type) for i in range(of.num_fields))


def _is_wider(of: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether a column or a field in it has offsets of 64 bits instead of 32."""
    narrow = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
    if of == narrow.get(wanted):
        return True
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


def _in_memory(dataset: Any) -> Any:
    return ds.dataset(dataset.to_table()) if isinstance(dataset, Dataset) else dataset


def _projection(columns: Any) -> Any:
    return dict(columns) if hasattr(columns, "items") else columns if columns is None else list(columns)


def _plain(field: pa.Field) -> pa.Field:
    """A field without views of strings, which DuckDB does not filter."""
    if pa.types.is_string_view(field.type):
        return field.with_type(pa.large_string())
    return field.with_type(pa.large_binary()) if pa.types.is_binary_view(field.type) else field
