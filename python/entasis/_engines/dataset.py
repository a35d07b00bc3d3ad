"""Files as datasets of pyarrow, which DuckDB and others scan too."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

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
from .guarantees import Guarantees
from .names import numbers_by_name
from .windows import Sizes, windows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from entasis._file.file import File
    from entasis._scan.scan import Scan

    Projection = list[str] | Mapping[str, pc.Expression] | None

# Rows of the first part that is tested at once.
_FIRST = 1 << 14
# Values of the longest part, and of the longest batch.
_CELLS = 1 << 22


class Dataset(ds.FileSystemDataset):  # type: ignore[misc]
    """The rows of a scan as a dataset of pyarrow.

    pyarrow evaluates the expressions. Before it, statistics leave out blocks in which a filter
    cannot hold. The columns of the filter are read first, then the other ones in the rows that
    pass.

    The base class has one file, which does not exist. So code that does not call the methods here
    gets an error, and not an empty dataset.
    """

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._view: File = scan.view()
        empty = self._view[:0].read(to="pyarrow")
        self._schema = pa.schema([_plain(field) for field in empty.schema])
        self._numbers = numbers_by_name(self._view, self._schema.names)
        self._guarantees: dict[tuple[str, ...], Guarantees] = {}
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
        return [str(self._view.path)]

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
            Those of `pyarrow.dataset.Dataset.scanner`. With expressions as `columns`, `batch_size`,
            `use_threads` and `memory_pool` are used. All others are for files of pyarrow's own
            formats.
        """
        names = self._schema.names if columns is None else self._needed(columns)
        # Batches without columns would not tell how many rows there are.
        read = list(dict.fromkeys(names)) or self._schema.names[:1]
        schema = pa.schema([self._schema.field(name) for name in read])
        rows = Rows(schema, lambda: ahead(self._batches(read, filter)))
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
        """The columns that an expression names, found by binding it to more and more of them."""
        if "FieldPath(" in str(expression):
            # It may name columns by their numbers, which count all columns.
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
        if filter is None:
            for window in windows(self._view, None, Sizes(len(names))):
                yield from self._read(names, window.rows).to_batches()
            return
        used = self._referenced(filter) or names[:1]
        others = [name for name in names if name not in used]
        if self._view._frame.memory_map:
            # Only neighbouring rows of a mapped file can be read.
            used, others = used + others, []
        for rows in self._parts(filter, used):
            table = self._read(used, rows)
            # The filter does not see the last column, because its name is that of no other.
            row = max(table.column_names, key=len) + " "
            table = table.append_column(row, pa.array(np.arange(len(rows)))).filter(filter)
            if not len(table):
                continue
            places = table[row].to_numpy()
            size = max(1, _CELLS // len(names))
            for start in range(0, len(places), size):
                part = table.slice(start, size)
                if others:
                    rest = self._read(others, _at(rows, places[start : start + size]))
                    for name in others:
                        part = part.append_column(rest.schema.field(name), rest[name])
                yield from part.select(names).to_batches()

    def _parts(self, filter: pc.Expression, used: list[str]) -> Iterator[Any]:
        """The rows in which a filter can hold, in parts that grow."""
        own = self._view._rows
        every: Any = range(self._view.n_rows) if own is None else own
        ranges: Iterable[range] = [range(len(every))]
        if isinstance(every, range) and every.step == 1 and not self._has_nan(filter, used):
            first = every.start
            found = self._guarantee(used).ranges(filter)
            inside = (range(max(part.start, first) - first, min(part.stop, every.stop) - first) for part in found)
            ranges = (part for part in inside if len(part))
        size, most = _FIRST, max(_FIRST, _CELLS // len(used))
        for part in ranges:
            start = part.start
            while start < part.stop:
                stop = min(start + size, part.stop)
                yield every[start:stop]
                start, size = stop, min(2 * size, most)

    def _has_nan(self, filter: pc.Expression, used: list[str]) -> bool:
        """Whether a filter may compare floats with NaN. pyarrow simplifies that wrongly."""
        floats = any(pa.types.is_floating(self._schema.field(name).type) for name in used)
        return floats and re.search(r"(?<![A-Za-z_])nan(?![A-Za-z_])", str(filter), re.I) is not None

    def _guarantee(self, used: list[str]) -> Guarantees:
        key = tuple(used)
        if key not in self._guarantees:
            whole = self._view._view(None, None)
            schema = pa.schema([self._schema.field(name) for name in used])
            self._guarantees[key] = Guarantees(whole, [self._numbers[name] for name in used], schema)
        return self._guarantees[key]

    def _read(self, names: list[str], rows: Any) -> pa.Table:
        numbers = [self._numbers[name] for name in names]
        table: pa.Table = self._view._view(numbers, rows).read(to="pyarrow")
        wanted = pa.schema([self._schema.field(name) for name in names])
        return table if table.schema.equals(wanted) else table.cast(wanted)

    def count_rows(self, filter: pc.Expression | None = None, **options: Any) -> int:
        """Count the rows, or those that pass a filter."""
        if filter is None:
            return self._view.n_rows
        names = self._referenced(filter)[:1] or self._schema.names[:1]
        return sum(batch.num_rows for batch in self._batches(names, filter))

    def head(
        self, num_rows: int, columns: Projection = None, filter: pc.Expression | None = None, **options: Any
    ) -> pa.Table:
        """Read the first rows that pass."""
        found: pa.Table = self.scanner(columns, filter, **options).head(num_rows)
        return found

    def take(
        self, indices: Any, columns: Projection = None, filter: pc.Expression | None = None, **options: Any
    ) -> pa.Table:
        """Read rows by their positions among those that pass the filter."""
        if filter is not None:
            return self.scanner(columns, filter, **options).take(indices)
        places = np.asarray(indices, np.int64)
        if len(places) and not 0 <= places.min() <= places.max() < self._view.n_rows:
            raise IndexError(f"take: a position is not from 0 to {self._view.n_rows - 1}")
        return Dataset(self._view[places].scan()).to_table(columns, **options)

    def to_table(self, columns: Projection = None, filter: pc.Expression | None = None, **options: Any) -> pa.Table:
        """Read the rows that pass as a table."""
        return self.scanner(columns, filter, **options).to_table()

    def to_batches(
        self, columns: Projection = None, filter: pc.Expression | None = None, **options: Any
    ) -> Iterator[pa.RecordBatch]:
        """Read the rows that pass in batches."""
        found: Iterator[pa.RecordBatch] = self.scanner(columns, filter, **options).to_batches()
        return found

    def get_fragments(self, filter: pc.Expression | None = None) -> Iterator[ds.Fragment]:
        """Return the rows that pass as one fragment in memory."""
        found: Iterator[ds.Fragment] = ds.dataset(self.to_table(filter=filter)).get_fragments()
        return found

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
        return Dataset, (self._scan,)


class Rows:
    """The scanner of a dataset for plain columns.

    It takes the place of `pyarrow.dataset.Scanner`, which reads all rows ahead of its consumer.
    This one reads one batch ahead.
    """

    def __init__(self, schema: pa.Schema, batches: Callable[[], Iterator[pa.RecordBatch]]) -> None:
        self.projected_schema = schema
        self._batches = batches

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Read the rows in batches."""
        return self._batches()

    def to_reader(self) -> pa.RecordBatchReader:
        """Return a reader of the rows in batches."""
        return pa.RecordBatchReader.from_batches(self.projected_schema, self._batches())

    def to_table(self) -> pa.Table:
        """Read all rows as a table."""
        return pa.Table.from_batches(self._batches(), self.projected_schema)

    def head(self, num_rows: int) -> pa.Table:
        """Read the first rows."""
        if num_rows < 0:
            raise ArgumentError(f"head({num_rows}): it is a number of rows")
        found, n = [], 0
        for batch in self._batches():
            found.append(batch.slice(0, num_rows - n))
            n += len(found[-1])
            if n >= num_rows:
                break
        return pa.Table.from_batches(found, self.projected_schema)

    def take(self, indices: Any) -> pa.Table:
        """Read rows by their positions."""
        return self.to_table().take(pa.array(indices))

    def count_rows(self) -> int:
        """Count the rows."""
        return sum(batch.num_rows for batch in self._batches())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_reader().__arrow_c_stream__(requested_schema)


def _at(rows: Any, places: Any) -> Any:
    """The rows at ascending places of others: a range if they are consecutive."""
    first, last = int(places[0]), int(places[-1])
    if last - first == len(places) - 1:
        return rows[first : last + 1]
    if isinstance(rows, range):
        return rows.start + rows.step * places
    return np.asarray(rows)[places]


def _in_memory(dataset: Any) -> Any:
    return ds.dataset(dataset.to_table()) if isinstance(dataset, Dataset) else dataset


def _projection(columns: Any) -> Any:
    return dict(columns) if hasattr(columns, "items") else columns if columns is None else list(columns)


def _plain(field: pa.Field) -> pa.Field:
    """A field without views of strings, which DuckDB does not filter."""
    if pa.types.is_string_view(field.type):
        return field.with_type(pa.large_string())
    return field.with_type(pa.large_binary()) if pa.types.is_binary_view(field.type) else field
