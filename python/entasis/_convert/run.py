"""Runs a conversion, for `entasis.convert` and for the command."""

from __future__ import annotations

import os
from contextlib import contextmanager
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

from entasis import _entasis
from entasis._arguments import options as _options
from entasis._arguments import secrets as _keys
from entasis._arguments import sources as _sources
from entasis._arguments.progress import shown as _progress
from entasis._csv.convert import store_text
from entasis._dataset import manifest as _manifest
from entasis._dataset.scan import FolderScan
from entasis._write import destination
from entasis.errors import ArgumentError, ConversionError, UnsupportedTypeError

from . import formats as _formats
from . import losses as _losses
from . import r_files as _r_files
from . import target as _target
from .compare import first_difference
from .inputs.open import opened
from .inputs.scan import ScanInput
from .left_out import of_values
from .outputs import rds as _rds
from .outputs.base import Options, Plan, level
from .outputs.plan import plan as _plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from entasis._arguments.secrets import Secret
    from entasis._csv.problems import Problems
    from entasis._entasis import Key, Password

    from .inputs.base import Input

# The options for texts, and those of them that only the conversion to Entasis takes.
_OF_TEXT = (
    "drop", "dtypes", "spec", "sep", "quote", "escape", "header", "names", "na", "decimal", "thousands", "dates",
    "encoding", "comment", "skip", "fill", "on_error", "problems", "strings", "id", "max_field", "spill_limit",
)  # fmt: skip
_OF_STORING = ("problems", "spill_limit")


def run(
    source: Any,
    path: str | None,
    *,
    columns: Any = None,
    rows: Any = None,
    filter: Any = None,
    compression: Any = None,
    source_format: str | None = None,
    target_format: str | None = None,
    functions: bool = False,
    verify: bool = False,
    strict: bool = False,
    progress: bool | Callable[..., Any] | None = None,
    threads: int | None = None,
    durable: bool | None = None,
    wait: float = 10,
    overwrite: bool = True,
    text: dict[str, Any],
    writing: Mapping[str, Any] | None = None,
    pipe: int | None = None,
    key: Any = None,
    password: str | None = None,
    source_key: Any = None,
    source_password: str | None = None,
) -> Problems | None:
    """Convert a source, as `entasis.convert` says.

    Parameters
    ----------
    path
        The path of the target; None writes into `pipe`.
    text
        Options of a text that is read.
    writing
        Options of a text that is written, as for `write_csv`: `sep`, `na`, `decimal`, `header`.
    pipe
        The number of an open file that only takes bytes in order.
    """
    for name in text:
        if name not in _OF_TEXT:
            raise TypeError(f"convert() got an unexpected keyword argument {name!r}")
    to = "<pipe>" if path is None else path
    target = _formats.of_target(to, target_format)
    form = _formats.of_source(source, source_format)
    if form != "csv" and text:
        raise ArgumentError(f"{next(iter(text))}= is for texts, and the source is a file of {form}")
    if target in _formats.OF_R and target != "rds":
        raise UnsupportedTypeError(_to_r(target, to))
    if not overwrite and path is not None:
        _entasis.check_new(path)
    opens, secret = _secrets(source, form, target, key, password, source_key, source_password)
    if form == "csv" and target == "entasis" and filter is None and not verify and path is not None:
        # Its types hold for all rows.
        return store_text(
            source,
            path,
            compression=level(compression),
            columns=columns,
            rows=rows,
            progress=progress,
            threads=threads,
            durable=durable,
            wait=wait,
            overwrite=overwrite,
            secret=secret,
            **text,
        )
    is_r = form in _formats.OF_R and target == "entasis" and columns is None and rows is None and filter is None
    if functions and not is_r:
        raise ArgumentError("functions= is for a whole file of R that becomes an Entasis file")
    if is_r:
        # As R wrote it. Parts are read as Python reads them.
        whole = destination(to, level(compression), threads, durable, wait, overwrite=overwrite, secret=secret)
        with _progress(progress, "converting", "rows" if form == "fst" else "bytes") as show:
            _r_files.store(_sources.source(source), functions, whole, show, verify)
        return None
    is_whole = columns is None and rows is None and filter is None
    if target == "rds" and form in _formats.OPENED and is_whole and not _are_several(source):
        options = _options_of(compression, threads, durable, wait, overwrite, lambda n: None, writing)
        with _progress(progress, "converting", "rows") as show:
            # The number of rows is known once the file is open.
            _rds.store(_sources.source(source), to, options, show, strict, verify, _keys.known(opens))
        return None
    for name in text:
        if name in _OF_STORING:
            raise ArgumentError(f"{name}= is for texts that become an Entasis file as a whole")
    given = opened(source, form, _options.threads(threads), dict(text), opens)
    given = given.selected(columns, rows, filter)
    with _progress(progress, "converting", "rows") as show:
        total = given.n_rows
        done: Callable[[int], None] = (lambda n: None) if show is None else (lambda n: show(n, total))
        options = _options_of(compression, threads, durable, wait, overwrite, done, writing)._replace(secret=secret)
        if target == "rds":
            _rds.store(given, to, options, None, strict, verify, secret)
            return None
        with _staged(given, target, path, options) as one:
            # A target that is compared first gets its name later.
            plan = _plan(one, target, to, options._replace(overwrite=overwrite or verify))
            _losses.report(plan.losses, target, strict)
            if pipe is None:
                _write(plan, target, to, options, verify)
            else:
                plan.write(_target.New(to, pipe, is_pipe=True))
    return None


