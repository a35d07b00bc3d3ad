"""Open files of Entasis, and inputs that become one to choose rows and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._convert.left_out import LEFT_OUT, OF_R, reason
from entasis._file.file import File, is_frame
from entasis._view.read import read as _read
from entasis.errors import ArgumentError, UnsupportedTypeError

from . import base as _base

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._convert.left_out import Loss
    from entasis._filter.conditions import Filter
    from entasis._typing import Columns, Rows
    from entasis._view.view import View


class FileInput(_base.Input):
    """An open file of Entasis, or of a format that `entasis.open` opens."""

    def __init__(self, file: Any, name: str | None = None) -> None:
        self._file = file
        self.name = file.path if name is None else name
        self.is_table = is_frame(file)
        self.host = (file.written_by or "pyarrow") if self.is_table else "tree"
        self.n_rows = file.n_rows if self.is_table else None
        self._found: tuple[list[int] | None, list[Loss]] | None = None

    def file(self) -> Any:
        return self._file

    def whole(self) -> Any:
        return self._file.read()

    def selected(self, columns: Columns | None, rows: Rows | None, filter: Filter | None) -> _base.Input:
        if columns is None and rows is None and filter is None:
            return self
        if not self.is_table:
            raise ArgumentError(f"{self.name} holds no table: columns, rows and filter are for tables")
        scan = self._file.scan(columns, filter, rows)
        return FileInput(scan.view() if filter is not None else File._of(scan._query.view))

    def _in_arrow(self) -> tuple[list[int] | None, list[Loss]]:
        """The numbers of the columns that Arrow has, and the others."""
        if self._found is None:
            self._found = None, []
            view = self._file._view
            try:
                _table(view, slice(0))
            except UnsupportedTypeError:
                every = list(range(view.handle.n_columns)) if view.columns is None else list(view.columns)
                good, lost = [], []
                for number, label in zip(every, self._file.column_names, strict=True):
                    try:
                        _table(view.narrow([number], view.rows), slice(0))
                    except UnsupportedTypeError as error:
                        lost.append((label, f"{LEFT_OUT}: {reason(error)}"))
                    else:
                        good.append(number)
                self._found = good, lost
        return self._found

    def _of_arrow(self) -> File:
        if not self.is_table:
            raise UnsupportedTypeError(f"{self.name} holds a tree of values, not a table: open it and choose a part")
        columns, _ = self._in_arrow()
        view = self._file._view
        return self._file if columns is None else File._of(view.narrow(columns, view.rows))

    def losses(self) -> list[Loss]:
        if not self.is_table:
            return []
        view = self._file._view
        kind = view.table.host.get("class")
        found: list[Loss] = [] if kind is None else [(None, "the value becomes a table")]
        if self.host != "pandas":
            numbers = range(view.handle.n_columns) if view.columns is None else view.columns
            stored = [number for number in numbers if type(number) is int and number >= 0]
            for column in view.handle.columns(stored):
                if column.logical == "object":
                    found.append((column.name, "objects become values of one type"))
        lost = self._in_arrow()[1]
        found += self.losses_of_r()
        return [*[each for each in found if each[0] not in dict(lost)], *lost]

    def losses_of_r(self) -> list[Loss]:
        """Attributes that R has for a table and its columns, which the value of another library lacks."""
        if self.host != "r":
            return []
        view = self._file._view
        host = view.table.host
        found: list[Loss] = [(None, OF_R)] if "attributes" in host else []
        described = [number for number, _ in host.get("columns", [])]
        if view.columns is not None:
            described = [number for number in described if number in view.columns]
        return found + [(column.name, OF_R) for column in view.handle.columns(described)]

    def schema(self) -> Any:
        return _table(self._of_arrow()._view, slice(0)).schema

    def batches(self) -> Iterator[Any]:
        view = self._of_arrow()._view
        # A table without rows has its dictionaries all the same.
        for start in range(0, max(view.n_rows, 1), _base.BATCH):
            yield _table(view, slice(start, start + _base.BATCH))


class StagedInput(_base.Input):
    """An input that is stored in memory before rows or columns of it are chosen."""

    def selected(self, columns: Columns | None, rows: Rows | None, filter: Filter | None) -> _base.Input:
        if columns is None and rows is None and filter is None:
            return self
        return FileInput(self.file(), self.name).selected(columns, rows, filter)


def _table(view: View, rows: slice) -> Any:
    """Rows of a view as a table of pyarrow, also where the value is an array or a series."""
    return _read(view.part(rows), "pyarrow", is_restored=False)
