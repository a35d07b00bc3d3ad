"""Columns and rows of many files."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from entasis._arguments.options import shown
from entasis._filter.conditions import Condition
from entasis._view.query import Query as FileQuery
from entasis._view.query import checked_limit, conjoined
from entasis.errors import ArgumentError, ColumnNotFoundError

from .ahead import READ, SHORT, in_turn
from .folded import Folding
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from entasis._filter.conditions import Filter
    from entasis._view.view import View

    CanPass = Callable[[int, Collection[str] | None], bool]

_Item = TypeVar("_Item")


class Piece(NamedTuple):
    """Rows of one file.

    Attributes
    ----------
    number
        The number of the file.
    first
        The number of its first row among the rows of all files; None if it is unknown.
    query
        The rows, with all columns of the file.
    """

    number: int
    first: int | None
    query: FileQuery


class Query(NamedTuple):
    """Columns and rows of a table of many files. It never changes.

    Attributes
    ----------
    table
        The table.
    columns
        The names of the columns and keys; None for all, with the keys last.
    rows
        The rows to test, which are counted first: the first one, and the row after the last one or
        None. None for all.
    condition
        The condition on these rows; None for all.
    limit
        The greatest number of rows that pass; None for all.
    """

    table: Table
    columns: list[str] | None = None
    rows: tuple[int, int | None] | None = None
    condition: Condition | None = None
    limit: int | None = None

    def names(self) -> list[str]:
        """The names of the columns and keys."""
        return [*self.table.columns(), *self.table.files.keys.names] if self.columns is None else self.columns

    def select(self, *columns: str | Iterable[str]) -> Query:
        """The query with other columns."""
        names: list[Any] = []
        for one in columns:
            names += [one] if isinstance(one, str) else list(one)
        known = {*self.table.columns(), *self.table.files.keys.names}
        for name in names:
            if name not in known:
                raise ColumnNotFoundError(f"no column or key {shown(name)}")
        if len(set(names)) < len(names):
            raise ArgumentError(f"select: a column is named twice in {shown(names)}")
        return self._replace(columns=names)

    def filtered(self, condition: Filter) -> Query:
        """The rows for which another condition is true as well."""
        return self._replace(condition=conjoined(self.condition, condition, self.limit))

    def limited(self, n: int | None) -> Query:
        """The query with at most `n` rows. A lower limit stays; None changes nothing."""
        return self._replace(limit=checked_limit(n, self.limit))

    def stored(self) -> list[str]:
        """The columns that files store."""
        keys = self.table.files.keys.names
        return [name for name in self.names() if name not in keys]

    def pieces(self, *, are_numbered: bool = False, also: Condition | None = None) -> Iterator[Piece]:
        """The rows of each file that can have some. The limit is the caller's.

        Parameters
        ----------
        are_numbered
            Whether the numbers of rows are needed, for which each file is opened.
        also
            A condition that rules out files, and is not tested on rows.
        """
        start, stop = self.rows or (0, None)
        needs_n = are_numbered or self.rows is not None
        tests, matching, can_pass = self._tests(also)
        firsts = self.table.first_rows() if needs_n else None
        to_open = self._to_open(firsts, matching, can_pass, needs_n)
        first = 0
        for number, view in self.table.views(to_open, slowly=self.limit is not None):
            if firsts is not None:
                first = firsts[number]
            at, first = first if needs_n else None, first + view.n_rows
            if self.rows is not None and first <= start:
                continue
            if stop is not None and at is not None and at >= stop:
                return
            has = view.names() if self.table.fills else None
            if not can_pass(number, has):
                continue
            if at is not None and self.rows is not None:
                last = view.n_rows if stop is None else min(view.n_rows, stop - at)
                if start > at or last < view.n_rows:
                    view = view.part(slice(max(start - at, 0), max(last, 0)))
            found = True if tests is None else tests.of(number, has)
            if view.n_rows:
                condition = None if isinstance(found, bool) else Condition(found)
                yield Piece(number, at, FileQuery(view, condition, None))

    def _tests(self, also: Condition | None) -> tuple[Folding | None, frozenset[int] | None, CanPass]:
        """The condition for each file, the files that keys and manifest leave, and the test of a file.

        The test is whether a file can have rows for which both conditions are true.
        """
        tests, rules_out = self._folding(self.condition), self._folding(also)
        matching = self._matching(self.condition, also)
        for folding in (tests, rules_out):
            matching = _in_both(matching, None if folding is None else folding.numbers())

        def can_pass(number: int, has: Collection[str] | None) -> bool:
            if matching is not None and number not in matching:
                return False
            if tests is not None and tests.of(number, has) is False:
                return False
            return rules_out is None or rules_out.of(number, has) is not False

        return tests, matching, can_pass

    def _to_open(
        self,
        firsts: list[int] | None,
        matching: frozenset[int] | None,
        can_pass: CanPass,
        needs_n: bool,
    ) -> Iterator[int]:
        """The numbers of the files to open for `pieces`.

        Parameters
        ----------
        firsts
            The number of the first row of each file, and that of all rows; None if it is unknown.
        matching
            The files that can have rows that pass, by keys and the manifest; None for all.
        can_pass
            Whether a file can have rows that pass, by its number and the columns that it has; None
            if it has all.
        needs_n
            Whether the numbers of rows are needed.
        """
        start, stop = self.rows or (0, None)
        needs_all = firsts is None and needs_n
        for number in range(len(self.table.files.paths)) if needs_all or matching is None else sorted(matching):
            if needs_all:
                yield number
                continue
            if firsts is not None and self.rows is not None:
                if stop is not None and firsts[number] >= stop:
                    return
                if firsts[number + 1] <= start:
                    continue
            # The columns of a file that may lack some are known when it is open.
            if self.table.fills or can_pass(number, None):
                yield number

    def may_pass(self) -> list[int]:
        """The numbers of the files that keys and the manifest do not rule out. Opens none of them.

        With `fills` these are all files, because a condition may be about a column that some lack.
        """
        return list(range(len(self.table.files.paths))) if self.table.fills else self._left(None)

    def _left(self, also: Condition | None) -> list[int]:
        """The numbers of the files that keys and the manifest do not rule out."""
        _, matching, can_pass = self._tests(also)
        some = range(len(self.table.files.paths)) if matching is None else sorted(matching)
        return [number for number in some if can_pass(number, None)]

    def joined(self, also: Condition | None) -> View | None:
        """The files that can have rows for which a condition is true, as one table with all rows.

        None if they are to be read one by one; see `Table.joined`.
        """
        if self.condition is not None or self.rows is not None or self.limit is not None or self.table.fills:
            return None
        return self.table.joined(self._left(also))

    def _matching(self, *conditions: Condition | None) -> frozenset[int] | None:
        """The numbers of the files that can match all conditions by the manifest; None for all."""
        found: frozenset[int] | None = None
        for condition in conditions:
            if condition is not None and self.table.manifest is not None:
                found = _in_both(found, self.table.manifest.matching(condition))
        return found

    def _folding(self, condition: Condition | None) -> Folding | None:
        if condition is None:
            return None
        names = self.table.files.keys.names
        return Folding(condition, names, self.table.keys if names else None)

    def splits(self, n: int | None) -> Iterator[Query]:
        """Queries of rows of one file each, with at most `n` rows to test, on this file alone.

        Together they have all rows. A file that may lack columns keeps the others for their types.
        """
        for piece in self.pieces(are_numbered=True):
            assert piece.first is not None, "rows are numbered"
            view = piece.query.view
            rows = range(view.handle.n_rows) if view.rows is None else view.rows
            table, shift = self.table, piece.first
            if not table.fills:
                table, shift = Table(table.files.of([piece.number]), fills=False), 0
            for at in range(rows.start, rows.stop, n or len(rows)):
                yield self._replace(table=table, rows=(shift + at, shift + min(rows.stop, at + (n or len(rows)))))

    def count(self, threads: int | None = None) -> int:
        """The number of rows that pass. A manifest has the numbers of rows."""
        if self.condition is None:
            start, stop = self.rows or (0, None)
            every = self.table.length()
            n = max((every if stop is None else min(every, stop)) - start, 0)
            return n if self.limit is None else min(n, self.limit)
        n = 0
        if self.limit is None:
            return sum(self.from_parts(lambda piece: [piece.query.count(threads)]))
        for piece in self.pieces():
            n += piece.query.limited(self.limit - n).count(threads)
            if n == self.limit:
                break
        return n

    def passing(self, *, are_numbered: bool = False, also: Condition | None = None) -> Iterator[Piece]:
        """The rows that pass, without conditions, up to the limit."""
        left = self.limit
        if left == 0:
            return
        for piece in self.pieces(are_numbered=are_numbered, also=also):
            view = piece.query.limited(left).passing()
            left = None if left is None else left - view.n_rows
            if view.n_rows:
                yield piece._replace(query=FileQuery(view, None, None))
            # The next file need not be opened.
            if left == 0:
                return

    def from_parts(
        self, read: Callable[[Piece], Iterable[_Item]], *, are_numbered: bool = False, also: Condition | None = None
    ) -> Iterator[_Item]:
        """The items that a function finds in the rows of each file that can have some, in order.

        On a store the next short files are read by other threads meanwhile. The limit is the
        caller's, and with a limit nothing is read ahead.
        """
        pieces = self.pieces(are_numbered=are_numbered, also=also)
        if self.table.files.store is None or self.limit is not None:
            for piece in pieces:
                yield from read(piece)
            return

        def job(piece: Piece) -> Iterable[_Item]:
            found = read(piece)
            source: Any = piece.query.view.table.content
            return list(found) if source.size <= SHORT else found

        yield from in_turn((partial(job, piece) for piece in pieces), READ, READ)

    def from_passing(
        self, read: Callable[[Piece], Iterable[_Item]], *, also: Condition | None = None
    ) -> Iterator[_Item]:
        """As `from_parts`, but of the rows that pass. The pieces have no conditions."""
        if self.table.files.store is None or self.limit is not None:
            for piece in self.passing(also=also):
                yield from read(piece)
            return

        def read_passing(piece: Piece) -> Iterable[_Item]:
            view = piece.query.passing()
            return read(piece._replace(query=FileQuery(view, None, None))) if view.n_rows else ()

        yield from self.from_parts(read_passing, also=also)


def _in_both(some: frozenset[int] | None, others: frozenset[int] | None) -> frozenset[int] | None:
    """The numbers in both sets; None is all numbers."""
    return others if some is None else some if others is None else some & others
