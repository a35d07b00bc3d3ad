"""Tables of other formats and libraries, as batches of Arrow or as values of their own library."""

from __future__ import annotations

import os
import warnings
from copy import copy
from typing import TYPE_CHECKING, Any

from entasis import _npz
from entasis._arguments import sources as _sources
from entasis._arguments.options import close_to, integer, shown
from entasis._csv import arguments as _text_arguments
from entasis._csv.scan import CsvScan, scan_csv
from entasis._csv.sniff import sniff_csv
from entasis._file.file import File, Scan, is_frame
from entasis._filter import bind as _bind
from entasis._libraries import registry as _hosts
from entasis._open import value_of
from entasis._tree.tree import Tree
from entasis._view.read import read as _read
from entasis._write import destination, write_whole
from entasis.errors import (
    ArgumentError,
    ColumnNotFoundError,
    CorruptFileError,
    DuplicateColumnError,
    UnsupportedTypeError,
)

from . import formats as _formats
from . import libraries as _libraries
from . import r_files as _r_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._filter.conditions import Filter
    from entasis._typing import Columns, Rows
    from entasis._view.view import View

# The rows of a batch.
BATCH = 1 << 17
LEFT_OUT = "the column is left out"
# The greatest length of a row group of Parquet that is read at once.
_GROUP_LEN = 96 << 20
# The last bytes of a stream of Arrow.
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"


class Input:
    """A table, or another value, that is converted or compared.

    Attributes
    ----------
    name
        Its name in messages.
    host
        The library of the value that `whole` returns.
    n_rows
        The number of rows, if it is known before reading.
    """

    name: str = "<frame>"
    host: str = "pyarrow"
    n_rows: int | None = None

    def schema(self) -> Any:
        """The schema of the batches."""
        raise NotImplementedError

    def batches(self) -> Iterator[Any]:
        """The rows as tables of pyarrow."""
        raise NotImplementedError

    def whole(self) -> Any:
        """The value that the library itself reads."""
        raise NotImplementedError

    def losses(self) -> list[tuple[Any, str]]:
        """Columns that batches lack, with the reasons."""
        return []

    def file(self) -> Any:
        """The value as an open file, which is in memory for other formats."""
        return staged(self.whole())

    def selected(self, columns: Columns | None, rows: Rows | None, filter: Filter | None) -> Input:
        """Some columns and rows. `rows` applies before the filter."""
        if columns is None and rows is None and filter is None:
            return self
        file = self.file()
        if not is_frame(file):
            raise ArgumentError(f"{self.name} holds no table: columns, rows and filter are for tables")
        return FileInput(file).selected(columns, rows, filter)


