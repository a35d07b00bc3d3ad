"""Parquet, Arrow and Feather as targets."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from entasis._convert import libraries as _libraries
from entasis._convert import losses as _losses
from entasis._convert.inputs.arrow import ArrowInput
from entasis._convert.inputs.file import FileInput
from entasis._convert.inputs.open import opened
from entasis._convert.inputs.text import TextInput
from entasis._convert.inputs.value import ValueInput
from entasis._convert.left_out import LEFT_OUT
from entasis.errors import EntasisError

from . import pandas as _pandas
from . import parquet as _parquet
from . import row_groups as _row_groups
from .base import Options, Plan, counted
from .dictionaries import Unified
from .tables import as_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from entasis._convert.inputs.base import Input
    from entasis._convert.left_out import Loss
    from entasis._convert.target import New

_OF_PARQUET = ("none", "snappy", "gzip", "brotli", "lz4", "zstd")
_OF_ARROW = ("none", "lz4", "zstd")


def plan(given: Input, form: str, options: Options) -> Plan:
    """Decide how a table is written to a file of Parquet or Arrow."""
    pa = _libraries.need(f"a file of {form}", "pyarrow")
    codec = options.codec(
        {"parquet": "zstd", "feather": "lz4"}.get(form, "none"),
        _OF_PARQUET if form == "parquet" else _OF_ARROW,
        form,
    )
    lost = [*_losses.of_file(given), *given.losses()] if not isinstance(given, ValueInput) else []
    windows = _pandas.in_windows(given, form) if isinstance(given, FileInput) and given.host == "pandas" else None
    source: Callable[[], Iterator[Any]]
    if windows is not None:
        schema, source, more = windows
        lost += more
    elif given.host == "pandas" and not isinstance(given, ArrowInput):
        table, more = _pandas.as_table(given.whole(), form)
        schema = table.schema
        lost += more
        source = lambda: iter(table.to_batches(_row_groups.GROUP) or [table])  # noqa: E731
    else:
        given = as_batches(given)
        if not isinstance(given, ArrowInput):
            lost += _losses.of_index(given)
            if isinstance(given, ValueInput):
                lost += given.losses()
        schema = given.schema()
        source = given.batches
    # The layouts of types of a text are not its own.
    kept, more = _of_target(schema, form, exact=given.host == "pyarrow" and not isinstance(given, TextInput))
    lost += more
    if kept is not None:
        schema = pa.schema([schema.field(i) for i in kept], schema.metadata)
    if form == "parquet" and given.n_rows == 0:
        lost += [
            (field.name, "its categories are lost, because there are no rows")
            for field in schema
            if pa.types.is_dictionary(field.type)
        ]
    if form == "parquet" and not len(schema) and given.n_rows:
        lost.append((None, "rows without columns are lost"))
    unified = Unified(source, schema) if form in ("arrow", "feather") else None

    def written() -> Iterator[Any]:
        for batch in source():
            part = batch if kept is None else batch.select(kept)
            yield unified.batch(part) if unified is not None else part

    def write(new: New) -> None:
        if form == "parquet":
            with _libraries.writing(new.path), _sink(new) as sink:
                _parquet.write(sink, schema, codec, written(), options)
            return
        with (
            _libraries.writing(new.path),
            _sink(new) as sink,
            _arrow_writer(sink, schema, form, codec, options) as file,
        ):
            for batch in counted(written(), options):
                if isinstance(batch, pa.Table):
                    # A table without rows would be written without its dictionaries.
                    file.write_table(batch) if batch.num_rows else file.write_batch(_one_batch(batch))
                else:
                    file.write_batch(batch)

    return Plan(lost, write, written, lambda path: opened(path, form))


def _sink(new: New) -> Any:
    """The file of pyarrow for a new file."""
    import pyarrow as pa

    return pa.PythonFile(_Pipe(new.fd), "w") if new.is_pipe else pa.OSFile(new.path, "wb")


class _Pipe(io.RawIOBase):
    """Counts the bytes that are written: the writer of Arrow asks for its position."""

    def __init__(self, fd: int) -> None:
        self._file = open(fd, "wb", closefd=False)  # noqa: SIM115
        self._at = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        n = self._file.write(data)
        self._at += n
        return n

    def tell(self) -> int:
        return self._at

    def flush(self) -> None:
        # The base flushes once more when it closes.
        if not self._file.closed:
            self._file.flush()

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def _one_batch(table: Any) -> Any:
    """A table without rows as a batch."""
    import pyarrow as pa

    columns = [column.chunk(0) if column.num_chunks else pa.array([], column.type) for column in table.columns]
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)


def _arrow_writer(sink: Any, schema: Any, form: str, codec: str, options: Options) -> Any:
    import pyarrow as pa

    chosen = pa.ipc.IpcWriteOptions(compression=None if codec == "none" else codec, use_threads=options.threads != 1)
    make = pa.ipc.new_stream if form == "arrow_stream" else pa.ipc.new_file
    return make(sink, schema, options=chosen)


def _of_target(schema: Any, form: str, *, exact: bool) -> tuple[list[int] | None, list[Loss]]:
    """The columns that a format holds (None for all), and what it changes: what an empty file has."""
    try:
        return None, _losses.of_schemas(schema, _through(schema, form), exact=exact)
    except Exception as error:
        if isinstance(error, EntasisError):
            raise
    import pyarrow as pa

    kept, lost = [], []
    for i, field in enumerate(schema):
        try:
            _through(pa.schema([field]), form)
        except (pa.ArrowException, OSError, ValueError, TypeError) as error:
            lost.append((field.name, f"{LEFT_OUT}: {_libraries.said(error).partition('. ')[0]}"))
        else:
            kept.append(i)
    rest = pa.schema([schema.field(i) for i in kept], schema.metadata)
    return kept, [*lost, *_losses.of_schemas(rest, _through(rest, form), exact=exact)]


def _through(schema: Any, form: str) -> Any:
    """The schema that is read back from a file of a format."""
    import pyarrow as pa

    buffer = io.BytesIO()
    empty = pa.Table.from_batches([], schema)
    if form == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(empty, buffer)
        return pq.ParquetFile(pa.BufferReader(buffer.getvalue())).schema_arrow
    make, back = (
        (pa.ipc.new_stream, pa.ipc.open_stream) if form == "arrow_stream" else (pa.ipc.new_file, pa.ipc.open_file)
    )
    with make(buffer, schema) as file:
        file.write_table(empty)
    return back(pa.BufferReader(buffer.getvalue())).schema