def _secrets(
    source: Any, form: str, target: str, key: Any, password: Any, source_key: Any, source_password: Any
) -> tuple[Secret | None, Key | Password | None]:
    """The secret that opens a source, and that of a target, or of a file that is staged for it."""
    given = (key, password, source_key, source_password)
    is_scan = isinstance(source, FolderScan)
    may_be_encrypted = form == "entasis" and (is_scan or _keys.in_environment())
    if all(one is None for one in given) and not may_be_encrypted:
        return None, None
    opens = _keys.given(source_key, source_password)
    wanted = _keys.given(None if key is False else key, password)
    if form != "entasis" and opens is not None:
        raise ArgumentError(f"source_key= and source_password= are for Entasis files, and the source is one of {form}")
    is_encrypted = form == "entasis" and is_encrypted_source(source)
    if is_encrypted and opens is None and not is_scan:
        opens = wanted
    if target == "entasis":
        if is_encrypted and wanted is None and key is not False:
            raise ArgumentError(
                "the source is encrypted: pass key= or password= for the new file, or key=False to write it in clear"
            )
        return opens, _keys.known(wanted)
    if wanted is not None and not is_encrypted:
        raise ArgumentError(
            "key= and password= are for Entasis files, and neither the source nor the target is encrypted"
        )
    return opens, _entasis.Key.random() if is_encrypted else None


def is_encrypted_source(source: Any) -> bool:
    """Whether a source is encrypted: one of several files, or the manifest of a folder."""
    if isinstance(source, FolderScan):
        return _keys.are_encrypted(source._query.table.files)
    if isinstance(source, (list, tuple)):
        return any(map(is_encrypted_source, source))
    found = _sources.source(source)
    if isinstance(found, str) and any(mark in found for mark in "*?[") and not os.path.lexists(found):
        return is_encrypted_source(_formats.expand(found))
    if isinstance(found, str) and os.path.isdir(found):
        number = _manifest.newest_number(found)
        if number is None:
            names = _entasis.folder_files(found)
            return any(is_encrypted_source(os.path.join(found, *name.split("/"))) for name in names)
        found = _manifest.path_of(found, number)
    return _entasis.keys_of(found) is not None


@contextmanager
def _staged(given: Input, target: str, path: str | None, options: Options) -> Iterator[Input]:
    """An input in one file: many files become one of Entasis, next to the target, for other formats."""
    if not isinstance(given, ScanInput) or target == "entasis":
        yield given
        return
    quiet = options._replace(done=lambda n: None)
    to = os.path.join(gettempdir(), f"entasis-{os.getpid()}") if path is None else path
    with _target.beside(f"{to}.entasis", is_kept=False) as whole:
        given.store(destination(whole, 0, quiet.threads, False, 0, secret=options.secret), quiet.done)
        yield opened(whole, "entasis", quiet.threads, None, options.secret)


def _are_several(source: Any) -> bool:
    """Whether a source is a folder, a pattern or a list."""
    if isinstance(source, (list, tuple, FolderScan)):
        return True
    return isinstance(source, (str, os.PathLike)) and not os.path.isfile(source)


def _options_of(
    compression: Any,
    threads: int | None,
    durable: bool | None,
    wait: float,
    overwrite: bool,
    done: Callable[[int], None],
    writing: Mapping[str, Any] | None,
) -> Options:
    threads, durable, wait = _options.threads(threads), _options.durable(durable), _options.wait(wait)
    return Options(compression, threads, durable, wait, overwrite, done, writing or {})


def _write(plan: Plan, form: str, path: str, options: Options, verify: bool) -> None:
    """Write a target, and compare it with the source if that is asked for."""
    if form == "entasis":
        if not verify:
            plan.write(path)
            return
        with _target.beside(path, overwrite=options.overwrite) as new:
            plan.write(new)
            _verify(plan, new, path)
        return
    with _target.replacing(path, options.durable, overwrite=options.overwrite) as new_file:
        plan.write(new_file)
        if verify:
            _verify(plan, new_file.path, path)


def _verify(plan: Plan, new: str, path: str) -> None:
    if plan.written is None or plan.reread is None:
        if plan.compare is None or not plan.compare(new):
            raise ConversionError(f"{path}: what is read back differs from the source", losses=plan.losses)
        return
    lost = {column for column, _ in of_values(plan.losses)}
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
