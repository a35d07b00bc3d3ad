"""The rows of a view for which a condition is true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments.options import integer, shown
from entasis._arguments.options import threads as _threads
from entasis._filter import bind as _bind
from entasis._memory import reported
from entasis.errors import ArgumentError

from . import dense as _dense
from . import reopen as _reopen
from .read import read
from .view import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._filter.conditions import Condition
    from entasis._typing import Columns, Rows


class Query:
    """A view, a condition on its rows, and the greatest number of rows. It never changes.

    Attributes
    ----------
    view
        The columns to read, and the rows to test.
    condition
        The condition, which may use other columns; None for all rows.
    limit
        The greatest number of rows; None for all passing rows.
    """

    __slots__ = ("condition", "limit", "view")

    def __init__(self, view: View, condition: Condition | None = None, limit: int | None = None) -> None:
        self.view, self.condition, self.limit = view, condition, limit

    def filtered(self, condition: Any) -> Query:
        """The rows for which another condition is true as well."""
        return Query(self.view, conjoined(self.condition, condition, self.limit))

    def limited(self, limit: Any) -> Query:
        """The query with at most `limit` rows. A lower limit stays; None changes nothing."""
        return Query(self.view, self.condition, checked_limit(limit, self.limit))

    def of(self, view: View) -> Query:
        """The rows of another view."""
        return Query(view, self.condition, self.limit)

    def with_nan_to_null(self, nan_to_null: bool | None) -> Query:
        """The same rows with another rule for NaN; None keeps the rule."""
        return self if nan_to_null is None else self.of(self.view.with_nan_to_null(nan_to_null))

    def tree(self) -> tuple[Any, ...]:
        """The condition as the core takes it."""
        assert self.condition is not None
        return _bind.tree(self.condition, self.view.handle, self.view.narrow(None, None).resolve)

    def is_scattered(self) -> bool:
        """Whether the rows to test are not consecutive."""
        rows = self.view.rows
        return rows is not None and not (isinstance(rows, range) and rows.step == 1)

    def span(self) -> tuple[int, int]:
        """The table's rows to test: the first row, and the row after the last."""
        rows, n = self.view.rows, self.view.handle.n_rows
        if rows is not None and len(rows) == 0:
            return 0, 0
        return (0, n) if rows is None or self.is_scattered() else (rows.start, rows.stop)

    def count(self, threads: int | None = None) -> int:
        """The number of rows that pass."""
        if self.condition is None:
            n = self.view.n_rows
            return n if self.limit is None else min(n, self.limit)
        if self.is_scattered():
            return len(self.row_numbers(threads))
        with reported:
            start, stop = self.span()
            found = self.view.handle.count_filtered(self.tree(), start, stop, _threads(threads))
        return found if self.limit is None else min(found, self.limit)

    @reported
    def row_numbers(self, threads: int | None = None) -> Any:
        """The positions of the rows that pass in the table, as an array of int64."""
        import numpy as np

        rows, handle = self.view.rows, self.view.handle
        if self.condition is None:
            every = np.arange(handle.n_rows) if rows is None else np.asarray(rows, np.int64)
            return every[: self.limit]
        start, stop = self.span()
        found = np.asarray(handle.filtered_rows(self.tree(), start, stop, _threads(threads)))
        if self.is_scattered():
            every = np.asarray(rows, np.int64)
            found = every[np.isin(every, found)]
        return found[: self.limit]

    def passing(self, threads: int | None = None) -> View:
        """The rows that pass as a view, which keeps their numbers: 8 bytes each."""
        view = self.view
        if self.condition is None:
            return view if self.limit is None else view.part(slice(None, self.limit))
        rows: Any = self.row_numbers(threads)
        if len(rows) == view.handle.n_rows and not self.is_scattered():
            rows = None
        elif len(rows) and rows[-1] - rows[0] == len(rows) - 1 and not self.is_scattered():
            rows = range(int(rows[0]), int(rows[-1]) + 1)
        return view.narrow(view.columns, rows)

    def explain(self) -> str:
        """The condition, and how many rows statistics decide, as text."""
        lines = [f"filter: {self.condition!r}" if self.condition is not None else "filter: none"]
        if self.limit is not None:
            lines.append(f"limit: {self.limit}")
        if self.condition is not None:
            with reported:
                start, stop = self.span()
                lines.append(self.view.handle.explain_filter(self.tree(), start, stop))
        return "\n".join(lines)

    def read(
        self, *, columns: Columns | None = None, to: str | None = None, threads: int | None = None, index: bool = True
    ) -> Any:
        """Read the rows that pass. The parameters are those of `entasis.read`."""
        view = self.view
        # Rows that may pass are fetched from a store ahead. Dropping this at the end stops it.
        _ahead = self._announced(columns)
        is_whole = self.condition is not None and self.limit is None and not self.is_scattered()
        if is_whole and (to or view.written_by) in _dense.HOSTS and not view.table.memory_map:
            return self._read_whole(columns, to, threads, index)
        return _read(self.passing(threads), columns, to, threads, index)

    @reported
    def _announced(self, columns: Columns | None) -> Any:
        """Columns of the rows that may pass, fetched from a store while these are tested."""
        view = self.view
        if self.condition is None or not getattr(view.handle, "is_remote", False):
            return None
        of = view if columns is None else view.narrow(view.resolve(columns), view.rows)
        numbers = range(view.handle.n_columns) if of.columns is None else of.columns
        return view.handle.announce_filtered(self.tree(), list(numbers), *self.span())

    def _read_whole(self, columns: Columns | None, to: str | None, threads: int | None, index: bool) -> Any:
        """Read the rows that pass, or all of them and drop the others."""
        view, (start, stop) = self.view, self.span()
        with reported:
            found = view.handle.filtered_bits(self.tree(), start, stop, _threads(threads))
            rows = _dense.range_of(found, _dense.SHARE_SIDE_BY_SIDE)
        if rows is not None:
            frame = _read(view.narrow(view.columns, rows), columns, to, threads, index)
            some = _dense.kept(frame, found, _threads(threads))
            if some is not None:
                return some
        import numpy as np

        with reported:
            numbers = np.asarray(found.numbers())
        return _read(view.narrow(view.columns, numbers), columns, to, threads, index)

    def batches(
        self, n: int, *, columns: Columns | None = None, to: str | None = None, nan_to_null: bool | None = None
    ) -> Iterator[Any]:
        """Read the rows that pass in frames, testing `n` rows for each. See `Scan.batches`."""
        size = checked_limit(n)
        if not size:
            raise ArgumentError(f"n={shown(n)}: a batch has one row or more")
        view = self.view.with_nan_to_null(nan_to_null)
        left, start = self.limit, 0
        while start < view.n_rows and left != 0:
            found = Query(view.part(slice(start, start + size)), self.condition, left).passing()
            start += size
            if found.n_rows:
                left = None if left is None else left - found.n_rows
                yield _read(found, columns, to, None, True)

    def __reduce__(self) -> tuple[Any, ...]:
        view = self.view
        source = _reopen.source(view.table)
        return _reopened, (source, view.columns, view.rows, view.is_one, self.condition, self.limit)


