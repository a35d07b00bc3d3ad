"""Columns and rows of a text, which are read batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from entasis import _entasis
from entasis._arguments import progress as _progress
from entasis._arguments.options import shown
from entasis._filter import bind as _bind
from entasis._memory import reported
from entasis._view.query import checked_limit, conjoined
from entasis._view.table import OpenTable
from entasis._view.view import View
from entasis.errors import ArgumentError, ColumnNotFoundError

from . import problems as _problems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from entasis._entasis import CsvBatches, CsvTable, CsvText, Destination
    from entasis._filter.conditions import Condition, Filter

    from .spec import Spec

    Progress = bool | Callable[..., Any] | None


class Text(NamedTuple):
    """The texts of a scan.

    Attributes
    ----------
    native
        The texts, which are opened for each reading.
    name
        Their name in messages.
    spec
        The spec with the types of the columns.
    on_error
        The treatment of problems.
    threads
        The number of threads.
    """

    native: CsvText
    name: str
    spec: Spec
    on_error: str
    threads: int | None


class Query(NamedTuple):
    """Columns and rows of a text. It never changes.

    Attributes
    ----------
    text
        The text.
    columns
        The names of the columns.
    rows
        The rows to test, which are counted first; None for all.
    condition
        The condition on these rows; None for all.
    limit
        The greatest number of rows that pass; None for all.
    """

    text: Text
    columns: list[str]
    rows: tuple[int, int] | None = None
    condition: Condition | None = None
    limit: int | None = None

    def select(self, *columns: str | Iterable[str]) -> Query:
        """The query with other columns."""
        one = columns[0] if len(columns) == 1 else cast("tuple[str, ...]", columns)
        names = [one] if isinstance(one, str) else list(one)
        known = set(self.text.native.names)
        for name in names:
            if name not in known:
                raise ColumnNotFoundError(f"the text has no column {shown(name)}")
        if len(set(names)) < len(names):
            raise ArgumentError(f"select: a column is named twice in {shown(names)}")
        return self._replace(columns=names)

    def filtered(self, condition: Filter) -> Query:
        """The rows for which another condition is true as well."""
        return self._replace(condition=conjoined(self.condition, condition, self.limit))

    def limited(self, n: int | None) -> Query:
        """The query with at most `n` rows. A lower limit stays; None changes nothing."""
        return self._replace(limit=checked_limit(n, self.limit))

    def n_rows(self, progress: Progress = None) -> int:
        """The number of rows."""
        opened = self._replace(columns=[]).open()
        with reported, _problems.listed(), _progress.shown(progress, "counting") as show:
            n = opened.count(show)
        self.end(opened)
        return n

    def table(self, *, views: bool, progress: Progress = None) -> CsvTable:
        """All rows. `views`: whether strings are views."""
        opened = self.open(views=views)
        with reported, _problems.listed(), _progress.shown(progress, "reading") as show:
            table = opened.read(show)
        self.end(opened)
        return table

    def tables(self, n: int | None, *, views: bool = False, progress: Progress = None) -> Iterator[CsvTable]:
        """The rows in tables of `n` rows, or of those of some MiB of text."""
        opened = self.open(views=views)
        try:
            with _progress.shown(progress, "reading") as show:
                while True:
                    with reported, _problems.listed():
                        table = opened.next(n, show)
                    if table is None:
                        break
                    yield table
                    del table
            self.end(opened)
        finally:
            opened.close()

    def empty(self, *, views: bool = False) -> CsvTable:
        """The columns without rows."""
        return self.text.native.empty(self.columns, views)

    def view(self) -> View:
        """The columns as a view of a file without rows."""
        return View(OpenTable(self.empty().schema(), self.text.name))

    def open(self, *, views: bool = False) -> CsvBatches:
        """Begin to read."""
        bound = None
        if (condition := self.condition) is not None:
            names = _bind.names(condition, self.text.native.names)
            if names is None:
                raise ColumnNotFoundError(f"{condition!r}: columns of a text have strings as names")
            bound = names, lambda handle: _bind.tree(condition, handle, lambda labels: [names.index(labels[0])])
        with reported:
            return self.text.native.open(self.columns, bound, self.rows, self.limit, views)

    def end(self, opened: CsvBatches) -> None:
        """Warn of problems that were met, and close the text."""
        _problems.warn_met(opened.problems(), self.text.on_error)
        opened.close()

    def write(
        self, form: dict[str, Any], to: Any, *, old: str, durable: bool | None, progress: Progress = None
    ) -> None:
        """Write the rows as text, for `entasis.write_csv`."""
        opened = self.open()
        try:
            with reported, _problems.listed(), _progress.shown(progress, "writing") as show:
                _entasis.write_csv_batches(opened, form, to, old, durable, show)
            self.end(opened)
        finally:
            opened.close()

    def store(self, to: Destination, progress: Progress = None) -> None:
        """Write the rows into an Entasis file, for `entasis.write`."""
        opened = self.open()
        try:
            with reported, _problems.listed(), _progress.shown(progress, "writing") as show:
                opened.store({**to, "progress": show})
            self.end(opened)
        finally:
            opened.close()
