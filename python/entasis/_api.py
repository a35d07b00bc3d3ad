"""The public functions that write, read and open files."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast, overload

from . import _entasis
from ._arguments import options as _options
from ._arguments import sources as _sources
from ._arguments.options import DEFAULT_COMPRESSION
from ._arguments.options import threads as _threads
from ._file.file import File, is_frame
from ._file.opened import Opened
from ._libraries import registry as _hosts
from ._memory import reported
from ._open import read_value, value_of
from ._view.view import View
from ._write import destination, is_source, of_scan, without_index, write_whole
from .errors import ArgumentError, CorruptFileError, DirectoryError, MissingFileError, NotEntasisError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ._arguments.secrets import AnyKey, Secret
    from ._arguments.sources import Source, Target
    from ._csv.scan import CsvScan
    from ._entasis import Destination, Key, Password
    from ._file.read_options import ReadOptions
    from ._filter.conditions import Filter
    from ._libraries.registry import Host
    from ._stores.remote import Remote
    from ._tree.document import OnUnsupported
    from ._tree.tree import Tree
    from ._typing import (
        ArrowTable,
        Columns,
        Limits,
        MemoryMap,
        NumpyArrays,
        OnDamage,
        OnRefused,
        PandasFrame,
        PolarsFrame,
        PolarsLazyFrame,
        Rows,
        StaticFrame,
        Types,
    )
    from ._view.table import OpenTable


def write(
    value: Any,
    path: Target,
    *,
    compression: int | Mapping[str, int] | Mapping[str | None, int] = DEFAULT_COMPRESSION,
    threads: int | None = None,
    durable: bool | None = None,
    wait: float = 10,
    metadata: Any = None,
    on_unsupported: OnUnsupported = "error",
    index: bool = True,
    edition: int | None = None,
    overwrite: bool = True,
    progress: bool | Callable[..., Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    credentials: Callable[[], Any] | None = None,
    key: AnyKey | Literal[False] | None = None,
    password: str | None = None,
) -> None:
    """Write a frame or any tree of values to a file, whole or not at all.

    Parameters
    ----------
    value
        One of these:

        - a frame, series or index of pandas, Polars, pyarrow or StaticFrame;
        - a NumPy array, or a dict of arrays;
        - an open file, or a view of one. Long ones are written batch by batch, unless they have
          objects, an index of several levels, or are frames of StaticFrame. A table that no
          library of Python wrote becomes one of pyarrow, or of Polars if pyarrow is missing: its
          NaN and missing values stay apart, and names of rows become a column;
        - a scan of a text file, which is written batch by batch;
        - a record batch reader, a relation of DuckDB, or a dataset of pyarrow. The first two are
          written batch by batch, unless they have dictionaries or metadata are given. For other
          objects with `__arrow_c_stream__` pass `pa.RecordBatchReader.from_stream(x)`;
        - a tree of lists, tuples, dicts, sets, numbers, strings, times, arrays and frames, nested
          up to 1,000 deep. An object that occurs twice is stored once, and comes back as one
          object.
    path
        A path (`str` or `os.PathLike`, `~` is expanded), or a binary file that is open for writing.
        The file at a path is replaced only after everything was written. An open file gets the
        content in one piece, which needs memory for the whole content.

        An object at an address such as `s3://bucket/key` is written to a temporary file first, then
        sent in parts, and visible when all of it is there.
    compression
        From 0 (none, fastest) to 100 (smallest), for all columns or per column. None stands for all
        other columns: `{"price": 80, None: 50}`.
    threads
        The number of threads. None means one per processor.
    durable
        Whether to force the file to the disk. None does so only if the file replaces one.
    wait
        Seconds to wait for another writer of the same file.
    metadata
        Any tree to store with the value. `open(path).metadata` returns it.
    on_unsupported
        What to do with a value that can't be stored exactly:

        - "error" raises `UnsupportedTypeError`.
        - "skip" leaves the item out of its dict, list or set, and warns. In object columns and
          arrays it becomes None. A column with an unsupported dtype is left out of its frame;
          inside a tree the whole frame is.
        - A function gets the value and its path, and returns a value to write instead. For a column
          it returns a column of equal length. A new key or set member must be hashable and not
          occur yet.

        Parts of keys, parts of set members and labels are neither left out nor replaced. Fields of
        dataclasses and named tuples can be replaced, but not left out.
    index
        False leaves out the row labels of a frame or series of pandas or StaticFrame. It comes back
        with positions.
    edition
        The edition of the format: the newest set of encodings that the file may use. None means the
        newest one, which is 1. Choose an older one for files that older releases have to read.
    overwrite
        False never replaces a file: one that exists is an error at once, and also if another
        process makes it meanwhile. Of several processes that write a new file, one succeeds. A
        symbolic link counts as the file that it leads to.
    progress
        True shows a bar after one second. A function is called with the values that were written,
        with all values, and with `unit="values"`: several times a second, and at the end. For open
        files with frames and for streams these are rows (`unit="rows"`), for a scan of a text bytes
        that were read (`unit="bytes"`). The number of all is None for a stream. An exception of the
        function ends the work, and the old file stays.
    storage_options, credentials
        As for `read`.
    key
        A key of 32 bytes, which encrypts the file: `bytes`, a `Key`, or a function without
        arguments that returns one of these. The file is opened by it, or by another one that
        `add_key` adds. False writes a plain file of values that come from an encrypted one.
    password
        A password, which encrypts the file instead of a key. It costs about a second of a
        processor and 64 MiB of memory whenever the file is opened: `unlock` derives its key once.

    Raises
    ------
    UnsupportedTypeError
        A value can't be stored exactly. The message has its path.
    ExistingFileError
        The file exists, and `overwrite=False`.
    BusyError
        Another writer did not finish within `wait` seconds.
    FileError
        The operating system refused to write.
    ArgumentError
        The values come from an encrypted file, and neither a key, a password nor `key=False` is
        given; or a key has another length than 32 bytes.

        After any error the old file is unchanged.

    Examples
    --------
    >>> en.write(pd.DataFrame({"city": ["Oslo", "Rome"], "price": [3, 5]}), "prices.entasis")
    >>> en.write({"run": 7, "scores": np.arange(3)}, "run.entasis", metadata={"author": "Ada"})
    >>> en.open("run.entasis").metadata
    {'author': 'Ada'}
    """
    with reported:
        if isinstance(path, str) and "://" in path and _sources.is_address(path):
            with _sources.sent(path, storage_options, credentials, overwrite) as copy:
                write(
                    value,
                    copy,
                    compression=compression,
                    threads=threads,
                    durable=False,
                    metadata=metadata,
                    on_unsupported=on_unsupported,
                    index=index,
                    edition=edition,
                    progress=progress,
                    key=key,
                    password=password,
                )
            return
        if storage_options is not None or credentials is not None:
            _sources.refuse_options(storage_options, credentials)
        found = _sources.target(path)
        is_path = isinstance(found, str)
        to = destination(
            found if isinstance(found, str) else None,
            compression,
            threads,
            durable,
            wait,
            edition,
            overwrite=overwrite,
            secret=None if key is None and password is None else _secret_to_write(key, password),
        )
        if not overwrite:
            if not isinstance(found, str):
                raise ArgumentError("overwrite=False is for paths: an open file is written as it is")
            _entasis.check_new(found)
        text = _scan_of_text(value) if type(value).__name__ == "CsvScan" else None
        if text is not None and is_path and metadata is None:
            text._query.store(to, progress)
            return
        value = value if text is None else text.read()
        value = value if index else without_index(value)
        is_plain = metadata is None and on_unsupported == "error" and not to["column_compression"]
        is_table = _hosts.is_frame(value)
        if key is None and password is None and type(value).__module__[:8] == "entasis.":
            from ._arguments.secrets import refuse_encrypted

            refuse_encrypted(value)
        if is_path and is_plain and not is_table and is_source(value):
            is_done, value = _write_stream(of_scan(value), to, progress)
            if is_done:
                return
        if progress is None:
            content = write_whole(value, to, metadata, on_unsupported, is_table=is_table)
        else:
            from ._arguments import progress as _progress

            with _progress.shown(progress, "writing", "values") as show:
                content = write_whole(value, {**to, "progress": show}, metadata, on_unsupported, is_table=is_table)
        if not is_path:
            _write_all(found, content)


def _write_stream(value: Any, to: Destination, progress: bool | Callable[..., Any] | None) -> tuple[bool, Any]:
    """Write a frame in a file, or a stream; see `_grow.writer.write_stream`."""
    from ._grow.writer import write_stream

    if progress is None:
        return write_stream(value, to)
    from ._arguments import progress as _progress

    with _progress.shown(progress, "writing", "rows") as show:
        if show is None:
            return write_stream(value, to)
        n_rows = value.n_rows if isinstance(value, Opened) and is_frame(value) else None
        steady = _progress.Steady(show, n_rows)
        is_done, value = write_stream(value, to, steady)
        if not is_done and n_rows is not None:
            write_whole(value, {**to, "progress": steady}, None, "error")
            is_done = True
        return is_done, value


def to_bytes(
    value: Any,
    *,
    compression: int | Mapping[str, int] | Mapping[str | None, int] = DEFAULT_COMPRESSION,
    threads: int | None = None,
    metadata: Any = None,
    on_unsupported: OnUnsupported = "error",
    index: bool = True,
    edition: int | None = None,
    key: AnyKey | Literal[False] | None = None,
    password: str | None = None,
) -> bytes:
    """Return the content of the file that `write` would write.

    Parameters
    ----------
    value, compression, threads, metadata, on_unsupported, index, edition, key, password
        As for `write`.

    Returns
    -------
    bytes
        The content, which `read` and `open` accept. Making it takes twice its length in memory.

    Examples
    --------
    >>> content = en.to_bytes({"a": [1, 2]})
    >>> en.read(content)
    {'a': [1, 2]}
    """
    with reported:
        secret = None if key is None and password is None else _secret_to_write(key, password)
        to = destination(None, compression, threads, False, 0, edition, secret=secret)
        if key is None and password is None:
            from ._arguments.secrets import refuse_encrypted

            refuse_encrypted(value)
        text = _scan_of_text(value) if type(value).__name__ == "CsvScan" else None
        value = value if text is None else text.read()
        content = write_whole(value if index else without_index(value), to, metadata, on_unsupported)
        assert content is not None
        return content


def _secret_to_write(key: Any, password: Any) -> Key | Password | None:
    """The key or password of a new file. `key=False` makes it plain."""
    from ._arguments.secrets import of

    return of(None if key is False else key, password)


def _secret(key: Any, password: Any) -> Secret | None:
    """The key or password that opens a file."""
    from ._arguments.secrets import given

    return given(key, password)


def _scan_of_text(value: Any) -> CsvScan | None:
    """A scan of a text; None for other values. Its module is loaded only for a class of that name."""
    from ._csv.scan import CsvScan

    return value if type(value) is CsvScan else None


def _write_all(file: Any, content: bytes | None) -> None:
    """Write the content to an open file, which may accept less than all at once."""
    left = memoryview(content or b"")
    while left:
        n = file.write(left)
        if n is None:
            # A file that returns no count has written everything.
            return
        left = left[n:]


@overload
def read(path: Source, *, to: Literal["pandas"], **options: Unpack[ReadOptions]) -> PandasFrame: ...
@overload
def read(path: Source, *, to: Literal["polars"], **options: Unpack[ReadOptions]) -> PolarsFrame: ...
@overload
def read(path: Source, *, to: Literal["pyarrow"], **options: Unpack[ReadOptions]) -> ArrowTable: ...
@overload
def read(path: Source, *, to: Literal["numpy"], **options: Unpack[ReadOptions]) -> NumpyArrays: ...
@overload
def read(path: Source, *, to: Literal["static_frame"], **options: Unpack[ReadOptions]) -> StaticFrame: ...
@overload
def read(path: Source, *, to: Host | None = None, **options: Unpack[ReadOptions]) -> Any: ...
def read(
    path: Source,
    *,
    columns: Columns | None = None,
    rows: Rows | None = None,
    filter: Filter | None = None,
    to: Host | None = None,
    threads: int | None = None,
    memory_map: MemoryMap = False,
    types: Types | None = None,
    index: bool = True,
    nan_to_null: bool | None = None,
    on_unsupported: OnRefused = "error",
    on_damage: OnDamage = "error",
    limits: Limits | None = None,
    generation: int | None = None,
    progress: bool | Callable[..., Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    credentials: Callable[[], Any] | None = None,
    prefetch: int | None = None,
    key: AnyKey | None = None,
    password: str | None = None,
) -> Any:
    """Read a file, or some columns and rows of it, as the kind of value that was written.

    Files of Parquet, Arrow, Feather, NPY, NPZ and lines of JSON are read too: as pandas if they
    have its metadata, else with pyarrow; NPY and NPZ as arrays or frames of StaticFrame, and lines
    of JSON with Polars. `convert` makes Entasis files of them.

    Parameters
    ----------
    path
        A path (`str` or `os.PathLike`, `~` is expanded), the content of a file (`bytes`,
        `bytearray`, `memoryview`), or a binary file that can seek. From a path, or a file opened on
        the disk, only the needed bytes are read. `bytes` and `io.BytesIO` are not copied; other
        files and buffers are copied into memory.

        The address of an object is read by requests for the needed ranges: `s3://bucket/key`,
        `gs://`, `az://`, `https://`, `hf://datasets/...`. They need obstore or fsspec (`pip install
        'entasis[cloud]'`). So are a pair of a store of obstore or a file system of pyarrow or
        fsspec, and a path; an open file of fsspec; and an object with the methods `size()` and
        `read_at(offset, length)`. Objects of other formats are fetched whole. An address without an
        object can be that of a folder, as for `scan`.
    columns
        A label of any type, a list or array of labels, or positions as a slice or range. If all
        labels of the file are strings, integers are positions. Names of index levels are accepted:
        pandas gets these levels as its index, other libraries as columns. `en.field("s", "a")` is a
        field of a struct column, alone or in a list.
    rows
        Positions: a slice, a range, integers or a boolean mask in any sequence or array, or a tuple
        `(start, stop)` of integers or None. Negative numbers count from the end. Order and repeats
        are kept. Missing values of a mask count as False. In a tree these are rows of an array or
        items of a list.
    filter
        A condition such as `en.col("price") > 3`, or tuples as in pandas: one tuple such as
        `("price", ">", 3)`, a list of tuples that must all hold, or a list of lists: one list must
        hold. Only the rows for which the condition is true are read. `rows` applies first.
        `entasis.col` has the conditions. A comparison with a missing value is unknown, as in SQL,
        and leaves the row out.
    to
        "pandas", "polars", "pyarrow", "numpy" or "static_frame" to get a value of that library.
    threads
        The number of threads. None means one per processor.
    memory_map
        True makes columns and arrays views of the file instead of reading them. "auto" makes views
        where possible, and reads everything else. See `open`.
    types
        Classes to use instead of `Record`: dataclasses, named tuples and Enums, as a list, or as a
        dict by the names that the file has, such as `{"__main__.Point": Point}`. Fields that a
        class gained since get their defaults. Classes of `register` need not be named.
    index
        False leaves out the row labels.
    nan_to_null
        Whether NaN is null for Polars and pyarrow. None makes NaN null in NumPy float columns and
        row labels of a pandas frame, where NaN is the missing value. NaN of nullable and Arrow
        dtypes and of other libraries is a value, and NaN inside lists is always one. True makes NaN
        of all float columns null, False of none. pandas and NumPy get the bits of the file.
    on_unsupported
        "error", or "skip" to leave out columns whose type the other library lacks. A warning names
        them.
    on_damage
        "error", or "missing" to read the values of damaged blocks as missing ones. A
        `DamageWarning` lists them. Integers and booleans of pandas get the nullable type then.
        Damaged row labels, categories and parts of a tree are an error all the same. A file that
        was cut within its last change is read at its newest whole generation.
    limits
        The most that the file may ask for, as a dict such as `{"n_columns": 20_000_000}`. Raise a
        limit only for a file that you trust. The names and defaults are `decoded_len` (bytes of
        values that one read decodes: 4 GiB, or 1,000 times the length of the file), `n_columns`
        (10,000,000), `metadata_len` (64 MiB), `name_len` (64 KiB), `page_payload_len` (1 GiB),
        `depth` (64), `n_nodes` (10,000,000), `value_len` (1 GiB) and `derivation_len` (bytes of
        memory times passes for a password: 1 GiB).
    generation
        As for `open`.
    progress
        True shows a bar after one second. A function is called with the values that were read, with
        all values, and with `unit="values"`: several times a second, and at the end. These are the
        rows times the columns, and the rows that a filter tests, also of a folder. An exception of
        the function ends the reading. Files of other formats report nothing.
    storage_options
        For addresses: credentials, regions and endpoints of a store, by the names of obstore and
        Polars (`aws_access_key_id`, `endpoint_url`) or of fsspec. The usual environment variables
        give the others. Pickles and messages never have the values.
    credentials
        For addresses: a function that returns credentials, as obstore takes it. A pickle has a
        reference to it.
    prefetch
        For objects on stores: how many bytes at the end are read at once with those at the
        beginning, when the file is opened. None means 64 KiB.
    key
        A key of 32 bytes that opens an encrypted file: `bytes`, a `Key`, or a function without
        arguments that returns one of these. A function is called at each opening, and pickles have
        a reference to it. Without a key and a password, the key is that in the file that the
        environment variable ENTASIS_KEY_FILE names, or else ENTASIS_PASSWORD has the password.
    password
        A password that opens an encrypted file. See `write` and `unlock` for what it costs.

    Returns
    -------
    Any
        The value. Each column of a pyarrow table is one chunk, so a column of `string` or `binary`
        with more than 2 GiB becomes `large_string` or `large_binary`. Small arrays of a tree share
        memory.

    Raises
    ------
    ColumnNotFoundError, DuplicateColumnError
        No column has such a label, or several columns have it.
    RowsOutOfRangeError
        A position is out of range.
    UnsupportedTypeError
        The other library lacks a type. The message names the column.
    CorruptFileError
        A part of the file that was read is damaged.
    LimitError
        The file asks for more than a limit allows. The message names the limit.
    WrongKeyError
        The file is encrypted, and the key or password does not open it, or none is given.
    TamperedError
        Someone without the key changed a part of the file that was read.

    Examples
    --------
    >>> df = pd.DataFrame({"city": ["Oslo", "Rome", "Bern"], "price": [3, 5, 4]})
    >>> en.write(df, "prices.entasis")
    >>> en.read("prices.entasis", columns=["price"], rows=(-2, None))
       price
    1      5
    2      4
    """
    with reported:
        _options.on_refused(on_unsupported)
        _options.on_damage(on_damage)
        try:
            path = _sources.remote(path, storage_options, credentials, prefetch)
        except MissingFileError as error:
            if not isinstance(path, str) or path.endswith(".entasis") or path.startswith(("http", "hf:")):
                raise
            from ._dataset.at_address import scan_at

            given = (memory_map, types, limits, generation, nan_to_null)
            if any(option not in (None, False) for option in given) or on_damage != "error":
                raise
            folder = scan_at(path, error, columns, rows, filter, storage_options, credentials, key, password)
            return folder.read(to=to, threads=threads, index=index, progress=progress)
        if on_damage == "missing":
            from ._view import damage as _damage

            def read_table(table: OpenTable) -> Any:
                file = value_of(File._of(View(table)))
                return read_value(file, columns, rows, filter, to, threads, index, nan_to_null, on_unsupported)

            if memory_map:
                raise ArgumentError("on_damage='missing' is for values that are read: leave memory_map=True out")
            opened = File(
                path,
                types=types,
                limits=limits,
                generation=generation,
                on_damage=on_damage,
                key=key,
                password=password,
            )
            with _followed(progress, value_of(opened), columns, rows, filter):
                return _damage.read(opened._view.table, read_table, _threads(threads))
        try:
            file = File(
                path,
                memory_map=memory_map,
                types=types,
                limits=limits,
                generation=generation,
                key=key,
                password=password,
            )
        except (NotEntasisError, DirectoryError, CorruptFileError) as error:
            if _sources.is_remote(path):
                if not isinstance(error, NotEntasisError):
                    raise
                with _sources.fetched(cast("Remote", path)) as copy:
                    return read(
                        copy,
                        columns=columns,
                        rows=rows,
                        filter=filter,
                        to=to,
                        threads=threads,
                        types=types,
                        index=index,
                        nan_to_null=nan_to_null,
                        on_unsupported=on_unsupported,
                        limits=limits,
                        generation=generation,
                        progress=progress,
                        key=key,
                        password=password,
                    )
            from ._convert import read as _others

            form = _others.other_format(path, error)
            if form is None:
                raise
            if memory_map or types is not None or generation is not None:
                raise ArgumentError(
                    f"memory_map, types and generation are for Entasis files, not for {form}"
                ) from error
            secret = None if key is None and password is None else _secret(key, password)
            return _others.read(
                path, form, columns, rows, filter, to, threads, index, nan_to_null, on_unsupported, progress, secret
            )
        value = value_of(file)
        file._view.handle.give()
        if progress is None:
            return read_value(value, columns, rows, filter, to, threads, index, nan_to_null, on_unsupported)
        with _followed(progress, value, columns, rows, filter):
            return read_value(value, columns, rows, filter, to, threads, index, nan_to_null, on_unsupported)


@contextmanager
def _followed(
    progress: bool | Callable[..., Any] | None,
    file: File | Tree,
    columns: Columns | None,
    rows: Rows | None,
    filter: Filter | None,
) -> Iterator[None]:
    """Show the progress of reading these columns and rows in a `with` block."""
    with _options.shown_progress(progress, "reading", "values") as show:
        if show is None:
            yield
            return
        if is_frame(file):
            view = file._view.narrow(file._view.resolve(columns), file._view.compose(rows))
            total = view.n_rows * (view.n_columns + (filter is not None))
        else:
            total = file._handle.n_values()
        with _entasis.Followed(show, total):
            yield
        show(total, total)


def open(
    path: Source,
    *,
    memory_map: MemoryMap = False,
    types: Types | None = None,
    limits: Limits | None = None,
    generation: int | None = None,
    nan_to_null: bool | None = None,
    on_damage: OnDamage = "error",
    storage_options: Mapping[str, Any] | None = None,
    credentials: Callable[[], Any] | None = None,
    prefetch: int | None = None,
    footer: bytes | None = None,
    key: AnyKey | None = None,
    password: str | None = None,
) -> File:
    """Open a file without reading its columns or values.

    Parameters
    ----------
    path
        As for `read`.
    memory_map
        True makes columns and arrays that are read later views of the file, which takes no time
        whatever their size. They must have been written with `compression=0`. The rows must be
        consecutive, and the columns of fixed width without missing values. Booleans are bits in the
        file, so only Arrow and Polars get views of them. All other columns raise `NotMappableError`
        with the reason. Row labels and parts of trees that can't be views because of their type are
        decoded. Arrow and Polars need pyarrow for this.

        "auto" makes views where possible, and reads everything else.
    types
        Classes to use instead of `Record`: dataclasses, named tuples and Enums, as a list, or as a
        dict by the names that the file has, such as `{"__main__.Point": Point}`. Fields that a
        class gained since get their defaults. Classes of `register` need not be named.
    limits
        As for `read`. They also hold for everything that is read from the file later.
    generation
        The number of an earlier generation (`entasis.generations` lists them). None opens the
        current one.
    nan_to_null
        As for `read`, for everything that is read from the file later: also for its streams, and
        for the frames in a tree.
    on_damage
        "error", or "missing" to open the newest whole generation if the current one can't be
        opened, because the file was cut within its last change. A `DamageWarning` says which one
        was opened. (`generation` does the same.) For damaged blocks, `on_damage` of the file's
        `read` decides.
    storage_options, credentials, prefetch
        As for `read`.
    footer
        For objects on stores: the `footer` of this file when another process opened it. Then
        opening sends no request. The next request finds out whether the object was replaced since.
        Values among the bytes of the footer need none: they are those of the version then.
    key, password
        As for `read`.

    Returns
    -------
    File
        A `File` for a frame. Any other value is a `Tree`, a subclass of `File`. The file is closed
        by `close`, by `with`, or when the last view of it is gone.

    Raises
    ------
    MissingFileError, NotEntasisError, NewerVersionError, CorruptFileError
        The file does not exist, or its header or footer can't be read; or `footer` is damaged.
    LimitError
        The footer asks for more than a limit allows.
    NotMappableError
        `memory_map` is True, and an array or a column that is read can't be a view; or the file is
        encrypted.
    WrongKeyError
        As for `read`.

    Notes
    -----
    For views of a mapped file:

    - The arrays are read-only: `df.iloc[0, 0] = 1` raises `ValueError`. Change a copy instead
      (`df.copy()`).
    - Opening checks the footer, but nothing checks the values, because that would read them.
      `verify` checks all.
    - The arrays stay valid after the `File` is dropped, and after the file is replaced or deleted.
      (Windows refuses both while a file is mapped.)
    - If another program writes into the file, the arrays change. If it truncates the file, access
      to the arrays ends the process (SIGBUS). `entasis.write` does neither.

    Examples
    --------
    >>> df = pd.DataFrame({"city": ["Oslo", "Rome", "Bern"], "price": [3, 5, 4]})
    >>> en.write(df, "prices.entasis")
    >>> f = en.open("prices.entasis")
    >>> f.schema
    city   utf8
    price  i64
    >>> f[1:]["price"].to_numpy()
    {'price': array([5, 4])}
    """
    with reported:
        path = _sources.remote(path, storage_options, credentials, prefetch, footer)
        try:
            file = File(
                path,
                memory_map=memory_map,
                types=types,
                limits=limits,
                generation=generation,
                on_damage=on_damage,
                key=key,
                password=password,
            )
        except (NotEntasisError, DirectoryError) as error:
            if _sources.is_remote(path):
                raise
            from ._convert.read import advice

            raise advice(path, error) from None
        if nan_to_null is not None:
            file = File._of(file._view.with_nan_to_null(nan_to_null))
        # A `File` for checkers, because most values are frames. `isinstance(found, en.Tree)` finds
        # trees.
        return cast("File", value_of(file))


def scan_polars(
    path: Source,
    *,
    limits: Limits | None = None,
    generation: int | None = None,
    nan_to_null: bool | None = None,
    on_unsupported: OnRefused = "error",
    key: AnyKey | None = None,
    password: str | None = None,
) -> PolarsLazyFrame:
    """Open a file as a LazyFrame of Polars, which reads only what its query asks for.

    Parameters
    ----------
    path, limits, generation
        As for `open`.
    nan_to_null, key, password
        As for `read`.
    on_unsupported
        "error", or "skip" to leave out columns whose type Polars lacks. A warning names them.

    Returns
    -------
    polars.LazyFrame
        That of `entasis.open(path).lazy()`.

    Examples
    --------
    >>> import polars as pl
    >>> en.write(pl.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]}), "table.entasis")
    >>> lazy = en.scan_polars("table.entasis")
    >>> lazy.filter(pl.col("a") > 1).select(pl.col("b").sum()).collect().item()
    11
    """
    file = open(path, limits=limits, generation=generation, nan_to_null=nan_to_null, key=key, password=password)
    return file.lazy(on_unsupported=on_unsupported)


def set_threads(n: int | None) -> None:
    """Set the number of threads of calls without `threads`.

    Parameters
    ----------
    n
        The number of threads. None means one per processor.

    Examples
    --------
    >>> en.set_threads(2)
    >>> en.set_threads(None)
    """
    _entasis.set_threads(0 if n is None else _threads(n) or 0)
