"""Scans of text as LazyFrames of Polars.

Polars hands over columns, a slice, and the conditions that its optimizer moved to the reader.
Conditions with an exact translation are tested on the text. Polars tests all conditions again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._engines.bound import bound
from entasis._filter.conditions import Condition
from entasis._filter.polars import tree_of
from entasis.errors import ArgumentError, MissingLibraryError

try:
    from polars.io.external_reader import FileReader, FileReaderBuilder, ReaderCapabilities
except ImportError as error:  # pragma: no cover
    raise MissingLibraryError("lazy scans need Polars 2.0 or later: pip install 'entasis[polars]'") from error

from .frames import frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl
    from polars.io.external_reader import FilterExpr

    from .query import Query


def lazy(query: Query) -> pl.LazyFrame:
    """A query as a LazyFrame. Reads nothing."""
    import polars as pl

    return pl.scan_external_reader(_Builder(query), sources=[query.text.name], schema=_Reader(query).schema())


class _Builder(FileReaderBuilder):
    """Opens the text once for each query of Polars."""

    def __init__(self, query: Query) -> None:
        self._query = query

    def reader_capabilities(self) -> ReaderCapabilities:
        return ReaderCapabilities(pre_slice=True, supported_filter="partial")

    def build_file_reader(self, source: str | bytes, multi_scan_context: dict[Any, Any]) -> _Reader:
        return _Reader(self._query)

    def explain_properties(self) -> dict[str, str]:
        return {"entasis": self._query.text.name}


class _Reader(FileReader):
    """Reads the rows and columns of a scan that Polars asks for."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._empty = self._frame(query.empty(views=True))

    def schema(self) -> pl.Schema:
        return self._empty.schema

    def n_rows_in_file(self, limit: int | None = None) -> int:
        return self._query.limited(limit).n_rows()

    def collect_batches(
        self,
        *,
        columns: Sequence[str],
        row_index: tuple[str, int] | None,
        pre_slice: tuple[int, int] | None,
        filters: Sequence[FilterExpr],
        num_pipelines: int,
    ) -> Iterator[pl.DataFrame]:
        query = self._query
        skipped = 0
        if pre_slice is not None:
            start, n = pre_slice
            # Rows are numbered before the conditions of the scan only if it has none.
            if query.condition is None and query.limit is None and query.text.on_error != "skip":
                query = query._replace(rows=(start, start + n))
            else:
                skipped = start
                query = query.limited(start + n)
        query = self._filtered(query, filters)._replace(columns=list(columns))
        is_any = False
        for table in query.tables(None, views=True):
            found = self._frame(table)
            if skipped:
                found, skipped = found.slice(skipped), max(0, skipped - found.height)
            is_any = True
            yield found
        if not is_any:
            yield self._empty.select(columns)

    def _frame(self, table: Any) -> pl.DataFrame:
        if not table.names:
            import polars as pl

            return pl.DataFrame(height=table.n_rows)
        found: pl.DataFrame = frame(table, "polars", None, self._query.text.threads, arrow=True)
        return found

    def _filtered(self, query: Query, filters: Sequence[FilterExpr]) -> Query:
        """The query with the conditions that the core can test."""
        if query.limit is not None:
            # The limit counts rows before these conditions.
            return query
        view = query.view()
        numbers = {name: number for number, name in enumerate(query.columns)}
        condition = query.condition
        for part in filters:
            try:
                tree = tree_of(part.expr, has_casts=True)
            except ArgumentError:
                continue
            if bound(view, numbers, tree) is not None:
                more = Condition(("engine", tree))
                condition = more if condition is None else condition & more
        return query._replace(condition=condition)
