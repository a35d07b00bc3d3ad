"""Write a frame batch by batch."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from entasis import _entasis
from entasis._arguments.options import shown
from entasis._file.file import File, is_frame
from entasis._file.opened import Opened
from entasis._libraries import registry as _hosts
from entasis._libraries import streams as _streams
from entasis._memory import reported
from entasis._open import open_value
from entasis._view.table import OpenTable
from entasis._view.view import View
from entasis._write import of_scan, write_whole
from entasis.errors import ArgumentError, ClosedFileError

from . import hosts as _hosts_of
from .append import append_in_place
from .columns import INDEX
from .dead import warn_of_dead
from .earlier import Earlier
from .fitting import Options
from .growth import in_memory, of_file, put

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from entasis._entasis import Destination

    from .fitting import Fitted

# The values of a full block. Batches are stored in multiples of it.
_BLOCK = 1 << 16
# Batches are collected up to this many rows, or to a block of rows and this many bytes. A batch of
# a block or more is stored at once if collecting would copy it.
_BYTES = 32 << 20
_ROWS = 16 * _BLOCK


class Writer:
    """Writes a frame batch by batch, with memory for only a few batches: `entasis.writer`.

    Nothing is visible before `close`. `with` closes it, and gives up after an exception.

    It belongs to the process that made it. In a forked child its methods raise an error, and
    leaving `with` does nothing.

    Examples
    --------
    >>> with en.writer("numbers.entasis") as w:
    ...     for i in range(3):
    ...         w.write(pd.DataFrame({"a": [i, i * 10]}))
    >>> en.read("numbers.entasis")["a"].tolist()
    [0, 0, 1, 10, 2, 20]
    """

    __slots__ = (
        "_appends",
        "_check",
        "_collects",
        "_fill",
        "_is_counted",
        "_is_declared",
        "_is_whole",
        "_n",
        "_parts",
        "_proto",
        "_rules",
        "_size",
        "_stream",
        "_to",
        "_total",
        "_widen",
    )

    def __init__(
        self,
        to: Destination,
        schema: Any,
        append: bool,
        *,
        fill: bool = False,
        widen: bool = False,
        check: Callable[[Any], None] | None = None,
    ) -> None:
        # `check` is called with each batch, and with those that a batch yields.
        self._check = check
        self._to, self._fill, self._widen = to, fill, widen
        self._parts: list[Any] = []
        self._n = self._size = 0
        # The most bytes of batches that wait. At least a block of rows does.
        self._collects = _BYTES
        self._rules: Any = None
        # The table without rows, known after the first batch; and whether it has to be written
        # whole, as with columns of objects.
        self._proto: Any = None
        self._is_whole = False
        # Whether the index counts from 0, and the rows so far.
        self._is_counted, self._total = False, 0
        path = to["path"]
        assert path is not None, "a writer has a path"
        self._appends, self._is_declared = append, schema is not None and not append
        if append:
            change = _entasis.Change(path, to["wait"], to["secret"])
            try:
                self._extend(open_value(path, to["secret"]))
                self._stream: _entasis.Stream | None = _entasis.Stream.extend(change, to["durable"], to["edition"])
            finally:
                change.end()
        else:
            self._stream = _entasis.Stream(path, to["wait"], to["durable"], to["edition"], to["is_new"], to["secret"])
        if schema is not None:
            try:
                for part in batches(_empty(schema)):
                    self._add(part, are_schema=True)
            except BaseException:
                # A stored exception must not keep the file locked.
                self.abort()
                raise

    def _extend(self, file: Any) -> None:
        """Prepare to add rows to a file."""
        host = _hosts_of.host_of(file)
        if not is_frame(file):
            raise ArgumentError("the file does not hold a frame: add to it with entasis.append")
        self._rules = _hosts_of.rules(host)
        self._proto = file[:0].read()
        handle = file._view.handle
        has_objects = handle.has_cells and any(column.logical == "object" for column in handle.columns(None))
        self._is_whole = has_objects or host == "static_frame" or _has_levels(handle.host())
        self._is_counted = self._rules.is_counted(handle.host().get("index"))
        self._total = file.n_rows

    @reported
    def write(self, batch: Any) -> None:
        """Add the rows of a batch.

        Parameters
        ----------
        batch
            A frame, a record batch, a dict of arrays, an open file or a view of one; or an iterable
            or Arrow stream of these. The first batch sets the columns and the library that reads
            them. Later ones follow the rules of `entasis.append`, with `fill` and `widen` of the
            writer. Arrays and frames of pandas may change after the call. Buffers that Arrow or
            Polars share with an array may not, until the writer is closed.

        Raises
        ------
        ArgumentError
            The batch does not fit, and the writer can go on with others; or its rows can't be
            stored after those before, and the writer is closed.

        Examples
        --------
        >>> with en.writer("words.entasis") as w:
        ...     w.write(pd.DataFrame({"word": ["a", "b"]}))
        ...     w.write(pd.DataFrame({"word": ["c", "d", "e"]}))
        >>> len(en.open("words.entasis"))
        5
        """
        self._check_open()
        for part in batches(batch, None if self._rules is None else self._rules.HOST, self._check):
            self._add(part)

    def _check_open(self) -> None:
        if self._stream is None:
            raise ClosedFileError("the writer is closed: make another one")
        self._stream.check_process()

    def _add(self, batch: Any, *, are_schema: bool = False) -> None:
        if self._rules is None:
            self._begin(batch)
            return
        part = self._rules.collect(batch)
        earlier = Earlier(self._rules, self._table, self._parts, self._total)
        options = Options(self._fill, self._widen, earlier, self._is_declared, are_schema)
        fitted = self._rules.fit(self._proto, part, options)
        if fitted.changes:
            self._change(fitted)
        self._proto = self._rules.known(self._proto, fitted.part)
        self._take(fitted.part)

    def _table(self) -> File | None:
        """The rows that are stored."""
        handle = None if self._stream is None else self._stream.view()
        return None if handle is None else File._of(View(OpenTable(handle, str(self._to["path"]))))

    def _change(self, fitted: Fitted) -> None:
        """Give the rows before those types, and columns, that the rows of a batch need."""
        assert self._stream is not None, "the writer is open"
        # Errors of values come before the first change.
        parts = [in_memory(part, fitted, self._rules) for part in self._parts]
        table = None if self._is_whole else self._table()
        if table is not None:
            replaced = of_file(table, fitted, self._rules)
            to: Destination = {**self._to, "stream": self._stream}
            try:
                if not put(self._stream, table, replaced, fitted, self._rules, to):
                    raise ArgumentError("columns of objects, or with metadata of dtypes, can't follow other rows")
            except BaseException:
                self.abort()
                raise
        self._parts = parts
        self._proto = self._rules.head(fitted.part)
        if INDEX in fitted.grown:
            self._is_counted = False

    def _begin(self, batch: Any) -> None:
        """Take the first batch, which sets the columns."""
        root = "numpy" if type(batch) is dict else type(batch).__module__.partition(".")[0]
        if not (_hosts.is_columns(batch) if type(batch) is dict else _hosts.is_frame(batch)):
            raise ArgumentError(f"{shown(batch)} is not a frame: pass frames, record batches or dicts of arrays")
        self._rules = _hosts_of.rules(root)
        part = self._rules.collect(batch)
        self._proto = self._rules.head(part)
        # Only rows reveal which columns hold objects. StaticFrame labels must be unique.
        builder, host = _hosts.build(part)
        self._is_whole = builder.has_trees or root == "static_frame" or _has_levels(host)
        self._is_counted = self._rules.is_counted(host.get("index"))
        self._take(part)

    def _take(self, part: Any) -> None:
        n = _length(part)
        if self._is_counted:
            part = self._rules.counted(part, self._total)
        self._total += n
        self._n += n
        if self._is_whole or self._waits(part, n):
            # The batch may change before it is written.
            self._parts.append(self._rules.own(part))
            return
        whole = self._rules.joined([*self._parts, part]) if self._parts else part
        rest = self._n % _BLOCK
        cut = self._n - rest
        try:
            self._put(self._rules.rows(whole, 0, cut) if rest else whole)
        except BaseException:
            # The rows before may be incomplete now.
            self.abort()
            raise
        self._parts = [self._rules.own(self._rules.rows(whole, cut, self._n))] if rest else []
        self._n = rest
        self._size = self._rules.size(self._parts[0]) if rest else 0

    def _waits(self, part: Any, n: int) -> bool:
        """Whether a batch waits for others, to be stored with them."""
        if n >= (_BLOCK if self._rules.IS_COPIED else _ROWS):
            return False
        self._size += self._rules.size(part)
        return self._n < _BLOCK or (self._n < _ROWS and self._size < self._collects)

    def _put(self, part: Any) -> None:
        """Store rows."""
        assert self._stream is not None, "the writer is open"
        file = self._table()
        to: Destination = {**self._to, "stream": self._stream}
        if file is None:
            builder, host = _hosts.build(part)
            self._stream.will_append([])
            builder.write(host, to)
            return
        error = append_in_place(file, part, self._rules, to, self._stream)
        if error is not None:
            raise error

    @reported
    def close(self) -> None:
        """Write the remaining rows, and make the file visible. Does nothing if the writer is
        closed.

        Raises
        ------
        ArgumentError
            Nothing was written.
        """
        if self._stream is None:
            return
        self._stream.check_process()
        try:
            if self._is_whole:
                parts = self._parts
                self.abort()
                if parts:
                    self._write_whole(self._rules.joined(parts))
            else:
                if self._parts:
                    parts, self._parts = self._parts, []
                    self._put(parts[0] if len(parts) == 1 else self._rules.joined(parts))
                stream, self._stream = self._stream, None
                stream.finish()
        finally:
            self.abort()
        if self._appends:
            # The frames of `reported` and of this method.
            warn_of_dead(str(self._to["path"]), self._to["secret"], stacklevel=4)

    def _write_whole(self, whole: Any) -> None:
        from .append import append

        if self._appends:
            append(whole, self._to, self._fill, self._widen)
        else:
            write_whole(whole, self._to, None, "error")

    def abort(self) -> None:
        """Give up: the file at the path stays as it was."""
        if self._stream is not None:
            self._stream.check_process()
            self._stream.end()
        self._stream = None
        self._parts = []

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is None or not self._stream.is_ours():
            return
        if error is None:
            self.close()
        else:
            self.abort()

    def __repr__(self) -> str:
        state = "closed" if self._stream is None else "open"
        return f"<entasis.Writer of {self._to['path']!r}, {state}>"


def write_stream(value: Any, to: Destination, show: Callable[[int, int | None], Any] | None = None) -> tuple[bool, Any]:
    """Write a long file or an Arrow stream batch by batch.

    Returns whether that is done, and what is left to write. Dictionaries can differ from batch to
    batch, so streams with dictionaries are collected. `show` is called with the rows that were
    written.
    """
    if isinstance(value, Opened):
        return is_frame(value) and _write_file(value, to, show), value
    if not _streams.is_stream(value):
        return False, value
    reader = _streams.reader(value)
    if any("dictionary" in str(kind) for kind in reader.schema.types):
        return False, reader
    with Writer(to, reader.schema, False) as writer:
        _write_counted(writer, reader, None, show)
    return True, None


def _write_counted(
    writer: Writer, value: Any, total: int | None, show: Callable[[int, int | None], Any] | None
) -> None:
    """Write all batches of a file or a stream, and report the rows."""
    if show is None:
        writer.write(value)
        return
    n = 0
    for part in batches(value):
        writer.write(part)
        n += _length(part)
        show(n, total)


def _write_file(file: File, to: Destination, show: Callable[[int, int | None], Any] | None) -> bool:
    """Write an open file, or a view of one, batch by batch. False if it has to be read whole."""
    view = file._view
    if view.n_rows <= _rows_of_batch(view) or view.written_by == "static_frame":
        return False
    if view.handle.has_cells or _has_levels(view.table.host):
        return False
    try:
        with Writer(to, None, False) as writer:
            _write_counted(writer, file, view.n_rows, show)
    except ArgumentError:
        # Indexes or categories of the batches don't continue each other.
        return False
    return True


def _rows_of_batch(view: View) -> int:
    """The rows of a view to read at once: whole blocks of about `_BYTES`."""
    n = _BYTES // (8 * max(view.n_columns, 1))
    return min(max(n - n % _BLOCK, _BLOCK), _ROWS)


def _has_levels(host: dict[str, Any]) -> bool:
    """Whether rows have labels of several levels, which are stored with all rows at once."""
    return bool(host.get("index") and host["index"]["kind"] == "multi")


def _length(part: Any) -> int:
    if isinstance(part, dict):
        return len(next(iter(part.values()))) if part else 0
    return int(part.num_rows) if hasattr(part, "num_rows") else len(part.index) if hasattr(part, "index") else len(part)


def _empty(schema: Any) -> Any:
    """No rows of a schema: a frame, or a schema of pyarrow or Polars."""
    if hasattr(schema, "empty_table"):
        import pyarrow as pa

        # `empty_table` lacks nested extension types and unions.
        return pa.Table.from_batches([], schema)
    if type(schema).__module__.partition(".")[0] == "polars" and not hasattr(schema, "height"):
        import polars as pl

        return pl.DataFrame(schema=schema)
    if type(schema) is dict:
        return {name: array[:0] for name, array in schema.items()}
    if hasattr(schema, "iloc"):
        return schema.iloc[:0]
    with suppress(TypeError, AttributeError):
        return schema[:0]
    raise ArgumentError(f"schema={shown(schema)} is not a schema: pass a frame, or a schema of pyarrow or Polars")


def batches(value: Any, host: str | None = None, check: Callable[[Any], None] | None = None) -> Any:
    """The frames of a batch: the batch itself, or the frames that a stream or iterable yields.

    `host` reads files that no library of Python wrote. `check` is called with the value, and with
    those that it yields.
    """
    import collections.abc

    if check is not None:
        check(value)
    value = of_scan(value)
    if isinstance(value, File):
        # For a tree this is an error.
        n, step = value.n_rows, _rows_of_batch(value._view)
        return (value[start : start + step]._to_store(host) for start in range(0, max(n, 1), step))
    if type(value) is dict or _hosts.is_frame(value):
        return [value]
    if _streams.is_stream(value):
        return _streams.batches(value)
    if _streams.is_dataset(value):
        import pyarrow as pa

        return (pa.Table.from_batches([batch]) for batch in value.to_batches())
    _streams.check(value)
    if isinstance(value, collections.abc.Iterator):
        return (part for batch in value for part in batches(batch, host, check))
    return [value]