def query(
    view: View,
    condition: Any = None,
    columns: Columns | None = None,
    rows: Rows | None = None,
    limit: int | None = None,
) -> Query:
    """Columns of a view, and the rows that pass a condition. See `File.scan`."""
    chosen = view.narrow(view.resolve(columns), view.compose(rows))
    checked = None if condition is None else _bind.condition(condition)
    return Query(chosen, checked, checked_limit(limit))


def conjoined(before: Condition | None, condition: Any, limit: int | None) -> Condition:
    """The conjunction of a condition, if any, and another one. It can't follow a limit."""
    if limit is not None:
        raise ArgumentError("a filter after a limit would leave fewer rows than the limit: filter first")
    other = _bind.condition(condition)
    return other if before is None else before & other


def checked_limit(limit: Any, before: int | None = None) -> int | None:
    """Check a limit. Returns the lesser of this limit and `before`."""
    if limit is None:
        return before
    number = integer(limit)
    if number is None or number < 0:
        raise ArgumentError(f"limit={shown(limit)}: it is a number of rows")
    return number if before is None else min(number, before)


def _read(view: View, columns: Columns | None, to: str | None, threads: int | None, index: bool) -> Any:
    if columns is not None:
        view = view.narrow(view.resolve(columns), view.rows)
    return read(view, to, threads, index)


def _reopened(
    source: Any, columns: list[int] | None, rows: Any, is_one: bool, condition: Condition | None, limit: int | None
) -> Query:
    """Open the file of a pickle."""
    return Query(View(_reopen.table(source), columns, rows, is_one=is_one), condition, limit)
