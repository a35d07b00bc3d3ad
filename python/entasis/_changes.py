"""The public functions that change a file: append, columns, metadata, writer."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from ._arguments import options as _options
from ._arguments import sources as _sources
from ._file.opened import Opened
from ._libraries import streams
from ._libraries.registry import collect
from ._memory import reported
from ._write import destination, of_scan, write_whole
from .errors import ArgumentError, ExistingFileError, MissingFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import timedelta
    from os import PathLike

    from ._arguments.secrets import AnyKey
    from ._entasis import Key, Password
    from ._grow.writer import Writer


def _missing(path: str) -> MissingFileError:
    error = MissingFileError(f"no file {path!r} to append to; create=True writes it")
    error.file = path
    return error


def _append_to_folder(
    value: Any,
    folder: str,
    changes: bool,
    compression: Any,
    threads: int | None,
    durable: bool | None,
    wait: float,
    edition: int | None,
    keep: Any,
    progress: bool | Callable[..., Any] | None,
    key: Any,
    password: Any,
) -> list[Any]:
    """Add files to a data set."""
    from ._dataset import manifest as _manifest
    from ._dataset.write import write_dataset

    if changes or edition is not None or keep is not None:
        raise ArgumentError("fill=, widen=, edition= and keep= are for files: the columns of a folder keep their types")
    if _manifest.newest_number(folder) is None:
        raise _manifest.missing(folder)
    write_dataset(
        value,
        folder,
        mode="append",
        compression=compression,
        threads=threads,
        durable=durable,
        wait=wait,
        progress=progress,
        key=key,
        password=password,
    )
    return []


def append(
    value: Any,
    path: str | PathLike[str],
    *,
    create: bool = False,
    fill: bool = False,
    widen: bool = False,
    compression: int | Mapping[str, int] | Mapping[str | None, int] | None = None,
    threads: int | None = None,
    durable: bool | None = None,
    wait: float = 10,
    edition: int | None = None,
    keep: int | timedelta | None = None,
    progress: bool | Callable[..., Any] | None = None,
    key: AnyKey | Literal[False] | None = None,
    password: str | None = None,
) -> list[Any]:
    """Append rows to a file. After it, `read` returns what the library's own concatenation returns.

    Rows for a folder that `write_dataset` made become files of it, in the types of the first one.

    Columns keep the types of the file, which must hold the rows exactly: whole floats fit integers,
    strings fit categories, and a finer unit of time fits if it loses no digits.

    Parameters
    ----------
    value
        Rows for the frame, series, index, array or dict of arrays in the file. A value of another
        library, a dict of columns or a list of dicts is converted to the library of the file.
        Columns are matched by their labels, in any order.
    path
        The path of the file.
    create
        Whether to write the value if the file does not exist.
    fill
        Whether columns that the rows lack become missing values, instead of an error, and columns
        that the file lacks are added to it. Columns whose type has no missing value are an error.
    widen
        Whether a column of the file gets the type of the library's own concatenation if its own
        does not hold the rows, instead of an error. That type must hold all values exactly. The
        column is read and stored anew, in time for all its rows.
    compression
        As for `write`. None: the compression of the file's last write.
    threads, wait, edition
        As for `write`.
    durable
        False leaves out the wait for the disk: after a power failure the rows may be lost, and
        those before them stay.
    keep
        How many earlier generations this change and later ones keep, as for `entasis.keep`. None:
        as the file says.
    progress
        As for `write`, with `unit="values"`: those of the rows, and of columns that are stored
        anew.
    key, password
        What opens an encrypted file, as for `read`. A file that `create` makes is encrypted;
        `key=False` makes a plain one of values of an encrypted file.

    Returns
    -------
    list
        The labels of columns that were stored anew, and the name of an index that was; None for an
        array. It is empty if the rows were added to the end of the file, which takes time for the
        rows alone. Columns of objects, hierarchical indexes, frames of StaticFrame and arrays store
        the whole file anew.

    Raises
    ------
    ColumnNotFoundError
        The columns differ.
    ArgumentError
        The type of a column or of the index does not hold a value of the rows, which the message
        shows with its row; or missing values cannot be stored in a column.
    BusyError
        Another writer did not finish within `wait` seconds.
    MissingFileError
        The file does not exist. `create=True` makes it.

        After any error the file is unchanged.

    Examples
    --------
    >>> en.write(pd.DataFrame({"city": ["Oslo", "Rome"], "price": [3, 5]}), "prices.entasis")
    >>> en.append(pd.DataFrame({"city": ["Bern"], "price": [4]}), "prices.entasis")
    []
    >>> en.read("prices.entasis")
       city  price
    0  Oslo      3
    1  Rome      5
    2  Bern      4
    >>> en.append(pd.DataFrame({"city": ["Lima"], "price": [4.5]}), "prices.entasis", widen=True)
    ['price']
    """
    from ._grow.append import append as append_rows
    from ._grow.dead import warn_of_dead

    with reported:
        if (folder := _sources.folder(path)) is not None:
            return _append_to_folder(
                value,
                folder,
                fill or widen,
                compression,
                threads,
                durable,
                wait,
                edition,
                keep,
                progress,
                key,
                password,
            )
        found = _sources.path_to_change(path)
        is_new = create and not os.path.exists(found)
        if is_new and key is None and password is None:
            _refusal()(value)
        secret = _secret(path, None if is_new and key is False else key, password)
        to = destination(found, compression, threads, durable, wait, edition, keep, secret=secret)
        value = _value(value)
        with _options.shown_progress(progress, "appending", "values") as show:
            if show is not None:
                from ._arguments.progress import Steady

                to["progress"] = Steady(show)
            if not os.path.exists(found):
                if not create:
                    raise _missing(found)
                try:
                    write_whole(value, {**to, "is_new": True}, None, "error")
                except ExistingFileError:
                    # Another process was the first to write.
                    pass
                else:
                    return []
            labels = append_rows(value, to, fill, widen)
        warn_of_dead(found, secret)
        return labels


def add_columns(
    frame: Any,
    path: str | PathLike[str],
    *,
    compression: int | Mapping[str, int] | Mapping[str | None, int] | None = None,
    threads: int | None = None,
    durable: bool | None = None,
    wait: float = 10,
    edition: int | None = None,
    key: AnyKey | None = None,
    password: str | None = None,
) -> None:
    """Add columns to a file, after its own ones. The others are neither read nor written.

    Parameters
    ----------
    frame
        A frame with the new columns, or a dict of them. It has as many rows as the file. An index
        of pandas or StaticFrame equals the file's index, or counts from 0.
    path
        The path of the file, which holds a frame.
    compression
        As for `write`. None: the compression of the file's last write.
    threads, wait, edition
        As for `write`.
    durable
        False leaves out the wait for the disk: after a power failure the change may be lost, and
        the state before it stays.
    key, password
        As for `read`.

    Raises
    ------
    ArgumentError
        The file has one of the columns already, the number of rows or the index differ, or the file
        holds no frame.
    BusyError
        Another writer did not finish within `wait` seconds.

        After any error the file is unchanged.

    Notes
    -----
    A new column of objects writes the file anew. The first change of a file of less than 1 MiB
    copies it.

    Examples
    --------
    >>> en.write(pd.DataFrame({"city": ["Oslo", "Rome"], "price": [3, 5]}), "prices.entasis")
    >>> en.add_columns({"sold": [True, False]}, "prices.entasis")
    >>> en.read("prices.entasis")
       city  price   sold
    0  Oslo      3   True
    1  Rome      5  False
    """
    from ._grow import change_columns as _columns

    with reported:
        _sources.check_order("add_columns", "frame", frame, path)
        secret = _secret(path, key, password)
        to = destination(_sources.path_to_change(path), compression, threads, durable, wait, edition, secret=secret)
        new = _value(frame)
        _columns.change_columns(to, "add columns", lambda file, rules: _columns.add(file, rules, rules.loaded(new)))


def replace_columns(
    frame: Any,
    path: str | PathLike[str],
    *,
    compression: int | Mapping[str, int] | Mapping[str | None, int] | None = None,
    threads: int | None = None,
    durable: bool | None = None,
    wait: float = 10,
    edition: int | None = None,
    key: AnyKey | None = None,
    password: str | None = None,
) -> None:
    """Replace columns of a file by others with the same labels, of any type.

    The old values stay in the file, unused, until it is compacted.

    Parameters
    ----------
    frame
        A frame with the new columns, or a dict of them, as for `add_columns`.
    path
        The path of the file, which holds a frame.
    compression
        As for `write`. None: the compression of the file's last write.
    threads, wait, edition
        As for `write`.
    durable
        False leaves out the wait for the disk: after a power failure the change may be lost, and
        the state before it stays.
    key, password
        As for `read`.

    Raises
    ------
    ColumnNotFoundError
        The file has no column with one of the labels.
    ArgumentError
        The number of rows or the index differ, or the file holds no frame.

        After any error the file is unchanged.

    Examples
    --------
    >>> en.write(pd.DataFrame({"city": ["Oslo", "Rome"], "price": [3, 5]}), "prices.entasis")
    >>> en.replace_columns({"price": [3.5, 5.25]}, "prices.entasis")
    >>> en.read("prices.entasis")
       city  price
    0  Oslo   3.50
    1  Rome   5.25
    """
    from ._grow import change_columns as _columns

    with reported:
        _sources.check_order("replace_columns", "frame", frame, path)
        secret = _secret(path, key, password)
        to = destination(_sources.path_to_change(path), compression, threads, durable, wait, edition, secret=secret)
        new = _value(frame)
        _columns.change_columns(
            to, "replace columns", lambda file, rules: _columns.replace(file, rules, rules.loaded(new))
        )


def drop_columns(
    path: str | PathLike[str],
    labels: Any,
    *,
    durable: bool | None = None,
    wait: float = 10,
    compact: bool = False,
    key: AnyKey | None = None,
    password: str | None = None,
) -> None:
    """Drop columns of a file, and levels of its index.

    Their values stay in the file, and in its earlier generations, until it is compacted.

    Parameters
    ----------
    path
        The path of the file, which holds a frame.
    labels
        The label of a column, or a list of labels. The name of a level of the index drops it, as
        `reset_index(drop=True)` does.
    durable, wait
        As for `add_columns`.
    compact
        Whether to remove the values from the file at once, which writes it anew.
    key, password
        As for `read`.

    Raises
    ------
    ColumnNotFoundError
        The file has no column with one of the labels.

        After any error the file is unchanged.

    Examples
    --------
    >>> en.write(pd.DataFrame({"city": ["Oslo", "Rome"], "price": [3, 5]}), "prices.entasis")
    >>> en.drop_columns("prices.entasis", "price")
    >>> en.read("prices.entasis")
       city
    0  Oslo
    1  Rome
    """
    from ._grow import change_columns as _columns

    with reported:
        secret = _secret(path, key, password)
        to = destination(_sources.path_to_change(path), None, None, durable, wait, secret=secret)
        _columns.change_columns(to, "drop columns", lambda file, rules: _columns.drop(file, rules, labels))
        if compact:
            from ._history import compact_at

            compact_at(path, durable, wait, secret=to["secret"])


def rename_columns(
    path: str | PathLike[str],
    names: Mapping[Any, Any] | Callable[[Any], Any],
    *,
    durable: bool | None = None,
    wait: float = 10,
    key: AnyKey | None = None,
    password: str | None = None,
) -> None:
    """Rename columns of a file, and levels of its index. Values are neither read nor written.

    Parameters
    ----------
    path
        The path of the file, which holds a frame.
    names
        New labels by old label, also of index levels. Or a function, which gets the label of each
        column.
    durable, wait
        As for `add_columns`.
    key, password
        As for `read`.

    Raises
    ------
    ColumnNotFoundError
        The file has no column with one of the labels.
    ArgumentError
        Two columns, or a column and a level that is renamed, would have the same label.

        After any error the file is unchanged.

    Examples
    --------
    >>> en.write(pd.DataFrame({"city": ["Oslo", "Rome"], "price": [3, 5]}), "prices.entasis")
    >>> en.rename_columns("prices.entasis", {"price": "euros"})
    >>> en.open("prices.entasis").column_names
    ['city', 'euros']
    """
    from ._grow import change_columns as _columns

    with reported:
        secret = _secret(path, key, password)
        to = destination(_sources.path_to_change(path), None, None, durable, wait, secret=secret)
        _columns.change_columns(to, "rename columns", lambda file, rules: _columns.rename(file, rules, names))


def set_metadata(
    metadata: Any,
    path: str | PathLike[str],
    *,
    durable: bool | None = None,
    wait: float = 10,
    key: AnyKey | None = None,
    password: str | None = None,
) -> None:
    """Give a file other metadata, which replace the old ones.

    Parameters
    ----------
    metadata
        Any tree, as for `write`. None removes the metadata.
    path
        The path of the file.
    durable, wait
        As for `add_columns`.
    key, password
        As for `read`.

    Notes
    -----
    A frame's values are neither read nor written. A file of another value, of a frame with object
    columns, with objects or over 256 values in `attrs`, or with frames among the metadata is
    written anew.

    Examples
    --------
    >>> en.write(pd.DataFrame({"price": [3, 5]}), "prices.entasis", metadata={"author": "Ada"})
    >>> en.set_metadata({"author": "Ada", "checked": True}, "prices.entasis")
    >>> en.open("prices.entasis").metadata
    {'author': 'Ada', 'checked': True}
    """
    from ._grow.metadata import set_metadata as change

    with reported:
        _sources.check_order("set_metadata", "metadata", metadata, path)
        secret = _secret(path, key, password)
        change(metadata, destination(_sources.path_to_change(path), None, None, durable, wait, secret=secret))


def update(
    values: Mapping[Any, Any],
    path: str | PathLike[str],
    *,
    remove: Iterable[Any] = (),
    compression: int | Mapping[str, int] | Mapping[str | None, int] | None = None,
    threads: int | None = None,
    durable: bool | None = None,
    wait: float = 10,
    edition: int | None = None,
    key: AnyKey | None = None,
    password: str | None = None,
) -> None:
    """Set and remove keys of the dict in a file.

    Parameters
    ----------
    values
        The new value of each key. Keys that the file has keep their positions.
    path
        The path of the file, which holds a dict.
    remove
        Keys to remove first.
    compression
        As for `write`. None: the compression of the file's last write.
    threads, wait, edition
        As for `write`.
    durable
        False leaves out the wait for the disk: after a power failure the change may be lost, and
        the state before it stays.
    key, password
        As for `read`.

    Raises
    ------
    ArgumentError
        The file holds no dict, or lacks a key to remove.

        After any error the file is unchanged.

    Notes
    -----
    The whole value is read and written anew, under the lock of the file: memory and time are those
    of `read` and `write`.

    Examples
    --------
    >>> en.write({"run": 7, "scores": [1, 2]}, "run.entasis")
    >>> en.update({"run": 8}, "run.entasis", remove=["scores"])
    >>> en.read("run.entasis")
    {'run': 8}
    """
    from ._grow.metadata import update as change

    with reported:
        _sources.check_order("update", "values", values, path)
        secret = _secret(path, key, password)
        found = _sources.path_to_change(path)
        change(values, remove, destination(found, compression, threads, durable, wait, edition, secret=secret))


def writer(
    path: str | PathLike[str],
    schema: Any = None,
    *,
    append: bool = False,
    fill: bool = False,
    widen: bool = False,
    compression: int | Mapping[str, int] | Mapping[str | None, int] | None = None,
    threads: int | None = None,
    durable: bool | None = None,
    wait: float = 10,
    edition: int | None = None,
    keep: int | timedelta | None = None,
    overwrite: bool = True,
    key: AnyKey | Literal[False] | None = None,
    password: str | None = None,
) -> Writer:
    """Write a frame batch by batch. Nothing is visible before the writer is closed.

    Parameters
    ----------
    path
        The path of the file.
    schema
        The columns and their types: a frame, whose rows are not written, or a schema of pyarrow or
        Polars. None takes them from the first batch.
    append
        Whether the rows follow those of the file at the path, instead of replacing it.
    fill, widen
        As for `append`: whether batches may lack columns or bring new ones, and whether columns may
        get wider types.
    compression
        As for `write`. None: the default of `write`, and with `append` the compression of the
        file's last write.
    threads, durable, wait, edition
        As for `write`.
    keep
        How many earlier generations later changes keep, as for `entasis.keep`.
    overwrite
        As for `write`. It is for files that are written anew, without `append`.
    key, password
        As for `write`; with `append` what opens the file, as for `read`.

    Returns
    -------
    Writer
        With the methods `write(batch)`, `close()` and `abort()`. As a context manager it closes
        itself, and aborts after an exception.

    Raises
    ------
    ExistingFileError
        The file exists, and `overwrite=False`. `close` raises it if another process made the file
        meanwhile.

    Notes
    -----
    Memory is needed for a few batches. Columns of objects and an index of several levels need
    memory for the whole frame.

    Examples
    --------
    >>> with en.writer("numbers.entasis") as w:
    ...     for i in range(3):
    ...         w.write(pd.DataFrame({"a": [i, i * 10]}))
    >>> en.read("numbers.entasis")["a"].tolist()
    [0, 0, 1, 10, 2, 20]
    """
    from ._grow.writer import Writer

    with reported:
        if append and not overwrite:
            raise ArgumentError("overwrite=False is for new files, and append=True adds to one that exists")
        to = destination(
            _sources.path_to_change(path),
            compression,
            threads,
            durable,
            wait,
            edition,
            keep,
            overwrite=overwrite,
            secret=_secret(path, key, password) if append else _new_secret(key, password),
        )
        check = _refusal() if key is None and password is None and not append else None
        return Writer(to, schema, append, fill=fill, widen=widen, check=check)


def _secret(path: Any, key: Any, password: Any) -> Key | Password | None:
    """The key or password of a file that changes."""
    if key is None and password is None:
        return None
    from ._arguments.secrets import of_file

    return of_file(_sources.path_to_change(path), key, password)


def _refusal() -> Callable[[Any], None]:
    """Refuses values of encrypted files, as those of a plain file."""
    from ._arguments.secrets import refuse_encrypted

    return refuse_encrypted


def _new_secret(key: Any, password: Any) -> Key | Password | None:
    """The key or password of a new file. `key=False` makes it plain."""
    if key is None and password is None:
        return None
    from ._arguments.secrets import of

    return of(None if key is False else key, password)


def _value(frame: Any) -> Any:
    """The rows of a scan as a view; a stream or dataset as a frame in memory; others unchanged."""
    frame = of_scan(frame)
    if isinstance(frame, Opened):
        return frame
    streams.check(frame)
    return collect(frame)
