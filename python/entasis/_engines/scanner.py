"""Scanners and fragments of a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from entasis.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow.compute as pc
    import pyarrow.dataset as ds

    from .projection import Projection


class BatchScanner:
    """The scanner of a dataset for plain columns.

    It replaces `pyarrow.dataset.Scanner`, which reads all rows ahead of its consumer.
    This one reads a few batches ahead.
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


class Fragment:
    """All rows of a dataset, with the methods of `pyarrow.dataset.Fragment`, for DataFusion.

    It has no base class: only pyarrow can make fragments.
    """

    def __init__(self, dataset: ds.Dataset) -> None:
        self._dataset = dataset

    @property
    def physical_schema(self) -> pa.Schema:
        """The names and types of the columns."""
        return self._dataset.schema

    @property
    def partition_expression(self) -> pc.Expression:
        """An expression that holds for all rows: always true."""
        return self._dataset.partition_expression

    def scanner(
        self,
        schema: pa.Schema | None = None,
        columns: Projection = None,
        filter: pc.Expression | None = None,
        **options: Any,
    ) -> Any:
        """Build a scanner. The schema must equal the fragment's schema."""
        if schema is not None and not schema.equals(self.physical_schema):
            raise ArgumentError("the columns of a file keep their types: cast the table that was read")
        return self._dataset.scanner(columns, filter, **options)

    def to_batches(self, schema: pa.Schema | None = None, **options: Any) -> Iterator[pa.RecordBatch]:
        """Read the rows that pass in batches."""
        found: Iterator[pa.RecordBatch] = self.scanner(schema, **options).to_batches()
        return found

    def to_table(self, schema: pa.Schema | None = None, **options: Any) -> pa.Table:
        """Read the rows that pass as a table."""
        return self.scanner(schema, **options).to_table()

    def head(self, num_rows: int, **options: Any) -> pa.Table:
        """Read the first rows that pass."""
        return self._dataset.head(num_rows, **options)

    def take(self, indices: Any, **options: Any) -> pa.Table:
        """Read rows by their positions among those that pass."""
        return self._dataset.take(indices, **options)

    def count_rows(self, filter: pc.Expression | None = None, **options: Any) -> int:
        """Count the rows that pass."""
        return int(self._dataset.count_rows(filter, **options))
