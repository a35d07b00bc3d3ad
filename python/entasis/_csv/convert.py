"""Writes text files into Entasis files, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from entasis import _entasis
from entasis._arguments import progress as _progress
from entasis._arguments import sources as _sources
from entasis._arguments.options import DEFAULT_COMPRESSION
from entasis._memory import reported
from entasis._write import destination
from entasis.errors import ArgumentError

from . import arguments as _arguments
from . import problems as _problems

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from entasis._entasis import Key, Password
    from entasis._typing import Rows

    from .problems import Problems
    from .spec import Source, Spec


def store_text(
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
    overwrite: bool = True,
    secret: Key | Password | None = None,
) -> Problems | None:
    """Write the rows of a text file into an Entasis file: `entasis.convert` without a filter.

    The parameters, errors and the result are those of `entasis.convert`. `read(path)` then returns
    what `read_csv(source)` returns. The cost is one pass over the text, and one more if the type of
    a column changes late.
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
        to = destination(_sources.path(path), compression, threads, durable, wait, overwrite=overwrite, secret=secret)
        with _problems.listed(), _progress.shown(progress, "converting") as show:
            table = _entasis.convert_csv(found, settings, to, show)
        met = _problems.warn(table, on_error, are_returned=problems, depth=4)
        return met if problems else None
