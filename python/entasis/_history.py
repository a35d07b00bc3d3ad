"""The public functions for the generations of a file: list, keep and drop them, and go back to one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from . import _entasis
from ._arguments import options as _options
from ._arguments import sources as _sources
from ._memory import reported
from .errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import timedelta
    from os import PathLike

    from ._arguments.secrets import AnyKey, Secret
    from ._entasis import Key, Password


class Generation(NamedTuple):
    """A committed state of a file.

    Attributes
    ----------
    number
        Its number, for `open(path, generation=number)` and `rollback`.
    time
        When it was committed, in nanoseconds since 1970 (UTC); 0 if `write` made it.
    operation
        What made it: "write", "append", "add columns" ...
    rows
        The number of rows of a frame; None for other values.
    bytes
        The length of the file with it.
    """

    number: int
    time: int
    operation: str
    rows: int | None
    bytes: int


def generations(
    path: str | PathLike[str], *, key: AnyKey | None = None, password: str | None = None
) -> list[Generation]:
    """Return the generations that a file still has, from the oldest on.

    Each change in place makes one. The earlier ones stay readable until the file is written anew or
    compacted. Reads the end of each generation, and no values.

    Parameters
    ----------
    path
        The path of the file.
    key, password
        As for `read`.

    Returns
    -------
    list of Generation
        Tuples of number, time, operation, rows and bytes.

    Examples
    --------
    >>> en.write(pd.DataFrame({"price": [3, 5]}), "prices.entasis")
    >>> [(g.number, g.operation, g.rows) for g in en.generations("prices.entasis")]
    [(1, 'write', 2)]
    """
    with reported:
        secret = _secret(path, key, password)
        handle = _entasis.Handle(_sources.path_to_change(path), None, False, secret)
        return [Generation(*found) for found in handle.generations()]


def rollback(
    path: str | PathLike[str],
    generation: int,
    *,
    durable: bool | None = None,
    wait: float = 10,
    compact: bool = False,
    key: AnyKey | None = None,
    password: str | None = None,
) -> None:
    """Go back to an earlier generation of a file.

    The file gets a new generation with the value of the earlier one, which is verified first. No
    values are written, and the newer generations stay in the file until it is compacted, so a
    rollback can be undone by another.

    Parameters
    ----------
    path
        The path of the file.
    generation
        The number of the generation, as `generations` lists it.
    durable, wait
        As for `add_columns`.
    compact
        Whether to remove all other generations from the file at once, which writes it anew.
    key, password
        As for `read`.

    Raises
    ------
    ArgumentError
        The file does not have the generation.
    CorruptFileError
        The generation is damaged. The file stays as it was.

    Examples
    --------
    >>> prices = pd.DataFrame({"price": np.arange(200_000)})
    >>> en.write(prices, "prices.entasis", compression=0)
    >>> en.append(prices, "prices.entasis")
    []
    >>> en.rollback("prices.entasis", 1)
    >>> len(en.open("prices.entasis"))
    200000
    """
    with reported:
        secret = _secret(path, key, password)
        change = _entasis.Change(_sources.path_to_change(path), _options.wait(wait), secret)
        try:
            change.rollback(generation, _options.durable(durable))
        finally:
            change.end()
        if compact:
            compact_at(path, durable, wait, secret=secret)


def keep(
    path: str | PathLike[str],
    generations: int | timedelta | None,
    *,
    durable: bool | None = None,
    wait: float = 10,
    key: AnyKey | None = None,
    password: str | None = None,
) -> None:
    """State how many earlier generations of a file to keep. Later changes follow it.

    Adds a generation with the same value. Changes remove generations only where they write a file
    anew: a short one whose bytes are mostly of removed generations.

    Parameters
    ----------
    path
        The path of the file.
    generations
        The number of generations before the newest one, or a `timedelta`: those that were current
        in this time. None goes back to the default: all but those that were followed by appends
        alone.
    durable, wait
        As for `add_columns`.
    key, password
        As for `read`.

    Raises
    ------
    ArgumentError
        The number or the time is not positive.

    Examples
    --------
    >>> en.write(pd.DataFrame({"price": [3, 5]}), "prices.entasis")
    >>> en.keep("prices.entasis", 10)
    >>> en.append(pd.DataFrame({"price": [4]}), "prices.entasis")
    []
    """
    with reported:
        of = (0, 0) if generations is None else _options.keep(generations)
        secret = _secret(path, key, password)
        change = _entasis.Change(_sources.path_to_change(path), _options.wait(wait), secret)
        change.keep(of, _options.durable(durable))


def compact(
    path: str | PathLike[str],
    *,
    rows_per_file: int | None = None,
    durable: bool | None = None,
    wait: float = 10,
    progress: bool | Callable[..., Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    credentials: Callable[[], Any] | None = None,
    rekey: bool = False,
    key: AnyKey | None = None,
    password: str | None = None,
) -> None:
    """Store a file anew without what earlier changes left in it. Its value stays the same.

    Appending rows leaves replaced blocks and old footers in the file, and short blocks at the end
    of columns. `compact` drops the former and merges the latter. It copies all other blocks as they
    are stored, which takes about as long as copying the file. A file that has nothing to drop is
    not written.

    In a folder that `write_dataset` made, the files with the same keys become one, in the order of
    their rows, or files of `rows_per_file` rows. The files before stay until `clean`.

    Parameters
    ----------
    path
        The path of the file, or of the folder; or the address of a folder on a store, such as
        `s3://lake/sales`. Its new files are written to the disk first, and sent one by one. This
        needs obstore.
    rows_per_file
        The greatest number of rows of a file of a folder. Longer files are cut. Neighbours that
        have so many rows already are not written anew. None joins all files with the same keys,
        which takes memory for all their rows.
    durable
        Whether to force the new file to the disk before it replaces the old one. None means True.
    wait
        Seconds to wait for another writer of the same file.
    progress
        True shows a bar after one second. A function is called with the values that were copied,
        with all values, and with `unit="values"`: several times a second, and at the end. Of a
        folder it gets rows, with `unit="rows"`: those of the files that are written anew. An
        exception of the function ends the work.
    storage_options, credentials
        Options of a store, as for `read`.
    rekey
        Whether an encrypted file gets another key for its bytes, so that what was known of the old
        one opens nothing that is written from now on. Only the key or password that is given opens
        the new file: add the others with `add_key`.
    key, password
        As for `read`.

    Raises
    ------
    CorruptFileError
        A block is damaged. `repair` saves the other ones.
    UnsupportedTypeError
        A column has a type that this version does not know.
    BusyError
        Another writer did not finish within `wait` seconds.
    ConflictError
        Another job changed the folder meanwhile.
    ArgumentError
        `rows_per_file` is less than 1, or the path is that of a file; or R wrote the folder.
    MissingFileError
        The file does not exist.

        After any error the file is unchanged.

    Examples
    --------
    >>> en.write({"n": np.arange(200_000)}, "numbers.entasis")
    >>> for n in range(3):
    ...     _ = en.append({"n": np.arange(n)}, "numbers.entasis")
    >>> before = en.info("numbers.entasis").file_len
    >>> en.compact("numbers.entasis")
    >>> en.info("numbers.entasis").file_len < before
    True
    """
    with reported:
        if (folder := _sources.folder(path)) is not None:
            from ._dataset import maintain

            _sources.refuse_options(storage_options, credentials)
            secret = _folder_secret(key, password, rekey=rekey)
            with _options.shown_progress(progress, "compacting", "rows") as show:
                maintain.compact(
                    folder, rows_per_file, _options.durable(durable), _options.wait(wait), show, secret=secret
                )
            return
        store = _sources.folder_on_store(path, storage_options, credentials, may_be_file=False)
        if store is not None:
            from ._dataset import maintain

            secret = _folder_secret(key, password, rekey=rekey)
            with _options.shown_progress(progress, "compacting", "rows") as show:
                maintain.compact(store.name, rows_per_file, None, _options.wait(wait), show, store, secret)
            return
        _sources.refuse_options(storage_options, credentials)
        if rows_per_file is not None:
            raise ArgumentError("rows_per_file= is for folders: a file has all of its rows")
        with _options.shown_progress(progress, "compacting", "values") as show:
            compact_at(path, durable, wait, show, _secret(path, key, password), rekey=rekey)


def compact_at(
    path: str | PathLike[str],
    durable: bool | None,
    wait: float,
    show: Callable[[int, int | None], Any] | None = None,
    secret: Key | Password | None = None,
    *,
    rekey: bool = False,
) -> None:
    """Store a file anew; see `compact`."""
    change = _entasis.Change(_sources.path_to_change(path), _options.wait(wait), secret)
    change.compact(_options.durable(durable), show, rekey)


def _secret(path: Any, key: Any, password: Any) -> Key | Password | None:
    """The key or password of a file."""
    if key is None and password is None:
        return None
    from ._arguments.secrets import of_file

    return of_file(_sources.path_to_change(path), key, password)


def _folder_secret(key: Any, password: Any, *, rekey: bool) -> Secret | None:
    """The key or password of a folder."""
    if rekey:
        raise ArgumentError("rekey= is for files: write a data set again with another key (mode='overwrite')")
    if key is None and password is None:
        return None
    from ._arguments.secrets import given

    return given(key, password)
