"""Describes, verifies, compacts and cleans folders of files."""

from __future__ import annotations

import datetime
import os
import re
import secrets
import time
import warnings
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from entasis import _entasis
from entasis._arguments import sources as _sources
from entasis._arguments.options import shown
from entasis._arguments.progress import Steady
from entasis._file.file import File
from entasis._file.info import Info, Report
from entasis._libraries.registry import to_store_again
from entasis._memory import reported
from entasis._write import destination
from entasis.errors import ArgumentError, CorruptFileError, EntasisError

from . import manifest as _manifest
from . import write as _write
from .bounds import hiding
from .files import Files, files, of_manifest
from .files_of_job import Job, is_of_job
from .keys import NONE
from .paths import is_linked
from .query import Query
from .read import is_counted, read_to_store
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from .manifest import Manifest

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_DURATION = re.compile(r"(\d+)([smhd])")
# The most files that an error lists.
_LISTED = 10


def _of(folder: str) -> tuple[Files, Manifest | None]:
    found = _manifest.newest(folder)
    return (of_manifest(found), found) if found is not None else files(folder, None)


def info(folder: str) -> Info:
    """The description of a folder, for `entasis.info`."""
    found, manifest = _of(folder)
    columns: list[dict[str, Any]] = []
    if found.paths:
        view = Table(found, fills=False, manifest=manifest).first
        columns = [{"name": name, "type": kind} for name, kind in zip(*view.schema(), strict=True)]
    listed = []
    for number, path in enumerate(found.paths):
        pin = None if found.pins is None else found.pins[number]
        n_rows, length = (pin.n_rows, pin.length) if pin else (len(File(path)), os.path.getsize(path))
        listed.append({"path": path, "n_rows": n_rows, "file_len": length})
    items: dict[str, Any] = {
        "n_rows": sum(each["n_rows"] for each in listed),
        "n_columns": len(columns) + len(found.keys.names),
        "n_files": len(listed),
        "file_len": sum(each["file_len"] for each in listed),
        "manifest": None if manifest is None else manifest.number,
        "columns": columns,
        "keys": [{"name": name, "type": kind} for name, kind in zip(found.keys.names, found.keys.types, strict=True)],
        "files": listed,
    }
    return Info(items)


def verify(folder: str, threads: int | None, show: Callable[[int, int | None], Any] | None) -> Report:
    """Check every byte of the files of a folder, for `entasis.verify`."""
    found, manifest = _of(folder)
    table = Table(found, fills=False, manifest=manifest)
    paths = list(found.paths)
    bad: list[tuple[str, str]] = []
    total = [0] * len(Report._fields)
    known, types = [], {}
    if manifest is not None:
        paths.append(manifest.path)
        known, types = _manifest.known(manifest), dict(zip(manifest.names, manifest.types, strict=True))
    later = []
    for number, path in enumerate(paths):
        if show is not None:
            show(number, len(paths))
        try:
            if number < len(found.paths):
                view = table.alone(number)
                if found.pins is not None and os.path.getsize(path) != found.pins[number].length:
                    later.append(path)
            report = _entasis.Handle(path, None, True).verify(threads, False, None)
            if number < len(found.paths) and manifest is not None:
                # The statistics of the file are right, since they were compared with its values.
                hidden = hiding(view, types, known[number].bounds)
                if hidden is not None:
                    bad.append((path, f"filters on column {shown(hidden)} miss rows by the bounds of the manifest"))
                    continue
        except EntasisError as damage:
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
        error = CorruptFileError(f"{len(bad)} of {len(paths)} files of {shown(folder, 200)} are damaged: {named}{rest}")
        error.file = bad[0][0]
        raise error
    return Report(*total)


