"""Deletes files of a folder that are not in its table any more."""

from __future__ import annotations

import datetime
import os
import re
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from entasis import _entasis
from entasis._arguments import sources as _sources
from entasis._arguments.options import shown
from entasis._memory import reported
from entasis.errors import ArgumentError, WrongKeyError

from . import manifest as _manifest
from .files import on_store
from .files_of_job import is_of_job
from .paths import is_linked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

    from entasis._arguments.secrets import AnyKey, Secret
    from entasis._stores.listing import Folder

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_DURATION = re.compile(r"(\d+)([smhd])")
# How many objects are deleted at the same time.
_AT_ONCE = 8


class _Found(NamedTuple):
    """The files of jobs in a folder by their paths in it, and manifests by their numbers.

    The values are the times of the last change, in seconds since 1970.
    """

    files: dict[str, float]
    manifests: dict[int, float]


def clean(
    folder: str | PathLike[str],
    *,
    older_than: str | datetime.timedelta = "7d",
    storage_options: Mapping[str, Any] | None = None,
    credentials: Callable[[], Any] | None = None,
    key: AnyKey | None = None,
    password: str | None = None,
) -> list[str]:
    """Delete files of a data set that are not in its table any more.

    Jobs that overwrite or compact a table leave the files before, so that readers which began
    before them can go on. Jobs that were killed leave files too.

    Parameters
    ----------
    folder
        The folder of a data set, or its address on a store, such as `s3://lake/sales`.
    older_than
        How long files stay after they left the table, and files of jobs after they were written:
        a timedelta, or a number with "s", "m", "h" or "d". It has to be longer than the longest
        job and the longest reading. On a store, ages are by the times that the store reports.
    storage_options, credentials
        Options of a store, as for `read`.
    key, password
        What opens encrypted manifests, as for `read`.

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
    FileError
        The disk or the store refused. Files that were not deleted yet stay, and the table is whole.

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
        cutoff = time.time() - _seconds(older_than)
        secret = None
        if key is not None or password is not None:
            from entasis._arguments.secrets import given

            secret = given(key, password)
        if _sources.is_address(folder):
            from concurrent.futures import ThreadPoolExecutor

            from entasis._stores.listing import Folder

            store = Folder.at(str(folder), storage_options, credentials)
            files, manifests = _old(store.name, _on_store(store), cutoff, store, secret)
            with ThreadPoolExecutor(_AT_ONCE, "entasis-clean") as pool:
                for names in (files, manifests):
                    list(pool.map(store.delete, names))
            return [_manifest.joined(store.name, name) for name in (*files, *manifests)]
        _sources.refuse_options(storage_options, credentials)
        path = _sources.path(folder)
        files, manifests = _old(path, _on_disk(path), cutoff, None, secret)
        removed = [os.path.join(path, *name.split("/")) for name in (*files, *manifests)]
        for whole in removed:
            os.remove(whole)
        return removed


def _old(
    folder: str, found: _Found, cutoff: float, store: Folder | None = None, secret: Secret | None = None
) -> tuple[list[str], list[str]]:
    """The files and the manifests to delete, by their paths in the folder.

    Manifests go last: a file that none names any more is an orphan.
    """
    if not found.manifests:
        raise _manifest.missing(folder)
    newest = max(found.manifests)
    table = _opened(folder, newest, store, secret)
    named, old = set(table.column("path")), []
    for number, following in pairwise(sorted(found.manifests)):
        # A manifest was the table until the next one was created.
        if found.manifests[following] <= cutoff:
            old.append(_manifest.within(number))
            continue
        try:
            named.update(_opened(folder, number, store, table.secret or secret).column("path"))
        except WrongKeyError:
            # It was encrypted otherwise, and may name any file.
            return [], old
    return [name for name, time in found.files.items() if name not in named and time <= cutoff], old


def _opened(folder: str, number: int, store: Folder | None, secret: Secret | None) -> _manifest.Manifest:
    """Open a manifest, which may be plain while others of the folder are encrypted."""
    try:
        return _manifest.opened(folder, number, store, None, secret)
    except ArgumentError:
        return _manifest.opened(folder, number, store)


def _on_disk(folder: str) -> _Found:
    manifests = {number: os.path.getmtime(_manifest.path_of(folder, number)) for number in _manifest.numbers(folder)}
    files = {}
    for name in _entasis.folder_files(folder) if manifests else []:
        whole = os.path.join(folder, *name.split("/"))
        # A link leads to another data set, or to a file of this one by another name.
        if is_of_job(name) and not is_linked(folder, whole):
            files[name] = os.path.getmtime(whole)
    return _Found(files, manifests)


def _on_store(store: Folder) -> _Found:
    # Manifests are listed last, as one that is created meanwhile names files of the first list.
    files = {entry.path: entry.modified for entry in on_store(store) if is_of_job(entry.path)}
    entries = _manifest.on_store(store.name, store)
    return _Found(files, {number: entry.modified for number, entry in entries.items()})


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
