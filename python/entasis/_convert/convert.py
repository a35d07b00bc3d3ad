"""Converts files from one format into another."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from entasis._arguments import sources as _sources
from entasis._arguments.secrets import given as _given
from entasis._memory import reported
from entasis.errors import ArgumentError

from .at_address import brought
from .run import run

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Literal

    from entasis._arguments.secrets import AnyKey
    from entasis._csv.problems import Problems
    from entasis._csv.spec import Source, Spec
    from entasis._filter.conditions import Filter
    from entasis._typing import Columns, Rows

    from .formats import Format

    class TextOptions(TypedDict, total=False):
        """Options of `convert` for texts."""

        drop: str | Iterable[str] | None
        dtypes: Mapping[str, Any] | None
        spec: Spec | str | os.PathLike[str] | None
        sep: str | None
        quote: str | None
        escape: str | None
        header: bool | None
        names: Iterable[str] | None
        na: str | Iterable[str] | None
        decimal: str | None
        thousands: str | None
        dates: str | Iterable[str] | Mapping[str, str | Iterable[str]] | Mapping[str | None, str | Iterable[str]] | None
        encoding: str | None
        comment: str | None
        skip: int | None
        fill: bool
        on_error: Literal["error", "missing", "skip"]
        problems: bool
        strings: Literal["plain", "categorical"]
        id: str | None
        max_field: int
        spill_limit: int


def convert(
    source: Source | Sequence[Source],
    path: _sources.Path,
    *,
    columns: Columns | None = None,
    rows: Rows | None = None,
    filter: Filter | None = None,
    compression: int | str | Mapping[str, int] | Mapping[str | None, int] | None = None,
    source_format: Format | None = None,
    target_format: Format | None = None,
    functions: bool = False,
    verify: bool = False,
    strict: bool = False,
    progress: bool | Callable[..., Any] | None = None,
    threads: int | None = None,
    durable: bool | None = None,
    wait: float = 10,
    overwrite: bool = True,
    storage_options: Mapping[str, Any] | None = None,
    credentials: Callable[[], Any] | None = None,
    key: AnyKey | Literal[False] | None = None,
    password: str | None = None,
    source_key: AnyKey | None = None,
    source_password: str | None = None,
    **text: Unpack[TextOptions],
) -> Problems | None:
    """Convert a file of one format into a file of another.

    The formats are Entasis, text with separated fields (CSV), Parquet, Arrow, Feather, NPY, NPZ,
    lines of JSON and RDS, both ways, and other files of R as sources.

    Parameters
    ----------
    source
        A path, the content of a file, or a binary file. For texts also a pattern of paths, an
        object with `read`, or a list of these, as for `read_csv`; for Entasis, lines of JSON,
        Parquet, Arrow and Feather also a pattern or a list of paths; for Entasis and Parquet also a
        folder. Files of Entasis are one table as for `scan`.
    path
        The path of the file to write. It is replaced only after everything was written.
    columns, filter
        As for `read`.
    rows
        As for `read`. Rows of a text are `(start, stop)`, a slice, or a range, without steps and
        not counted from the end.
    compression
        For Entasis a number from 0 to 100 as for `write`; for Parquet "none", "snappy", "gzip",
        "brotli", "lz4" or "zstd"; for Arrow and Feather "none", "lz4" or "zstd"; for RDS "gzip",
        "none" or "xz"; for texts and lines of JSON "none", "gzip" or "zstd". None takes 50, "zstd"
        for Parquet, "lz4" for Feather, "gzip" for RDS, and for texts and lines what the end of the
        path says.
    source_format, target_format
        "entasis", "csv", "parquet", "arrow", "arrow_stream", "feather", "npy", "npz", "jsonl",
        "rds", "rdata", "qs2", "qdata" or "fst". None finds it: of a source by its first bytes, then
        by the end of the path; of a target by the end of the path.
    functions
        Whether to keep functions in a file of R that becomes an Entasis file. They are data, which
        is never run; R makes functions of them only when its user asks for that. Without it they
        are an error with their path.
    verify
        Whether to read the target back, and to compare it with the source, before it replaces an
        old file. Columns with a loss are not compared.
    strict
        Whether it is an error if the target can't hold everything. Nothing is written then.
    progress
        True shows a bar after one second. A function is called with the rows that were written,
        with all rows or None, and with `unit="rows"`; for a text that becomes an Entasis file with
        bytes.
    threads
        The number of threads. None means one per processor.
    durable
        Whether to force the file to the disk. None does so only if the file replaces one.
    wait
        Seconds to wait for another writer of the same Entasis file.
    overwrite, storage_options, credentials
        As for `write`. Objects at addresses are fetched whole; folders are read by ranges.
    key, password
        What opens an encrypted source, and encrypts a target of Entasis, as for `write`. False
        writes the values of an encrypted source in clear.
    source_key, source_password
        What opens an encrypted source, as for `read`, if it differs.
    **text
        Options of `read_csv` for a text: `drop`, `dtypes`, `spec`, `sep`, `quote`, `escape`,
        `header`, `names`, `na`, `decimal`, `thousands`, `dates`, `encoding`, `comment`, `skip`,
        `fill`, `on_error`, `strings`, `id`, `max_field`. For a text that becomes an Entasis file
        also `problems` and `spill_limit`.

    Returns
    -------
    Problems or None
        With `problems=True` the places of the text that do not fit.

    Raises
    ------
    UnsupportedTypeError
        The source has a format that is not read, and the message says what reads it; or the target
        can hold nothing of the source.
    CorruptFileError
        The source is damaged.
    ConversionError
        With `strict` something would be lost. With `verify` the target differs from the source.
    MissingLibraryError
        A library that reads or writes the format is not installed.
    ProblemError, ArgumentError
        As for `read_csv`.
    ExistingFileError
        The file to write exists, and `overwrite=False`.
    BusyError
        Another writer did not finish within `wait` seconds.
    FileError
        The operating system refused to read or to write.

        After any error the old file is unchanged.

    Warns
    -----
    ConversionWarning
        The target can't hold everything. `losses` lists what is lost.

    Notes
    -----
    Texts, Parquet, Arrow and Entasis are read and written by batches, in bounded memory, and so is
    a whole file of fst that becomes an Entasis file. These are read whole: files with metadata of
    pandas where the target is not of Arrow, frames of pandas in Entasis, lines of JSON, NPY, NPZ,
    and rows that are not consecutive.

    Examples
    --------
    >>> frame = pd.DataFrame({"city": ["Oslo", "Rome"], "price": [3, 5]})
    >>> frame.to_parquet("prices.parquet")
    >>> en.convert("prices.parquet", "prices.entasis")
    >>> en.convert("prices.entasis", "cheap.feather", filter=en.col("price") < 4)
    >>> pd.read_feather("cheap.feather")
       city  price
    0  Oslo      3
    """
    with reported:
        if not isinstance(path, (str, bytes)) and not hasattr(type(path), "__fspath__"):
            raise ArgumentError(f"convert writes into a path, not into a {type(path).__name__}")
        options = storage_options, credentials
        with ExitStack() as copies:
            if isinstance(path, str) and _sources.is_address(path):
                path = copies.enter_context(_sources.sent(path, *options, overwrite))
            opens = _given(source_key, source_password) or _given(None if key is False else key, password)
            return run(
                copies.enter_context(brought(source, *options, opens)),
                _sources.path(path),
                columns=columns,
                rows=rows,
                filter=filter,
                compression=compression,
                source_format=source_format,
                target_format=target_format,
                functions=functions,
                verify=verify,
                strict=strict,
                progress=progress,
                threads=threads,
                durable=durable,
                wait=wait,
                overwrite=overwrite,
                text=dict(text),
                key=key,
                password=password,
                source_key=source_key,
                source_password=source_password,
            )
