"""Scans of many files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from entasis._arguments.options import integer, shown, shown_progress
from entasis._file import display as _display
from entasis._file.frames import Frames
from entasis._libraries import registry as _hosts
from entasis._memory import reported
from entasis._view.query import checked_limit
from entasis.errors import ArgumentError

from . import read as _read
from .files import files
from .query import Query
from .table import Table

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from entasis._arguments.secrets import AnyKey
    from entasis._filter.conditions import Filter
    from entasis._libraries.registry import Host
    from entasis._typing import (
        ArrowDataset,
        DuckDBConnection,
        DuckDBRelation,
        Narrow,
        PolarsLazyFrame,
    )


class FolderScan(Frames):
    """Rows of many files that are one table: `entasis.scan`.

    Nothing is read until a method asks for values. A condition on keys or columns rules out files
    first, and statistics rule out blocks of the others.

    Examples
    --------
    >>> for year, n in ((2023, 2), (2024, 3)):
    ...     os.makedirs(f"sales/year={year}")
    ...     en.write(pl.DataFrame({"n": range(n)}), f"sales/year={year}/part.entasis")
    >>> sales = en.scan("sales")
    >>> sales.count()
    5
    >>> sales.filter(en.col("year") == 2024).read(to="pandas")
       n  year
    0  0  2024
    1  1  2024
    2  2  2024
    """

    __slots__ = ("_query",)

    def __init__(self, query: Query) -> None:
        self._query = query

    @property
    def paths(self) -> list[str]:
        """The paths of the files, in the order of the rows."""
        return list(self._query.table.files.paths)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, and then of the keys."""
        return list(self._query.names())

    @property
    def schema(self) -> _display.Schema:
        """The names of the columns and their types, as in the first file that has each."""
        names = self._query.names()
        found = dict(zip(*_names_and_types(self._query), strict=True))
        return _display.Schema(names, [found[name] for name in names])

    def select(self, *columns: str | Iterable[str]) -> FolderScan:
        """Return a scan of some columns and keys. The condition may use others.

        Parameters
        ----------
        columns
            Names, or one list of them.

        Examples
        --------
        >>> en.write({"a": np.arange(2), "b": np.arange(2)}, "one.entasis")
        >>> en.scan(["one.entasis", "one.entasis"]).select("b").read()
        {'b': array([0, 1, 0, 1])}
        """
        with reported:
            return FolderScan(self._query.select(*columns))

    def filter(self, condition: Filter) -> FolderScan:
        """Return a scan of the rows for which a condition, or another one as well, is true.

        Parameters
        ----------
        condition
            As for `filter=` of `entasis.read`. It may use any column and any key.

        Examples
        --------
        >>> en.write({"a": np.arange(4)}, "one.entasis")
        >>> en.scan(["one.entasis", "one.entasis"]).filter(en.col("a") > 2).read()
        {'a': array([3, 3])}
        """
        with reported:
            return FolderScan(self._query.filtered(condition))

    def limit(self, n: int) -> FolderScan:
        """Return a scan of at most `n` rows, in the order of the files. A lower limit stays."""
        return FolderScan(self._query.limited(n))

    def head(self, n: int = 5) -> Any:
        """Read the first `n` rows that pass."""
        return self.limit(n).read()

    def count(self, *, threads: int | None = None) -> int:
        """Return the number of rows that pass. Opens the files that can have some.

        Examples
        --------
        >>> en.write({"a": np.arange(4)}, "one.entasis")
        >>> en.scan(["one.entasis", "one.entasis"]).count()
        8
        """
        with reported:
            return self._query.count(threads)

    def explain(self) -> str:
        """Return the columns, the condition, and how many files and rows it rules out, as text."""
        query = self._query
        with reported:
            lines = [f"filter: {query.condition!r}" if query.condition is not None else "filter: none"]
            if query.limit is not None:
                lines.append(f"limit: {query.limit}")
            pieces = list(query.pieces())
            lines.append(f"files: {len(pieces)} of {len(query.table.files.paths)}")
            for piece in pieces[:5] if query.condition is not None else []:
                path = query.table.files.paths[piece.number]
                lines.append(f"{path}: {piece.query.explain().splitlines()[-1]}")
        return "\n".join(lines)

    def read(
        self,
        *,
        columns: str | Iterable[str] | None = None,
        to: Host | None = None,
        limit: int | None = None,
        threads: int | None = None,
        index: bool = True,
        progress: bool | Callable[..., Any] | None = None,
    ) -> Any:
        """Read the rows that pass into one frame.

        The frame equals that of the first file after the others were appended in order, by the
        rules of `entasis.append` with `widen=True`: categories are united, columns get a type that
        holds all values exactly, and default indexes count on.

        Parameters
        ----------
        columns
            The names of the columns and keys. None means those of the scan.
        to, threads, index
            As for `entasis.read`. The default library is that of the first file.
        limit
            The greatest number of rows.
        progress
            True shows a bar after one second. A function is called with the values that were read,
            with all values, and with `unit="values"`, as for `entasis.read`. Without a manifest all
            files are opened first to count their rows. With a condition those that can match are.

        Returns
        -------
        Any
            A frame.

        Raises
        ------
        ArgumentError
            The rows of a file do not follow those before, as `entasis.append` says.

        Examples
        --------
        >>> en.write(pd.DataFrame({"a": [1]}), "one.entasis")
        >>> en.write(pd.DataFrame({"a": [2.5]}), "two.entasis")
        >>> en.scan(["one.entasis", "two.entasis"]).read()
             a
        0  1.0
        1  2.5
        """
        query = self._query if columns is None else self._query.select(columns)
        with shown_progress(progress, "reading", "values") as show:
            return _read.read(query.limited(limit), to, threads, index=index, show=show)

    def batches(
        self, n: int = 65_536, *, columns: str | Iterable[str] | None = None, to: Host | None = None
    ) -> Iterator[Any]:
        """Read the rows that pass in frames, with memory for one at a time.

        Parameters
        ----------
        n
            The number of rows that are tested for a frame. No frame has rows of two files.
        columns, to
            As for `read`. A frame has the types of the first file, or wider ones that its own rows
            need.

        Yields
        ------
        Any
            A frame with one row or more.
        """
        size = checked_limit(n)
        if not size:
            raise ArgumentError(f"n={shown(n)}: a batch has one row or more")
        query = self._query if columns is None else self._query.select(columns)
        return _read.batches(query, size, to)

    def sample(
        self,
        n: int | None = None,
        *,
        fraction: float | None = None,
        seed: int | None = None,
        by: Literal["rows", "blocks"] = "rows",
        columns: str | Iterable[str] | None = None,
        to: Host | None = None,
    ) -> Any:
        """Read random rows of those that pass, in their order.

        Parameters
        ----------
        n, fraction, seed, by
            As for `File.sample`.
        columns, to
            As for `read`.
        """
        query = self._query if columns is None else self._query.select(columns)
        return _read.sample(query, n, fraction, seed, by, to)

    def splits(self, n: int | None = None) -> list[FolderScan]:
        """Return scans that have all rows together, in order, for tasks of other processes.

        Parameters
        ----------
        n
            The greatest number of rows that a scan tests. None makes a scan for each file.

        Returns
        -------
        list of FolderScan
            Scans of rows of one file each, which can be pickled and number their rows on their own.
            A limit is refused, because the scans do not know of each other.
        """
        if self._query.limit is not None:
            raise ArgumentError("splits of a scan with a limit: leave it out, and count the rows yourself")
        with reported:
            size = None if n is None else checked_limit(n)
            if size == 0:
                raise ArgumentError(f"n={shown(n)}: a split has one row or more")
            return [FolderScan(part) for part in self._query.splits(size)]

    def lazy(self) -> PolarsLazyFrame:
        """Return a LazyFrame of Polars that reads only what its query asks for.

        Polars hands over the columns, slices from the start, and conditions. Those with a
        counterpart rule out files and rows, and Polars tests all again. The types are those of the
        first file. Values of files with other types are converted if it holds them exactly, and are
        an error otherwise.

        Raises
        ------
        MissingLibraryError
            Polars is not installed.

        Examples
        --------
        >>> import polars as pl
        >>> en.write(pl.DataFrame({"a": [1, 2, 3]}), "one.entasis")
        >>> lazy = en.scan(["one.entasis", "one.entasis"]).lazy()
        >>> lazy.select(pl.col("a").sum()).collect().item()
        12
        """
        from .polars import lazy

        with reported:
            return lazy(self._query)

    def to_dataset(self, *, nan: Literal["ieee", "largest"] = "ieee", narrow: Narrow = False) -> ArrowDataset:
        """Return a dataset of pyarrow that reads only what is asked for.

        DuckDB, DataFusion, ibis and pyarrow scan it. Filters rule out files and rows. The types are
        those of the first file, as for `lazy`.

        Parameters
        ----------
        nan
            The order of NaN in comparisons, as for `File.to_dataset`.
        narrow
            Whether strings and decimals get narrow types, as for `File.to_dataset`. The first file
            decides which strings.

        Raises
        ------
        MissingLibraryError
            pyarrow is not installed.

        Examples
        --------
        >>> import pyarrow.compute as pc
        >>> en.write(pl.DataFrame({"a": [1, 2, 3]}), "one.entasis")
        >>> dataset = en.scan(["one.entasis", "one.entasis"]).to_dataset()
        >>> dataset.to_table(filter=pc.field("a") > 2).to_pydict()
        {'a': [3, 3]}
        """
        _hosts.reader("pyarrow", None)
        from .dataset import FolderDataset

        with reported:
            return FolderDataset(self._query, nan, narrow)

    def to_duckdb(self, connection: DuckDBConnection, name: str | None = None) -> DuckDBRelation:
        """Return a relation of DuckDB that reads only what its queries ask for.

        Parameters
        ----------
        connection, name
            As for `File.to_duckdb`.

        Returns
        -------
        duckdb.DuckDBPyRelation
            All rows.

        Raises
        ------
        MissingLibraryError
            pyarrow is not installed.

        Examples
        --------
        >>> en.write(pl.DataFrame({"a": [1, 2, 3]}), "one.entasis")
        >>> import duckdb
        >>> connection = duckdb.connect()
        >>> rows = en.scan(["one.entasis", "one.entasis"]).to_duckdb(connection, "rows")
        >>> connection.sql("select sum(a) from rows").fetchall()
        [(12,)]
        """
        from entasis._engines.duckdb import relation

        return relation(connection, name, self.to_dataset)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return a stream of the rows in batches, which are read when the consumer asks for them."""
        reader = self.to_dataset().scanner().to_reader()
        return reader.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Return the capsule of the schema that streams of the rows have."""
        return self.to_dataset().schema.__arrow_c_schema__()

    def __repr__(self) -> str:
        query = self._query
        n = len(query.table.files.paths)
        parts = ["1 file" if n == 1 else f"{n} files"]
        if query.condition is not None:
            parts.append(repr(query.condition))
        if query.limit is not None:
            parts.append(f"limit={query.limit}")
        return f"<entasis.FolderScan of '{query.table.files.name}', {', '.join(parts)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return FolderScan, (self._query,)

    def __deepcopy__(self, memo: dict[int, Any]) -> FolderScan:
        # The copy shares only what never changes. A pickle has no key.
        return FolderScan(self._query)


