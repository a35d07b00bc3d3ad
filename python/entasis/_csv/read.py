"""Reads text files into frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from entasis import _entasis
from entasis._arguments import progress as _progress
from entasis._arguments.options import integer
from entasis._filter import bind as _bind
from entasis._libraries import registry as _hosts
from entasis._memory import reported
from entasis.errors import ArgumentError, ColumnNotFoundError

from . import arguments as _arguments
from . import problems as _problems
from .frames import as_file, chosen, frame

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from entasis._entasis import Handle
    from entasis._filter.conditions import Filter
    from entasis._libraries.registry import Host
    from entasis._typing import Rows

    from .spec import Source, Spec


def read_csv(
    source: Source | Sequence[Source],
    to: Host | None = None,
    *,
    columns: str | Iterable[str] | None = None,
    drop: str | Iterable[str] | None = None,
    rows: Rows | None = None,
    filter: Filter | None = None,
    dtypes: Mapping[str, Any] | None = None,
    spec: Spec | str | os.PathLike[str] | None = None,
    sep: str | None = None,
    quote: str | None = "auto",
    escape: str | None = "auto",
    header: bool | None = None,
    names: Iterable[str] | None = None,
    index_col: int | str | None = None,
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
    problems: bool = False,
    strings: Literal["plain", "categorical"] = "plain",
    id: str | None = None,
    progress: bool | Callable[..., Any] | None = None,
    max_field: int = _arguments.MAX_FIELD,
    spill_limit: int = _arguments.SPILL_LIMIT,
    threads: int | None = None,
) -> Any:
    """Read a text file with separated fields into a frame.

    The other options are found out from a sample of the whole text. The type of a column is the
    narrowest that holds all its values in the rows that are read. No integer is rounded, and no
    zero before a number is lost: such columns are text.

    Parameters
    ----------
    source
        A path, the bytes of a text, or an object with `read`, such as an open file, a pipe or
        `sys.stdin.buffer`. A pattern such as "2024-*.csv" stands for its files, in the order of
        their names, and a list for its sources: they are one table and have the same columns.
        gzip, BGZF, bzip2, xz and Zstandard are recognised by their content.
    to
        The library of the frame: "pandas", "polars", "pyarrow", "numpy", "static_frame". None means
        the first of these that is installed.
    columns, drop
        Names of the columns to read, in this order, or of those to leave out.
    rows
        The rows to read, by position, as for `read`.
    filter
        A condition, as for `read`. It never changes the types of the columns.
    dtypes
        Types of some columns, by their names: "int64", "float32", "string", "bool", "date",
        "datetime[us]", "datetime[ns, UTC]", "decimal(10, 2)", or a dtype of a library. A value that
        does not fit is a problem.
    spec
        A `Spec`, its JSON, or the path of a file with it. Other arguments go over it.
    sep
        The separator, one ASCII character. "blanks": blanks and tabs between fields are one
        separator, and those at the ends of a row none. A character and a blank, such as ", ":
        blanks before fields are left out, so that a quote after them opens a quoted field.
    quote, escape, comment
        The character around quoted fields, before a character without its meaning, and at the start
        of lines to leave out. "auto": found out. None: there is none. A doubled quote within quotes
        always stands for one.
    header
        Whether the first row has the names. None means True, with a warning if it looks like
        values.
    names
        The names, in place of those of the header.
    index_col
        The name or the position of the column with the labels of the rows (pandas and StaticFrame).
        0 also takes a first column for which the header has no name.
    na
        Words for missing values, in place of "NA", "N/A", "NULL" and "null". They are missing in
        all columns; the default words are text in columns of text. Empty fields are missing, `""`
        is an empty text.
    decimal, thousands
        The decimal mark, and the mark between groups of three digits.
    dates
        A format, or a list of formats, of dates and times that are not written by ISO 8601, such as
        "%d/%m/%Y" or "%d.%m.%Y %H:%M:%S". They may have %Y, %y, %m, %b, %d, %j, %H, %I, %p, %M, %S,
        %f and %z. One format must fit all values of a column, else the column stays text, and so it
        does if several fit and give other dates. A dict has formats for single columns:
        `{"day": "%Y%m%d"}`. Only these may look like numbers. Its key None stands for all other
        columns.
    encoding
        The encoding, by any usual name. None: by a byte order mark, else UTF-8, else a guess with a
        warning.
    skip
        The number of lines before the header.
    fill
        Whether rows may have fewer fields than the header: the others are missing.
    on_error
        What to do about problems: rows with too few or too many fields, values that do not fit a
        given type, bytes that do not fit the encoding. "error" raises `ProblemError`; "missing"
        makes values and absent fields missing, and leaves out rows that are too long; "skip" leaves
        out the rows. The last two warn.
    problems
        Whether to return `(frame, problems)`, and not to warn of problems.
    strings
        "categorical" makes columns of text categoricals, with categories in the order of their
        first appearance. `dtypes={"city": "category"}` does so for one column.
    id
        The name of a first column in addition, with the path of the file of each row.
    progress
        True shows a bar after one second, by tqdm if it is installed. A function is called with the
        bytes that were read, with all bytes or None, and with `unit="bytes"`.
    max_field
        The most bytes of a field, with its quotes, so that a quote that is never closed is found
        early.
    spill_limit
        The most bytes of the compressed copy of a stream. It is needed if a column that began with
        numbers turns out to be text.
    threads
        The number of threads. None means one per processor.

    Returns
    -------
    Any
        The frame, or `(frame, problems)`.

    Raises
    ------
    ProblemError
        The text has problems. `problems` lists them.
    ArgumentError
        The text does not fit the arguments, a quote is never closed, or the source is another
        format.
    ColumnNotFoundError
        The text has no column of a name.
    FileError
        The operating system refused to read.

    Notes
    -----
    The cost is one pass over the text. Columns whose type changes late are read again. A filter is
    tested on the way, and rows that do not pass take no memory, except with `rows`, `dates`, `id`,
    categoricals and `on_error="skip"`.

    Examples
    --------
    >>> en.read_csv(b"city,zip,price\\nOslo,0150,3.5\\nRome,,4\\n", "pandas")
       city   zip  price
    0  Oslo  0150    3.5
    1  Rome   NaN    4.0
    """
    with reported:
        host = _hosts.host_of(to, None)
        found = _arguments.sources(source)
        # Left out rows do not count, and only the whole text says which these are.
        native = _arguments.limits(rows) if filter is None and on_error != "skip" else None
        is_arrow = host in ("polars", "pyarrow") and (rows is None or native is not None)
        condition = None if filter is None or rows is not None else _condition(filter)
        settings = _arguments.of(
            spec=spec,
            sep=sep,
            quote=quote,
            escape=escape,
            comment=comment,
            skip=skip,
            header=header,
            names=names,
            first_is_unnamed=index_col is not None,
            columns=columns if filter is None or condition is not None else None,
            drop=drop if filter is None or condition is not None else None,
            dtypes=dtypes,
            na=na,
            decimal=decimal,
            thousands=thousands,
            dates=dates,
            id=id,
            encoding=encoding,
            fill=fill,
            on_error=on_error,
            rows=native,
            filter=condition,
            max_field=max_field,
            spill_limit=spill_limit,
            threads=threads,
            strings=strings,
            views=is_arrow and host == "polars",
        )
        if index_col is not None and host not in ("pandas", "static_frame"):
            raise ArgumentError(f"index_col= is for pandas and StaticFrame: a frame of {host} has no row labels")
        with _problems.listed(), _progress.shown(progress, "reading") as show:
            table = _entasis.read_csv(found, settings, show)
        met = _problems.warn(table, on_error, are_returned=problems)
        left = None if native is not None else rows
        if filter is None or table.is_filtered:
            made, named = frame(table, host, left, threads, arrow=is_arrow), table.names
        else:
            named = chosen([name for name in table.names if name != id], columns, drop)
            named = named if id is None else [id, *named]
            made = as_file(table, threads).read(
                columns=named, rows=left, filter=filter, to=cast("Host", host), threads=threads
            )
        if index_col is not None:
            made = _with_index(made, host, named, index_col)
        return (made, met) if problems else made


def _condition(filter: Filter) -> tuple[list[str], Callable[[Handle], tuple[Any, ...]]] | None:
    """The columns of a filter, and a function that binds it to a table of these columns.

    None if the filter doesn't name its columns.
    """
    condition = _bind.condition(filter)
    names = _bind.names(condition)
    if names is None:
        return None
    return names, lambda handle: _bind.tree(condition, handle, lambda labels: [names.index(labels[0])])


def _with_index(frame: Any, host: str, names: list[str], index_col: int | str) -> Any:
    """Make a column the labels of the rows."""
    position = integer(index_col)
    if position is None:
        if index_col not in names:
            raise ColumnNotFoundError(f"index_col={index_col!r}: there is no such column")
        position = names.index(str(index_col))
    if not -len(names) <= position < len(names):
        raise ColumnNotFoundError(f"index_col={index_col!r}: there are {len(names)} columns")
    name = names[position]
    if host == "pandas":
        frame = frame.set_index(name)
        return frame.rename_axis(index=None) if name == "" else frame
    return frame.set_index(name, drop=True)
