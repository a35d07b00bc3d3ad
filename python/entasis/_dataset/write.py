"""Writes folders of files, and changes which files are their tables."""

from __future__ import annotations

import os
import secrets
import tempfile
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Literal

from entasis import _entasis
from entasis._arguments import progress as _progress
from entasis._arguments import sources as _sources
from entasis._arguments.options import integer, shown
from entasis._arguments.secrets import refuse_encrypted
from entasis._file.opened import Opened
from entasis._grow.writer import batches
from entasis._memory import reported
from entasis._write import destination
from entasis.errors import ArgumentError, ConflictError, ExistingFileError, WrongKeyError

from . import manifest as _manifest
from .files import on_store
from .files_of_job import Job, is_of_job
from .scan import FolderScan

if TYPE_CHECKING:
    import os as _os
    from collections.abc import Callable, Iterable, Mapping

    from entasis._arguments.secrets import AnyKey, Secret
    from entasis._entasis import Key, Password
    from entasis._stores.listing import Folder

    from .manifest import Manifest
    from .part import FileFacts

# The pauses between attempts to commit, in seconds.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.25


def write_dataset(
    value: Any,
    folder: str | _os.PathLike[str],
    *,
    partition_by: str | Iterable[str] | None = None,
    rows_per_file: int | None = None,
    mode: Literal["error", "append", "overwrite"] = "error",
    compression: int | Mapping[str, int] | Mapping[str | None, int] | None = None,
    threads: int | None = None,
    durable: bool | None = None,
    wait: float = 10,
    progress: bool | Callable[..., Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    credentials: Callable[[], Any] | None = None,
    key: AnyKey | Literal[False] | None = None,
    password: str | None = None,
    hive: bool | None = None,
) -> None:
    """Write a table into a folder of files, with a manifest that says which files these are.

    Readers see the table before or after the call, never a part of it: the manifest is created
    last, and only if no other job created one with its number.

    Parameters
    ----------
    value
        A frame, an open file, a scan, an Arrow stream, or an iterable of frames. All rows have the
        columns and types of the first ones.
    folder
        The folder, which is made; or its address on a store, such as `s3://lake/sales`. Files are
        written to the disk first, and sent one by one. This needs obstore, by which the store
        creates a manifest only if none has its number.
    partition_by
        The names of columns that become keys: folders `key=value` in the names of the files. Their
        values are integers, dates or text; None is missing. The columns are not in the files.
    rows_per_file
        The greatest number of rows of a file. None writes one file for each combination of keys.
    mode
        "error" if the folder has files, "append" to add rows to the table, or "overwrite" to
        replace the table. Replaced files stay until `clean`.
    compression, threads
        As for `write`.
    durable
        Whether to force the files to the disk before the manifest, and then the manifest. None does
        so if the folder has a table already.
    wait
        For how many seconds an append is tried again after other jobs committed.
    progress
        True shows a bar after one second. A function is called with the number of rows that were
        written, with that of all rows or None, and with `unit="rows"`. An exception of the function
        ends the job.
    storage_options, credentials
        Options of a store, as for `read`.
    key, password
        What encrypts the files and the manifest of a new table, as for `write`, and opens those of
        a table that is there, as for `read`. A password is derived once. A table that is replaced
        need not open.
    hive
        Whether paths have the values of keys, as `key=value`. None means those of plain tables:
        the keys of an encrypted one are in its manifest alone.

    Raises
    ------
    ExistingFileError
        The folder has files, and `mode="error"`.
    ConflictError
        Another job changed the table since this one began, and rows would be lost; or `wait` is
        over.
    ArgumentError
        Rows have other columns or types than the table, or other keys.
    ColumnNotFoundError
        No column has the name of a key.
    UnsupportedTypeError
        A key has floats or other values that are not text, integers or dates.

        After any error the table is unchanged, and the files of the job are removed.

    Notes
    -----
    At most 256 files are written at a time, with memory for some batches of each.

    Examples
    --------
    >>> frame = pl.DataFrame({"city": ["Oslo", "Rome", "Oslo"], "price": [3, 5, 4]})
    >>> en.write_dataset(frame, "prices", partition_by="city")
    >>> en.scan("prices").filter(en.col("city") == "Oslo").read()["price"].to_list()
    [3, 4]
    >>> en.write_dataset(pl.DataFrame({"city": ["Bern"], "price": [4]}), "prices", mode="append")
    >>> en.scan("prices").count()
    4
    """
    with reported, ExitStack() as copies:
        path, store = place(folder, storage_options, credentials)
        local = None if store is None else copies.enter_context(tempfile.TemporaryDirectory(prefix="entasis-"))
        check_mode(mode)
        rows = most_rows(rows_per_file)
        given = _given(key, password)
        before = before_job(path, mode, store, given, replaces=key is not None or password is not None)
        secret = _secret_of_job(before, None if key is False else given, keeps=key is not False or mode == "append")
        check = refuse_encrypted if secret is None and key is None else None
        # A manifest on the disk must not name files that a power failure took away.
        durable = True if durable is None and before is not None else durable
        durable = durable if store is None else False
        to = destination(None, compression, threads, durable, wait, secret=secret)
        keys = keys_of_job(partition_by, before, mode)
        names_keys = secret is None if hive is None else hive
        job = Job(local or path, secrets.token_hex(8), keys, {}, to, rows, store, names_keys=names_keys)
        try:
            if before is not None and mode == "append":
                job.types = before.keys.typed()
                if (declared := declaration(before)) is not None:
                    head, host, free, is_counted = declared
                    job.declare(head, host, free, is_counted=is_counted)
            with _progress.shown(progress, "writing", "rows") as show:
                n, total = 0, _length(value)
                for frame in _frames(value, check):
                    n += job.add(frame)
                    if show is not None:
                        show(n, total)
            found = job.finish()
            commit(path, job, found, before, mode, wait, durable, store)
        except BaseException:
            job.abort()
            raise


def _given(key: Any, password: Any) -> Secret | None:
    if (key is None or key is False) and password is None:
        return None
    from entasis._arguments.secrets import given

    return given(None if key is False else key, password)


def _secret_of_job(before: Manifest | None, given: Secret | None, *, keeps: bool) -> Key | Password | None:
    """The secret of the files of a job. With `keeps`, a table stays encrypted."""
    is_kept = before is not None and before.secret is not None and (given is not None or keeps)
    if given is None and not is_kept:
        return None
    from .secrets import of_manifest, of_new_data_set

    return of_manifest(before) if before is not None and is_kept else of_new_data_set(given)


def place(
    folder: Any, storage_options: Mapping[str, Any] | None, credentials: Callable[[], Any] | None
) -> tuple[str, Folder | None]:
    """The path of a folder, and the folder on a store if the path is an address."""
    if not _sources.is_address(folder):
        _sources.refuse_options(storage_options, credentials)
        return _sources.path(folder), None
    from entasis._stores.listing import Folder

    store = Folder.at(str(folder), storage_options, credentials)
    check_creates(store)
    return store.name, store


def check_creates(store: Folder) -> None:
    """Refuse a store on which two jobs could replace each other's manifests."""
    if not store.can_create:
        raise ArgumentError(
            f"{store.name}: by this library two jobs could replace each other's manifest: pip install 'entasis[cloud]'"
        )


def check_mode(mode: Any) -> None:
    """Check what happens to a table that is there."""
    if mode not in ("error", "append", "overwrite"):
        raise ArgumentError(f"mode={shown(mode)}: 'error', 'append' or 'overwrite'")


def keys_of_job(partition_by: Any, before: Manifest | None, mode: str) -> list[str]:
    """The names of the keys. An append has those of the table."""
    keys = _names(partition_by)
    if before is None or mode != "append":
        return keys
    known = before.keys.names
    if partition_by is not None and keys != known:
        raise ArgumentError(f"partition_by={shown(tuple(keys))}: the keys of the table are {shown(tuple(known))}")
    return known


def most_rows(rows_per_file: Any) -> int | None:
    """Check the greatest number of rows of a file; None for any number."""
    rows = None if rows_per_file is None else integer(rows_per_file)
    if rows_per_file is not None and (rows is None or rows < 1):
        raise ArgumentError(f"rows_per_file={shown(rows_per_file)}: one row or more")
    return rows


def _names(partition_by: Any) -> list[str]:
    if partition_by is None:
        return []
    names = [partition_by] if isinstance(partition_by, str) else list(partition_by)
    for name in names:
        if not isinstance(name, str):
            raise ArgumentError(f"partition_by: {shown(name)} is not the name of a column")
    if len(set(names)) < len(names):
        raise ArgumentError(f"partition_by: a column is named twice in {shown(tuple(names))}")
    return names


def before_job(
    folder: str, mode: str, store: Folder | None, secret: Secret | None = None, *, replaces: bool = False
) -> Manifest | None:
    """The manifest of the folder before the job; None if the folder has no table.

    With `replaces`, one that is overwritten need not open.
    """
    if mode == "error" and _manifest.exists(folder, store):
        raise ExistingFileError(
            f"{shown(folder, 200)} has a data set: mode='append' adds rows to it, and mode='overwrite' replaces it"
        )
    opening = _manifest.replaced if replaces and mode == "overwrite" else _manifest.newest
    found = opening(folder, store, secret)
    if found is None:
        if store is not None:
            every = [entry.path for entry in on_store(store)]
        else:
            every = _entasis.folder_files(folder) if os.path.isdir(folder) else []
        # Files of jobs that did not commit, or not yet, are not in the way.
        names = [name for name in every if not is_of_job(name)]
        if names:
            raise ExistingFileError(
                f"{shown(folder, 200)} has other files than a data set, such as {shown(names[0])}: name another folder"
            )
    return found


def _frames(value: Any, check: Callable[[Any], None] | None) -> Any:
    """The frames of a value. `check` is called with the value, and with those that it yields."""
    if isinstance(value, FolderScan):
        if check is not None:
            check(value)
        return value.batches(1 << 20)
    if isinstance(value, list) and value and not isinstance(value[0], dict):
        value = iter(value)
    if isinstance(value, Opened) or not isinstance(value, str):
        return batches(value, None, check)
    raise ArgumentError(f"{shown(value)} is not a frame")


def _length(value: Any) -> int | None:
    """The number of rows of a value, if it is known without reading."""
    if isinstance(value, FolderScan) or not hasattr(value, "__len__") or isinstance(value, (list, dict)):
        return None
    return len(value)


def declaration(before: Manifest) -> tuple[Any, str, list[str], bool] | None:
    """The columns that an append has to fit, without rows, as `Job.declare` takes them.

    None if the table has no files, so that any columns fit.
    """
    from .files import of_manifest
    from .query import Query
    from .read import is_counted, read
    from .table import Table

    if not before.file.n_rows:
        return None
    table = Table(of_manifest(before), fills=False)
    host = table.first.written_by
    if host is None or host == "r":
        raise ArgumentError(f"the files were not written from Python: append to {shown(before.folder, 200)} from there")
    typed = before.keys.typed()
    free = [name for name in before.keys.names if name not in typed]
    head = read(Query(table).limited(0), host, None, index=True)
    counted = is_counted(table, host) and table.first_label(len(table.files.paths) - 1) is not None
    return head, host, free, counted


def commit(
    folder: str,
    job: Job,
    found: list[FileFacts],
    before: Manifest | None,
    mode: str,
    wait: float,
    durable: bool | None,
    store: Folder | None = None,
) -> None:
    """Create a manifest with the files of a job, and for an append with those before.

    Raises
    ------
    ConflictError
        Another job committed since `before`, and an append can't follow it.
    """
    until, pause = time.monotonic() + wait, _FIRST_PAUSE
    while True:
        names, types = _columns(folder, found, before, store, job.secret)
        keys = [(key, job.types.get(key, "string")) for key in job.keys]
        if before is not None and mode == "compact":
            keys = list(zip(before.keys.names, before.keys.types, strict=True))
        old = _manifest.known(before) if before is not None and mode == "append" else []
        if before is not None and mode == "append":
            if before.file.n_rows and (before.names, before.types) != (names, types) and found:
                raise ArgumentError("another job changed the columns of the table: write the rows again")
            if before.file.n_rows or not found:
                names, types = before.names, before.types
            if before.file.n_rows:
                typed = before.keys.typed()
                is_other = any(typed.get(name, kind) != kind for name, kind in job.types.items())
                if found and (before.keys.names != job.keys or is_other):
                    raise ArgumentError("another job changed the keys of the table: write the rows again")
                # A key without values takes the type of the first one.
                every = zip(before.keys.names, before.keys.types, strict=True)
                keys = [(name, {**job.types, **typed}.get(name, kind)) for name, kind in every]
        number = 0 if before is None else before.number + 1
        try:
            _manifest.store(
                folder, number, job.name, names, types, keys, [*old, *found], durable, mode, store, job.secret
            )
        except ExistingFileError:
            if _is_of(folder, number, store, job):
                # The answer to an earlier attempt was lost.
                return
            if mode != "append":
                raise ConflictError(
                    f"another job changed {shown(folder, 200)} meanwhile, and its rows would be lost: try again"
                ) from None
            if time.monotonic() > until:
                raise ConflictError(f"other jobs changed {shown(folder, 200)} for longer than wait={wait}") from None
            time.sleep(pause * (0.5 + secrets.randbelow(1000) / 1000))
            pause = min(2 * pause, _LONGEST_PAUSE)
            before = _manifest.newest(folder, store, job.secret)
            if before is not None and (before.secret is None) != (job.secret is None):
                state = "an encrypted" if job.secret is None else "a plain"
                raise ConflictError(
                    f"another job replaced {shown(folder, 200)} by {state} table: write the rows again"
                ) from None
            continue
        return


def _is_of(folder: str, number: int, store: Folder | None, job: Job) -> bool:
    """Whether a manifest is that of a job."""
    try:
        return _manifest.opened(folder, number, store, None, job.secret).job == job.name
    except (WrongKeyError, ArgumentError):
        # Another job encrypted it otherwise, or not at all.
        return False


def _columns(
    folder: str,
    found: list[FileFacts],
    before: Manifest | None,
    store: Folder | None,
    secret: Key | Password | None,
) -> tuple[list[str], list[str]]:
    """The names and types of the columns of files."""
    from entasis._open import open_value

    if not found:
        return ([], []) if before is None else (before.names, before.types)
    path = found[0].path
    file: Any = open_value(os.path.join(folder, *path.split("/")) if store is None else store.open(path), secret)
    names, types = file._view.schema()
    return list(names), list(types)
