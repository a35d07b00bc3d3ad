"""Many files as a dataset of pyarrow, which DuckDB and others scan too."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from entasis._engines.ahead import together
from entasis._engines.batch_dataset import BatchDataset
from entasis._engines.bound import bound
from entasis._engines.dataset import MOST_TOGETHER, Dataset, narrowed
from entasis._engines.narrow import narrow_decimals
from entasis._entasis import default_threads
from entasis._filter import bind
from entasis._filter.conditions import Condition
from entasis._view.query import Query as FileQuery
from entasis.errors import ArgumentError, CorruptFileError

from .folded import Folding
from .in_memory import in_memory
from .read import read
from .together import in_types_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow.compute as pc

    from entasis._engines.projection import Projection
    from entasis._engines.windows import Window
    from entasis._typing import Narrow

    from .query import Piece, Query


class FolderDataset(BatchDataset):
    """The rows of many files as a dataset of pyarrow.

    With `narrow`, columns have the narrow types of the first file that has them.
    """

    def __init__(self, query: Query, nan: Literal["ieee", "largest"] = "ieee", narrow: Narrow = False) -> None:
        narrow_decimals(narrow)
        self._query, self._nan, self._narrow = query, nan, narrow
        super().__init__(read(query.limited(0), "pyarrow", None, index=True).schema, nan)
        table = query.table
        # The types of the files, by which filters are read.
        self._wide = self._schema
        if narrow:
            self._schema = _narrowed(self._wide, query, narrow)
        self._keys = table.keys.read(to="pyarrow") if table.files.keys.names else None

    @property
    def files(self) -> list[str]:
        """The paths of the files."""
        return list(self._query.table.files.paths)

    @property
    def _tested(self) -> pa.Schema:
        return self._wide

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
        joined = self._joined(names, filter)
        if joined is not None:
            yield from self._of_joined(joined._batches(names, filter), names, filter)
            return
        for job in self._jobs(names, filter):
            yield from job()

    def _read_ahead(self, names: list[str], filter: pc.Expression | None) -> Iterator[pa.RecordBatch]:
        joined = self._joined(names, filter)
        if joined is not None:
            return self._of_joined(joined._read_ahead(names, filter), names, filter)
        # Threads that wait for a store need no processor.
        n = MOST_TOGETHER if self._query.table.files.store is not None else min(default_threads(), MOST_TOGETHER)
        return together(self._jobs(names, filter, MOST_TOGETHER), n)

    def _joined(self, names: list[str], filter: pc.Expression | None) -> Dataset | None:
        """The files that can have rows that pass as one; None if they are to be read one by one."""
        tree, _ = self._split(filter)
        view = self._query.joined(None if tree is None else Condition(tree))
        if view is None:
            return None
        joined = Dataset(FileQuery(view, None, None), self._nan, narrow=self._narrow)
        keys = self._query.table.files.keys.names
        used = names if filter is None else [*names, *self._referenced(filter)]
        for name in used:
            own, wanted = joined._tested.field(name).type, self._wide.field(name).type
            if own != wanted and not (name in keys and _is_text(own) and _is_text(wanted)):
                return None
        for name in names:
            if joined.schema.field(name).type != self._schema.field(name).type and name not in keys:
                return None
        return joined

    def _of_joined(
        self, batches: Iterator[pa.RecordBatch], names: list[str], filter: pc.Expression | None
    ) -> Iterator[pa.RecordBatch]:
        """Batches of joined files in the types of this dataset. Damage is reported with its file."""
        schema = pa.schema([self._schema.field(name) for name in names])
        try:
            for batch in batches:
                if batch.schema.types == schema.types:
                    yield batch
                else:
                    # Keys have the type of text.
                    yield from narrowed(pa.Table.from_batches([batch]), schema).to_batches()
        except CorruptFileError:
            for job in self._jobs(names, filter):
                job()
            raise

    def _jobs(
        self, names: list[str], filter: pc.Expression | None, n_together: int = 1
    ) -> Iterator[Callable[[], list[pa.RecordBatch]]]:
        """Functions that read the rows that pass, in order."""
        tree, rest = self._split(filter)
        used = [] if rest is None else [name for name in self._referenced(rest) if name not in names]
        wanted = [*names, *used]
        narrow = self._narrow if rest is None else False
        types = self._schema if narrow else self._wide
        schema = pa.schema([types.field(name) for name in wanted])

        def read(file: Dataset, number: int, tables: Callable[[], Iterator[pa.Table]]) -> list[pa.RecordBatch]:
            batches = []
            for table in tables():
                whole = self._complete(table, file, number, schema)
                if rest is not None:
                    whole = narrowed(whole.filter(rest).select(names), self._schema)
                batches += whole.select(names).to_batches()
            return batches

        for piece, found in self._files(tree):
            file = Dataset(piece.query, self._nan, narrow=narrow)
            # A file without these columns is read by another one, for the number of its rows.
            own = [name for name in wanted if name in file.schema.names] or file.schema.names[:1]
            others = self._of_other_types(file, found)
            if others:
                every = list(dict.fromkeys([*own, *others]))
                for window in file._wide._windows(every, None, n_together):
                    some = partial(self._converted, file._wide, piece.number, every, window, found)
                    yield partial(read, self, piece.number, some)
                continue
            test = None if found is True else file._bound(found)
            for window in file._windows(own, test, n_together):
                yield partial(read, file, piece.number, partial(file._passing_of, own, window))

    def _of_other_types(self, file: Dataset, found: Any) -> list[str]:
        """The columns of a condition if one of them has another type in a file; else none."""
        if found is True:
            return []
        types = file._tested
        # Fields of structs are tested too.
        tested = bind.names(Condition(found)) or [name for name in types.names if name in self._wide.names]
        is_other = any(_form(types.field(name)) != _form(self._wide.field(name)) for name in tested)
        return tested if is_other else []

    def _converted(
        self, file: Dataset, number: int, names: list[str], window: Window, tree: tuple[Any, ...]
    ) -> Iterator[pa.Table]:
        """The rows of a window with other types that pass a condition about the types of all."""
        names = [name for name in names if name in self._wide.names]
        schema = pa.schema([self._wide.field(name) for name in names])
        for _, table in file._fitting(names, window):
            whole = self._complete(table, file, number, schema)
            rows = Dataset(FileQuery(in_memory(whole)._view, None, None), self._nan)
            for some, found in rows._tables(names, rows._bound(tree)):
                yield rows._passing(found, names, some)

    def _files(self, tree: tuple[Any, ...] | None) -> Iterator[tuple[Piece, Any]]:
        """The files that can have rows that pass, and the condition for these; True if all pass."""
        query = self._query
        also = None if tree is None else Condition(tree)
        keys = query.table.files.keys.names
        folding = None if also is None else Folding(also, keys, query.table.keys if keys else None)
        for piece in query.passing(also=also):
            has = piece.query.view.names() if query.table.fills else None
            found = True if folding is None else folding.of(piece.number, has)
            if found is not False:
                yield piece, found

    def _complete(self, table: pa.Table, file: BatchDataset, number: int, schema: pa.Schema) -> pa.Table:
        """A table of a file with the columns of a schema: with keys, and nulls for missing columns."""
        keys = self._query.table.files.keys.names
        columns = []
        for field in schema:
            name = field.name
            if name in keys:
                assert self._keys is not None, "there are keys"
                value = self._keys[name][number]
                columns.append(pa.repeat(value.cast(field.type), table.num_rows))
            elif name not in table.column_names:
                columns.append(pa.nulls(table.num_rows, field.type))
            else:
                columns.append(self._cast(table[name], field, file, number))
        return pa.Table.from_arrays(columns, schema=schema)

    def _cast(self, column: pa.ChunkedArray, field: pa.Field, file: BatchDataset, number: int) -> pa.ChunkedArray:
        if column.type == field.type:
            return column
        own, of = file._tested.field(field.name).type, self._wide.field(field.name)
        if own != of.type:
            # The files differ in more than their narrow types.
            head = pa.schema([of]).empty_table()
            part = pa.table({field.name: column if column.type == own else column.cast(own)})
            column = in_types_of(head, part, "pyarrow", self._query.table.files.paths[number]).column(0)
        return column if column.type == field.type else column.cast(field.type)

    def count_rows(self, filter: pc.Expression | None = None, **options: Any) -> int:
        """Count the rows, or those that pass a filter."""
        tree, rest = self._split(filter)
        if rest is not None or (tree is not None and self._query.limit is not None):
            names = (self._referenced(rest) if rest is not None else [])[:1] or self._schema.names[:1]
            return sum(batch.num_rows for batch in self._batches(names, filter))
        if tree is None:
            return self._query.count()
        joined = self._joined([], filter)
        if joined is not None:
            with suppress(CorruptFileError):
                return joined.count_rows(filter)
        n = 0
        for piece, found in self._files(tree):
            file = None if found is True else Dataset(piece.query, self._nan)
            others = [] if file is None else self._of_other_types(file, found)
            if file is None or not others:
                condition = None if found is True else Condition(found)
                n += FileQuery(piece.query.view, condition, None).count()
                continue
            for window in file._windows(others, None):
                n += sum(len(table) for table in self._converted(file, piece.number, others, window, found))
        return n

    def take(
        self, indices: Any, columns: Projection = None, filter: pc.Expression | None = None, **options: Any
    ) -> pa.Table:
        """Read rows by their positions among the rows that pass the filter."""
        return self.scanner(columns, filter, **options).take(indices)

    def __reduce__(self) -> tuple[Any, ...]:
        return FolderDataset, (self._query, self._nan, self._narrow)


def _narrowed(schema: pa.Schema, query: Query, narrow: Narrow) -> pa.Schema:
    """The schema with narrow types, each of the first file that has the column."""
    table = query.table
    found: dict[int, pa.Schema] = {}
    for name, number in table.columns().items():
        position = schema.get_field_index(name)
        if position < 0:
            continue
        if number not in found:
            found[number] = Dataset(FileQuery(table.view(number)), narrow=narrow).schema
        schema = schema.set(position, schema.field(position).with_type(found[number].field(name).type))
    return schema


def _is_text(of: pa.DataType) -> bool:
    return bool(pa.types.is_string(of) or pa.types.is_large_string(of))


def _form(field: pa.Field) -> Any:
    """The type of a column as far as conditions tell types apart."""
    return ("dictionary", field.type.value_type) if pa.types.is_dictionary(field.type) else field.type
