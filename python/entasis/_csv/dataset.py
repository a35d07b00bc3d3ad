"""Scans of text as datasets of pyarrow, which DuckDB and others scan too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from entasis._engines.batch_dataset import BatchDataset
from entasis._engines.bound import bound
from entasis._filter.conditions import Condition
from entasis.errors import ArgumentError

from .stream import Rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    import pyarrow.compute as pc

    from entasis._engines.projection import Projection

    from .query import Query


class CsvDataset(BatchDataset):
    """The rows of a scan of text as a dataset of pyarrow. Each scanner reads the text."""

    def __init__(self, query: Query, nan: Literal["ieee", "largest"] = "ieee") -> None:
        self._query = query
        self._view = query.view()
        self._numbers = {name: number for number, name in enumerate(query.columns)}
        super().__init__(Rows(query).schema(), nan)

    @property
    def files(self) -> list[str]:
        """The name of the text."""
        return [self._query.text.name]

    def _bound(self, tree: tuple[Any, ...]) -> tuple[Any, ...] | None:
        # A limit counts the rows before the filter.
        is_limited = self._query.limit is not None
        if is_limited or bound(self._view, self._numbers, tree) is None:
            return None
        return "engine", tree

    def _batches(self, names: list[str], filter: pc.Expression | None) -> Iterator[pa.RecordBatch]:
        tree, rest = self._split(filter)
        used = [] if rest is None else [name for name in self._referenced(rest) if name not in names]
        query = self._query.select([*names, *used])
        if tree is not None:
            query = query.filtered(Condition(tree))
        for table in Rows(query).tables():
            found = table if rest is None else table.filter(rest).select(names)
            yield from found.to_batches()

    def count_rows(self, filter: pc.Expression | None = None, **options: Any) -> int:
        """Count the rows, or those that pass a filter."""
        tree, rest = self._split(filter)
        if rest is not None:
            names = self._referenced(rest)[:1] or self._schema.names[:1]
            return sum(batch.num_rows for batch in self._batches(names, filter))
        return (self._query if tree is None else self._query.filtered(Condition(tree))).n_rows()

    def take(
        self, indices: Any, columns: Projection = None, filter: pc.Expression | None = None, **options: Any
    ) -> pa.Table:
        """Read rows by their positions among the rows that pass the filter."""
        return self.scanner(columns, filter, **options).take(indices)

    def __reduce__(self) -> tuple[Any, ...]:
        raise ArgumentError("a scan of text cannot be pickled: make it where it is read")
