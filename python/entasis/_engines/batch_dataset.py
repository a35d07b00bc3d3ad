"""Datasets of pyarrow whose rows come in batches."""

from __future__ import annotations

import operator
import re
from abc import abstractmethod
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal

from entasis._arguments.options import shown
from entasis.errors import ArgumentError, MissingLibraryError

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset as ds
    from pyarrow import fs
except ImportError as error:  # pragma: no cover
    raise MissingLibraryError("datasets need pyarrow: pip install 'entasis[pyarrow]'") from error

from .ahead import ahead
from .expressions import parts_of
from .scanner import BatchScanner, Fragment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .projection import Projection


class BatchDataset(ds.FileSystemDataset):  # type: ignore[misc]
    """Rows in batches as a dataset of pyarrow.

    A filter is split at *and*. The parts with an exact counterpart are tested by the core. pyarrow
    evaluates the others on the remaining rows.

    The base class refers to a file that does not exist. So code that bypasses these methods gets an
    error instead of an empty dataset.
    """

    def __init__(self, schema: pa.Schema, nan: Literal["ieee", "largest"]) -> None:
        self._nan_is_largest = is_largest(nan)
        self._schema = pa.schema([_plain(field) for field in schema], metadata=schema.metadata)
        format_, system = ds.IpcFileFormat(), fs.LocalFileSystem()
        nothing = format_.make_fragment(
            "rows of Entasis: read them by the methods of the dataset, such as scanner", system
        )
        super().__init__([nothing], self._schema, format_, system)

    @abstractmethod
    def _batches(self, names: list[str], filter: pc.Expression | None) -> Iterator[pa.RecordBatch]:
        """The rows that pass, with these columns."""

    def _read_ahead(self, names: list[str], filter: pc.Expression | None) -> Iterator[pa.RecordBatch]:
        """As `_batches`, while the consumer works on earlier batches."""
        return ahead(self._batches(names, filter))

    @abstractmethod
    def _bound(self, tree: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The condition as the core takes it; None where the core can't test it."""

    def _has_nan(self, name: str) -> bool:
        """Whether the engine may see NaN in a column of floats."""
        return True

    @property
    def _tested(self) -> pa.Schema:
        """The types by which filters are read. Narrow types have fewer functions in pyarrow."""
        return self._schema

    @property
    def schema(self) -> pa.Schema:
        """The names and types of the columns. Views of strings are plain strings here."""
        return self._schema

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
        rows = BatchScanner(schema, lambda: self._read_ahead(read, filter))
        if names and not hasattr(columns, "items") and len(read) == len(names):
            return rows
        kept = {key: options[key] for key in ("batch_size", "use_threads", "memory_pool") if key in options}
        return ds.Scanner.from_batches(rows.to_batches(), schema=schema, columns=_projection(columns), **kept)

    def _needed(self, columns: Any) -> list[str]:
        """The columns that a projection takes from the file."""
        if not hasattr(columns, "items"):
            unknown = [name for name in columns if name not in self._schema.names]
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
            schema = pa.schema([self._tested.field(name) for name in names])
            try:
                ds.Scanner.from_batches(iter(()), schema=schema, columns={"x": expression})
            except pa.ArrowInvalid as error:
                said = str(error)
                missing = [
                    name for name in self._schema.names if name not in names and f"FieldRef.Name({name})" in said
                ]
                if not re.search(r"No match for FieldRef", said) or not missing:
                    raise
                names.append(max(missing, key=len))
            else:
                return names

    def _split(self, filter: pc.Expression | None) -> tuple[tuple[Any, ...] | None, pc.Expression | None]:
        """The conditions that the core tests, and those left for pyarrow. Either may be None."""
        if filter is None:
            return None, None
        trees: list[tuple[Any, ...]] = []
        rest: list[pc.Expression] = []
        for part in parts_of(filter, self._tested, nan_is_largest=self._nan_is_largest):
            tree = None if part.tree is None else self._bound(part.tree)
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
            if self._has_nan(name) and _has_floats(self._schema.field(name).type):
                raise ArgumentError(
                    f'nan="largest": pyarrow alone can test {shown(str(expression))}, and it takes NaN in column '
                    f'{shown(name)} for no number: filter after reading, or use nan="ieee"'
                )

    def head(
        self, num_rows: int, columns: Projection = None, filter: pc.Expression | None = None, **options: Any
    ) -> pa.Table:
        """Read the first rows that pass."""
        found: pa.Table = self.scanner(columns, filter, **options).head(num_rows)
        return found

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


def is_largest(nan: Literal["ieee", "largest"]) -> bool:
    """Check the order of NaN."""
    if nan not in ("ieee", "largest"):
        raise ArgumentError(f'nan={shown(nan)}: it is "ieee" or "largest"')
    return nan == "largest"


def _has_floats(of: pa.DataType) -> bool:
    if pa.types.is_dictionary(of):
        return _has_floats(of.value_type)
    return pa.types.is_floating(of) or any(_has_floats(of.field(i).type) for i in range(of.num_fields))


def _in_memory(dataset: Any) -> Any:
    return ds.dataset(dataset.to_table()) if isinstance(dataset, BatchDataset) else dataset


def _projection(columns: Any) -> Any:
    return dict(columns) if hasattr(columns, "items") else columns if columns is None else list(columns)


def _plain(field: pa.Field) -> pa.Field:
    """A field without views of strings, which DuckDB does not filter."""
    if pa.types.is_string_view(field.type):
        return field.with_type(pa.large_string())
    return field.with_type(pa.large_binary()) if pa.types.is_binary_view(field.type) else field