def compact(
    folder: str,
    rows_per_file: Any,
    durable: bool | None,
    wait: float,
    show: Callable[[int, int | None], Any] | None,
) -> None:
    """Join the files with the same keys, for `entasis.compact`. `show` is called with rows."""
    most = _write.most_rows(rows_per_file)
    before = _manifest.newest(folder)
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
    kept = [[part] for part in known]
    durable = durable is not False
    job = Job(folder, secrets.token_hex(8), [], {}, destination(None, None, None, durable, wait), None)
    try:
        done, total = 0, sum(lengths[number] for run in runs for number in run)
        step = None if show is None else Steady(show, total)
        for run in runs:
            n = sum(lengths[number] for number in run)
            path, texts = known[run[0]].path.rpartition("/")[0], known[run[0]].texts
            # Keys are not in the files.
            query = Query(Table(found.of(run)._replace(keys=NONE), fills=False))
            for number in run:
                kept[number] = []
            for start in range(0, n, most or n or 1) or [0]:
                rows = min(most or n, n - start)
                # Rows are read, and then written.
                reading, writing = (
                    None if step is None else step.share(2 * done + before_it, rows, 2 * total)
                    for before_it in (0, rows)
                )
                rows_of = query if most is None else query._replace(rows=(start, start + rows))
                kept[run[0]].append(
                    job.whole(read_to_store(rows_of, reading, is_counted=counted[run[0]]), path, texts, writing)
                )
                done += rows
                if step is not None:
                    step(done, total)
        found_parts = [part for parts in kept for part in parts]
        _write.commit(folder, job, found_parts, before, "compact", wait, durable)
    except BaseException:
        job.abort()
        raise


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


def clean(folder: str | PathLike[str], *, older_than: str | datetime.timedelta = "7d") -> list[str]:
    """Delete files of a data set that are not in its table any more.

    Jobs that overwrite or compact a table leave the files before, so that readers which began
    before them can go on. Jobs that were killed leave files too.

    Parameters
    ----------
    folder
        The folder of a data set.
    older_than
        How long files stay after they left the table, and files of jobs after they were written:
        a timedelta, or a number with "s", "m", "h" or "d". It has to be longer than the longest
        job and the longest reading.

    Returns
    -------
    list of str
        The paths that were deleted.

    Raises
    ------
    MissingFileError
        The folder has no manifest.
    ArgumentError
        The duration is negative or not known.

    Examples
    --------
    >>> for price in (3, 5):
    ...     en.write_dataset(pl.DataFrame({"price": [price]}), "prices", mode="overwrite")
    >>> len(en.clean("prices")), len(en.clean("prices", older_than="0s"))
    (0, 2)
    >>> en.read("prices")["price"].to_list()
    [5]
    """
    with reported:
        path = _sources.path(folder)
        cutoff = time.time() - _seconds(older_than)
        newest = _manifest.newest(path)
        if newest is None:
            raise _manifest.missing(path)
        named, old = set(newest.column("path")), []
        for number, following in pairwise(_manifest.numbers(path)):
            # A manifest was the table until the next one was created.
            if os.path.getmtime(_manifest.path_of(path, following)) > cutoff:
                named.update(_manifest.opened(path, number).column("path"))
            else:
                old.append(_manifest.path_of(path, number))
        removed = []
        for name in _entasis.folder_files(path):
            whole = os.path.join(path, *name.split("/"))
            if not is_of_job(name) or name in named or is_linked(path, whole):
                # A link leads to another data set, or to a file of this one by another name.
                continue
            if os.path.getmtime(whole) <= cutoff:
                os.remove(whole)
                removed.append(whole)
        # Manifests go last: a file that none names any more is an orphan.
        for whole in old:
            os.remove(whole)
            removed.append(whole)
        return removed


def _seconds(older_than: Any) -> float:
    if isinstance(older_than, datetime.timedelta):
        seconds = older_than.total_seconds()
    else:
        found = _DURATION.fullmatch(older_than) if isinstance(older_than, str) else None
        if found is None:
            raise ArgumentError(
                f"older_than={shown(older_than)}: a timedelta, or a text such as '7d', '12h', '30m', '0s'"
            )
        seconds = datetime.timedelta(**{_UNITS[found[2]]: int(found[1])}).total_seconds()
    if seconds < 0:
        raise ArgumentError(f"older_than={shown(older_than)}: it is not negative")
    return seconds
