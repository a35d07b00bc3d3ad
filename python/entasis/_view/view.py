"""Columns and rows of an open table, by their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._arguments.options import nan_to_null as _nan_to_null
from entasis._arguments.options import threads as _threads
from entasis._columns import names as _columns
from entasis._columns.fields import FieldColumn, are_among
from entasis._columns.levels import RANGE
from entasis._host_map import host_calls
from entasis._libraries import library_errors as _library_errors
from entasis._libraries import registry as _hosts
from entasis._memory import reported
from entasis.errors import ArgumentError, CorruptFileError

from . import column_labels as _column_labels

if TYPE_CHECKING:
    from entasis._typing import Columns, Rows

    from .fst import FstHandle
    from .table import OpenTable


class View:
    """Some columns and rows of an open table. It never changes, and reads nothing by itself.

    Attributes
    ----------
    table
        The open table.
    handle
        The handle of the table.
    columns
        The numbers of the columns; None for all. Index levels and struct fields have numbers that
        no column of the table has.
    rows
        A resolved selection of rows: None for all, a range, or an array of int64.
    is_one
        Whether a label selects the only column, as in `f["a"]`: then it has one axis as an array.
    """

    __slots__ = ("columns", "handle", "is_one", "rows", "table")

    def __init__(
        self, table: OpenTable, columns: list[int] | None = None, rows: Any = None, *, is_one: bool = False
    ) -> None:
        self.table, self.handle = table, table.handle
        self.columns, self.rows, self.is_one = columns, rows, is_one

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return _rows.count(self.rows, self.handle.n_rows)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return self.handle.n_columns if self.columns is None else len(self.columns)

    @property
    def written_by(self) -> str | None:
        """The library whose value was written; None for other writers."""
        host = self.table.host.get("host")
        return host if isinstance(host, str) else None

    def names(self) -> list[str]:
        """The names of the columns."""
        return _columns.names(self.handle, self.columns, self.table.levels if self.has_levels() else None)

    def schema(self) -> tuple[list[str], list[str]]:
        """The names and types of the columns."""
        return _columns.schema(self.handle, self.columns, self.table.levels if self.has_levels() else None)

    def narrow(self, columns: list[int] | None, rows: Any) -> View:
        """The view of these columns and rows of the table."""
        return View(self.table, columns, rows, is_one=self.is_one and columns == self.columns)

    def select(self, key: Any, numbers: list[int] | None, rows: Any) -> View:
        """The view of the columns with these numbers, selected by `key`; None keeps the columns."""
        if key is None:
            return self.narrow(numbers, rows)
        return View(self.table, numbers, rows, is_one=_column_labels.is_one(key, numbers))

    def part(self, rows: Rows | None) -> View:
        """The view of some of these rows."""
        return self.narrow(self.columns, self.compose(rows))

    def with_nan_to_null(self, nan_to_null: bool | None) -> View:
        """This view with another rule for NaN; None keeps the rule."""
        if _nan_to_null(nan_to_null) is None:
            return self
        return View(self.table.with_nan_to_null(nan_to_null), self.columns, self.rows, is_one=self.is_one)

    def narrowed(self, decimals: bool) -> View:
        """This view with narrow types for Arrow: of strings that repeat, and of decimals."""
        return View(self.table.narrowed(decimals), self.columns, self.rows, is_one=self.is_one)

    def resolve(self, columns: Columns | None) -> list[int] | None:
        """The numbers of selected columns, among this view's columns."""
        if columns is None:
            return self.columns
        table = self.table
        if self.columns is None and type(columns) in (str, list) and table.labels.are_text:
            found = _column_labels.by_name(self.handle, columns)
            if found is not None:
                return found
        return _column_labels.resolve(columns, table.labels, lambda: table.levels, self.handle, self.columns)

    def compose(self, rows: Rows | None) -> Any:
        """Convert a selection of this view's rows to a selection of the table's rows."""
        if rows is None:
            return self.rows
        return _rows.compose(self.rows, _rows.resolve(rows, self.n_rows, self.has_index))

    def has_index(self, index: Any) -> bool:
        """Whether an index has the labels of the rows, or 0 to n-1."""
        import pandas as pd

        if type(index).__module__.partition(".")[0] == "static_frame":
            index = index.to_pandas()
        return bool(index.equals(pd.RangeIndex(self.n_rows)) or index.equals(self.table.index(self.rows)))

    def has_levels(self) -> bool:
        """Whether the columns include levels of the index."""
        columns = self.columns
        if columns is None or columns == [] or 0 <= min(columns) <= max(columns) < self.handle.n_columns:
            return False
        return any(self.table.levels.has(column, self.handle.n_columns) for column in columns)

    def of_table(self, columns: list[int]) -> list[int]:
        """The columns without the levels of the index."""
        return [column for column in columns if 0 <= column < self.handle.n_columns]

    def labels(self) -> Any:
        """The labels of the columns: an index of pandas or StaticFrame, else a list of names."""
        if self.written_by == "pandas":
            return self.pandas_labels(levels=False)
        if self.written_by == "static_frame" and not are_among(self.columns):
            found = _hosts.reader("static_frame", None).column_labels(self.handle, self.table.host)
            return found if self.columns is None else found.iloc[self.of_table(self.columns)]
        return self.names()

    def pandas_labels(self, *, levels: bool = True) -> Any:
        """The labels of the columns, and of levels among them, as an index of pandas."""
        found = _hosts.reader("pandas", None).column_labels(self.handle, self.table.host)
        if self.columns is None:
            return found
        has_fields = are_among(self.columns)
        if not has_fields and (not levels or not self.has_levels()):
            return found[self.of_table(self.columns)]
        import pandas as pd

        n, index_levels, labels = self.handle.n_columns, self.table.levels, []
        for column in self.columns:
            if 0 <= column < n:
                labels.append(found[column])
            elif type(column) is FieldColumn:
                labels.append(self.handle.columns([column])[0].name)
            elif levels:
                labels.append(index_levels.label(column))
        return pd.Index(labels, tupleize_cols=False)

    @reported
    def read(
        self,
        to: str | None = None,
        threads: int | None = None,
        index: bool | None = None,
        *,
        is_restored: bool = True,
        skips: bool = False,
    ) -> Any:
        """Read the view, which must have no fields of structs; `read.read` takes fields too.

        Parameters
        ----------
        to, threads, index
            As for `entasis.read`.
        is_restored
            Whether a series, index or array comes back as its own type, not as a frame.
        skips
            Whether to leave out columns whose type the library lacks.
        """
        if self.table.parts is not None:
            return self._of_part(self.table.parts).read(to, threads, index, is_restored=is_restored, skips=skips)
        handle, host, columns, rows = self.handle, self.table.host, self.columns, self.rows
        found = host.get("host")
        written_by = found if isinstance(found, str) else None
        reader = _hosts.reader(to, written_by)
        if index is False:
            host = _without_index(host)
        if columns is not None and self.has_levels():
            if getattr(reader, "HAS_INDEX", False):
                if index is False:
                    raise ArgumentError("columns= names the index, and index=False leaves it out")
                columns = self.of_table(columns)
            elif RANGE in columns:
                from . import range_index as _range_index

                return _range_index.read(self.table, columns, rows, reader, host, _threads(threads))

        def read(columns: list[int] | None) -> Any:
            return _library_errors.read(reader, handle, host, columns, rows, _threads(threads))

        try:
            with host_calls():
                if skips:
                    from entasis._hosts import leave_out as _leave_out

                    every = _leave_out.every(handle, host, columns, has_index=getattr(reader, "HAS_INDEX", False))
                    found = _leave_out.read(read, columns, every)
                else:
                    found = read(columns)
                return _hosts.restore(found, host, written_by, to) if is_restored and "class" in host else found
        except CorruptFileError as error:
            error.file = error.file or self.table.path
            raise

    def _of_part(self, parts: FstHandle) -> View:
        """The same rows and columns of a table that has no others."""
        handle, columns, rows = parts.part(self.columns, self.rows)
        return View(self.table.with_handle(handle), columns, rows, is_one=self.is_one)


def _without_index(host: dict[str, Any]) -> dict[str, Any]:
    """The host map without the index."""
    if host.get("host") in ("pandas", "static_frame") and str(host.get("class")).startswith("Index"):
        raise ArgumentError("the value is an index, and index=False leaves it out")
    return {**host, "index": None}
