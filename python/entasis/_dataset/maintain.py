"""Describes, verifies and compacts folders of files."""

from __future__ import annotations

import os
import secrets
import tempfile
import warnings
from contextlib import ExitStack
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from entasis import _entasis
from entasis._arguments.options import shown
from entasis._arguments.progress import Steady
from entasis._arguments.secrets import in_environment
from entasis._file.info import Info, Report
from entasis._libraries.registry import to_store_again
from entasis._view.view import View
from entasis._write import destination
from entasis.errors import (
    ArgumentError,
    CorruptFileError,
    EntasisError,
    FileError,
    MissingFileError,
    TamperedError,
    WrongKeyError,
)

from . import manifest as _manifest
from . import write as _write
from .ahead import OPENED, in_turn
from .bounds import hiding
from .files import Files, files, of_manifest, without_manifest
from .files_of_job import Job
from .keys import NONE
from .query import Query
from .read import is_counted, read_to_store
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Never

    from entasis._arguments.secrets import Secret
    from entasis._entasis import Key, Password
    from entasis._stores.listing import Folder

    from .manifest import Manifest
    from .part import FileFacts

# The most files that an error lists.
_LISTED = 10


def _of(folder: str, store: Folder | None, secret: Secret | None) -> tuple[Files, Manifest | None]:
    found = _manifest.newest(folder, store, secret)
    if found is not None:
        return of_manifest(found), found
    if store is None:
        return files(folder, None, secret=secret)
    return without_manifest(store, None, [], secret), None


def _known(secret: Secret | None) -> Key | Password | None:
    if secret is None:
        return None
    from entasis._arguments.secrets import known

    return known(secret)


def _of_manifest(manifest: Manifest) -> Key | None:
    if manifest.secret is None:
        return None
    from .secrets import of_manifest

    return of_manifest(manifest)


def info(folder: str, store: Folder | None = None, secret: Secret | None = None) -> Info:
    """The description of a folder, on the disk or on a store, for `entasis.info`."""
    found, manifest = _of(folder, store, secret)
    columns: list[dict[str, Any]] = []
    table = Table(found, fills=False, manifest=manifest)
    if found.paths:
        view = table.first
        columns = [{"name": name, "type": kind} for name, kind in zip(*view.schema(), strict=True)]
    if found.pins is None:
        of_each = (view.n_rows if isinstance(view, View) else _raised(view) for _, view in _opened(table))
        facts = [(n_rows, found.length(number)) for number, n_rows in enumerate(of_each)]
    else:
        facts = [(pin.n_rows, pin.length) for pin in found.pins]
    listed = [
        {"path": path, "n_rows": n_rows, "file_len": length}
        for path, (n_rows, length) in zip(found.paths, facts, strict=True)
    ]
    items: dict[str, Any] = {
        "n_rows": sum(each["n_rows"] for each in listed),
        "n_columns": len(columns) + len(found.keys.names),
        "n_files": len(listed),
        "file_len": sum(each["file_len"] for each in listed),
        "manifest": None if manifest is None else manifest.number,
        "columns": columns,
        "keys": [{"name": name, "type": kind} for name, kind in zip(found.keys.names, found.keys.types, strict=True)],
        "files": listed,
        "encryption": _cipher(found),
    }
    return Info(items)


def _cipher(found: Files) -> str | None:
    """The cipher of encrypted files; None for plain ones."""
    if not found.paths or (found.secret is None and not in_environment()):
        return None
    source: Any = found.source(0)
    keys = _entasis.keys_of(source)
    return None if keys is None else str(keys["cipher"])


def _opened(table: Table) -> Iterator[tuple[int, View | EntasisError]]:
    """Each file, or its error. On a store the next files are opened meanwhile."""

    def one(number: int) -> list[tuple[int, View | EntasisError]]:
        try:
            return [(number, table.alone(number))]
        except EntasisError as error:
            return [(number, error)]

    numbers = range(len(table.files.paths))
    if table.files.store is None:
        return (pair for number in numbers for pair in one(number))
    return in_turn((partial(one, number) for number in numbers), OPENED, OPENED)


def _raised(error: EntasisError) -> Never:
    raise error


def verify(
    folder: str,
    threads: int | None,
    show: Callable[[int, int | None], Any] | None,
    store: Folder | None = None,
    secret: Secret | None = None,
) -> Report:
    """Check every byte of the files of a folder, on the disk or on a store, for `entasis.verify`."""
    found, manifest = _of(folder, store, secret)
    table = Table(found, fills=False, manifest=manifest)
    paths = list(found.paths)
    bad: list[tuple[str, str]] = []
    total = [0] * len(Report._fields)
    known, types = [], {}
    if manifest is not None:
        paths.append(manifest.path)
        known, types = _manifest.known(manifest), dict(zip(manifest.names, manifest.types, strict=True))
    later, is_tampered = [], False
    of_the_manifest = [] if manifest is None else [(len(found.paths), manifest.file._view)]
    for number, view in chain(_opened(table), of_the_manifest):
        path = paths[number]
        if show is not None:
            show(number, len(paths))
        try:
            if not isinstance(view, View):
                raise view
            # The object of a store that was opened.
            source: Any = path if store is None else view.table.content
            is_of_table = number < len(found.paths)
            handle = _entasis.Handle(source, None, True, _known(found.secret))
            if is_of_table and found.pins is not None:
                length = _length(source) if found.secret is None else _inner_length(handle)
                if length != found.pins[number].length:
                    later.append(path)
            report = handle.verify(threads, False, None)
            if is_of_table and manifest is not None:
                # The statistics of the file are right, since they were compared with its values.
                hidden = hiding(view, types, known[number].bounds)
                if hidden is not None:
                    bad.append((path, f"filters on column {shown(hidden)} miss rows by the bounds of the manifest"))
                    continue
        except WrongKeyError:
            raise
        except EntasisError as damage:
            is_tampered |= isinstance(damage, TamperedError)
            if store is not None and isinstance(damage, FileError) and not isinstance(damage, MissingFileError):
                # The store can't be read, which says nothing about the files.
                raise
            bad.append((path, str(damage)))
            continue
        total = [n + report[name] for n, name in zip(total, Report._fields, strict=True)]
    if show is not None:
        show(len(paths), len(paths))
    if later:
        warnings.warn(
            f"{len(later)} files were changed after the manifest named them, such as {shown(later[0], 200)}: their new "
            "rows are not in the table",
            stacklevel=4,
        )
    if bad:
        rest = f"; {len(bad) - _LISTED} other files" if len(bad) > _LISTED else ""
        named = "; ".join(f"{shown(path, 200)}: {said}" for path, said in bad[:_LISTED])
        what = "were changed by someone without the key, or are damaged" if is_tampered else "are damaged"
        kind = TamperedError if is_tampered else CorruptFileError
        error = kind(f"{len(bad)} of {len(paths)} files of {shown(folder, 200)} {what}: {named}{rest}")
        error.file = bad[0][0]
        raise error
    return Report(*total)


