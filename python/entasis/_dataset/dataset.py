"""Many files as a dataset of pyarrow, which DuckDB and others scan too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from entasis._engines.batch_dataset import BatchDataset
from entasis._engines.bound import bound
from entasis._engines.dataset import Dataset
from entasis._filter import bind
from entasis._filter.conditions import Condition
from entasis._view.query import Query as FileQuery
from entasis.errors import ArgumentError

from .folded import Folding
from .in_memory import in_memory
from .read import read
from .together import in_types_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow.compute as pc

    from entasis._engines.projection import Projection

    from .query import Piece, Query


class FolderDataset(BatchDataset):
    """The rows of many files as a dataset of pyarrow."""

    def __init__(self, query: Query, nan: Literal["ieee", "largest"] = "ieee") -> None:
        self._query, self._nan = query, nan
        super().__init__(read(query.limited(0), "pyarrow", None, index=True).schema, nan)
        table = query.table
        self._keys = table.keys.read(to="pyarrow") if table.files.keys.names else None

    @property
    def files(self) -> list[str]:
        """The paths of the files."""
        return list(self._query.table.files.paths)

    def _bound(self, tree: tuple[Any, ...]) -> tuple[Any, ...] | None:
        table = self._query.table
        names = table.files.keys.names
        first = table.first
        numbers = {name: number for number, name in enumerate(first.names())}
        # A condition on keys is decided for each file, and the rest is tested by the file.
        of_keys = Folding(Condition(("engine", tree)), names, table.keys if names else None)
        try:
            rest = of_keys.rest()
        except ArgumentError:
            return None
        if rest is not None and bound(first, numbers, rest) is None:
            return None
        return "engine", tree

    def _batches(self, names: list[str], filter: pc.Expression | None) -> Iterator[pa.RecordBatch]:
        tree, rest = self._split(filter)
        used = [] if rest is None else [name for name in self._referenced(rest) if name not in names]
        wanted = [*names, *used]
        for number, found in self._tables(wanted, tree):
            whole = self._complete(found, number, wanted)
            if rest is not None:
                whole = whole.filter(rest)
            yield from whole.select(names).to_batches()

    def _files(self, tree: tuple[Any, ...] | None) -> Iterator[tuple[Piece, Any]]:
        """The rows of each file, and the condition for them; True if all pass."""
        query = self._query
        also = None if tree is None else Condition(tree)
        keys = query.table.files.keys.names
        folding = None if also is None else Folding(also, keys, query.table.keys if keys else None)
        for piece in query.passing(also=also):
            has = piece.query.view.names() if query.table.fills else None
            found = True if folding is None else folding.of(piece.number, has)
            if found is not False:
                yield piece, found

    def _tables(self, wanted: list[str], tree: tuple[Any, ...] | None) -> Iterator[tuple[int, pa.Table]]:
        """The rows that pass, with those of the columns that a file has, or with its first one."""
        for piece, found in self._files(tree):
            file = Dataset(piece.query, self._nan)
            names = [name for name in wanted if name in file.schema.names] or file.schema.names[:1]
            others = self._of_other_types(file, found)
            if others:
                yield from self._converted(file, piece.number, names, others, found)
                continue
            test = None if found is True else file._bound(found)
            for window, table in file._tables(names, test):
                yield piece.number, file._passing(table, names, window)

    def _of_other_types(self, file: Dataset, found: Any) -> list[str]:
        """The columns of a condition if one of them has another type in a file; else none."""
        if found is True:
            return []
        # Fields of structs are tested too.
        tested = bind.names(Condition(found)) or [name for name in file.schema.names if name in self._schema.names]
        is_other = any(_form(file.schema.field(name)) != _form(self._schema.field(name)) for name in tested)
        return tested if is_other else []

    def _converted(
        self, file: Dataset, number: int, names: list[str], tested: list[str], tree: tuple[Any, ...]
    ) -> Iterator[tuple[int, pa.Table]]:
        """The rows of a file with other types that pass a condition about the types of all."""
        names = [name for name in names if name in self._schema.names] or tested[:1]
        every = list(dict.fromkeys([*names, *tested]))
        for _, table in file._tables(every, None):
            rows = Dataset(FileQuery(in_memory(self._complete(table, number, every))._view, None, None), self._nan)
            for window, some in rows._tables(names, rows._bound(tree)):
                yield number, rows._passing(some, names, window)

    def _complete(self, table: pa.Table, number: int, wanted: list[str]) -> pa.Table:
        """A table of a file with keys, and nulls for columns that the file lacks, in the types of all."""
        keys = self._query.table.files.keys.names
        columns = []
        for name in wanted:
            field = self._schema.field(name)
            if name in keys:
                assert self._keys is not None, "there are keys"
                value = self._keys[name][number]
                columns.append(pa.repeat(value.cast(field.type), table.num_rows))
            elif name not in table.column_names:
                columns.append(pa.nulls(table.num_rows, field.type))
            else:
                columns.append(self._cast(table[name], field, number))
        schema = pa.schema([self._schema.field(name) for name in wanted])
        return pa.Table.from_arrays(columns, schema=schema)

    def _cast(self, column: pa.ChunkedArray, field: pa.Field, number: int) -> pa.ChunkedArray:
        if column.type == field.type:
            return column
        plain = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
        if plain.get(column.type) == field.type:
            return column.cast(field.type)
        head, part = pa.schema([field]).empty_table(), pa.table({field.name: column})
        return in_types_of(head, part, "pyarrow", self._query.table.files.paths[number]).column(0)

    def count_rows(self, filter: pc.Expression | None = None, **options: Any) -> int:
        """Count the rows, or those that pass a filter."""
        tree, rest = self._split(filter)
        if rest is not None or (tree is not None and self._query.limit is not None):
            names = (self._referenced(rest) if rest is not None else [])[:1] or self._schema.names[:1]
            return sum(batch.num_rows for batch in self._batches(names, filter))
        if tree is None:
            return self._query.count()
        n = 0
        for piece, found in self._files(tree):
            file = None if found is True else Dataset(piece.query, self._nan)
            others = [] if file is None else self._of_other_types(file, found)
            if file is not None and others:
                n += sum(len(table) for _, table in self._converted(file, piece.number, others, others, found))
            else:
                condition = None if found is True else Condition(found)
                n += FileQuery(piece.query.view, condition, None).count()
        return n

    def take(
        self, indices: Any, columns: Projection = None, filter: pc.Expression | None = None, **options: Any
    ) -> pa.Table:
        """Read rows by their positions among the rows that pass the filter."""
        return self.scanner(columns, filter, **options).take(indices)

    def __reduce__(self) -> tuple[Any, ...]:
        return FolderDataset, (self._query, self._nan)


def _form(field: pa.Field) -> Any:
    """The type of a column as far as conditions tell types apart."""
    return ("dictionary", field.type.value_type) if pa.types.is_dictionary(field.type) else field.type
