"""Rows of a text as Arrow streams, which read the text when the consumer asks for rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._engines.requested_schema import honoured
from entasis._host_map import interpretation

from .frames import Stream, as_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._entasis import ArrowTable, CsvTable

    from .query import Query

# The layout of strings as views; see `Handle.read_arrow`.
_VIEWS = 2


class Rows:
    """The rows of a query as Arrow tables of one type.

    Attributes
    ----------
    numbers
        The numbers of the columns.
    """

    def __init__(self, query: Query, *, views: bool = False) -> None:
        self._query, self._views = query, views
        self.numbers = list(range(len(query.columns)))
        self._empty = query.empty(views=views)
        # pyarrow makes the arrays of categories.
        self._is_native = self._empty.is_arrow and len(self.numbers) > 0

    def reopened(self, numbers: list[int], layout: int) -> Rows:
        """Some columns of these rows, with strings in a layout."""
        names = self._query.columns
        return Rows(self._query.select([names[number] for number in numbers]), views=layout == _VIEWS)

    def __arrow_c_schema__(self) -> object:
        found = self._empty.arrow()[0] if self._is_native else self.schema()
        return found.__arrow_c_schema__()

    def schema(self) -> Any:
        """The schema of pyarrow."""
        return self._read(self._empty).schema

    def _read(self, table: CsvTable) -> Any:
        """A table of pyarrow."""
        import pyarrow as pa

        if not self._is_native:
            return as_file(table, self._query.text.threads).read(to="pyarrow")
        with interpretation():
            return pa.RecordBatchReader.from_stream(Stream(table.arrow())).read_all()

    def tables(self) -> Iterator[Any]:
        """The rows as tables of pyarrow."""
        for table in self._query.tables(None, views=self._views):
            yield self._read(table)

    def stream(self, wanted: Any) -> object:
        """The capsule of a stream of the rows. `wanted` is a schema of pyarrow to cast to, if any."""
        if wanted is None and self._is_native:
            return self._empty.arrow()[0].stream(self._parts())
        import pyarrow as pa

        def batches() -> Iterator[Any]:
            for table in self.tables():
                yield from (table if wanted is None else table.cast(wanted)).to_batches()

        schema = self._read(self._empty).schema if wanted is None else wanted
        return pa.RecordBatchReader.from_batches(schema, batches()).__arrow_c_stream__()

    def _parts(self) -> Iterator[ArrowTable]:
        for table in self._query.tables(None, views=self._views):
            yield from table.arrow()


def stream(query: Query, requested_schema: object | None) -> object:
    """The capsule of a stream of the rows of a query."""
    rows, wanted = Rows(query), None
    if requested_schema is not None:
        rows, wanted = honoured(requested_schema, rows)
    return rows.stream(wanted)
