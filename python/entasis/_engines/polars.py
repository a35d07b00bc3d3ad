"""Files as LazyFrames of Polars.

Polars hands over columns, a slice, the name of a row index, and the conditions that its optimizer
moved to the reader. Conditions with an exact translation decide which rows are read. Polars tests
all conditions again, including those without a translation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._filter.polars import tree_of
from entasis._view.read import read as read_view
from entasis.errors import ArgumentError, MissingLibraryError

from .bound import bound
from .names import numbers_by_name
from .supported import advising, supported
from .text_len import text_len
from .windows import Sizes, spans

try:
    from polars.io.external_reader import FileReader, FileReaderBuilder, ReaderCapabilities
except ImportError as error:  # pragma: no cover
    raise MissingLibraryError("lazy scans need Polars 2.0 or later: pip install 'entasis[polars]'") from error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl
    from polars.io.external_reader import FilterExpr

    from entasis._typing import OnRefused
    from entasis._view.query import Query
    from entasis._view.view import View


def lazy(query: Query, on_unsupported: OnRefused) -> pl.LazyFrame:
    """A query as a LazyFrame. Reads only the description of the columns."""
    import polars as pl

    query = supported(query, "polars", on_unsupported)
    with advising("lazy()"):
        schema = Reader(query.view).schema()
    return pl.scan_external_reader(_Builder(query), sources=[query.view.table.path], schema=schema)


class _Builder(FileReaderBuilder):
    """Opens the rows once for each query of Polars."""

    def __init__(self, query: Query) -> None:
        self._query = query

    def reader_capabilities(self) -> ReaderCapabilities:
        return ReaderCapabilities(row_index=True, pre_slice=True, negative_pre_slice=True, supported_filter="partial")

    def build_file_reader(self, source: str | bytes, multi_scan_context: dict[Any, Any]) -> Reader:
        return Reader(self._query.passing())

    def explain_properties(self) -> dict[str, str]:
        return {"entasis": str(self._query.view.table.path)}


class Reader(FileReader):
    """Reads the rows and columns of a view that Polars asks for."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._schema: pl.Schema = _frame(view.part(slice(0))).schema
        self._numbers = numbers_by_name(view, self._schema.names())

    def schema(self) -> pl.Schema:
        return self._schema

    def n_rows_in_file(self, limit: int | None = None) -> int:
        return self._view.n_rows if limit is None else min(limit, self._view.n_rows)

    def collect_batches(
        self,
        *,
        columns: Sequence[str],
        row_index: tuple[str, int] | None,
        pre_slice: tuple[int, int] | None,
        filters: Sequence[FilterExpr],
        num_pipelines: int,
    ) -> Iterator[pl.DataFrame]:
        numbers = [self._numbers[name] for name in columns]
        first, view = 0, self._view
        if pre_slice is not None:
            start = pre_slice[0] + (view.n_rows if pre_slice[0] < 0 else 0)
            stop = start + pre_slice[1]
            first, stop = (min(max(row, 0), view.n_rows) for row in (start, stop))
            view = view.part(slice(first, stop))
        is_any = False
        sizes = Sizes(len(numbers), text_len=text_len(view, numbers))
        for window in spans(view, self._tree(filters), sizes, numbers):
            is_any = True
            yield self._with_index(self._read(numbers, window.rows), row_index, first, window.positions)
        if not is_any:
            yield self._with_index(self._read(numbers, range(0)), row_index, 0, range(0))

    def of_columns(self, columns: Sequence[str], filters: Sequence[FilterExpr]) -> Iterator[pl.DataFrame]:
        """The rows that can pass, with those of the columns that the file has."""
        numbers = [self._numbers[name] for name in columns if name in self._numbers]
        if not numbers:
            import polars as pl

            yield pl.DataFrame(height=self._view.n_rows)
            return
        sizes = Sizes(len(numbers), text_len=text_len(self._view, numbers))
        for window in spans(self._view, self._tree(filters), sizes, numbers):
            yield self._read(numbers, window.rows)

    def _read(self, numbers: list[int], rows: Any) -> pl.DataFrame:
        return _frame(self._view.narrow(numbers, rows))

    def _with_index(
        self, frame: pl.DataFrame, row_index: tuple[str, int] | None, first: int, positions: Any
    ) -> pl.DataFrame:
        if row_index is None:
            return frame
        import numpy as np
        import polars as pl

        name, offset = row_index
        numbers = np.asarray(positions, np.int64) + (first + offset)
        return frame.insert_column(0, pl.Series(name, numbers, dtype=pl.get_index_type()))

    def _tree(self, filters: Sequence[FilterExpr]) -> tuple[Any, ...] | None:
        """The conditions that the core can test, joined by *and*. Polars tests the rest."""
        if self._view.table.memory_map:
            # A mapped file yields only neighbouring rows.
            return None
        trees = []
        for part in filters:
            try:
                tree = bound(self._view, self._numbers, tree_of(part.expr, has_casts=True))
            except ArgumentError:
                continue
            if tree is not None:
                trees.append(tree)
        return ("and", trees) if trees else None


def _frame(view: View) -> pl.DataFrame:
    """The rows of a view as a frame, even if a Series was written."""
    import polars as pl

    found = read_view(view, "polars")
    return found.to_frame() if isinstance(found, pl.Series) else found
