"""Text files that are read batch by batch."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any, Literal

from entasis import _entasis
from entasis._arguments.options import shown
from entasis._file import display as _display
from entasis._file.frames import Frames
from entasis._libraries import registry as _hosts
from entasis._memory import reported
from entasis._view.query import checked_limit
from entasis.errors import ArgumentError, CsvWarning

from . import arguments as _arguments
from .frames import chosen, frame
from .query import Query, Text
from .spec import Spec

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from entasis._filter.conditions import Filter
    from entasis._libraries.registry import Host
    from entasis._typing import (
        ArrowDataset,
        PolarsLazyFrame,
    )

    from .spec import Source


class CsvScan(Frames):
    """The rows of text files, which are read when a method asks for them: `entasis.scan_csv`.

    The types of the columns never change. Each method reads the text from its start, in memory for
    a few MiB of text per thread. A stream, such as a pipe, is read once.

    Examples
    --------
    >>> with open("prices.csv", "w") as file:
    ...     _ = file.write("city,price\\nOslo,3\\nRome,5\\nBern,4\\n")
    >>> prices = en.scan_csv("prices.csv")
    >>> cheap = prices.filter(en.col("price") < 5)
    >>> cheap.count()
    2
    >>> cheap.select("city").read(to="pandas")
       city
    0  Oslo
    1  Bern
    """

    __slots__ = ("_query",)

    def __init__(self, query: Query) -> None:
        self._query = query

    @property
    def spec(self) -> Spec:
        """The form, names and types of the text, for `read_csv` and other scans."""
        return self._query.text.spec

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return list(self._query.columns)

    @property
    def schema(self) -> _display.Schema:
        """The names of the columns and their types, as in a file."""
        return _display.Schema(*self._query.view().schema())

    def select(self, *columns: str | Iterable[str]) -> CsvScan:
        """Return a scan of some columns. The condition may use other columns.

        Parameters
        ----------
        columns
            Names, or one list of them.

        Examples
        --------
        >>> en.scan_csv(b"a,b,c\\n1,2,3\\n").select("c", "a").read(to="numpy")
        {'c': array([3]), 'a': array([1])}
        """
        return CsvScan(self._query.select(*columns))

    def filter(self, condition: Filter) -> CsvScan:
        """Return a scan of the rows for which a condition, or another one as well, is true.

        Parameters
        ----------
        condition
            As for `filter=` of `entasis.read`. It may use any column of the text.

        Examples
        --------
        >>> en.scan_csv(b"a,b\\n1,x\\n2,y\\n").filter(en.col("b") == "y").read(to="numpy")["a"]
        array([2])
        """
        return CsvScan(self._query.filtered(condition))

    def limit(self, n: int) -> CsvScan:
        """Return a scan of at most `n` rows. The rest of the text is not read.

        Parameters
        ----------
        n
            The greatest number of rows, in the order of the text. A lower limit stays.

        Examples
        --------
        >>> en.scan_csv(b"a\\n1\\n2\\n3\\n").limit(2).count()
        2
        """
        return CsvScan(self._query.limited(n))

    def head(self, n: int = 5) -> Any:
        """Read the first `n` rows that pass.

        Parameters
        ----------
        n
            The greatest number of rows.

        Examples
        --------
        >>> en.scan_csv(b"a\\n1\\n2\\n3\\n").head(2)
           a
        0  1
        1  2
        """
        return self.limit(n).read()

    def count(self, *, progress: bool | Callable[..., Any] | None = None) -> int:
        """Return the number of rows that pass. Makes values only of the columns of the condition.

        Parameters
        ----------
        progress
            As for `read`.

        Raises
        ------
        ProblemError
            As for `read`. Without a condition, rows with too few or too many fields are problems.

        Examples
        --------
        >>> en.scan_csv(b"a\\n1\\n2\\n3\\n").filter(en.col("a") > 1).count()
        2
        """
        return self._query.n_rows(progress)

    def explain(self) -> str:
        """Return the columns, the condition and the limit as text."""
        query = self._query
        lines = [
            f"text: {query.text.name}",
            f"columns: {len(query.columns)} of {len(query.text.native.names)}",
            "filter: none" if query.condition is None else f"filter: {query.condition!r}",
        ]
        return "\n".join(lines if query.limit is None else [*lines, f"limit: {query.limit}"])

    def read(
        self,
        *,
        columns: str | Iterable[str] | None = None,
        to: Host | None = None,
        limit: int | None = None,
        progress: bool | Callable[..., Any] | None = None,
    ) -> Any:
        """Read the rows that pass into one frame.

        Parameters
        ----------
        columns
            The names of the columns. None means those of the scan.
        to
            The library of the frame, as for `read_csv`.
        limit
            The greatest number of rows.
        progress
            True shows a bar after one second. A function is called with the bytes that were read,
            with all bytes or None, and with `unit="bytes"`. The last call has all bytes, also if
            the limit ends the reading. An exception of the function ends the reading.

        Returns
        -------
        Any
            The frame that `read_csv` returns for the spec of the scan.

        Raises
        ------
        ProblemError
            A value does not fit the type of its column, or a row has too few or too many fields.
            `problems` lists them.

        Examples
        --------
        >>> en.scan_csv(b"a,b\\n1,x\\n2,y\\n").read(to="pandas", limit=1)
           a  b
        0  1  x
        """
        query = self._query if columns is None else self._query.select(columns)
        host = _hosts.host_of(to, None)
        table = query.limited(limit).table(views=host == "polars", progress=progress)
        with reported:
            return frame(table, host, None, query.text.threads, arrow=host in ("polars", "pyarrow"))

    def batches(
        self,
        n: int = 65_536,
        *,
        columns: str | Iterable[str] | None = None,
        to: Host | None = None,
        progress: bool | Callable[..., Any] | None = None,
    ) -> Iterator[Any]:
        """Read the rows that pass in frames, with memory for a few MiB of text per thread.

        Parameters
        ----------
        n
            The number of rows of a frame. The last one may have fewer.
        columns, to, progress
            As for `read`. The text is some MiB ahead of the frames.

        Yields
        ------
        Any
            A frame. The rows before the first MiB of text with a value that does not fit come
            before the error.

        Examples
        --------
        >>> [len(frame) for frame in en.scan_csv(b"a\\n1\\n2\\n3\\n").batches(2)]
        [2, 1]
        """
        size = checked_limit(n)
        if not size:
            raise ArgumentError(f"n={shown(n)}: a batch has one row or more")
        query = self._query if columns is None else self._query.select(columns)
        return _frames(query, _hosts.host_of(to, None), size, progress)

    def lazy(self) -> PolarsLazyFrame:
        """Return a LazyFrame of Polars that reads only what its query asks for.

        Polars hands over the columns, slices from the start, and conditions. Those that `filter=`
        takes decide which rows become values of Polars, and Polars tests all again.

        Raises
        ------
        MissingLibraryError
            Polars is not installed.

        Examples
        --------
        >>> import polars as pl
        >>> lazy = en.scan_csv(b"a,b\\n1,x\\n2,y\\n3,z\\n").lazy()
        >>> lazy.filter(pl.col("a") > 1).select("b").collect()["b"].to_list()
        ['y', 'z']
        """
        from .polars import lazy

        return lazy(self._query)

    def to_dataset(self, *, nan: Literal["ieee", "largest"] = "ieee") -> ArrowDataset:
        """Return a dataset of pyarrow that reads only what is asked for.

        DuckDB, DataFusion, ibis and pyarrow scan it. The parts of a filter with an exact
        counterpart are tested on the text, and pyarrow tests the others on the rows that are left.

        Parameters
        ----------
        nan
            The order of NaN in comparisons, as for `File.to_dataset`.

        Raises
        ------
        MissingLibraryError
            pyarrow is not installed.

        Examples
        --------
        >>> import pyarrow.compute as pc
        >>> dataset = en.scan_csv(b"a,b\\n1,x\\n2,y\\n3,z\\n").to_dataset()
        >>> dataset.to_table(columns=["b"], filter=pc.field("a") > 1).to_pydict()
        {'b': ['y', 'z']}
        """
        from .dataset import CsvDataset

        return CsvDataset(self._query, nan)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return a stream of the rows in batches, which are read when the consumer asks for them.

        Parameters
        ----------
        requested_schema
            The capsule of a schema, as for `File.__arrow_c_stream__`.
        """
        from .stream import stream

        return stream(self._query, requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Return the capsule of the schema that streams of the rows have."""
        from .stream import Rows

        return Rows(self._query).__arrow_c_schema__()

    def __repr__(self) -> str:
        query = self._query
        parts = [f"{len(query.columns)} columns"]
        if query.condition is not None:
            parts.append(repr(query.condition))
        if query.limit is not None:
            parts.append(f"limit={query.limit}")
        return f"<entasis.CsvScan of '{query.text.name}', {', '.join(parts)}>"


def _frames(query: Query, host: str, n: int, progress: bool | Callable[..., Any] | None) -> Iterator[Any]:
    """The rows in frames of `n` rows."""
    is_arrow = host in ("polars", "pyarrow")
    for table in query.tables(n, views=host == "polars", progress=progress):
        with reported:
            found = frame(table, host, None, query.text.threads, arrow=is_arrow)
        del table
        yield found


def scan_csv(
    source: Source | Sequence[Source],
    *,
    columns: str | Iterable[str] | None = None,
    drop: str | Iterable[str] | None = None,
    filter: Filter | None = None,
    dtypes: Mapping[str, Any] | None = None,
    spec: Spec | str | os.PathLike[str] | None = None,
    sep: str | None = None,
    quote: str | None = "auto",
    escape: str | None = "auto",
    header: bool | None = None,
    names: Iterable[str] | None = None,
    na: str | Iterable[str] | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    dates: str
    | Iterable[str]
    | Mapping[str, str | Iterable[str]]
    | Mapping[str | None, str | Iterable[str]]
    | None = None,
    encoding: str | None = None,
    comment: str | None = "auto",
    skip: int | None = None,
    fill: bool = False,
    on_error: Literal["error", "missing", "skip"] = "error",
    strings: Literal["plain", "categorical"] = "plain",
    id: str | None = None,
    max_field: int = _arguments.MAX_FIELD,
    threads: int | None = None,
) -> CsvScan:
    """Scan a text file with separated fields: filter, count, convert and query it batch by batch.

    The types of the columns are those of the first 10,000 rows, unless `dtypes` or `spec` say
    otherwise. They never change: a later value that does not fit is a problem, and its error names
    `sniff_csv(source, rows="all")`, whose spec has types that hold for all values. `read_csv` needs
    no types, and memory for all rows.

    Parameters
    ----------
    source
        As for `read_csv`. An object with `read` is read once.
    columns, drop
        Names of the columns to read, in this order, or of those to leave out.
    filter
        A condition on the rows, as for `read`.
    dtypes, spec, sep, quote, escape, header, names, na, decimal, thousands, dates
        As for `read_csv`. A column without values has the type null, unless it is given another.
    encoding, comment, skip, fill, on_error, strings, id, max_field, threads
        As for `read_csv`. Problems that `on_error` allows are a warning after the last row.

    Returns
    -------
    CsvScan
        Its methods read the rows. `write` and `write_csv` take it.

    Raises
    ------
    ArgumentError
        The text does not fit the arguments, or the source is another format.
    ColumnNotFoundError
        The text has no column of a name.
    FileError
        The operating system refused to read.

    Notes
    -----
    The cost is that of the first 10,000 rows. A scan holds up to 4 chunks of 1 MiB of text per
    thread, and their values. Rows of very many columns have longer chunks.

    Examples
    --------
    >>> text = b"city,price\\nOslo,3\\nRome,5\\n"
    >>> scan = en.scan_csv(text, filter=en.col("price") > 4)
    >>> scan.read(to="pandas")
       city  price
    0  Rome      5
    >>> en.write(scan, "prices.entasis")
    """
    with reported:
        found = _arguments.sources(source)
        settings = _arguments.of(
            spec=spec,
            sep=sep,
            quote=quote,
            escape=escape,
            comment=comment,
            skip=skip,
            header=header,
            names=names,
            dtypes=dtypes,
            na=na,
            decimal=decimal,
            thousands=thousands,
            dates=dates,
            id=id,
            encoding=encoding,
            fill=fill,
            on_error=on_error,
            max_field=max_field,
            threads=threads,
            strings=strings,
        )
        if columns is not None and drop is not None:
            raise ArgumentError("pass columns= or drop=, not both")
        native = _entasis.scan_csv(found, settings)
    for message in native.warnings:
        warnings.warn(message, CsvWarning, stacklevel=2)
    name = found[0][1] if len(found) == 1 else f"{found[0][1]} and {len(found) - 1} more"
    text = Text(native, name, Spec(json.loads(native.spec)), on_error, settings["threads"])
    query = Query(text, native.names)
    wanted = None
    if columns is not None:
        wanted = [columns] if isinstance(columns, str) else list(columns)
    elif drop is not None:
        # A name that the text lacks is an error.
        query.select(drop)
        wanted = chosen([name for name in native.names if name != id], None, drop)
    if wanted is not None:
        query = query.select(wanted if id is None else [id, *wanted])
    return CsvScan(query if filter is None else query.filtered(filter))
