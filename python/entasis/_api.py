"""The functions of the package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from . import _entasis
from ._arguments import options as _options
from ._arguments import sources as _sources
from ._arguments.options import threads as _threads
from ._file.file import File
from ._file.info import Info, Report
from ._hosts import registry as _hosts
from .errors import ArgumentError, ColumnNotFoundError, NotMappableError, UnsupportedTypeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ._arguments.options import OnRefused
    from ._arguments.rows import Rows
    from ._arguments.sources import Source, Target
    from ._columns.names import Columns
    from ._entasis import Destination
    from ._hosts.registry import Host
    from ._tree.document import OnUnsupported
    from ._typing import ArrowTable, NumpyArrays, PandasFrame, PolarsFrame, ReadOptions, StaticFrame

DEFAULT_COMPRESSION = 50


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
) -> None:
    """Write a frame or any tree of values to a file, all or nothing.

    Parameters
    ----------
    value
        A frame, series or index of pandas, Polars, pyarrow or StaticFrame; a NumPy array, a dict of them; an open
        file or a view of one; anything with `__arrow_c_stream__` (record batch readers, relations of DuckDB), which
        is collected in memory; or a tree of lists, tuples, dicts, sets, numbers, texts, times, arrays and frames, in
        any order and depth (to 1,000). An object that is met twice is stored once, and comes back as one.
    path
        A path (`str` or `os.PathLike`, `~` is expanded), or a binary file that is open for writing. A path is
        replaced when, and only when, all went well. An open file gets the content in one piece, which takes the
        memory for it.
    compression
        0 (none: fastest) to 100 (smallest), for all columns or per column, with None for the others:
        `{"price": 80, None: 50}`.
    threads
        None: as many as there are processors.
    durable
        Whether to force the file to the disk; None: only when it replaces one.
    wait
        Seconds to wait for another writer of the same file.
    metadata
        Any tree to keep beside the value: `open(path).metadata`.
    on_unsupported
        "error", "skip" (the item is left out of its dict, list or set, in columns of frames and arrays of objects it
        is None; a warning names it), or a function of the value and its path that returns what is written instead.
        A column of a frame whose dtype can't be kept is left out, and the function returns a column of the same length
        for it. Inside of a tree the frame as a whole is the item. What the function returns for a key or a member of a
        set has to have a hash and be none that is there; parts of keys and of members, and labels, are neither left
        out nor replaced. A field of a dataclass or named tuple can be replaced, but not left out.
    index
        False leaves out the labels of rows of a frame or series of pandas or StaticFrame; it comes back with
        positions.

    Raises
    ------
    UnsupportedTypeError
        A value can't be kept exactly; the error has its path. The old file is untouched.
    BusyError
        Another writer was not done within `wait` seconds.
    FileError
        The system refused; the old file is as it was.
    """
    found = _sources.target(path)
    is_path = isinstance(found, str)
    to = _destination(found if isinstance(found, str) else None, compression, threads, durable, wait)
    content = _write(value if index else _without_index(value), to, metadata, on_unsupported)
    if not is_path:
        _write_all(found, content)


def to_bytes(
    value: Any,
    *,
    compression: int | Mapping[str, int] | Mapping[str | None, int] = DEFAULT_COMPRESSION,
    threads: int | None = None,
    metadata: Any = None,
    on_unsupported: OnUnsupported = "error",
    index: bool = True,
) -> bytes:
    """The content of the file that `write` would write, for a network, a database or another file.

    Parameters
    ----------
    value, compression, threads, metadata, on_unsupported, index
        As for `write`.

    Returns
    -------
    bytes
        `read` and `open` take them. While they are made, memory holds them twice.

    Examples
    --------
    >>> content = en.to_bytes({"a": [1, 2]})
    >>> en.read(content)
    {'a': [1, 2]}
    """
    to = _destination(None, compression, threads, False, 0)
    content = _write(value if index else _without_index(value), to, metadata, on_unsupported)
    assert content is not None
    return content


def _without_index(value: Any) -> Any:
    """A frame or series with positions for labels of rows."""
    if isinstance(value, File):
        return value.read(index=False)
    if type(value) is not dict and not _hosts.is_frame(value):
        value = _hosts.collect(value)
    return _hosts.without_index(value)


def _destination(
    path: str | None,
    compression: int | Mapping[str, int] | Mapping[str | None, int],
    threads: int | None,
    durable: bool | None,
    wait: float,
) -> Destination:
    default, apart = _compression(compression)
    return {
        "path": path,
        "compression": default,
        "column_compression": apart,
        "threads": _threads(threads),
        "durable": _options.durable(durable),
        "wait": _options.wait(wait),
    }


def _write(
    value: Any, to: Destination, metadata: Any, on_unsupported: OnUnsupported, *, again: bool = False
) -> bytes | None:
    """Writes a value. Returns the content of the file when it goes into memory."""
    if on_unsupported not in ("error", "skip") and not callable(on_unsupported):
        raise ArgumentError(f"on_unsupported={on_unsupported!r}: 'error', 'skip' or a function")
    is_table = _hosts.is_columns(value) if type(value) is dict else _hosts.is_frame(value)
    if not is_table and type(value) is not dict:
        collected = value.read() if isinstance(value, File) else _hosts.collect(value)
        if collected is not value:
            return _write(collected, to, metadata, on_unsupported)
    try:
        builder, kept = _hosts.build(value) if is_table else (None, {})
    except UnsupportedTypeError as error:
        # What is given for a column is not replaced again.
        if on_unsupported == "error" or again:
            raise
        from ._hosts.unsupported_columns import without

        return _write(without(value, on_unsupported, error), to, metadata, on_unsupported, again=True)
    if to["column_compression"]:
        names = set() if builder is None else set(builder.names)
        for name, _ in to["column_compression"]:
            if name not in names:
                raise ColumnNotFoundError(f"compression names a column '{name}' that is not there")
    if builder is not None and metadata is None and not builder.has_trees:
        found: bytes | None = builder.write(kept, to)
        return found
    from ._tree.document import Document

    document = Document(on_unsupported, to["compression"])
    if builder is not None:
        table, cell = document.add_frame(value, builder, kept), None
    else:
        table, cell = None, document.add(value, "value")
    beside = None if metadata is None else document.add(metadata, "metadata")
    return document.write(to, table, cell, beside)


def _write_all(file: Any, content: bytes | None) -> None:
    """Writes the content into an open file, which may take less at a time."""
    left = memoryview(content or b"")
    while left:
        n = file.write(left)
        if n is None:
            # Files that say nothing have taken all.
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
    to: Host | None = None,
    threads: int | None = None,
    memory_map: bool = False,
    types: Iterable[type] | None = None,
    index: bool = True,
    on_unsupported: OnRefused = "error",
) -> Any:
    """Read a file, or some columns and rows of it, as the kind of value that was written.

    Parameters
    ----------
    path
        A path (`str` or `os.PathLike`, `~` is expanded), the content of a file (`bytes`, `bytearray`, `memoryview`),
        or a binary file that can be read from any place. Of an open file on the disk only what is asked for is read;
        `io.BytesIO` and bytes are not copied; of other files and buffers all is copied into memory.
    columns
        A label of any type, several of them in a list or array, or positions as a slice or range. Where all labels
        of the file are text, integers are positions too. Levels of the index can be named: pandas gets them as its
        index, other libraries as columns.
    rows
        Positions: a slice, a range, integers or a boolean mask in any sequence or array, or a tuple `(start, stop)`
        of integers or None. Negative numbers count from the end, and order and repeats are kept. Missing cells of a
        mask are False. Of a tree, the rows of an array or list.
    to
        "pandas", "polars", "pyarrow", "numpy" or "static_frame" for another kind of value: docs/fidelity.md tells
        what each type becomes.
    threads
        None: as many as there are processors.
    memory_map
        True reads nothing of the columns: they are views of the file; see `open`.
    types
        Classes to make of `Record`: dataclasses, named tuples and Enums.
    index
        False leaves out the labels of rows.
    on_unsupported
        "error", or "skip": columns that the other library has nothing for are left out, and a warning names them.

    Returns
    -------
    Any
        The value. A pyarrow table has each column in one chunk; `string` and `binary` of more than 2 GiB in a column
        come as `large_string` and `large_binary` then. Small arrays of a tree share memory.

    Raises
    ------
    ColumnNotFoundError, DuplicateColumnError
        There is no such label, or several columns have it.
    RowsOutOfRangeError
        There are no such rows.
    UnsupportedTypeError
        The other library has nothing for a type; the error names the column.
    CorruptFileError
        The file is damaged where it was read.

    Examples
    --------
    >>> en.write(pd.DataFrame({"city": ["Oslo", "Rome", "Bern"], "price": [3, 5, 4]}), "prices.entasis")
    >>> en.read("prices.entasis", columns=["price"], rows=(-2, None))
       price
    1      5
    2      4
    """
    _options.on_refused(on_unsupported)
    file = open(path, memory_map=memory_map, types=types)
    if type(file) is not File:
        if columns is not None or to is not None:
            raise ArgumentError("the file holds a tree: columns and to= are for frames; open it and choose a part")
        return file.read(rows=rows, threads=threads, index=index)
    return file.read(columns=columns, rows=rows, to=to, threads=threads, index=index, on_unsupported=on_unsupported)


def open(path: Source, *, memory_map: bool = False, types: Iterable[type] | None = None) -> File:
    """Open a file without reading its columns or values.

    Parameters
    ----------
    path
        As for `read`.
    memory_map
        True makes views of the file of the columns that are read later, in no time whatever its size. That takes a
        file written with `compression=0`, neighbouring rows, and columns of fixed width without missing values;
        booleans only for Arrow and Polars (they are bits in the file). Strings, categoricals and all else raise
        `NotMappableError`, which says why. Labels of rows are views where they can be and are decoded where they
        can't. Arrow and Polars take views through pyarrow.
    types
        Classes to make of `Record`: dataclasses, named tuples and Enums.

    Returns
    -------
    File
        A `File` for a frame, and a `Tree`, which is a `File` too, for any other value. It is closed with `close`,
        with `with`, or when it and its views are gone.

    Notes
    -----
    Of views of a mapped file:

    - The arrays are read-only: `df.iloc[0, 0] = 1` raises `ValueError`. Copy what is to be changed (`df.copy()`).
    - The footer is checked as always. The values are not: their checksums would have to read them. `verify` does.
    - The arrays keep the map: they stay valid when the `File` is dropped, and when the file is replaced or deleted
      (Windows does neither while it is mapped). If others write into the very file, the arrays change; if they cut
      it short, looking at the arrays ends the process (SIGBUS). `entasis.write` does neither.

    Examples
    --------
    >>> en.write(pd.DataFrame({"city": ["Oslo", "Rome", "Bern"], "price": [3, 5, 4]}), "prices.entasis")
    >>> f = en.open("prices.entasis")
    >>> f.schema
    city   utf8
    price  i64
    >>> f[1:]["price"].to_numpy()
    {'price': array([5, 4])}
    """
    file = File(path, memory_map=memory_map, types=types)
    if file._handle.is_table:
        return file
    if memory_map:
        raise NotMappableError("the file holds a tree, and only a file of one frame can be mapped; open it without")
    from ._tree.tree import root

    return root(file._frame)


def info(path: Source) -> Info:
    """How a file is stored: sizes, encodings and missing values of each column, and its metadata.

    `path` is as for `read`.
    """
    import json

    file = File(path)
    return Info(json.loads(file._handle.info()) | {"metadata": file.metadata})


def verify(path: Source, *, threads: int | None = None) -> Report:
    """Check every byte of a file. Raises `CorruptFileError` at the first damage.

    `path` is as for `read`.
    """
    return Report(**_entasis.Handle(_sources.source(path)).verify(_threads(threads)))


def set_threads(n: int | None) -> None:
    """Set the number of threads for calls that don't name one; None: as many as there are processors."""
    _entasis.set_threads(0 if n is None else _threads(n) or 0)


def _compression(compression: int | Mapping[str, int] | Mapping[str | None, int]) -> tuple[int, list[tuple[str, int]]]:
    if isinstance(compression, int) or _options.integer(compression) is not None:
        return _level(compression), []
    if not hasattr(compression, "items"):
        raise ArgumentError(f"compression={compression!r}: an integer from 0 to 100, or a dict of them per column")
    levels = {name: _level(level) for name, level in compression.items()}
    default = levels.pop(None, DEFAULT_COMPRESSION)
    for name in levels:
        if not isinstance(name, str):
            raise ArgumentError(f"compression is told per column name (str), not per {type(name).__name__}")
    return default, [(str(name), level) for name, level in levels.items()]


def _level(level: Any) -> int:
    found = _options.integer(level)
    if found is None or not 0 <= found <= 100:
        raise ArgumentError(f"compression={level!r}: an integer from 0 to 100")
    return found
