"""The public functions that describe, verify and repair files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _entasis
from ._arguments import options as _options
from ._arguments import sources as _sources
from ._arguments.options import threads as _threads
from ._file.file import File
from ._file.info import Info, Report
from ._memory import reported
from ._write import destination
from .errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import timedelta
    from os import PathLike

    from ._arguments.secrets import AnyKey, Secret
    from ._arguments.sources import Source
    from ._damage import Damage
    from ._typing import Limits


def info(
    path: Source,
    *,
    limits: Limits | None = None,
    storage_options: Mapping[str, Any] | None = None,
    credentials: Callable[[], Any] | None = None,
    key: AnyKey | None = None,
    password: str | None = None,
) -> Info:
    """Describe how a file is stored: the size, encodings and missing values of each column.

    Of a folder of files, on the disk or at an address, it has the columns, keys and files.

    Parameters
    ----------
    path, limits, storage_options, credentials, key, password
        As for `read`.

    Returns
    -------
    Info
        The description. Its items are attributes, and `to_dict` returns all of them.

    Examples
    --------
    >>> en.write(pd.DataFrame({"a": [1, 2, 3]}), "table.entasis")
    >>> en.info("table.entasis").n_rows
    3
    """
    with reported:
        import json

        if (folder := _sources.folder(path)) is not None:
            from ._dataset import maintain

            _sources.refuse_options(storage_options, credentials)
            return maintain.info(folder, secret=_secret(key, password))
        store = _sources.folder_on_store(path, storage_options, credentials, may_be_file=True)
        if store is not None:
            from ._dataset import maintain

            return maintain.info(store.name, store, _secret(key, password))
        source = _sources.source_of_ranges(_sources.remote(path, storage_options, credentials))
        file = File(source, limits=limits, key=key, password=password)
        items = json.loads(file._view.handle.info()) | {"metadata": file.metadata}
        return Info(items | {"keep": _kept(items.get("keep"))})


def _secret(key: Any, password: Any) -> Secret | None:
    """The key or password of an encrypted file."""
    if key is None and password is None:
        return None
    from ._arguments.secrets import given

    return given(key, password)


def _known(key: Any, password: Any) -> _entasis.Key | _entasis.Password | None:
    """As `_secret`, after a function was called."""
    if key is None and password is None:
        return None
    from ._arguments.secrets import of

    return of(key, password)


def _kept(keep: dict[str, int] | None) -> int | timedelta | None:
    """The wish of a file, in the form in which `entasis.keep` takes it."""
    from datetime import timedelta

    if keep is None:
        return None
    return keep["generations"] if "generations" in keep else timedelta(microseconds=keep["nanoseconds"] // 1000)


def verify(
    path: Source,
    *,
    threads: int | None = None,
    limits: Limits | None = None,
    generation: int | None = None,
    progress: bool | Callable[..., Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    credentials: Callable[[], Any] | None = None,
    key: AnyKey | None = None,
    password: str | None = None,
) -> Report:
    """Check every byte of a file, in all generations that can be read.

    Bytes that generations share are checked once. Bytes left by a change that was interrupted, or
    still goes on, don't count as damage: `leftover_len` of the report is their number.

    Of a folder, on the disk or at an address, all files are checked, and that its manifest says the
    truth: which files these are, their rows, and bounds that leave out no value. The report has
    their sums. A warning names files that were changed after the manifest named them.

    Parameters
    ----------
    path, limits, storage_options, credentials, key, password
        As for `read`.
    threads
        The number of threads. None means one per processor.
    generation
        The number of the one generation to check (`entasis.generations` lists them). None checks
        all.
    progress
        True shows a bar after one second. A function is called with the bytes that were checked,
        with all bytes, and with `unit="bytes"`: several times a second, and at the end. Of a folder
        it gets files, with `unit="files"`. An exception of the function ends the check.

    Returns
    -------
    Report
        How much was checked.

    Raises
    ------
    CorruptFileError
        The file is damaged. The message says where the first damage is, and the attribute
        `damages` lists all damaged places with their columns and rows. The attribute `generations`
        has the numbers of the damaged generations. The message says if the newest one is sound.

    Examples
    --------
    >>> en.write(pd.DataFrame({"a": [1, 2, 3]}), "table.entasis")
    >>> en.verify("table.entasis").n_values
    3
    """
    with reported:
        if (folder := _sources.folder(path)) is not None:
            from ._dataset import maintain

            with _options.shown_progress(progress, "verifying", "files") as show:
                return maintain.verify(folder, _threads(threads), show, secret=_secret(key, password))
        store = _sources.folder_on_store(path, storage_options, credentials, may_be_file=True)
        if store is not None:
            from ._dataset import maintain

            with _options.shown_progress(progress, "verifying", "files") as show:
                return maintain.verify(store.name, _threads(threads), show, store, _secret(key, password))
        path = _sources.remote(path, storage_options, credentials)
        secret = _known(key, password)
        handle = _entasis.Handle(_sources.source_of_ranges(path), _options.limits(limits), True, secret)
        if generation is not None:
            handle = handle.at_generation(generation)
        with _options.shown_progress(progress, "verifying") as show:
            return Report(**handle.verify(_threads(threads), generation is not None, show))


def repair(
    path: Source,
    out: str | PathLike[str],
    *,
    threads: int | None = None,
    durable: bool | None = None,
    wait: float = 10,
    limits: Limits | None = None,
    overwrite: bool = True,
    progress: bool | Callable[..., Any] | None = None,
    key: AnyKey | None = None,
    password: str | None = None,
) -> list[Damage]:
    """Write the intact values of a damaged file to a new file. Values of damaged blocks are missing.

    Of a file that was cut within its last change, the newest whole generation is written.

    Parameters
    ----------
    path, limits, key, password
        As for `read`. The file is not changed. The new one of an encrypted file has its keys.
    out
        The path of the new file. An existing file is replaced, and keeps its mode. A new file gets
        the mode of the damaged file.
    threads, durable, wait, overwrite
        As for `write`.
    progress
        As for `verify`. The bytes are checked, and then written. After an exception of the function
        an old file at the path stays.

    Returns
    -------
    list
        The first 100 damaged places, each a `Damage` with column and rows. It is empty if the file
        is sound.

    Raises
    ------
    CorruptFileError
        The footer is damaged, or values that can't be missing: row labels, categories, parts of a
        tree, lengths of lists. The message names the column. `read` with `columns=` and
        `on_damage="missing"` reads the other ones.
    ArgumentError
        Both paths name one file.
    ExistingFileError
        The new file exists, and `overwrite=False`.

        After any error no file is written.

    Examples
    --------
    >>> content = bytearray(en.to_bytes({"n": np.random.default_rng(0).random(100_000)}))
    >>> content[20_000] ^= 1
    >>> [damage] = en.repair(content, "sound.entasis")
    >>> damage.column, damage.start, damage.stop
    ('n', 0, 65536)
    >>> en.verify("sound.entasis").n_values
    100000
    """
    with reported:
        found = _sources.target(out)
        if not isinstance(found, str):
            raise ArgumentError("a file is repaired to a path, not to an open file")
        secret = _known(key, password)
        handle = _entasis.Handle(_sources.source_of_ranges(path), _options.limits(limits), True, secret)
        with _options.shown_progress(progress, "repairing") as show:
            to = destination(found, None, threads, durable, wait, overwrite=overwrite)
            damages, _ = _entasis.repair(handle, {**to, "progress": show})
        return damages