def _names_and_types(query: Query) -> tuple[list[str], list[str]]:
    table = query.table
    names, types = [], []
    for name, number in table.columns().items():
        view = table.view(number)
        of_file = dict(zip(*view.schema(), strict=True))
        names.append(name)
        types.append(of_file[name])
    if table.files.keys.names:
        more = table.keys._view.schema()
        names += more[0]
        types += more[1]
    return names, types


def scan(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    columns: str | Iterable[str] | None = None,
    filter: Filter | None = None,
    rows: tuple[int, int | None] | slice | range | None = None,
    limit: int | None = None,
    hive: bool | Mapping[str, Literal["int64", "date", "string"]] | None = None,
    missing_columns: Literal["error", "missing"] = "error",
    manifest: bool = True,
    storage_options: Mapping[str, Any] | None = None,
    credentials: Callable[[], Any] | None = None,
    key: AnyKey | None = None,
    password: str | None = None,
) -> FolderScan:
    """Scan many files as one table: a folder, a pattern of paths, or a list of paths.

    Parameters
    ----------
    source
        The path of a folder, whose files end in `.entasis`; the path of one file; a pattern with
        `*`, `?`, `[...]` or `**`; or a list of paths and patterns. Files of a folder or a pattern
        are in the order of the bytes of their paths. Names that begin with `_` or `.` are left out
        of folders. Or the address of a folder or an object on a store, such as `s3://bucket/sales`.
    columns
        Names of columns and keys, in this order.
    filter
        A condition on the rows, as for `read`. It may use keys.
    rows
        The rows to test, numbered over all files: `(start, stop)`, or a slice or range without
        steps. It applies before `filter`, and opens all files before its end.
    limit
        The greatest number of rows.
    hive
        Whether folders named `key=value` are keys: columns that follow those of the files. None
        means that those below a folder are. A mapping gives types to keys. Otherwise a key is
        int64 if each of its values is an integer in its shortest form, a date if each value is
        one as `2024-01-31`, else a string.
    missing_columns
        "error", or "missing" to fill columns that a file lacks.
    manifest
        Whether the manifest of a folder, which `write_dataset` makes, says which files are the
        table, and which keys they have. A pattern or list with files of such a folder is an error
        then. False reads the files that are there.
    storage_options, credentials
        Options of a store, as for `read`.
    key, password
        What opens encrypted files, as for `read`. The password of a data set is derived once, and
        that of other files once for each.

    Returns
    -------
    FolderScan
        Its methods count and read the rows.

    Raises
    ------
    MissingFileError
        No file is there.
    ArgumentError
        Files have different keys, or a key is a column too.
    ColumnNotFoundError
        No column or key has a name of `columns`.

    Notes
    -----
    The cost is that of listing the folder and opening the first file. On a store with a manifest
    the first file is opened later. Other files are opened when their rows are needed. With
    `missing_columns="missing"` all files are opened once to find their columns.

    Examples
    --------
    >>> en.write({"a": np.arange(3)}, "one.entasis")
    >>> en.write({"a": np.arange(3, 5)}, "two.entasis")
    >>> en.scan(["one.entasis", "two.entasis"], filter=en.col("a") > 1).read()
    {'a': array([2, 3, 4])}
    """
    if missing_columns not in ("error", "missing"):
        raise ArgumentError(f"missing_columns={shown(missing_columns)}: 'error' or 'missing'")
    with reported:
        secret = None
        if key is not None or password is not None:
            from entasis._arguments.secrets import given

            secret = given(key, password)
        found, of = files(
            source,
            hive,
            has_manifest=manifest,
            storage_options=storage_options,
            credentials=credentials,
            secret=secret,
        )
        table = Table(found, fills=missing_columns == "missing", manifest=of)
        if found.store is None or of is None:
            # Errors about the first file and the keys come at once. On a store this costs a
            # request, and the manifest alone answers some questions.
            table.first  # noqa: B018
        query = Query(table, None, span(rows))
        query = query if columns is None else query.select(columns)
        query = query if filter is None else query.filtered(filter)
        return FolderScan(query.limited(limit))


def span(rows: Any) -> tuple[int, int | None] | None:
    """The first row, and the row after the last one."""
    if rows is None:
        return None
    pair = rows
    if isinstance(rows, (slice, range)):
        if rows.step not in (None, 1):
            raise ArgumentError(f"rows={shown(rows)}: rows of many files are consecutive")
        pair = rows.start, rows.stop
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise ArgumentError(f"rows={shown(rows)}: (start, stop), a slice or a range")
    start = 0 if pair[0] is None else integer(pair[0])
    stop = None if pair[1] is None else integer(pair[1])
    if start is None or start < 0 or (pair[1] is not None and (stop is None or stop < 0)):
        raise ArgumentError(f"rows={shown(rows)}: numbers of rows from 0 on")
    return start, stop
