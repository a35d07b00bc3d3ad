"""Open files of one frame, views of their columns and rows, and scans of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from entasis._arguments import rows as _rows
from entasis._arguments import sources as _sources
from entasis._arguments.options import integer, shown
from entasis._arguments.options import limits as _limits
from entasis._arguments.options import on_damage as _on_damage
from entasis._view import column_labels as _column_labels
from entasis._view import table as _table
from entasis._view.view import View
from entasis.errors import ArgumentError

from .conversions import Conversions
from .described import Described
from .reads import Reads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import TypeIs

    from entasis._arguments.secrets import AnyKey, Secret
    from entasis._arguments.sources import Source
    from entasis._entasis import Password
    from entasis._filter.conditions import Condition, Filter
    from entasis._libraries.registry import Host
    from entasis._typing import Columns, Limits, MemoryMap, OnDamage, Rows, Types
    from entasis._view.query import Query

    from .indexers import ILoc, Loc


class File(Reads, Described):
    """An open file of a frame, or a view of some of its columns and rows.

    `f["a"]` and `f[["a", "b"]]` are views of columns. `f[1000:2000]`, `f[7]`, `f[array]` and
    `f[mask]` are views of rows, and `f[rows, columns]` is a view of both. `f.select` takes labels
    of any type, `f.iloc` positions on both axes, and `f.loc` labels on both. Positions in a view of
    a view count from its own start.

    A view reads nothing until a method asks for values (`read`, `head`, `to_pandas` ...), or until
    another library takes it through Arrow's stream interface.

    Files can be copied and pickled. A copy in another process opens the path again, and checks that
    the file is the same.

    Parameters
    ----------
    path, memory_map, types, limits, key, password
        As for `entasis.open`, which also opens files of other values.

    Attributes
    ----------
    path : str
        The path of the file, or "<bytes>" for a file in memory.

    Examples
    --------
    >>> df = pd.DataFrame({"city": ["Oslo", "Rome", "Bern"], "price": [3, 5, 4]})
    >>> en.write(df, "prices.entasis")
    >>> f = en.open("prices.entasis")
    >>> f.shape, f.column_names
    ((3, 2), ['city', 'price'])
    >>> f[-2:]["price"].to_numpy()
    {'price': array([5, 4])}
    """

    if TYPE_CHECKING:
        # `entasis.open` may return a `Tree`, which has keys.
        def keys(self) -> list[Any]: ...

    __slots__ = ("_view",)

    def __init__(
        self,
        path: Source,
        *,
        memory_map: MemoryMap = False,
        types: Types | None = None,
        limits: Limits | None = None,
        generation: int | None = None,
        on_damage: OnDamage = "error",
        key: AnyKey | Password | None = None,
        password: str | None = None,
    ) -> None:
        source, checked = _sources.source_of_ranges(path), _limits(limits)
        _on_damage(on_damage)
        whole = on_damage == "missing"
        if whole and memory_map:
            raise ArgumentError("on_damage='missing' is for values that are read: leave memory_map out")
        table = _table.opened(
            source,
            memory_map=memory_map,
            types=types,
            limits=checked,
            generation=generation,
            whole=whole,
            secret=None if key is None and password is None else _secret(key, password),
        )
        self.path, self._view = table.path, View(table)

    @classmethod
    def _of(cls, view: View) -> File:
        """The file of a view."""
        file = object.__new__(File)
        file.path, file._view = view.table.path, view
        return file

    def __len__(self) -> int:
        return self.n_rows

    # Iteration is refused: libraries would take a File for a sequence, of rows or of names.
    __iter__ = None

    def __contains__(self, label: object) -> bool:
        try:
            hash(label)
        except TypeError:
            return False
        found, columns = self._view.table.labels.find(label), self._view.columns
        return bool(found) if columns is None else any(column in columns for column in found)

    def __getitem__(self, key: Any) -> File:
        if isinstance(key, tuple):
            return self._pair(key)
        if _column_labels.are_texts(key):
            return self.select(key)
        if not isinstance(key, (slice, range)) and not self._view.table.labels.are_text and not _rows.is_mask(key):
            what = shown(key) if integer(key) is not None else "..."
            raise ArgumentError(
                f"f[{what}]: the labels of the columns are not text, so it could mean either; columns are "
                f"f.select({what}), rows f.iloc[{what}]"
            )
        return File._of(self._view.part(key))

    def _pair(self, key: tuple[Any, ...]) -> File:
        if len(key) != 2:
            raise ArgumentError(f"a file has rows and columns, not {len(key)} axes")
        rows, columns = key
        if _column_labels.are_texts(rows):
            both = shown(key)
            raise ArgumentError(
                f"f[{both[1:-1]}] means rows and columns, and rows can't be strings: several columns are "
                f"f[[{both[1:-1]}]], a label that is a tuple f.select({both}), rows by label f.loc[...]"
            )
        view = self._view
        return File._of(view.select(columns, view.resolve(columns), view.compose(rows)))

    def select(self, *columns: Columns) -> File:
        """Return a view of some columns, in the given order.

        Parameters
        ----------
        *columns
            Either one argument as for `columns=` of `entasis.read`: a label of any type, a list or
            array of labels, or positions as a slice or range. Or several arguments, each of them a
            label.

        Returns
        -------
        File
            A view. Nothing is read.

        Raises
        ------
        ColumnNotFoundError
            No column has such a label.
        DuplicateColumnError
            Several columns have the label.

        Examples
        --------
        >>> en.write(pd.DataFrame({2020: [1, 2], 2021: [3, 4]}), "years.entasis")
        >>> en.open("years.entasis").select(2021).head(1)
           2021
        0     3
        """
        return File._of(_selected(self._view, columns))

    def take(self, indices: Rows, axis: Literal[0, 1] = 0) -> File:
        """Return a view of rows by position, or of columns with `axis=1`, as `take` of pandas does.

        `train_test_split` of scikit-learn splits files and columns by it.

        Parameters
        ----------
        indices
            Positions. Negative ones count from the end.
        axis
            0 takes rows, 1 takes columns.

        Examples
        --------
        >>> en.write(pd.DataFrame({"a": [1, 2, 3]}), "table.entasis")
        >>> en.open("table.entasis").take([2, 0]).read()
           a
        2  3
        0  1
        """
        if axis not in (0, 1):
            raise ArgumentError(f"axis={shown(axis)}: 0 for rows or 1 for columns")
        return self.iloc[indices, :] if axis == 0 else self.iloc[:, indices]

    def filter(self, condition: Filter) -> Scan:
        """Return the rows for which a condition is true.

        Parameters
        ----------
        condition
            As for `filter=` of `entasis.read`. It may be about any column of the file and any level
            of its index.

        Returns
        -------
        Scan
            Nothing is read until a method of it asks for values. Then a label that no column has is
            a `ColumnNotFoundError`, and a value that its column does not compare with an
            `ArgumentError`.

        Examples
        --------
        >>> en.write(pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]}), "table.entasis")
        >>> en.open("table.entasis").filter(en.col("a") > 1).read(columns="b")
           b
        1  5
        2  6
        """
        return self.scan(filter=condition)

    def scan(
        self,
        columns: Columns | None = None,
        filter: Filter | None = None,
        rows: Rows | None = None,
        limit: int | None = None,
    ) -> Scan:
        """Return a scan: columns, a condition on rows, and the greatest number of rows.

        Parameters
        ----------
        columns, filter, rows
            As for `entasis.read`. `rows` applies first, then the condition, then the limit.
        limit
            The greatest number of rows, in the order of the file.

        Returns
        -------
        Scan
            Its methods count and read the rows.

        Examples
        --------
        >>> en.write(pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]}), "table.entasis")
        >>> en.open("table.entasis").scan("b", en.col("a") > 1, limit=1).to_numpy()
        {'b': array([5])}
        """
        from entasis._view.query import query

        return Scan._of(query(self._view, filter, columns, rows, limit))

    @property
    def iloc(self) -> ILoc[File]:
        """Views by positions: `f.iloc[rows, columns]`, like `iloc` of pandas."""
        from .indexers import ILoc

        return ILoc(self._view, File._of)

    @property
    def loc(self) -> Loc[File]:
        """Views by labels: `f.loc[rows, columns]`, like `loc` of pandas.

        Reads only labels, and few of a sorted index. Needs pandas.
        """
        from .indexers import Loc

        return Loc(self._view, File._of)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        from entasis._view.array import of_columns

        return of_columns(self._view, dtype, copy)

    def close(self) -> None:
        """Close the file, as `with` does.

        Earlier views of it, and values that were read, stay valid.
        """
        self._view = View(_table.closed(self.path))

    @property
    def closed(self) -> bool:
        """Whether the file was closed."""
        return isinstance(self._view.handle, _table.Closed)

    def __copy__(self) -> File:
        return File._of(self._view)

    def __reduce__(self) -> tuple[Any, ...]:
        from entasis._view import reopen as _reopen

        view = self._view
        return _reopened, (_reopen.source(view.table), view.columns, view.rows, view.is_one)

    def __repr__(self) -> str:
        if self.closed:
            return f"<entasis.File '{self.path}', closed>"
        from . import display as _display

        return _display.text(self.path, self.n_rows, self.schema.pairs, self.written_by)

    def _repr_html_(self) -> str:
        from . import html as _html

        if self.closed:
            return _html.closed(repr(self))
        from .preview import preview

        return _html.frame(self.path, preview(self._view))

    def _ipython_key_completions_(self) -> list[str]:
        return self.column_names if self._view.table.labels.are_text else []


class Scan(Conversions):
    """The rows of a file for which a condition is true. `File.filter` and `File.scan` make it.

    Nothing is read until a method asks for values. Then block statistics exclude rows first, the
    columns of the condition are tested on the others, and the remaining columns are read where rows
    pass.

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

    __slots__ = ("_query",)

    def __init__(self, file: File, condition: Condition | None, limit: int | None = None) -> None:
        from entasis._view.query import Query

        self._query = Query(file._view, condition, limit)

    @classmethod
    def _of(cls, query: Query) -> Scan:
        """The scan of a query."""
        scan = object.__new__(Scan)
        scan._query = query
        return scan

    def filter(self, condition: Any) -> Scan:
        """Return a scan of the rows for which another condition is true as well."""
        return Scan._of(self._query.filtered(condition))

    def select(self, *columns: Columns) -> Scan:
        """Return a scan that reads some columns. The condition may use other columns."""
        return Scan._of(self._query.of(_selected(self._query.view, columns)))

    def head(self, n: int = 5) -> Any:
        """Read the first `n` rows that pass."""
        return self.read(limit=n)

    def count(self, *, threads: int | None = None) -> int:
        """Return the number of rows that pass. Reads nothing where statistics decide."""
        return self._query.count(threads)

    def row_numbers(self, *, threads: int | None = None) -> Any:
        """Return the positions of the rows that pass in the whole file, as an array of int64."""
        return self._query.row_numbers(threads)

    def explain(self) -> str:
        """Return the condition, and how many rows statistics decide, as text."""
        return self._query.explain()

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
        query = self._query.with_nan_to_null(nan_to_null).limited(limit)
        return query.read(columns=columns, to=to, threads=threads, index=index)

    def view(self, *, threads: int | None = None) -> File:
        """Return the rows that pass as a view of the file.

        Tests all rows, and keeps the numbers of passing rows: 8 bytes each.
        """
        return File._of(self._query.passing(threads))

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
            The number of rows that are tested for a frame. A frame has the rows that pass. Frames
            without rows are left out.
        columns, to, nan_to_null
            As for `entasis.read`.

        Yields
        ------
        Any
            A frame.
        """
        return self._query.batches(n, columns=columns, to=to, nan_to_null=nan_to_null)

    def _as_query(self) -> Query:
        return self._query

    def __repr__(self) -> str:
        query = self._query
        limit = "" if query.limit is None else f", limit={query.limit}"
        return f"<entasis.Scan of '{query.view.table.path}', {query.condition!r}{limit}>"

    def __reduce__(self) -> tuple[Any, ...]:
        query = self._query
        return Scan, (File._of(query.view), query.condition, query.limit)


def is_frame(value: object) -> TypeIs[File]:
    """Whether a value is an open file of a frame. `isinstance` also takes a `Tree` for a `File`."""
    return type(value) is File


def _secret(key: Any, password: Any) -> Secret | None:
    from entasis._arguments.secrets import given

    return given(key, password)


def _selected(view: View, columns: tuple[Columns, ...]) -> View:
    """A view of the columns that the arguments of `select` name."""
    key = columns[0] if len(columns) == 1 else list(columns)
    return view.select(key, view.resolve(key), view.rows)


def _reopened(source: Any, columns: list[int] | None, rows: Any, is_one: bool = False) -> File:
    """Open the file of a pickle."""
    from entasis._view import reopen as _reopen

    return File._of(View(_reopen.table(source), columns, rows, is_one=is_one))
