"""Writes text files into Entasis files, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from entasis import _entasis
from entasis._arguments import sources as _sources
from entasis._arguments.options import DEFAULT_COMPRESSION
from entasis._memory import reported
from entasis._write import destination
from entasis.errors import ArgumentError

from . import arguments as _arguments
from . import problems as _problems
from . import progress as _progress

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from entasis._typing import Rows

    from .problems import Problems
    from .spec import Source, Spec


def convert(
    source: Source | Sequence[Source],
    path: _sources.Path,
    *,
    compression: int | Mapping[str, int] | Mapping[str | None, int] = DEFAULT_COMPRESSION,
    columns: str | Iterable[str] | None = None,
    drop: str | Iterable[str] | None = None,
    rows: Rows | None = None,
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
    problems: bool = False,
    strings: Literal["plain", "categorical"] = "plain",
    id: str | None = None,
    progress: bool | Callable[..., Any] | None = None,
    max_field: int = _arguments.MAX_FIELD,
    spill_limit: int = _arguments.SPILL_LIMIT,
    threads: int | None = None,
    durable: bool | None = None,
    wait: float = 10,
) -> Problems | None:
    """Write the rows of a text file with separated fields into an Entasis file.

    `read(path)` then returns what `read_csv(source)` returns. Memory does not grow with the text.

    Parameters
    ----------
    source
        A path, a pattern of paths, bytes, an object with `read`, or a list of these, as for
        `read_csv`.
    path
        The path of the file to write. It is replaced only after everything was written.
    compression
        From 0 (none, fastest) to 100 (smallest), for all columns or per column, as for `write`.
    columns, drop, dtypes, spec, sep, quote, escape, header, names, na, decimal, thousands, dates
        As for `read_csv`.
    rows
        The rows to write: `(start, stop)`, a slice, or a range, without steps and not counted from
        the end.
    encoding, comment, skip, fill, on_error, strings, id, progress, max_field, spill_limit
        As for `read_csv`.
    problems
        Whether to return the problems, and not to warn of them.
    threads
        The number of threads. None means one per processor.
    durable
        Whether to force the file to the disk. None does so only if the file replaces one.
    wait
        Seconds to wait for another writer of the same file.

    Returns
    -------
    Problems or None
        With `problems=True` the places of the text that do not fit.

    Raises
    ------
    ProblemError
        The text has problems. `problems` lists them.
    ArgumentError
        As for `read_csv`.
    BusyError
        Another writer did not finish within `wait` seconds.
    FileError
        The operating system refused to read or to write.

        After any error the old file is unchanged.

    Notes
    -----
    The cost is one pass over the text, and one more if the type of a column changes late. Memory is
    about 200 MiB, and more for fields of many MiB.

    Examples
    --------
    >>> en.convert(b"city,zip\\nOslo,0150\\nRome,0184\\n", "cities.entasis")
    >>> en.read("cities.entasis", to="pandas")
       city   zip
    0  Oslo  0150
    1  Rome  0184
    """
    with reported:
        if not isinstance(path, (str, bytes)) and not hasattr(type(path), "__fspath__"):
            raise ArgumentError(f"convert writes into a path, not into a {type(path).__name__}")
        native = _arguments.limits(rows)
        if rows is not None and native is None:
            raise ArgumentError("rows= of convert is (start, stop), or a slice or range of consecutive rows")
        if rows is not None and on_error == "skip":
            raise ArgumentError("rows= of convert counts all rows: choose other rows, or another on_error")
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
            columns=columns,
            drop=drop,
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
            max_field=max_field,
            spill_limit=spill_limit,
            threads=threads,
            strings=strings,
        )
        to = destination(_sources.path(path), compression, threads, durable, wait)
        with _problems.listed(), _progress.shown(progress, "converting") as show:
            table = _entasis.convert_csv(found, settings, to, show)
        met = _problems.warn(table, on_error, are_returned=problems)
        return met if problems else None