def _inner_length(handle: _entasis.Handle) -> int:
    """The bytes of an encrypted file before encryption, up to the end of its newest generation."""
    at, end = handle.fingerprint()
    return at + len(end)


def _length(source: Any) -> int:
    return os.path.getsize(source) if isinstance(source, str) else int(source.size)


def compact(
    folder: str,
    rows_per_file: Any,
    durable: bool | None,
    wait: float,
    show: Callable[[int, int | None], Any] | None,
    store: Folder | None = None,
    secret: Secret | None = None,
) -> None:
    """Join the files with the same keys, for `entasis.compact`. `show` is called with rows."""
    most = _write.most_rows(rows_per_file)
    if store is not None:
        _write.check_creates(store)
    before = _manifest.newest(folder, store, secret)
    if before is None:
        raise _manifest.missing(folder)
    found, known = of_manifest(before), _manifest.known(before)
    if not known:
        return
    table = Table(found, fills=False)
    if table.first.written_by == "r":
        raise ArgumentError(f"the files of {shown(folder, 200)} were written from R: compact them from there")
    has_counted = is_counted(table, to_store_again(table.first.written_by))
    # Files whose labels count rows stay apart from those after them whose labels are stored.
    counted = [has_counted and table.first_label(number) is not None for number in range(len(known))]
    groups: dict[tuple[Any, ...], list[int]] = {}
    for number, part in enumerate(known):
        groups.setdefault((part.texts, counted[number]), []).append(number)
    lengths = [part.n_rows for part in known]
    runs = [run for numbers in groups.values() for run in _runs(numbers, lengths, most)]
    if not runs:
        return
    with ExitStack() as copies:
        local = folder
        if store is not None:
            local = copies.enter_context(tempfile.TemporaryDirectory(prefix="entasis-"))
        durable = durable is not False and store is None
        to = destination(None, None, None, durable, wait, secret=_of_manifest(before))
        job = Job(local, secrets.token_hex(8), [], {}, to, None, store)
        try:
            found_parts = _rewritten(job, table, known, runs, counted, most, show)
            _write.commit(folder, job, found_parts, before, "compact", wait, durable, store)
        except BaseException:
            job.abort()
            raise


def _rewritten(
    job: Job,
    table: Table,
    known: list[FileFacts],
    runs: list[list[int]],
    counted: list[bool],
    most: int | None,
    show: Callable[[int, int | None], Any] | None,
) -> list[FileFacts]:
    """Write runs of files anew, and return the facts of all files of the table.

    Parameters
    ----------
    known
        The facts of the files before.
    runs
        The numbers of the files of each run.
    counted
        Whether the labels of each file count rows.
    most
        The greatest number of rows of a file; None for any number.
    """
    lengths = [part.n_rows for part in known]
    kept = [[part] for part in known]
    done, total = 0, sum(lengths[number] for run in runs for number in run)
    step = None if show is None else Steady(show, total)
    for run in runs:
        n = sum(lengths[number] for number in run)
        path, texts = known[run[0]].path.rpartition("/")[0], known[run[0]].texts
        # Keys are not in the files.
        query = Query(Table(table.files.of(run)._replace(keys=NONE), fills=False))
        for number in run:
            kept[number] = []
        for start in range(0, n, most or n or 1) or [0]:
            rows = min(most or n, n - start)
            # Rows are read, and then written.
            reading, writing = (
                None if step is None else step.share(2 * done + before_it, rows, 2 * total) for before_it in (0, rows)
            )
            rows_of = query if most is None else query._replace(rows=(start, start + rows))
            frame = read_to_store(rows_of, reading, is_counted=counted[run[0]])
            kept[run[0]].append(job.whole(frame, path, texts, writing))
            done += rows
            if step is not None:
                step(done, total)
    return [part for parts in kept for part in parts]


def _runs(numbers: list[int], lengths: list[int], most: int | None) -> list[list[int]]:
    """The files to write anew: neighbours whose rows fill whole files. Files that stay are left out.

    Parameters
    ----------
    numbers
        The numbers of the files.
    lengths
        The number of rows of each file of the table.
    most
        The greatest number of rows of a file; None for any number.
    """
    runs: list[list[int]] = [[]]
    n = 0
    for number in numbers:
        runs[-1].append(number)
        n += lengths[number]
        if most is not None and n and n % most == 0:
            runs.append([])
            n = 0
    return [run for run in runs if len(run) > 1 or (most is not None and any(lengths[i] > most for i in run))]
