"""Many files as a LazyFrame of Polars."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from entasis._engines.polars import Reader as FileRows
from entasis._filter.conditions import Condition
from entasis._filter.polars import tree_of
from entasis._view.query import Query as FileQuery
from entasis.errors import ArgumentError, CorruptFileError, MissingLibraryError

try:
    from polars.io.external_reader import FileReader, FileReaderBuilder, ReaderCapabilities
except ImportError as error:  # pragma: no cover
    raise MissingLibraryError("lazy scans need Polars 2.0 or later: pip install 'entasis[polars]'") from error

from .read import read
from .together import in_types_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl
    from polars.io.external_reader import FilterExpr

    from .query import Piece, Query


def lazy(query: Query) -> pl.LazyFrame:
    """A query as a LazyFrame. Opens the first file."""
    import polars as pl

    schema = _Reader(query).schema()
    return pl.scan_external_reader(_Builder(query), sources=[query.table.files.name], schema=schema)


class _Builder(FileReaderBuilder):
    """Opens the files once for each query of Polars."""

    def __init__(self, query: Query) -> None:
        self._query = query

    def reader_capabilities(self) -> ReaderCapabilities:
        return ReaderCapabilities(pre_slice=True, supported_filter="partial")

    def build_file_reader(self, source: str | bytes, multi_scan_context: dict[Any, Any]) -> _Reader:
        return _Reader(self._query)

    def explain_properties(self) -> dict[str, str]:
        files = self._query.table.files
        return {"entasis": f"{files.name}, {len(files.paths)} files"}


class _Reader(FileReader):
    """Reads the rows and columns that Polars asks for, file by file."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._empty: pl.DataFrame = read(query.limited(0), "polars", None, index=True)
        table = query.table
        self._keys: Any = table.keys.read(to="polars") if table.files.keys.names else None

    def schema(self) -> pl.Schema:
        return self._empty.schema

    def n_rows_in_file(self, limit: int | None = None) -> int:
        return self._query.limited(limit).count()

    def collect_batches(
        self,
        *,
        columns: Sequence[str],
        row_index: tuple[str, int] | None,
        pre_slice: tuple[int, int] | None,
        filters: Sequence[FilterExpr],
        num_pipelines: int,
    ) -> Iterator[pl.DataFrame]:
        skipped, query = 0, self._query
        joined = self._joined(filters) if pre_slice is None else None
        if joined is not None:
            try:
                yield from joined.collect_batches(
                    columns=columns, row_index=None, pre_slice=None, filters=filters, num_pipelines=num_pipelines
                )
            except CorruptFileError:
                # Reading file by file says which one is damaged.
                for piece in query.passing(also=_condition(filters)):
                    for _ in FileRows(piece.query.view).of_columns(columns, filters):
                        pass
                raise
            return
        if pre_slice is not None:
            start, n = pre_slice
            if query.condition is None and query.limit is None and query.rows is None:
                query = query._replace(rows=(start, start + n))
            else:
                skipped, query = start, query.limited(start + n)
        is_any = False
        read = partial(self._of_file, columns=columns, filters=filters)

        def rest(piece: Piece) -> Iterator[pl.DataFrame]:
            """The rows of a file without those to skip, for files in order."""
            nonlocal skipped
            view = piece.query.view
            if skipped:
                skipped, view = max(0, skipped - view.n_rows), view.part(slice(skipped, None))
            if view.n_rows:
                yield from read(piece._replace(query=FileQuery(view, None, None)))

        for frame in query.from_passing(rest if skipped else read, also=_condition(filters)):
            is_any = True
            yield frame
        if not is_any:
            yield self._empty.select(columns)

    def _of_file(self, piece: Piece, columns: Sequence[str], filters: Sequence[FilterExpr]) -> Iterator[pl.DataFrame]:
        """The rows of one file."""
        rows = FileRows(piece.query.view)
        # Conditions are about the types of the first file, and Polars tests them again.
        is_other = any(
            rows.schema().get(name, self._empty.schema[name]) != self._empty.schema[name] for name in columns
        )
        for frame in rows.of_columns(columns, [] if is_other else filters):
            yield self._complete(frame, piece.number, columns)

    def _joined(self, filters: Sequence[FilterExpr]) -> FileRows | None:
        """The files that can have rows that pass as one; None if they are to be read one by one."""
        view = self._query.joined(_condition(filters))
        if view is None:
            return None
        rows = FileRows(view)
        return rows if all(rows.schema().get(name) == of for name, of in self.schema().items()) else None

    def _complete(self, frame: pl.DataFrame, number: int, columns: Sequence[str]) -> pl.DataFrame:
        """A frame of a file with keys, and missing values for columns that the file lacks."""
        import polars as pl

        if not columns:
            return frame
        table, schema = self._query.table, self._empty.schema
        keys = table.files.keys.names
        lacks = [name for name in columns if name not in frame.columns]
        found = []
        for name in lacks:
            if name in keys:
                found.append(self._keys[name].new_from_index(number, frame.height))
            else:
                found.append(pl.Series(name, [None], schema[name]).new_from_index(0, frame.height))
        whole = frame.hstack(found) if frame.width else pl.DataFrame(found)
        whole = whole.select(columns)
        others = [name for name in columns if whole.schema[name] != schema[name]]
        for name in others:
            head, part = self._empty.select(name), whole.select(name)
            fitted = in_types_of(head, part, "polars", table.files.paths[number])
            whole = whole.with_columns(fitted.get_columns())
        return whole


def _condition(filters: Sequence[FilterExpr]) -> Condition | None:
    """The conditions that have a counterpart, to rule out files."""
    trees = []
    for part in filters:
        try:
            trees.append(tree_of(part.expr, has_casts=True))
        except ArgumentError:
            continue
    return Condition(("engine", ("and", trees))) if trees else None
