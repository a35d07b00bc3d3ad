"""Rows of a folder as descriptions that tasks of other processes read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from entasis._arguments import sources as _sources
from entasis._arguments.secrets import of_tasks
from entasis._dataset.files import files
from entasis._dataset.query import Query
from entasis._dataset.read import is_counted
from entasis._dataset.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from entasis._filter.conditions import Filter

# Tasks have whole blocks of rows, if they have one or more.
BLOCK = 1 << 16


class Part:
    """Consecutive rows of a table, as a task reads them. It can be pickled, and holds no open file.

    Attributes
    ----------
    query
        The rows, in a table of the files that have some.
    shift
        The number that is added to labels that count rows; 0 for other labels.
    first_row
        The number of the first row among those of all files of the folder.
    """

    __slots__ = ("first_row", "query", "shift")

    def __init__(self, query: Query, shift: int, first_row: int) -> None:
        self.query, self.shift, self.first_row = query, shift, first_row

    @property
    def n_rows(self) -> int:
        """The number of rows that are tested."""
        start, stop = self.query.rows or (0, 0)
        return 0 if stop is None else stop - start

    def selected(self, columns: Iterable[str] | None) -> Query:
        """The rows with some columns. A task opens the files for itself, and closes them."""
        table = self.query.table
        query = self.query._replace(table=Table(table.files, fills=False))
        return query if columns is None else query.select(columns)

    def limited(self, n: int) -> Part:
        """The part with at most `n` rows."""
        return Part(self.query.limited(n), self.shift, self.first_row)

    def __reduce__(self) -> tuple[Any, ...]:
        return Part, (self.query, self.shift, self.first_row)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """Plain values that differ whenever the rows do, as far as that is known without reading."""
        query = self.query
        files = query.table.files
        states: Any = files.pins
        if states is None and files.store is None:
            states = [_state(path) for path in files.paths]
        return (
            files.paths,
            [tuple(pin) if isinstance(pin, tuple) else pin for pin in states or []],
            files.keys.texts,
            query.columns,
            query.rows,
            None if query.condition is None else query.condition._tree,
            self.shift,
        )


def _absolute(source: Any) -> Any:
    """A path, an address or a list of paths that means the same in another folder."""
    if isinstance(source, (list, tuple)):
        return [_absolute(one) for one in source]
    if _sources.is_address(source) or not isinstance(source, (str, os.PathLike)):
        return source
    return os.path.abspath(_sources.path(source))


def _state(path: str) -> tuple[int, ...]:
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns


class Source:
    """The rows of a folder that a condition may choose, in the files that can have some.

    Files that keys and the manifest rule out are not opened.

    Attributes
    ----------
    query
        The columns and the condition. Its table has only the files that can have rows, or the first
        one if none can.
    lengths
        The number of rows of each of these files that can pass.
    first_rows
        The number of the first row of each file among those of all files of the folder.
    """

    def __init__(self, query: Query) -> None:
        table = query.table
        # Errors about the columns of a condition come before those of tasks.
        numbers = query.may_pass()
        at = [0]
        for number in range(max(numbers, default=-1) + 1):
            at.append(at[-1] + table.n_rows(number))
        self.lengths = [table.n_rows(number) for number in numbers]
        self.first_rows = [at[number] for number in numbers]
        self._labels = [table.first_label(number) for number in numbers]
        if not numbers:
            numbers, self.lengths, self.first_rows, self._labels = [0], [0], [0], [0]
        if len(numbers) < len(table.files.paths):
            table = Table(table.files.of(numbers), fills=False)
        self.query = query._replace(table=table)

    @classmethod
    def of(
        cls,
        source: Any,
        columns: str | Iterable[str] | None,
        filter: Filter | None,
        storage_options: Mapping[str, Any] | None,
        credentials: Callable[[], Any] | None,
        key: Any = None,
    ) -> Source:
        """The rows of a folder, a pattern, or a list of paths. The parameters are those of `scan`."""
        # Other processes may work in other folders.
        source = _absolute(source)
        secret = of_tasks(key)
        found, manifest = files(source, None, storage_options=storage_options, credentials=credentials, secret=secret)
        query = Query(Table(found, fills=False, manifest=manifest))
        whole = cls(query if filter is None else query.filtered(filter))
        # Opens the first file that can have rows.
        whole.query.table.first  # noqa: B018
        if columns is not None:
            whole.query = whole.query.select(columns)
        # With a limit no further file is opened ahead.
        piece = next(whole.query.limited(1).pieces(), None)
        if piece is not None:
            # A condition that the files can't test is an error here, and not in a task.
            piece.query.of(piece.query.view.part(slice(0, 0))).count(1)
        return whole

    @property
    def is_counted(self) -> bool | None:
        """Whether the labels of rows in pandas count the rows of all files. None if those of some do."""
        if is_counted(self.query.table, "pandas") and None not in self._labels:
            return True
        return None if any(label is not None for label in self._labels) else False

    def starts(self, most: int) -> list[tuple[int, int]]:
        """Where tasks of at most `most` rows begin: the number of a file and a row of it."""
        return [(number, row) for number, n in enumerate(self.lengths) for row in range(0, n, most)]

    def parts(self, starts: list[tuple[int, int]]) -> list[Part]:
        """Tasks that begin at these rows. Each ends where the next one begins."""
        if not starts:
            return [self._part((0, 0), (0, 0))]
        ends = [*starts[1:], (len(self.lengths), 0)]
        return [self._part(start, end) for start, end in zip(starts, ends, strict=True)]

    def _part(self, start: tuple[int, int], end: tuple[int, int]) -> Part:
        (first, row), (last, stop) = start, end
        # A task that ends with a file does not take the next one.
        past = last + 1 if stop or last == first else last
        table = self.query.table
        label = self._labels[first]
        shift = 0 if label is None else self.first_rows[first] - label
        number = self.first_rows[first] + row
        before = sum(self.lengths[first:last]) if last > first else 0
        of = Table(table.files.of(range(first, past)), fills=False)
        return Part(self.query._replace(table=of, rows=(row, before + stop)), shift, number)
