"""Open files of one frame, and views of their columns and rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from entasis._arguments import rows as _rows
from entasis._arguments import sources as _sources
from entasis._arguments.options import integer, number, on_refused, shown
from entasis._arguments.options import limits as _limits
from entasis._arguments.options import nan_to_null as _nan_to_null
from entasis._arguments.options import on_damage as _on_damage
from entasis._arguments.options import threads as _threads
from entasis._columns import names as _columns
from entasis._columns.fields import FieldColumn, are_among
from entasis._columns.levels import RANGE
from entasis._host_map import host_calls
from entasis._libraries import library_errors as _library_errors
from entasis._libraries import registry as _hosts
from entasis._memory import reported
from entasis._view import column_labels as _column_labels
from entasis._view import row_labels as _row_labels
from entasis._view import table as _frame
from entasis.errors import ArgumentError, CorruptFileError

from . import indexers as _indexers
from .conversions import Conversions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Self

    from entasis._arguments.sources import Source
    from entasis._filter.conditions import Filter
    from entasis._libraries.registry import Host
    from entasis._typing import (
        ArrowTable,
        Columns,
        Limits,
        MemoryMap,
        NumpyArrays,
        OnDamage,
        OnRefused,
        PandasFrame,
        PolarsFrame,
        Rows,
        StaticFrame,
        Types,
    )

    from . import display as _display
    from .read_options import PartOptions
    from .scan import Scan

# Modules whose values users may want to compare a column with.
_VALUES = frozenset(["builtins", "datetime", "decimal", "fractions", "numpy", "pandas", "polars", "pyarrow", "uuid"])


class File(Conversions):
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
    path, memory_map, types, limits
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

    __slots__ = ("_columns", "_frame", "_handle", "_is_one", "_rows", "path")

    path: str

    def __init__(
        self,
        path: Source,
        *,
        memory_map: MemoryMap = False,
        types: Types | None = None,
        limits: Limits | None = None,
        generation: int | None = None,
        on_damage: OnDamage = "error",
    ) -> None:
        source, checked = _sources.source(path), _limits(limits)
        _on_damage(on_damage)
        whole = on_damage == "missing"
        if whole and memory_map:
            raise ArgumentError("on_damage='missing' is for values that are read: leave memory_map out")
        self._frame = _frame.opened(
            source, memory_map=memory_map, types=types, limits=checked, generation=generation, whole=whole
        )
        self.path, self._handle = self._frame.path, self._frame.handle
        self._columns: list[int] | None = None
        self._rows: Any = None
        # Whether a label chose the only column, as in f["a"]: then it has one axis as an array.
        self._is_one = False

    @classmethod
    def _of(
        cls, frame: _frame.Frame, columns: list[int] | None = None, rows: Any = None, *, is_one: bool = False
    ) -> File:
        """A view of columns and rows of a frame."""
        view = object.__new__(File)
        view.path, view._handle, view._frame, view._columns, view._rows = frame.path, frame.handle, frame, columns, rows
        view._is_one = is_one
        return view

    def _view(self, columns: list[int] | None, rows: Any) -> File:
        return File._of(self._frame, columns, rows, is_one=self._is_one and columns == self._columns)

    def _selected(self, columns: Any, numbers: list[int] | None, rows: Any) -> File:
        """A view of the columns that a key `columns` chose."""
        if columns is None:
            return self._view(numbers, rows)
        return File._of(self._frame, numbers, rows, is_one=_column_labels.is_one(columns, numbers))

    @property
    def metadata(self) -> Any:
        """The value that was written as `metadata=`; None without any."""
        with reported:
            from entasis._values.cells import metadata

            return metadata(self._handle, self.path)

    def tree(self, *, depth: int = 3, most: int = 20) -> str:
        """Return an outline of the value: a line for each part, with kinds, shapes and sizes.

        Parameters
        ----------
        depth
            How many levels of parts to show.
        most
            How many parts of a value, or columns of a frame, to show.

        Examples
        --------
        >>> en.write(pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}), "table.entasis")
        >>> print(en.open("table.entasis").tree())
        value: frame, 2 x 2, pandas
          a: i64
          b: f64
        """
        return "\n".join(self._outline("value", 0, depth, most))

    def _outline(self, name: str, level: int, depth: int, most: int) -> list[str]:
        """A line for the value, and lines for its parts down to `depth`."""
        parts = self._outlines_of_parts(name, level, depth, most) if level < depth else []
        return [f"{'  ' * level}{name}: {self._summary()}", *parts]

    def _summary(self) -> str:
        host = f", {self.written_by}" if self.written_by else ""
        return f"frame, {self.n_rows:,} x {self.n_columns:,}{host}"

    def _outlines_of_parts(self, name: str, level: int, depth: int, most: int) -> list[str]:
        # Columns of frames inside other values would take too many lines.
        if level:
            return []
        lines = [f"  {name}: {kind}" for name, kind in self.schema.pairs[:most]]
        return lines + [f"  ... {self.n_columns - most:,} more"] * (self.n_columns > most)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return _rows.count(self._rows, self._handle.n_rows)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return self._handle.n_columns if self._columns is None else len(self._columns)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of columns."""
        return self.n_rows, self.n_columns

    @property
    def column_names(self) -> list[str]:
        """The names of the columns: their labels as strings."""
        return _columns.names(self._handle, self._columns, self._frame.levels if self._has_levels() else None)

    @property
    def columns(self) -> Any:
        """The labels of the columns: an index of pandas or StaticFrame, else a list of names."""
        if self.written_by == "pandas":
            return self._pandas_labels(levels=False)
        if self.written_by == "static_frame" and not are_among(self._columns):
            found = _hosts.reader("static_frame", None).column_labels(self._handle, self._frame.host)
            return found if self._columns is None else found.iloc[self._of_table(self._columns)]
        return self.column_names

    @property
    def dtypes(self) -> Any:
        """The types of the columns, in the form of the file's library. Reads no rows."""
        found = self._view(self._columns, range(0))._read(None, None, None, is_restored=False)
        if isinstance(found, dict):
            return {name: array.dtype for name, array in found.items()}
        if self.written_by == "pyarrow":
            return found.schema.types
        # A series or an index of StaticFrame has one dtype.
        return found.dtypes if hasattr(found, "dtypes") else found.dtype

    @property
    def schema(self) -> _display.Schema:
        """The names of the columns and their types in the file."""
        from . import display as _display

        levels = self._frame.levels if self._has_levels() else None
        return _display.Schema(*_columns.schema(self._handle, self._columns, levels))

    @property
    def written_by(self) -> str | None:
        """The library whose value was written: "pandas", "polars" ... None for other writers."""
        host = self._frame.host.get("host")
        return host if isinstance(host, str) else None

    def __len__(self) -> int:
        return self.n_rows

    # Iteration is refused: libraries would take a File for a sequence, of rows or of names.
    __iter__ = None

    def __contains__(self, label: object) -> bool:
        try:
            hash(label)
        except TypeError:
            return False
        found = self._frame.labels.find(label)
        return bool(found) if self._columns is None else any(column in self._columns for column in found)

    def __eq__(self, other: object) -> bool:
        if other is None or isinstance(other, File) or type(other).__module__.partition(".")[0] not in _VALUES:
            return self is other
        raise TypeError(
            f"a File can't be compared with {shown(other)}: read the column and compare its values, as in "
            "mask = f['state'].read()['state'] == 'Texas', then f[mask]"
        )

    __hash__ = object.__hash__

    def __getitem__(self, key: Any) -> File:
        if isinstance(key, tuple):
            return self._pair(key)
        if _column_labels.are_texts(key):
            return self.select(key)
        if not isinstance(key, (slice, range)) and not self._frame.labels.are_text and not _rows.is_mask(key):
            what = shown(key) if integer(key) is not None else "..."
            raise ArgumentError(
                f"f[{what}]: the labels of the columns are not text, so it could mean either; columns are "
                f"f.select({what}), rows f.iloc[{what}]"
            )
        return self._view(self._columns, self._compose(key))

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
        return self._selected(columns, self._resolve(columns), self._compose(rows))

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
        chosen = columns[0] if len(columns) == 1 else list(columns)
        return self._selected(chosen, self._resolve(chosen), self._rows)

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
        from .scan import scan

        return scan(self, columns, filter, rows, limit)

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
        return self.scan().batches(n, columns=columns, to=to, nan_to_null=nan_to_null)

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
        return self.n_rows if condition is None else self.filter(condition).count(threads=threads)

    def search(self, column: Any, key: Any, side: Literal["left", "right"] = "left") -> int:
        """Return the position of a key in a sorted column, as `numpy.searchsorted` does.

        Statistics of blocks decide on all blocks but one, so at most one is read.

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

        return position(self, column, key, side)

    @reported
    def stats(self, columns: Columns | None = None) -> list[dict[str, Any]]:
        """Return what the file records about the blocks of columns. Reads no values.

        Parameters
        ----------
        columns
            As for `columns=` of `entasis.read`. Levels of the index have statistics too.

        Returns
        -------
        list of dict
            A dict for each block, with the keys `column` (a name), `block`, `first_row`, `n_rows`,
            `min`, `max`, `is_cut`, `n_missing`, `has_nan` and `order` ("ascending", "descending" or
            None). Rows count in the whole file. `is_cut` means that strings were cut to 15 bytes:
            then `min` is a lower bound, and `max` is a value's beginning. Minima and maxima of
            times are those of NumPy, in UTC.

            None stands for what is not known: minima and maxima of categoricals, of lists and of
            missing values alone, and all statistics of short columns that share a block.

        Examples
        --------
        >>> en.write(pd.DataFrame({"a": [1, 2, 4]}), "table.entasis")
        >>> block = en.open("table.entasis").stats("a")[0]
        >>> block["n_rows"], block["min"], block["max"], block["order"]
        (3, 1, 4, 'ascending')
        """
        from entasis._view.statistics import described

        found = self._resolve(columns)
        numbers = list(range(self._handle.n_columns)) if found is None else [n for n in found if n != RANGE]
        return described(self._handle, numbers)

    @property
    def iloc(self) -> _indexers.ILoc:
        """Views by positions: `f.iloc[rows, columns]`, like `iloc` of pandas."""
        return _indexers.ILoc(self)

    @property
    def loc(self) -> _indexers.Loc:
        """Views by labels: `f.loc[rows, columns]`, like `loc` of pandas.

        Reads only labels, and few of a sorted index. Needs pandas.
        """
        return _indexers.Loc(self)

    def _resolve(self, columns: Columns | None) -> list[int] | None:
        """The numbers of selected columns, among those of this view."""
        if columns is None:
            return self._columns
        frame = self._frame
        if self._columns is None and type(columns) in (str, list) and frame.labels.are_text:
            found = _column_labels.by_name(self._handle, columns)
            if found is not None:
                return found
        return _column_labels.resolve(columns, frame, self._columns)

    def _compose(self, rows: Rows | None) -> Any:
        if rows is None:
            return self._rows
        return _rows.compose(self._rows, _rows.resolve(rows, self.n_rows, self._has_index))

    def _has_index(self, index: Any) -> bool:
        """Whether an index has the labels of the rows, or 0 to n-1."""
        import pandas as pd

        if type(index).__module__.partition(".")[0] == "static_frame":
            index = index.to_pandas()
        return bool(index.equals(pd.RangeIndex(self.n_rows)) or index.equals(self._frame.index(self._rows)))

    def _has_levels(self) -> bool:
        """Whether the columns include levels of the index."""
        columns = self._columns
        if columns is None or columns == [] or 0 <= min(columns) <= max(columns) < self._handle.n_columns:
            return False
        return any(self._frame.levels.has(column, self._handle.n_columns) for column in columns)

    def _of_table(self, columns: list[int]) -> list[int]:
        """The columns without the levels of the index."""
        return [column for column in columns if 0 <= column < self._handle.n_columns]

    def _pandas_labels(self, *, levels: bool = True) -> Any:
        """The labels of the columns, and of levels among them, as an index of pandas."""
        found = _hosts.reader("pandas", None).column_labels(self._handle, self._frame.host)
        if self._columns is None:
            return found
        has_fields = are_among(self._columns)
        if not has_fields and (not levels or not self._has_levels()):
            return found[self._of_table(self._columns)]
        import pandas as pd

        n, index_levels, labels = self._handle.n_columns, self._frame.levels, []
        for column in self._columns:
            if 0 <= column < n:
                labels.append(found[column])
            elif type(column) is FieldColumn:
                labels.append(self._handle.columns([column])[0].name)
            elif levels:
                labels.append(index_levels.label(column))
        return pd.Index(labels, tupleize_cols=False)

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
        view = self._with_nan_to_null(nan_to_null)
        if columns is not None or rows is not None:
            view = view._view(self._resolve(columns), self._compose(rows))
        if on_damage == "error":
            if filter is not None and on_unsupported == "error":
                return view.filter(filter).read(to=to, threads=threads, index=index)
            return view._filtered(filter, threads)._read(to, threads, index, skips=on_unsupported == "skip")
        _on_damage(on_damage)
        from entasis._view import damage as _damage

        def read(frame: _frame.Frame) -> Any:
            of_frame = File._of(frame, view._columns, view._rows)._filtered(filter, threads)
            return of_frame._read(to, threads, index, skips=on_unsupported == "skip")

        return _damage.read(view._frame, read, _threads(threads))

    def _with_nan_to_null(self, nan_to_null: bool | None) -> File:
        """This view with another rule for NaN; None keeps the rule."""
        if _nan_to_null(nan_to_null) is None:
            return self
        return File._of(self._frame.with_nan_to_null(nan_to_null), self._columns, self._rows)

    def _filtered(self, filter: Filter | None, threads: int | None) -> File:
        """A view of the rows that pass a filter."""
        return self if filter is None else self.filter(filter).view(threads=threads)

    @reported
    def _read(
        self, to: Host | None, threads: int | None, index: bool | None, *, is_restored: bool = True, skips: bool = False
    ) -> Any:
        handle, host, columns, rows = self._handle, self._frame.host, self._columns, self._rows
        if are_among(columns):
            from entasis._view import struct_fields as _struct_fields

            if skips:
                raise ArgumentError(
                    "on_unsupported='skip' leaves out columns, and fields of structs are asked for by name"
                )
            return _struct_fields.read(self, to, threads, index)
        found = host.get("host")
        written_by = found if isinstance(found, str) else None
        reader = _hosts.reader(to, written_by)
        if index is False:
            host = _row_labels.without(host)
        if columns is not None and self._has_levels():
            if getattr(reader, "HAS_INDEX", False):
                if index is False:
                    raise ArgumentError("columns= names the index, and index=False leaves it out")
                columns = self._of_table(columns)
            elif RANGE in columns:
                return _row_labels.read_with_range(self, reader, host, _threads(threads))

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
            error.file = error.file or self.path
            raise

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

        return self.read(rows=draw(self.n_rows, n, fraction, seed, by))

    def _as_scan(self) -> Scan:
        return self.scan()._as_scan()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        from entasis._view.array import of_columns

        return of_columns(self, dtype, copy)

    def close(self) -> None:
        """Close the file, as `with` does.

        Earlier views of it, and values that were read, stay valid.
        """
        self._frame = _frame.closed(self.path)
        self._handle = self._frame.handle

    @property
    def closed(self) -> bool:
        """Whether the file was closed."""
        return isinstance(self._handle, _frame.Closed)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __copy__(self) -> File:
        return self._view(self._columns, self._rows)

    def __deepcopy__(self, memo: dict[int, Any]) -> File:
        # The copy shares only what never changes.
        return self._view(self._columns, self._rows)

    def __reduce__(self) -> tuple[Any, ...]:
        from entasis._view import reopen as _reopen

        return _reopened, (_reopen.source(self._frame), self._columns, self._rows, self._is_one)

    def __repr__(self) -> str:
        if self.closed:
            return f"<entasis.File '{self.path}', closed>"
        from . import display as _display

        return _display.text(self.path, self.n_rows, self.schema.pairs, self.written_by)

    def _repr_html_(self) -> str:
        from . import html as _html

        return _html.file(self)

    def _ipython_key_completions_(self) -> list[str]:
        return self.column_names if self._frame.labels.are_text else []


def _reopened(source: Any, columns: list[int] | None, rows: Any, is_one: bool = False) -> File:
    """Open the file of a pickle."""
    from entasis._view import reopen as _reopen

    return File._of(_reopen.frame(source), columns, rows, is_one=is_one)
