"""Rows of a file that a condition keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments.options import integer, shown
from entasis._arguments.options import threads as _threads
from entasis._columns.fields import are_among
from entasis._filter import bind as _bind
from entasis._memory import reported
from entasis._view import dense as _dense
from entasis.errors import ArgumentError

from .conversions import Conversions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._filter.conditions import Condition
    from entasis._libraries.registry import Host
    from entasis._typing import Columns, Rows

    from .file import File


class Scan(Conversions):
    """The rows of a file for which a condition is true. `File.filter` and `File.scan` make it.

    Nothing is read until a method asks for values. Then the statistics of blocks decide first which
    rows need a look, the columns of the condition are tested, and the other columns are read where
    rows pass.

    Examples
    --------
    >>> df = pd.DataFrame({"city": ["Oslo", "Rome", "Bern"], "price": [3, 5, 4]})
    >>> en.write(df, "prices.entasis")
    >>> cheap = en.open("prices.entasis").filter(en.col("price") < 5)
    >>> cheap.count()
    2
    >>> cheap.read()
       city  price
    0  Oslo      3
    2  Bern      4
    """

    __slots__ = ("_condition", "_file", "_limit")

    def __init__(self, file: File, condition: Condition | None, limit: int | None = None) -> None:
        self._file, self._condition, self._limit = file, condition, limit

    def filter(self, condition: Any) -> Scan:
        """Return a scan of the rows for which another condition is true as well."""
        if self._limit is not None:
            raise ArgumentError("a filter after a limit would leave fewer rows than the limit: filter first")
        other = _bind.condition(condition)
        return Scan(self._file, other if self._condition is None else self._condition & other)

    def select(self, *columns: Columns) -> Scan:
        """Return a scan that reads some columns. The condition may be about others."""
        return Scan(self._file.select(*columns), self._condition, self._limit)

    def head(self, n: int = 5) -> Any:
        """Read the first `n` rows that pass."""
        return self.read(limit=n)

    def count(self, *, threads: int | None = None) -> int:
        """Return the number of rows that pass. Reads nothing where statistics decide."""
        if self._condition is None:
            n = self._file.n_rows
            return n if self._limit is None else min(n, self._limit)
        if self._is_scattered():
            return len(self.row_numbers(threads=threads))
        with reported:
            start, stop = self._span()
            found = self._file._handle.count_filtered(self._tree(), start, stop, _threads(threads))
        return found if self._limit is None else min(found, self._limit)

    @reported
    def row_numbers(self, *, threads: int | None = None) -> Any:
        """Return the positions of the rows that pass in the whole file, as an array of int64."""
        import numpy as np

        rows = self._file._rows
        if self._condition is None:
            n = self._file._handle.n_rows
            every = np.arange(n) if rows is None else np.asarray(rows, np.int64)
            return every[: self._limit]
        start, stop = self._span()
        numbers = self._file._handle.filtered_rows(self._tree(), start, stop, _threads(threads))
        found = np.asarray(numbers)
        if self._is_scattered():
            every = np.asarray(rows, np.int64)
            found = every[np.isin(every, found)]
        return found[: self._limit]

    def explain(self) -> str:
        """Return the condition, and how many rows statistics decide, as text."""
        lines = [f"filter: {self._condition!r}" if self._condition is not None else "filter: none"]
        if self._limit is not None:
            lines.append(f"limit: {self._limit}")
        if self._condition is not None:
            with reported:
                start, stop = self._span()
                lines.append(self._file._handle.explain_filter(self._tree(), start, stop))
        return "\n".join(lines)

    def read(
        self,
        *,
        columns: Columns | None = None,
        to: Host | None = None,
        limit: int | None = None,
        threads: int | None = None,
        index: bool = True,
        nan_to_null: bool | None = None,
    ) -> Any:
        """Read the rows that pass.

        Parameters
        ----------
        columns, to, threads, index, nan_to_null
            As for `entasis.read`.
        limit
            The greatest number of rows, in the order of the file.

        Returns
        -------
        Any
            A frame with the index of the rows, as `df[mask]` has it.
        """
        scan = self._with_nan_to_null(nan_to_null)
        if limit is not None:
            scan = Scan(scan._file, scan._condition, checked_limit(limit, scan._limit))
        is_whole = scan._condition is not None and scan._limit is None and not scan._is_scattered()
        if is_whole and (to or self._file.written_by) in _dense.HOSTS and not self._file._frame.memory_map:
            return scan._read_whole(columns=columns, to=to, threads=threads, index=index)
        return scan.view(threads=threads).read(columns=columns, to=to, threads=threads, index=index)

    def _read_whole(self, *, threads: int | None, **options: Any) -> Any:
        """Read the rows that pass, or all of them and drop the others."""
        file, (start, stop) = self._file, self._span()
        with reported:
            found = file._handle.filtered_bits(self._tree(), start, stop, _threads(threads))
            rows = _dense.range_of(found, _dense.SHARE_SIDE_BY_SIDE)
        if rows is not None:
            frame = file._view(file._columns, rows).read(threads=threads, **options)
            some = _dense.kept(frame, found, _threads(threads))
            if some is not None:
                return some
        import numpy as np

        with reported:
            numbers = np.asarray(found.numbers())
        return file._view(file._columns, numbers).read(threads=threads, **options)

    def view(self, *, threads: int | None = None) -> File:
        """Return the rows that pass as a view of the file.

        Tests all rows, and keeps the numbers of those that pass: 8 bytes for each.
        """
        if self._condition is None:
            view = self._file
            return view if self._limit is None else view[: self._limit]
        rows: Any = self.row_numbers(threads=threads)
        if len(rows) == self._file._handle.n_rows and not self._is_scattered():
            rows = None
        elif len(rows) and rows[-1] - rows[0] == len(rows) - 1 and not self._is_scattered():
            rows = range(int(rows[0]), int(rows[-1]) + 1)
        return self._file._view(self._file._columns, rows)

    def batches(
        self,
        n: int = 65_536,
        *,
        columns: Columns | None = None,
        to: Host | None = None,
        nan_to_null: bool | None = None,
    ) -> Iterator[Any]:
        """Read the rows that pass in frames, with memory for one at a time.

        Parameters
        ----------
        n
            The number of rows that are tested for a frame. A frame has those that pass. Frames
            without rows are left out.
        columns, to, nan_to_null
            As for `entasis.read`.

        Yields
        ------
        Any
            A frame.
        """
        size = checked_limit(n)
        if not size:
            raise ArgumentError(f"n={shown(n)}: a batch has one row or more")
        file = self._file._with_nan_to_null(nan_to_null)
        left, start = self._limit, 0
        while start < file.n_rows and left != 0:
            found = Scan(file[start : start + size], self._condition, left).view()
            start += size
            if found.n_rows:
                left = None if left is None else left - found.n_rows
                yield found.read(columns=columns, to=to)

    def _with_nan_to_null(self, nan_to_null: bool | None) -> Scan:
        """The same rows with another rule for NaN; None keeps the rule."""
        if nan_to_null is None:
            return self
        return Scan(self._file._with_nan_to_null(nan_to_null), self._condition, self._limit)

    def _as_scan(self) -> Scan:
        if are_among(self._file._columns):
            raise ArgumentError(
                "engines and streams take whole columns, and this selection has a field of a struct: select the "
                "struct, and let the engine take the field"
            )
        return self

    def _tree(self) -> tuple[Any, ...]:
        assert self._condition is not None
        whole = self._file._view(None, None)
        return _bind.tree(self._condition, self._file._handle, whole._resolve)

    def _is_scattered(self) -> bool:
        """Whether the rows of the view are not consecutive."""
        rows = self._file._rows
        return rows is not None and not (isinstance(rows, range) and rows.step == 1)

    def _span(self) -> tuple[int, int]:
        """The rows that are tested."""
        rows, n = self._file._rows, self._file._handle.n_rows
        if rows is not None and len(rows) == 0:
            return 0, 0
        return (0, n) if rows is None or self._is_scattered() else (rows.start, rows.stop)

    def __repr__(self) -> str:
        limit = "" if self._limit is None else f", limit={self._limit}"
        return f"<entasis.Scan of '{self._file.path}', {self._condition!r}{limit}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Scan, (self._file, self._condition, self._limit)


def checked_limit(limit: Any, before: int | None = None) -> int | None:
    """A limit that is a number of rows, or the lesser of two."""
    if limit is None:
        return before
    number = integer(limit)
    if number is None or number < 0:
        raise ArgumentError(f"limit={shown(limit)}: it is a number of rows")
    return number if before is None else min(number, before)


def scan(file: File, columns: Columns | None, condition: Any, rows: Rows | None, limit: int | None) -> Scan:
    """A scan of a view of a file."""
    # A view of its own stays valid when the file is closed.
    view = file._view(file._resolve(columns), file._compose(rows))
    checked = None if condition is None else _bind.condition(condition)
    return Scan(view, checked, checked_limit(limit))
