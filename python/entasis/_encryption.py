"""The public functions for encrypted files: encrypt and decrypt them, and change their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from . import _entasis
from ._arguments import options as _options
from ._arguments import sources as _sources
from ._arguments.secrets import of
from ._memory import reported
from ._write import destination
from .errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

    from ._arguments.secrets import AnyKey
    from ._arguments.sources import Source
    from ._entasis import Key
    from ._stores.remote import Remote


class KeyEntry(NamedTuple):
    """A key or password that opens a file. Nothing of it says which one it is.

    Attributes
    ----------
    number
        Its number, for `remove_key`.
    kind
        "key" or "password".
    costs
        The costs of deriving a key from a password by Argon2id: passes, KiB of memory, and lanes.
        None for a key.
    """

    number: int
    kind: str
    costs: tuple[int, int, int] | None


def unlock(
    source: Source,
    *,
    key: AnyKey | None = None,
    password: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    credentials: Callable[[], Any] | None = None,
) -> Key:
    """Return the key that a password of a file stands for.

    The key opens the file as the password does, without deriving it again, which takes about a
    second. It also opens all files that were written with this key, such as those of a data set.

    Parameters
    ----------
    source
        A file as for `read`, or the folder of a data set.
    key, password, storage_options, credentials
        As for `read`.

    Returns
    -------
    Key
        The key. A `key` comes back as it is, if it opens the file.

    Raises
    ------
    WrongKeyError
        The key or password does not open the file.
    ArgumentError
        The file is not encrypted.

    Examples
    --------
    >>> en.write({"a": [1, 2]}, "secret.entasis", password="correct horse")
    >>> key = en.unlock("secret.entasis", password="correct horse")
    >>> en.read("secret.entasis", key=key)
    {'a': [1, 2]}
    """
    with reported:
        return _entasis.unlock(_file_of(source, storage_options, credentials), of(key, password))


def encrypt(
    path: str | PathLike[str],
    target: str | PathLike[str] | None = None,
    *,
    key: AnyKey | None = None,
    password: str | None = None,
    threads: int | None = None,
    durable: bool | None = None,
    wait: float = 10,
    overwrite: bool = True,
    progress: bool | Callable[..., Any] | None = None,
) -> None:
    """Encrypt a file with all of its generations, in its place or into a new file.

    Parameters
    ----------
    path
        The path of a file that is not encrypted.
    target
        The path of the new file. None replaces the file itself, as a whole or not at all. The disk
        may still have the bytes of the old one.
    key, password
        The key or password of the encrypted file, as for `write`.
    threads, durable, wait, overwrite
        As for `write`. `overwrite` is for a target.
    progress
        As for `write`, with `unit="bytes"`: those of the file that were copied, and all.

    Raises
    ------
    ArgumentError
        The file is encrypted already, or neither a key nor a password is given.
    BusyError
        Another writer did not finish within `wait` seconds.
    ExistingFileError
        The target exists, and `overwrite=False`.

        After any error the file is unchanged.

    Notes
    -----
    The cost is about that of copying the file.

    Examples
    --------
    >>> key = en.Key.random()
    >>> en.write({"a": [1, 2]}, "numbers.entasis")
    >>> en.encrypt("numbers.entasis", key=key)
    >>> en.read("numbers.entasis", key=key)
    {'a': [1, 2]}
    """
    with reported, _options.shown_progress(progress, "encrypting", "bytes") as show:
        to = _destination(target, of(key, password), threads, durable, wait, show, overwrite=overwrite)
        _entasis.encrypt(_sources.path_to_change(path), to)


def decrypt(
    path: str | PathLike[str],
    target: str | PathLike[str] | None = None,
    *,
    key: AnyKey | None = None,
    password: str | None = None,
    threads: int | None = None,
    durable: bool | None = None,
    wait: float = 10,
    overwrite: bool = True,
    progress: bool | Callable[..., Any] | None = None,
) -> None:
    """Write the plain bytes of an encrypted file in its place, or into a new file.

    Parameters
    ----------
    path
        The path of an encrypted file.
    target
        The path of the new file. None replaces the file itself, as a whole or not at all.
    key, password
        The key or password of the file, as for `read`.
    threads, durable, wait, overwrite, progress
        As for `encrypt`.

    Raises
    ------
    WrongKeyError
        The key or password does not open the file.
    ArgumentError
        The file is not encrypted.
    TamperedError, CorruptFileError
        A part of the file was changed, or is damaged.

        After any error the file is unchanged.

    Examples
    --------
    >>> key = en.Key.random()
    >>> en.write({"a": [1, 2]}, "secret.entasis", key=key)
    >>> en.decrypt("secret.entasis", "plain.entasis", key=key)
    >>> en.read("plain.entasis")
    {'a': [1, 2]}
    """
    with reported, _options.shown_progress(progress, "decrypting", "bytes") as show:
        to = _destination(target, of(key, password), threads, durable, wait, show, overwrite=overwrite)
        _entasis.decrypt(_sources.path_to_change(path), to)


def add_key(
    path: str | PathLike[str],
    *,
    new_key: AnyKey | None = None,
    new_password: str | None = None,
    key: AnyKey | None = None,
    password: str | None = None,
    wait: float = 10,
) -> None:
    """Let another key or password open an encrypted file as well.

    Parameters
    ----------
    path
        The path of the file.
    new_key, new_password
        The key or password to add, as for `write`. A file has at most eight.
    key, password
        A key or password that opens the file now, as for `read`.
    wait
        Seconds to wait for another writer of the same file.

    Raises
    ------
    WrongKeyError
        The key or password does not open the file.
    ArgumentError
        The new one opens the file already, eight do, or the file is not encrypted.
    BusyError
        Another writer did not finish within `wait` seconds.

        After any error the file opens as before.

    Notes
    -----
    Writes 8 KiB in place, whatever the length of the file.

    Examples
    --------
    >>> first, second = en.Key.random(), en.Key.random()
    >>> en.write({"a": [1, 2]}, "secret.entasis", key=first)
    >>> en.add_key("secret.entasis", new_key=second, key=first)
    >>> en.read("secret.entasis", key=second)
    {'a': [1, 2]}
    """
    with reported:
        new = of(new_key, new_password)
        if new is None:
            raise ArgumentError("nothing to add: pass new_key= or new_password=")
        found = _sources.path_to_change(path)
        _entasis.add_key(found, new, _destination(None, of(key, password), None, None, wait))


def remove_key(
    path: str | PathLike[str],
    number: int | None = None,
    *,
    key: AnyKey | None = None,
    password: str | None = None,
    wait: float = 10,
) -> None:
    """Let a key or password no longer open an encrypted file.

    Copies of the file that were made before still open with it, and so does a file whose old key
    pages someone puts back. `compact` with `rekey=True` stores the file anew, and ends this.

    Parameters
    ----------
    path
        The path of the file.
    number
        The number of the key to remove, as `keys` lists it. None removes the one that is given.
    key, password
        A key or password that opens the file now, as for `read`.
    wait
        Seconds to wait for another writer of the same file.

    Raises
    ------
    WrongKeyError
        The key or password does not open the file.
    ArgumentError
        No key has the number, it is the last one, or the file is not encrypted.
    BusyError
        Another writer did not finish within `wait` seconds.

        After any error the file opens as before.

    Examples
    --------
    >>> first, second = en.Key.random(), en.Key.random()
    >>> en.write({"a": [1, 2]}, "secret.entasis", key=first)
    >>> en.add_key("secret.entasis", new_key=second, key=first)
    >>> en.remove_key("secret.entasis", 0, key=second)
    >>> len(en.keys("secret.entasis"))
    1
    """
    with reported:
        found = _sources.path_to_change(path)
        n = None if number is None else _options.integer_between("number", number, "the number of a key", 0, None)
        _entasis.remove_key(found, n, _destination(None, of(key, password), None, None, wait))


def keys(
    source: Source,
    *,
    storage_options: Mapping[str, Any] | None = None,
    credentials: Callable[[], Any] | None = None,
) -> list[KeyEntry]:
    """Return the kinds of the keys and passwords that open a file. No key is needed for that.

    Parameters
    ----------
    source
        A file as for `read`, or the folder of a data set, whose newest manifest is looked at.
    storage_options, credentials
        As for `read`.

    Returns
    -------
    list of KeyEntry
        Tuples of number, kind and costs. A plain file has none.

    Raises
    ------
    CorruptFileError
        The key pages of the file are damaged.

    Examples
    --------
    >>> en.write({"a": [1, 2]}, "secret.entasis", key=en.Key.random())
    >>> en.keys("secret.entasis")
    [KeyEntry(number=0, kind='key', costs=None)]
    """
    with reported:
        found = _entasis.keys_of(_file_of(source, storage_options, credentials))
        if found is None:
            return []
        costs = found["costs"]
        return [
            KeyEntry(number, kind, costs if kind == "password" else None) for number, kind in enumerate(found["kinds"])
        ]


def _destination(
    target: Any,
    secret: Any,
    threads: int | None,
    durable: bool | None,
    wait: float,
    show: Callable[[int, int | None], Any] | None = None,
    *,
    overwrite: bool = True,
) -> _entasis.Destination:
    if isinstance(target, bytes):
        # It would be the name of the new file.
        raise ArgumentError("the target is bytes: pass its path as a string, and a key as key=")
    path = None if target is None else _sources.path_to_change(target)
    if path is None and not overwrite:
        raise ArgumentError("overwrite=False is for a target: without one the file itself is replaced")
    to = destination(path, None, threads, durable, wait, overwrite=overwrite, secret=secret)
    to["progress"] = show
    return to


def _file_of(
    source: Any, storage_options: Mapping[str, Any] | None, credentials: Callable[[], Any] | None
) -> str | bytes | Remote:
    """A file: that of a source, or the newest manifest of a folder."""
    folder = _sources.folder(source)
    store = None
    if folder is None:
        store = _sources.folder_on_store(source, storage_options, credentials, may_be_file=True)
    else:
        _sources.refuse_options(storage_options, credentials)
    if folder is None and store is None:
        return _sources.source_of_ranges(_sources.remote(source, storage_options, credentials))
    from ._dataset.manifest import newest_source

    found: str | Remote = newest_source(store.name if store is not None else str(folder), store)
    return found
