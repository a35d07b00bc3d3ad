"""Converts files from one format into another."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from entasis._arguments import options as _options
from entasis._arguments import sources as _sources
from entasis._csv.convert import store_text
from entasis._csv.progress import shown as _progress
from entasis._memory import reported
from entasis._write import destination
from entasis.errors import ArgumentError, ConversionError, UnsupportedTypeError

from . import formats as _formats
from . import losses as _losses
from . import r_files as _r_files
from . import target as _target
from .compare import first_difference
from .inputs.open import opened
from .outputs import rds as _rds
from .outputs.base import Options, Plan, level
from .outputs.plan import plan as _plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Literal

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


# The options for texts, and those of them that only the conversion to Entasis takes.
_OF_TEXT = (
    "drop", "dtypes", "spec", "sep", "quote", "escape", "header", "names", "na", "decimal", "thousands", "dates",
    "encoding", "comment", "skip", "fill", "on_error", "problems", "strings", "id", "max_field", "spill_limit",
)  # fmt: skip
_OF_STORING = ("problems", "spill_limit")


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
    **text: Unpack[TextOptions],
) -> Problems | None:
    """Convert a file of one format into a file of another.

    The formats are Entasis, text with separated fields (CSV), Parquet, Arrow, Feather, NPY, NPZ,
    lines of JSON and RDS, both ways, and other files of R as sources.

    Parameters
    ----------
    source
        A path, the content of a file, or a binary file. For texts also a pattern of paths, an
        object with `read`, or a list of these, as for `read_csv`; for Parquet also a folder, a
        pattern, or a list of paths.
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
        "none" or "xz"; for texts "gzip" or "zstd". None takes 50, "zstd" for Parquet, "lz4" for
        Feather, "gzip" for RDS, and for texts what the end of the path says.
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
    Texts, Parquet, Arrow and Entasis are read and written by batches, in bounded memory. These are
    read whole: files with metadata of pandas where the target is not of Arrow, frames of pandas in
    Entasis, lines of JSON, NPY, NPZ, and rows that are not consecutive.

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
        for name in text:
            if name not in _OF_TEXT:
                raise TypeError(f"convert() got an unexpected keyword argument {name!r}")
        if not isinstance(path, (str, bytes)) and not hasattr(type(path), "__fspath__"):
            raise ArgumentError(f"convert writes into a path, not into a {type(path).__name__}")
        to = _sources.path(path)
        target = _formats.of_target(to, target_format)
        form = _formats.of_source(source, source_format)
        if form != "csv" and text:
            raise ArgumentError(f"{next(iter(text))}= is for texts, and the source is a file of {form}")
        if target in _formats.OF_R and target != "rds":
            raise UnsupportedTypeError(_to_r(target, to))
        if form == "csv" and target == "entasis" and filter is None and not verify:
            # Its types hold for all rows.
            return store_text(
                source,
                path,
                compression=level(compression),
                columns=columns,  # type: ignore[arg-type]
                rows=rows,
                progress=progress,
                threads=threads,
                durable=durable,
                wait=wait,
                **text,
            )
        is_r = form in _formats.OF_R and target == "entasis" and columns is None and rows is None and filter is None
        if functions and not is_r:
            raise ArgumentError("functions= is for a whole file of R that becomes an Entasis file")
        if is_r:
            # As R wrote it. Parts are read as Python reads them.
            whole = destination(to, level(compression), threads, durable, wait)
            with _progress(progress, "converting", "bytes") as show:
                _r_files.store(_sources.source(source), functions, whole, show, verify)  # type: ignore[arg-type]
            return None
        if target == "rds" and form in _formats.OPENED and columns is None and rows is None and filter is None:
            with _progress(progress, "converting", "rows") as show:
                # The number of rows is known once the file is open.
                options = _options_of(compression, threads, durable, wait, lambda n: None)
                _rds.store(_sources.source(source), to, options, show, strict, verify)  # type: ignore[arg-type]
            return None
        for name in text:
            if name in _OF_STORING:
                raise ArgumentError(f"{name}= is for texts that become an Entasis file as a whole")
        given = opened(source, form, _options.threads(threads), dict(text))
        given = given.selected(columns, rows, filter)
        with _progress(progress, "converting", "rows") as show:
            total = given.n_rows
            done: Callable[[int], None] = (lambda n: None) if show is None else (lambda n: show(n, total))
            options = _options_of(compression, threads, durable, wait, done)
            if target == "rds":
                _rds.store(given, to, options, None, strict, verify)
                return None
            plan = _plan(given, target, to, options)
            _losses.report(plan.losses, target, strict)
            _write(plan, target, to, options, verify)
        return None


def _options_of(
    compression: Any, threads: int | None, durable: bool | None, wait: float, done: Callable[[int], None]
) -> Options:
    return Options(compression, _options.threads(threads), _options.durable(durable), _options.wait(wait), done)


def _write(plan: Plan, form: str, path: str, options: Options, verify: bool) -> None:
    """Write a target, and compare it with the source if that is asked for."""
    if form == "entasis":
        if not verify:
            plan.write(path)
            return
        with _target.beside(path) as new:
            plan.write(new)
            _verify(plan, new, path)
        return
    with _target.replacing(path, options.durable) as new_file:
        plan.write(new_file)
        if verify:
            _verify(plan, new_file.path, path)


def _verify(plan: Plan, new: str, path: str) -> None:
    if plan.written is None or plan.reread is None:
        if plan.compare is None or not plan.compare(new):
            raise ConversionError(f"{path}: what is read back differs from the source", losses=plan.losses)
        return
    lost = {column for column, _ in plan.losses}
    found = first_difference(plan.written(), plan.reread(new).batches(), lost)
    if found is not None:
        raise ConversionError(f"{path}: what is read back differs from the source: {found}", losses=plan.losses)


def _to_r(form: str, path: str) -> str:
    calls = {
        "rdata": "x <- entasis::read_entasis(path); save(x, file = '{}')",
        "qs2": "qs2::qs_save(entasis::read_entasis(path), '{}')",
        "qdata": "qs2::qd_save(entasis::read_entasis(path), '{}')",
        "fst": "fst::write_fst(entasis::read_entasis(path), '{}')",
    }
    call = calls[form].format(os.path.basename(path))
    return f"files of {form} are written by R: convert to an Entasis file, and in R run {call}"