class FileInput(Input):
    """An open file of Entasis, or of a format that `entasis.open` opens."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.name = file.path
        self.is_table = is_frame(file)
        self.host = (file.written_by or "pyarrow") if self.is_table else "tree"
        self.n_rows = file.n_rows if self.is_table else None
        self._found: tuple[list[int] | None, list[tuple[Any, str]]] | None = None

    def file(self) -> Any:
        return self._file

    def whole(self) -> Any:
        return self._file.read()

    def selected(self, columns: Columns | None, rows: Rows | None, filter: Filter | None) -> Input:
        if columns is None and rows is None and filter is None:
            return self
        if not self.is_table:
            return super().selected(columns, rows, filter)
        scan = self._file.scan(columns, filter, rows)
        return FileInput(scan.view() if filter is not None else File._of(scan._query.view))

    def _in_arrow(self) -> tuple[list[int] | None, list[tuple[Any, str]]]:
        """The numbers of the columns that Arrow has, and the others."""
        if self._found is None:
            self._found = None, []
            view = self._file._view
            try:
                _table(view, slice(0))
            except UnsupportedTypeError:
                every = list(range(view.handle.n_columns)) if view.columns is None else list(view.columns)
                good, lost = [], []
                for number, label in zip(every, self._file.column_names, strict=True):
                    try:
                        _table(view.narrow([number], view.rows), slice(0))
                    except UnsupportedTypeError as error:
                        lost.append((label, f"{LEFT_OUT}: {reason(error)}"))
                    else:
                        good.append(number)
                self._found = good, lost
        return self._found

    def _of_arrow(self) -> File:
        if not self.is_table:
            raise UnsupportedTypeError(f"{self.name} holds a tree of values, not a table: open it and choose a part")
        columns, _ = self._in_arrow()
        view = self._file._view
        return self._file if columns is None else File._of(view.narrow(columns, view.rows))

    def losses(self) -> list[tuple[Any, str]]:
        if not self.is_table:
            return []
        view = self._file._view
        kind = view.table.host.get("class")
        found: list[tuple[Any, str]] = [] if kind is None else [(None, "the value becomes a table")]
        if self.host != "pandas":
            numbers = range(view.handle.n_columns) if view.columns is None else view.columns
            stored = [number for number in numbers if type(number) is int and number >= 0]
            for column in view.handle.columns(stored):
                if column.logical == "object":
                    found.append((column.name, "objects become values of one type"))
        lost = self._in_arrow()[1]
        return [*[each for each in found if each[0] not in dict(lost)], *lost]

    def schema(self) -> Any:
        return _table(self._of_arrow()._view, slice(0)).schema

    def batches(self) -> Iterator[Any]:
        view = self._of_arrow()._view
        # A table without rows has its dictionaries all the same.
        for start in range(0, max(view.n_rows, 1), BATCH):
            yield _table(view, slice(start, start + BATCH))


class TextInput(Input):
    """A scan of a text."""

    def __init__(self, scan: CsvScan) -> None:
        self.scan = scan
        self.name = scan._query.text.name

    def schema(self) -> Any:
        return self.scan.limit(0).to_pyarrow().schema

    def batches(self) -> Iterator[Any]:
        return self.scan.batches(BATCH, to="pyarrow")

    def whole(self) -> Any:
        return self.scan.to_pyarrow()

    def selected(self, columns: Columns | None, rows: Rows | None, filter: Filter | None) -> Input:
        query = self.scan._query
        if rows is not None:
            limits = _text_arguments.limits(rows)
            if limits is None:
                raise ArgumentError("rows= of a text is (start, stop), or a slice or range of consecutive rows")
            query = query._replace(rows=limits)
        if columns is not None:
            query = query.select(columns)  # type: ignore[arg-type]
        return TextInput(CsvScan(query if filter is None else query.filtered(filter)))


class ValueInput(Input):
    """A value in memory."""

    def __init__(self, value: Any, name: str = "<frame>") -> None:
        self.value, self.name = value, name
        is_table = _hosts.is_columns(value) if type(value) is dict else _hosts.is_frame(value)
        root = "numpy" if type(value) is dict else type(value).__module__.partition(".")[0]
        self.host = root if is_table else "tree"
        self._staged: FileInput | None = None

    def whole(self) -> Any:
        return self.value

    def _as_file(self) -> FileInput:
        if self._staged is None:
            self._staged = FileInput(self.file())
            self._staged.name = self.name
        return self._staged

    def schema(self) -> Any:
        return self._as_file().schema()

    def batches(self) -> Iterator[Any]:
        return self._as_file().batches()

    def losses(self) -> list[tuple[Any, str]]:
        return self._as_file().losses()


class ArrowInput(Input):
    """Batches of Arrow. Columns and rows can be chosen."""

    _columns: list[str] | None = None
    _span: tuple[int, int | None] | None = None
    _filter: Any = None

    def _schema(self) -> Any:
        """The schema of all columns."""
        raise NotImplementedError

    def _raw(self, columns: list[str] | None) -> Iterator[Any]:
        """All rows of some columns, as record batches or tables."""
        raise NotImplementedError

    def _from(self, columns: list[str] | None, start: int) -> tuple[Iterator[Any], int]:
        """Rows from a position at or before `start`, and this position."""
        return self._raw(columns), 0

    def _count(self) -> int | None:
        """The number of all rows, if it is known before reading."""
        return None

    def _begin(self) -> None:
        """Find the facts that do not need the rows."""
        found = self._schema().metadata or {}
        self.host = "pandas" if b"pandas" in found and _libraries.load("pandas") is not None else "pyarrow"
        self.n_rows = self._count()

    def schema(self) -> Any:
        found = self._schema()
        if self._columns is None:
            return found
        import pyarrow as pa

        return pa.schema([found.field(name) for name in self._columns], found.metadata)

    def batches(self) -> Iterator[Any]:
        import pyarrow as pa

        start, stop = self._span or (0, None)
        wanted = self._columns
        needed = None
        if wanted is not None:
            tested = [] if self._filter is None else _bind.names(self._filter)
            needed = None if tested is None else list(dict.fromkeys([*wanted, *tested]))
        with _libraries.reading(self.name):
            found, at = self._from(needed, start)
            if start == stop:
                return
            for batch in found:
                first, last = max(start - at, 0), batch.num_rows if stop is None else min(stop - at, batch.num_rows)
                at += batch.num_rows
                if first < last:
                    part = batch.slice(first, last - first)
                    table = part if isinstance(part, pa.Table) else pa.Table.from_batches([part])
                    yield self._passing(table, wanted, needed)
                if stop is not None and at >= stop:
                    return

    def _passing(self, table: Any, wanted: list[str] | None, needed: list[str] | None) -> Any:
        if self._filter is not None:
            # The core tests conditions on files.
            return staged(table).read(columns=wanted, filter=self._filter).cast(self.schema())
        return table if wanted is None or wanted == needed else table.select(wanted)

    def whole(self) -> Any:
        if self.host == "pandas" and not self._is_part():
            with _libraries.reading(self.name):
                return self._pandas()
        return self.table()

    def table(self) -> Any:
        """All rows as a table of pyarrow."""
        import pyarrow as pa

        parts = list(self.batches())
        schema = self.schema()
        return pa.concat_tables(parts).unify_dictionaries() if parts else pa.Table.from_batches([], schema)

    def _is_part(self) -> bool:
        return self._columns is not None or self._span is not None or self._filter is not None

    def _pandas(self) -> Any:
        """The frame that pandas reads."""
        return self.table().to_pandas()

    def selected(self, columns: Columns | None, rows: Rows | None, filter: Filter | None) -> Input:
        if columns is None and rows is None and filter is None:
            return self
        span = None if rows is None else self._consecutive(rows)
        if self.host == "pandas" or (rows is not None and span is None):
            # Labels of rows and columns have the meaning that pandas gives them.
            return super().selected(columns, rows, filter)
        found = copy(self)
        found._filter = None if filter is None else _bind.condition(filter)
        found._columns = None if columns is None else _names(self._schema(), columns)
        names = _bind.names(found._filter) if found._filter is not None else []
        _names(self._schema(), names or [])
        found._span, found.n_rows = span, None
        return found

    def _consecutive(self, rows: Any) -> tuple[int, int | None] | None:
        """The start and end of consecutive rows; None for other rows."""
        pair = rows if isinstance(rows, tuple) and len(rows) == 2 else None
        if isinstance(rows, (slice, range)) and rows.step in (None, 1):
            pair = rows.start, rows.stop
        if pair is None:
            return None
        start = 0 if pair[0] is None else integer(pair[0])
        stop = integer(pair[1])
        if start is None or (stop is None and pair[1] is not None):
            return None
        if start < 0 or (stop is not None and stop < 0):
            if self.n_rows is None:
                return None
            start, stop, _ = slice(start, stop).indices(self.n_rows)
        return start, None if stop is None else max(stop, start)


class ParquetInput(ArrowInput):
    """A Parquet file, which is read by row groups."""

    def __init__(self, source: str | bytes, name: str, threads: int | None) -> None:
        self._source, self.name, self._threads = source, name, threads
        with _libraries.reading(name):
            self._opened = self._open()
            self._begin()

    def _open(self) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        source = self._source if isinstance(self._source, str) else pa.BufferReader(self._source)
        # With buffers pyarrow would keep the bytes of all columns of a row group.
        return pq.ParquetFile(source, pre_buffer=False)

    def _schema(self) -> Any:
        return self._opened.schema_arrow

    def _count(self) -> int:
        return int(self._opened.metadata.num_rows)

    def _raw(self, columns: list[str] | None) -> Iterator[Any]:
        return self._from(columns, 0)[0]

    def _from(self, columns: list[str] | None, start: int) -> tuple[Iterator[Any], int]:
        groups, before, first = self._opened.metadata, 0, 0
        while first < groups.num_row_groups - 1 and before + groups.row_group(first).num_rows <= start:
            before += groups.row_group(first).num_rows
            first += 1
        return self._groups(columns, range(first, groups.num_row_groups)), before

    def _groups(self, columns: list[str] | None, numbers: range) -> Iterator[Any]:
        file, groups = self._open(), self._opened.metadata
        uses_threads = self._threads != 1
        for number in numbers:
            if groups.row_group(number).total_byte_size <= _GROUP_LEN:
                # Reading a row group at once is faster than reading it by batches.
                yield file.read_row_group(number, columns, use_threads=uses_threads)
            else:
                yield from file.iter_batches(BATCH, [number], columns, use_threads=uses_threads)

    def _passing(self, table: Any, wanted: list[str] | None, needed: list[str] | None) -> Any:
        return super()._passing(table, wanted, None)

    def table(self) -> Any:
        if self._span is not None or self._filter is not None:
            return super().table()
        with _libraries.reading(self.name):
            found = self._open().read(self._columns, use_threads=self._threads != 1)
            return found if self._columns is None else found.select(self._columns)

    def _pandas(self) -> Any:
        import io

        import pandas as pd

        source = self._source if isinstance(self._source, str) else io.BytesIO(self._source)
        return pd.read_parquet(source, engine="pyarrow")


class FolderInput(ArrowInput):
    """A folder of Parquet files, or several files, as one table."""

    def __init__(self, paths: str | list[str], threads: int | None) -> None:
        import pyarrow as pa
        import pyarrow.dataset as ds

        self._paths, self._threads = paths, threads
        self.name = paths if isinstance(paths, str) else f"{paths[0]} and {len(paths) - 1} more"
        with _libraries.reading(self.name):
            found = ds.dataset(paths, format="parquet", partitioning="hive")
            parts = [fragment.physical_schema for fragment in found.get_fragments()]
            if any(not part.equals(parts[0]) for part in parts):
                try:
                    # Columns that some files lack are missing there.
                    whole = pa.unify_schemas([found.schema, *parts])
                except pa.ArrowException as error:
                    raise ArgumentError(f"the files of {self.name} have different columns: {error}") from error
                found = found.replace_schema(whole)
            self._dataset = found
            self._begin()

    def _schema(self) -> Any:
        return self._dataset.schema

    def _raw(self, columns: list[str] | None) -> Iterator[Any]:
        found: Iterator[Any] = self._dataset.to_batches(
            columns=columns,
            batch_size=BATCH,
            batch_readahead=2,
            fragment_readahead=1,
            use_threads=self._threads != 1,
        )
        return found

    def _pandas(self) -> Any:
        import pandas as pd

        paths: Any = self._paths
        return pd.read_parquet(paths, engine="pyarrow")


class IpcInput(ArrowInput):
    """A file of Arrow, or Feather, which is mapped."""

    def __init__(self, source: str | bytes, name: str) -> None:
        self._source, self.name = source, name
        with _libraries.reading(name):
            self._opened = self._open(None)
            self._begin()

    def _open(self, columns: list[str] | None) -> Any:
        import pyarrow as pa

        fields = None if columns is None else [self._opened.schema.get_field_index(name) for name in columns]
        options = pa.ipc.IpcReadOptions(included_fields=fields)
        return pa.ipc.open_file(_mapped(self._source), options=options)

    def _schema(self) -> Any:
        return self._opened.schema

    def _raw(self, columns: list[str] | None) -> Iterator[Any]:
        found = self._open(columns)
        for i in range(found.num_record_batches):
            batch = found.get_batch(i)
            # Damage of offsets would end the process.
            batch.validate(full=True)
            yield from _pieces(batch if columns is None else batch.select(columns))

    def _pandas(self) -> Any:
        import io

        import pandas as pd

        return pd.read_feather(self._source if isinstance(self._source, str) else io.BytesIO(self._source))


class StreamInput(ArrowInput):
    """A stream of Arrow in a file."""

    def __init__(self, source: str | bytes, name: str) -> None:
        self._source, self.name = source, name
        with _libraries.reading(name):
            self._found = self._open(None).schema
            self._begin()

    def _open(self, columns: list[str] | None) -> Any:
        import pyarrow as pa

        fields = None if columns is None else [self._found.get_field_index(name) for name in columns]
        return pa.ipc.open_stream(_mapped(self._source), options=pa.ipc.IpcReadOptions(included_fields=fields))

    def _schema(self) -> Any:
        return self._found

    def _raw(self, columns: list[str] | None) -> Iterator[Any]:
        for batch in self._open(columns):
            batch.validate(full=True)
            yield from _pieces(batch if columns is None else batch.select(columns))

    def losses(self) -> list[tuple[Any, str]]:
        if isinstance(self._source, str):
            with open(self._source, "rb") as file:
                file.seek(0, os.SEEK_END)
                file.seek(max(file.tell() - len(_END_OF_STREAM), 0))
                end = file.read()
        else:
            end = self._source[-len(_END_OF_STREAM) :]
        # Writers may leave it out, so its absence is not damage.
        return [] if end == _END_OF_STREAM else [(None, "the stream lacks the mark of its end, and may be cut")]


class TableInput(ArrowInput):
    """A table of pyarrow in memory."""

    def __init__(self, table: Any, name: str = "<frame>") -> None:
        self._found, self.name = table, name
        self.n_rows = table.num_rows

    def _schema(self) -> Any:
        return self._found.schema

    def _raw(self, columns: list[str] | None) -> Iterator[Any]:
        yield from _pieces(self._found if columns is None else self._found.select(columns))


class PolarsInput(Input):
    """A Parquet or Arrow file that Polars reads, where pyarrow is not installed."""

    host = "polars"

    def __init__(self, path: str, form: str, polars: Any) -> None:
        self.name = path
        with _libraries.reading(path):
            self._lazy = polars.scan_parquet(path) if form == "parquet" else polars.scan_ipc(path)
            self.n_rows = int(self._lazy.select(polars.len()).collect().item())

    def frames(self) -> Iterator[Any]:
        """The rows in frames of Polars."""
        assert self.n_rows is not None
        for start in range(0, max(self.n_rows, 1), 8 * BATCH):
            with _libraries.reading(self.name):
                yield self._lazy.slice(start, 8 * BATCH).collect()

    def whole(self) -> Any:
        with _libraries.reading(self.name):
            return self._lazy.collect()


def opened(source: Any, form: str, threads: int | None = None, text: dict[str, Any] | None = None) -> Input:
    """Open a source of a format."""
    if form == "csv":
        return TextInput(_scan(source, threads, text or {}))
    if isinstance(source, (list, tuple)):
        if form != "parquet":
            raise ArgumentError(f"several files are one table for texts and Parquet, not for {form}: pass one")
        _libraries.need("Parquet in several files", "pyarrow.dataset")
        return FolderInput([_sources.path(one) for one in source], threads)
    found = _sources.source(source)
    name = found if isinstance(found, str) else _sources.IN_MEMORY
    if isinstance(found, str) and any(mark in found for mark in "*?[") and not os.path.lexists(found):
        return opened(_formats.expand(found), form, threads, text)
    if form == "entasis":
        return FileInput(value_of(File(found)))
    if form in _formats.OF_R:
        return FileInput(_r_files.opened(found))
    if form in ("npy", "npz"):
        return ValueInput(_arrays(found, form, name), name)
    if form == "jsonl":
        return ValueInput(_lines(found, name), name)
    if isinstance(found, str) and os.path.isdir(found):
        _libraries.need("a folder of Parquet files", "pyarrow.dataset")
        return FolderInput(found, threads)
    module = "pyarrow.parquet" if form == "parquet" else "pyarrow"
    if _libraries.load(module) is None and isinstance(found, str):
        polars = _libraries.need(f"a file of {form}", module, "polars")
        if form == "arrow_stream":
            return ValueInput(polars.read_ipc_stream(found), name)
        return PolarsInput(found, form, polars)
    _libraries.need(f"a file of {form}", module)
    if form == "parquet":
        return ParquetInput(found, name, threads)
    return StreamInput(found, name) if form == "arrow_stream" else IpcInput(found, name)


def of_value(value: Any) -> Input:
    """A frame, an open file, or a file of any format."""
    if isinstance(value, Scan):
        value = value.view()
    if isinstance(value, Tree):
        raise UnsupportedTypeError(f"{value.path} holds a tree of values, not a table: compare parts of it")
    if isinstance(value, File):
        return FileInput(value)
    if isinstance(value, CsvScan):
        return TextInput(value)
    if type(value) is dict or _hosts.is_frame(value):
        found = ValueInput(value)
        if found.host == "tree":
            raise ArgumentError("a dict is a table if its values are NumPy arrays of equal length")
        return TableInput(value) if type(value).__name__ == "Table" and found.host == "pyarrow" else found
    return opened(value, _formats.of_source(value, None))


def staged(value: Any) -> Any:
    """A value as an open file in memory."""
    content = write_whole(value, destination(None, 0, None, False, 0), None, "error")
    assert content is not None, "a file in memory has bytes"
    return value_of(File(content))


def _table(view: View, rows: slice) -> Any:
    """Rows of a view as a table of pyarrow, also where the value is an array or a series."""
    return _read(view.part(rows), "pyarrow", is_restored=False)


def reason(error: UnsupportedTypeError) -> str:
    """The text of an error about a column, without the column and the advice."""
    text = str(error).removeprefix("not supported: ")
    head, colon, rest = text.partition("': ")
    text = rest if colon and head.startswith("column '") else text
    return text.partition("; ")[0].partition(": read it")[0].partition(" (column ")[0]


def _names(schema: Any, columns: Any) -> list[str]:
    """The names of chosen columns: names, positions, or a slice of positions."""
    every = schema.names
    known = set(every)
    if isinstance(columns, (slice, range)):
        wanted = [every[i] for i in (range(*columns.indices(len(every))) if isinstance(columns, slice) else columns)]
    else:
        one = isinstance(columns, str) or integer(columns) is not None
        wanted = []
        for label in [columns] if one else columns:
            number = integer(label)
            if number is not None and -len(every) <= number < len(every):
                wanted.append(every[number])
            elif isinstance(label, str) and label in known:
                wanted.append(label)
            else:
                raise ColumnNotFoundError(f"no column {shown(label)}{close_to(label, every)}")
    for name in wanted if len(known) < len(every) else ():
        if every.count(name) > 1:
            raise DuplicateColumnError(f"several columns have the name {shown(name)}")
    return wanted


def _pieces(batch: Any) -> Iterator[Any]:
    """Parts of a long batch."""
    for start in range(0, batch.num_rows, BATCH):
        yield batch.slice(start, BATCH)


def _mapped(source: str | bytes) -> Any:
    import pyarrow as pa

    return pa.memory_map(source) if isinstance(source, str) else pa.BufferReader(source)


def _scan(source: Any, threads: int | None, text: dict[str, Any]) -> CsvScan:
    """A scan of a text. Its types hold for all rows, where they can be found out beforehand."""
    if text.keys() <= {"dates", "encoding"} and not isinstance(source, (list, tuple)) and not hasattr(source, "read"):
        path = None if isinstance(source, (bytes, bytearray, memoryview)) else _sources.path(source)
        if path is None or os.path.isfile(path):
            return scan_csv(source, spec=sniff_csv(source, rows="all", **text), threads=threads)
    return scan_csv(source, threads=threads, **text)


def _arrays(source: str | bytes, form: str, name: str) -> Any:
    """The arrays of NumPy, or the frame of StaticFrame, in a file."""
    if form == "npz":
        if not isinstance(source, str):
            raise ArgumentError("an NPZ file is read from its path, not from bytes")
        return _npz.read_npz(source)
    import io

    import numpy as np

    try:
        with _libraries.reading(name):
            if isinstance(source, str):
                _check_length(source)
                return np.load(source, allow_pickle=False)
            return np.load(io.BytesIO(source), allow_pickle=False)
    except CorruptFileError as error:
        if "allow_pickle" in str(error):
            raise UnsupportedTypeError(f"{name} has an array of objects, which would have to be executed") from error
        raise


def _check_length(path: str) -> None:
    """Check that an NPY file is as long as its header says, before memory is allocated."""
    import numpy as np

    with open(path, "rb") as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
        n = 1
        for length in shape:
            n *= length
        there = os.path.getsize(path) - file.tell()
        if not dtype.hasobject and n * dtype.itemsize > there:
            raise CorruptFileError(f"{path}: the array needs {n * dtype.itemsize:,} bytes, and the file has {there:,}")


def _lines(source: str | bytes, name: str) -> Any:
    """Lines of JSON objects, as a frame of Polars or pandas."""
    import io

    found: Any = source if isinstance(source, str) else io.BytesIO(source)
    with _libraries.reading(name):
        polars = _libraries.load("polars")
        if polars is not None:
            return polars.read_ndjson(found, infer_schema_length=None)
        pandas = _libraries.need("JSON lines", "polars", "pandas")
        with warnings.catch_warnings():
            # pandas 3.1 announces another argument instead, which older versions lack.
            warnings.simplefilter("ignore")
            return pandas.read_json(found, lines=True, convert_dates=False, precise_float=True)
