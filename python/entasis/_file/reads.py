"""Reading of open files: whole, in parts, and the counts and positions of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from entasis._arguments.options import number, on_refused
from entasis._arguments.options import on_damage as _on_damage
from entasis._arguments.options import threads as _threads
from entasis._libraries import registry as _hosts
from entasis._view.read import read as _read
from entasis._view.view import View
from entasis.errors import UnsupportedTypeError

from .conversions import Conversions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._filter.conditions import Filter
    from entasis._libraries.registry import Host
    from entasis._typing import (
        ArrowTable,
        Columns,
        NumpyArrays,
        OnDamage,
        OnRefused,
        PandasFrame,
        PolarsFrame,
        Rows,
        StaticFrame,
    )
    from entasis._view.query import Query
    from entasis._view.table import OpenTable

    from .read_options import PartOptions


class Reads(Conversions):
    """Methods of an open file that read columns and rows."""

    __slots__ = ()

    if TYPE_CHECKING:
        _view: View

    @overload
    def read(self, *, to: Literal["pandas"], **options: Unpack[PartOptions]) -> PandasFrame: ...
    @overload
    def read(self, *, to: Literal["polars"], **options: Unpack[PartOptions]) -> PolarsFrame: ...
    @overload
    def read(self, *, to: Literal["pyarrow"], **options: Unpack[PartOptions]) -> ArrowTable: ...
    @overload
    def read(self, *, to: Literal["numpy"], **options: Unpack[PartOptions]) -> NumpyArrays: ...
    @overload
    def read(self, *, to: Literal["static_frame"], **options: Unpack[PartOptions]) -> StaticFrame: ...
    @overload
    def read(self, *, to: Host | None = None, **options: Unpack[PartOptions]) -> Any: ...
    def read(
        self,
        *,
        columns: Columns | None = None,
        rows: Rows | None = None,
        filter: Filter | None = None,
        to: Host | None = None,
        threads: int | None = None,
        index: bool = True,
        nan_to_null: bool | None = None,
        on_unsupported: OnRefused = "error",
        on_damage: OnDamage = "error",
    ) -> Any:
        """Read columns and rows of this view.

        Parameters
        ----------
        columns, rows, filter, to, threads, index, nan_to_null, on_unsupported, on_damage
            As for `entasis.read`. Positions count within this view.

        Returns
        -------
        Any
            A frame, or the series, index or array that was written.

        Raises
        ------
        EntasisError
            As for `entasis.read`.

        Examples
        --------
        >>> en.write(pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]}), "table.entasis")
        >>> en.open("table.entasis").read(columns="b", rows=[2, 0])
           b
        2  6
        0  4
        """
        on_refused(on_unsupported)
        skips = on_unsupported == "skip"
        view = self._view.with_nan_to_null(nan_to_null)
        if columns is not None or rows is not None:
            view = view.narrow(self._view.resolve(columns), self._view.compose(rows))
        if on_damage == "error":
            if filter is not None and not skips:
                return _query(view, filter).read(to=to, threads=threads, index=index)
            return _read(_filtered(view, filter, threads), to, threads, index, skips=skips)
        _on_damage(on_damage)
        from entasis._view import damage as _damage

        def read_table(table: OpenTable) -> Any:
            of_table = View(table, view.columns, view.rows)
            return _read(_filtered(of_table, filter, threads), to, threads, index, skips=skips)

        return _damage.read(view.table, read_table, _threads(threads))

    def _to_store(self, to: str | None = None, *, index: bool = True) -> Any:
        written_by = self._view.written_by
        if not _hosts.is_foreign(written_by):
            return self.read(index=index)
        try:
            return _read(self._view, to or _hosts.to_store_again(written_by), None, index)
        except UnsupportedTypeError as error:
            text = str(error).removeprefix("not supported: ")
            advice = "choose other columns, or read the table and write the result (pandas makes NaN a missing value)"
            raise UnsupportedTypeError(f"{text}: {advice}") from error

    def head(self, n: int = 5) -> Any:
        """Read the first `n` rows, or all but the last `-n` rows if `n` is negative.

        Parameters
        ----------
        n
            The number of rows.

        Returns
        -------
        Any
            A frame of the file's library.

        Examples
        --------
        >>> en.write(pd.DataFrame({"a": [1, 2, 3]}), "table.entasis")
        >>> en.open("table.entasis").head(2)
           a
        0  1
        1  2
        """
        return self.read(rows=slice(None, number(n)))

    def tail(self, n: int = 5) -> Any:
        """Read the last `n` rows, or all but the first `-n` rows if `n` is negative.

        Parameters
        ----------
        n
            The number of rows.

        Returns
        -------
        Any
            A frame of the file's library.

        Examples
        --------
        >>> en.write(pd.DataFrame({"a": [1, 2, 3]}), "table.entasis")
        >>> en.open("table.entasis").tail(1)
           a
        2  3
        """
        return self.read(rows=slice(-number(n), None) if number(n) else slice(0, 0))

    def sample(
        self,
        n: int | None = None,
        *,
        fraction: float | None = None,
        seed: int | None = None,
        by: Literal["rows", "blocks"] = "rows",
    ) -> Any:
        """Read rows that are drawn at random, each at most once, in the order of the file.

        Parameters
        ----------
        n
            The number of rows.
        fraction
            The share of the rows, from 0 to 1, in place of `n`.
        seed
            A seed for `numpy.random.default_rng`. Equal seeds give the same rows. None draws other
            rows each time.
        by
            "rows" draws each row alone. "blocks" draws groups of 1,024 neighbouring rows, which
            takes less time in a long file. It is biased wherever neighbours are alike.

        Returns
        -------
        Any
            A frame of the file's library.

        Raises
        ------
        ArgumentError
            The file has fewer rows.

        Examples
        --------
        >>> en.write(pd.DataFrame({"a": range(100)}), "table.entasis")
        >>> len(en.open("table.entasis").sample(10, seed=1))
        10
        """
        from entasis._view.sample import draw

        return self.read(rows=draw(self._view.n_rows, n, fraction, seed, by))

    def batches(
        self,
        n: int = 65_536,
        *,
        columns: Columns | None = None,
        to: Host | None = None,
        nan_to_null: bool | None = None,
    ) -> Iterator[Any]:
        """Read the rows in frames, with memory for one at a time.

        Parameters
        ----------
        n
            The number of rows of a frame. The last one may have fewer.
        columns, to, nan_to_null
            As for `entasis.read`.

        Yields
        ------
        Any
            A frame.

        Examples
        --------
        >>> en.write(pd.DataFrame({"a": [1, 2, 3]}), "table.entasis")
        >>> [len(frame) for frame in en.open("table.entasis").batches(2)]
        [2, 1]
        """
        return _query(self._view, None).batches(n, columns=columns, to=to, nan_to_null=nan_to_null)

    def count(self, condition: Filter | None = None, *, threads: int | None = None) -> int:
        """Return the number of rows, or of those for which a condition is true.

        Parameters
        ----------
        condition
            As for `filter=` of `entasis.read`.
        threads
            The number of threads. None means one per processor.

        Examples
        --------
        >>> en.write(pd.DataFrame({"a": [1, 2, 3]}), "table.entasis")
        >>> en.open("table.entasis").count(en.col("a") > 1)
        2
        """
        return self._view.n_rows if condition is None else _query(self._view, condition).count(threads)

    def search(self, column: Any, key: Any, side: Literal["left", "right"] = "left") -> int:
        """Return the position of a key in a sorted column, as `numpy.searchsorted` does.

        Block statistics exclude all blocks but one, so at most one is read.

        Parameters
        ----------
        column
            The label of a column of the file, or of a level of its index. Its values are in
            ascending order, and none is missing or NaN.
        key
            A value as in a comparison of `entasis.col(column)`.
        side
            "left" is the number of rows before the first value that is not less than the key.
            "right" is the number of rows before the first value that is greater.

        Returns
        -------
        int
            A position in this file or view, from 0 to its number of rows.

        Raises
        ------
        ArgumentError
            The order of the column is another one or not known, or the key does not compare.
        ColumnNotFoundError
            No column has such a label.

        Examples
        --------
        >>> en.write(pd.DataFrame({"a": [10, 20, 20, 30]}), "table.entasis")
        >>> f = en.open("table.entasis")
        >>> f.search("a", 20), f.search("a", 20, "right")
        (1, 3)
        """
        from entasis._view.search import position

        return position(self._view, column, key, side)

    def _as_query(self) -> Query:
        return _query(self._view, None)


def _query(view: View, filter: Filter | None) -> Query:
    """The rows of a view that pass a filter. The module is loaded on demand."""
    from entasis._view.query import query

    return query(view, filter)


def _filtered(view: View, filter: Filter | None, threads: int | None) -> View:
    """A view of the rows that pass a filter."""
    return view if filter is None else _query(view, filter).passing(threads)
