"""Writes tables and arrays into files of other formats."""

from __future__ import annotations

import io
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from entasis import _npz
from entasis._arguments.options import DEFAULT_COMPRESSION, shown
from entasis._csv.scan import scan_csv
from entasis._csv.write import write_csv
from entasis._file.file import File, is_frame
from entasis._grow.writer import Writer, write_stream
from entasis._write import destination, write_whole
from entasis.errors import ArgumentError, EntasisError, UnsupportedTypeError

from . import libraries as _libraries
from . import losses as _losses
from .inputs import (
    BATCH,
    LEFT_OUT,
    ArrowInput,
    FileInput,
    Input,
    PolarsInput,
    TextInput,
    ValueInput,
    opened,
    reason,
    staged,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from entasis._entasis import Destination

    from .losses import Loss
    from .target import New

_OF_PARQUET = ("none", "snappy", "gzip", "brotli", "lz4", "zstd")
_OF_ARROW = ("none", "lz4", "zstd")
# The rows of a row group of Parquet and their bytes in memory, and the rows of a batch of Arrow.
_GROUP = 1 << 20
_GROUP_LEN = 64 << 20


class Plan(NamedTuple):
    """How a target is written.

    Attributes
    ----------
    losses
        What the target can't hold.
    write
        Writes it to a new file.
    written
        The rows as they are written, in batches, to compare them with those that are read back.
        None for values without batches.
    reread
        Reads the rows of a written file back.
    compare
        Whether a written file has the value, for values without batches.
    """

    losses: list[Loss]
    write: Callable[[Any], None]
    written: Callable[[], Iterator[Any]] | None = None
    reread: Callable[[str], Input] | None = None
    compare: Callable[[str], bool] | None = None


def plan(given: Input, form: str, path: str, options: Options) -> Plan:
    """Decide how a table is written in a format."""
    if form == "entasis":
        return _entasis_file(given, options)
    if form in ("parquet", "arrow", "arrow_stream", "feather"):
        return _arrow_like(given, form, options)
    if form == "csv":
        return _text(given, path, options)
    if form == "jsonl":
        return _json_lines(given, options)
    return _numpy(given, form, options)


class Options(NamedTuple):
    """Options of a conversion."""

    compression: Any
    threads: int | None
    durable: bool | None
    wait: float
    # Is called with the number of rows that were written.
    done: Callable[[int], None]

    def level(self) -> Any:
        """The compression of an Entasis file."""
        if isinstance(self.compression, str):
            raise ArgumentError(f"compression={self.compression!r}: an Entasis file has a number from 0 to 100")
        return DEFAULT_COMPRESSION if self.compression is None else self.compression

    def codec(self, default: str, known: tuple[str, ...], form: str) -> str:
        """The name of a compression of another format."""
        found = default if self.compression is None else self.compression
        if found not in known:
            raise ArgumentError(
                f"compression={shown(found)}: a file of {form} has one of {', '.join(map(repr, known))}"
            )
        return str(found)


def _counted(batches: Iterator[Any], options: Options) -> Iterator[Any]:
    n = 0
    for batch in batches:
        yield batch
        n += batch.num_rows if hasattr(batch, "num_rows") else len(batch)
        options.done(n)


def _entasis_file(given: Input, options: Options) -> Plan:
    level = options.level()

    def to(path: str) -> Destination:
        return destination(path, level, options.threads, options.durable, options.wait)

    lost = given.losses() if isinstance(given, ArrowInput) else []
    if isinstance(given, ArrowInput) and (given.host != "pandas" or given._is_part()):
        table: ArrowInput = given

        def write(path: str) -> None:
            try:
                with Writer(to(path), table.schema(), False) as writer:
                    for batch in _counted(table.batches(), options):
                        writer.write(batch)
            except ArgumentError:
                # Dictionaries in lists and structs differ from batch to batch.
                write_whole(table.table(), to(path), None, "error")

        return Plan(lost, write, given.batches, _reopened)
    if isinstance(given, TextInput):
        return Plan(lost, lambda path: given.scan._query.store(to(path)), given.batches, _reopened)
    if isinstance(given, PolarsInput):

        def write_frames(path: str) -> None:
            with Writer(to(path), None, False) as writer:
                for frame in _counted(given.frames(), options):
                    writer.write(frame)

        return Plan([], write_frames, compare=lambda path: _are_same(given.whole(), _reopened(path).whole()))
    if isinstance(given, FileInput):
        file = given.file()

        def write_file(path: str) -> None:
            metadata = file.metadata
            if metadata is None and is_frame(file) and write_stream(file, to(path))[0]:
                return
            write_whole(file.read(), to(path), metadata, "error")

        if given.is_table and not given.losses():
            return Plan([], write_file, given.batches, _reopened)
        return Plan([], write_file, compare=lambda path: _are_same(file.read(), _reopened(path).whole()))

    value = given.whole()
    return Plan(
        lost,
        lambda path: _nothing(write_whole(value, to(path), None, "error")),
        compare=lambda path: _are_same(value, _reopened(path).whole()),
    )


def _nothing(_: Any) -> None:
    return None


def _are_same(a: Any, b: Any) -> bool:
    """Whether two values are stored as the same bytes."""
    memory = destination(None, 0, None, False, 0)
    return write_whole(a, memory, None, "error") == write_whole(b, memory, None, "error")


def _reopened(path: str) -> Input:
    return opened(path, "entasis")


def _arrow_like(given: Input, form: str, options: Options) -> Plan:
    pa = _libraries.need(f"a file of {form}", "pyarrow")
    codec = options.codec(
        {"parquet": "zstd", "feather": "lz4"}.get(form, "none"),
        _OF_PARQUET if form == "parquet" else _OF_ARROW,
        form,
    )
    lost = [*_losses.of_file(given), *given.losses()] if not isinstance(given, ValueInput) else []
    windows = _windows_of_pandas(given, form) if isinstance(given, FileInput) and given.host == "pandas" else None
    source: Callable[[], Iterator[Any]]
    if windows is not None:
        schema, source, more = windows
        lost += more
    elif given.host == "pandas" and not isinstance(given, ArrowInput):
        table, more = _of_pandas(given.whole(), form)
        schema = table.schema
        lost += more
        source = lambda: iter(table.to_batches(_GROUP) or [table])  # noqa: E731
    else:
        given = _as_batches(given)
        if not isinstance(given, ArrowInput):
            lost += _losses.of_index(given)
            if isinstance(given, ValueInput):
                lost += given.losses()
        schema = given.schema()
        source = given.batches
    kept, more = _of_target(schema, form, exact=given.host == "pyarrow")
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
    unified = _Unified(source, schema) if form in ("arrow", "feather") else None

    def written() -> Iterator[Any]:
        for batch in source():
            part = batch if kept is None else batch.select(kept)
            yield unified.batch(part) if unified is not None else part

    def write(new: New) -> None:
        with (
            _libraries.writing(new.path),
            _sink(new) as sink,
            _arrow_writer(sink, schema, form, codec, options) as file,
        ):
            if form == "parquet":
                for table in _groups(_counted(written(), options)):
                    file.write_table(table, _GROUP)
                return
            for batch in _counted(written(), options):
                if isinstance(batch, pa.Table):
                    # A table without rows would be written without its dictionaries.
                    file.write_table(batch) if batch.num_rows else file.write_batch(_one_batch(batch))
                else:
                    file.write_batch(batch)

    return Plan(lost, write, written, lambda path: opened(path, form))


def _groups(batches: Iterator[Any]) -> Iterator[Any]:
    """Batches joined to row groups of Parquet."""
    import pyarrow as pa

    parts: list[Any] = []
    n = size = 0
    for batch in batches:
        table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
        if parts and (n + table.num_rows > _GROUP or size + table.nbytes > _GROUP_LEN):
            yield pa.concat_tables(parts)
            parts, n, size = [], 0, 0
        parts.append(table)
        n += table.num_rows
        size += table.nbytes
    if parts:
        yield pa.concat_tables(parts)


def _one_batch(table: Any) -> Any:
    """A table without rows as a batch."""
    import pyarrow as pa

    columns = [column.chunk(0) if column.num_chunks else pa.array([], column.type) for column in table.columns]
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)


def _as_batches(given: Input) -> Input:
    if given.host == "tree":
        raise UnsupportedTypeError(f"{given.name} holds no table, and the target holds only tables")
    if isinstance(given, PolarsInput):
        raise ArgumentError(f"{given.name}: without pyarrow this format is converted to Entasis only")
    return given


@contextmanager
def _sink(new: New) -> Iterator[Any]:
    import pyarrow as pa

    with pa.OSFile(new.path, "wb") as file:
        yield file


def _arrow_writer(sink: Any, schema: Any, form: str, codec: str, options: Options) -> Any:
    import pyarrow as pa

    if form == "parquet":
        import pyarrow.parquet as pq

        return pq.ParquetWriter(sink, schema, compression=codec)
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


class _Unified:
    """Gives the batches of a table one dictionary per column, as files of Arrow need it.

    The dictionaries are collected first, in another pass over the columns that have them.
    """

    def __init__(self, source: Callable[[], Iterator[Any]], schema: Any) -> None:
        import pyarrow as pa

        self._source, self._schema = source, schema
        self._numbers = [i for i, field in enumerate(schema) if pa.types.is_dictionary(field.type)]
        self._values: dict[int, Any] | None = None

    def _collect(self) -> dict[int, Any]:
        import pyarrow as pa

        found: dict[int, Any] = {}
        for batch in self._source():
            for i in self._numbers:
                name = self._schema.field(i).name
                column = batch.column(batch.schema.get_field_index(name))
                for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
                    before = found.get(i)
                    if before is None:
                        found[i] = chunk.dictionary
                    elif not before.equals(chunk.dictionary):
                        parts = [
                            pa.DictionaryArray.from_arrays(pa.array([], pa.int32()), d)
                            for d in (before, chunk.dictionary)
                        ]
                        whole = pa.chunked_array(parts).unify_dictionaries()
                        found[i] = whole.chunk(0).dictionary
        return found

    def batch(self, batch: Any) -> Any:
        """A batch with the common dictionaries."""
        import pyarrow as pa

        if not self._numbers:
            return batch
        if self._values is None:
            self._values = self._collect()
        for i in self._numbers:
            values = self._values[i]
            column = batch.column(i)
            chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
            if all(chunk.dictionary.equals(values) for chunk in chunks):
                continue
            parts = [self._mapped(chunk, values) for chunk in chunks]
            batch = batch.set_column(
                i, batch.schema.field(i), pa.chunked_array(parts) if isinstance(column, pa.ChunkedArray) else parts[0]
            )
        return batch

    def _mapped(self, chunk: Any, values: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        codes = pc.index_in(chunk.dictionary, values).take(chunk.indices).cast(chunk.type.index_type)
        return pa.DictionaryArray.from_arrays(codes, values, ordered=chunk.type.ordered)


def _of_pandas(value: Any, form: str) -> tuple[Any, list[Loss]]:
    """A table of pyarrow with the metadata of pandas, and what it does not hold."""
    import pandas as pd
    import pyarrow as pa

    lost: list[Loss] = []
    if isinstance(value, pd.Index):
        lost.append((None, "the index becomes a frame"))
        value = value.to_frame(index=False)
    elif isinstance(value, pd.Series):
        lost.append((None, "the series becomes a frame"))
        value = value.to_frame(value.name if isinstance(value.name, str) else "values")
    elif not isinstance(value, pd.DataFrame):
        lost.append((None, "the array becomes a frame"))
        value = pd.DataFrame({"values": value})
    frame = value
    if _as_attrs(frame) is None:
        frame = frame.copy(deep=False)
        frame.attrs = {}
        lost.append((None, "the attributes of the frame are lost: they are not JSON"))
    if not frame.columns.is_unique:
        raise UnsupportedTypeError(f"columns with equal labels have no place in a file of {form}: rename them")
    table: Any
    try:
        table = pa.Table.from_pandas(frame)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        frame, left = _without_unsupported(frame)
        lost += left
        try:
            table = pa.Table.from_pandas(frame)
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            raise UnsupportedTypeError(f"pyarrow can't convert the frame: {error}") from error
    table, frame, left = _readable(table, frame)
    lost += left
    lost += _losses.of_frames(frame.iloc[:0], table.slice(0, 0).to_pandas())
    for i, (label, dtype) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        if str(dtype) in ("object", "Float32", "Float64"):
            reason = _changed(frame.iloc[:, i], table.column(i))
            if reason is not None:
                lost.append((label, reason))
    for level in range(frame.index.nlevels):
        labels = frame.index.get_level_values(level)
        if str(labels.dtype) == "object" and (
            reason := _changed(pd.Series(labels), pa.array(labels, from_pandas=True))
        ):
            lost.append((None, f"labels of rows: {reason}"))
    return table, lost


def _windows_of_pandas(given: FileInput, form: str) -> tuple[Any, Callable[[], Iterator[Any]], list[Loss]] | None:
    """A long frame of pandas in a file, in windows of rows: a schema, tables, and losses.

    None if its types follow from the values, as those of objects do.
    """
    import pandas as pd
    import pyarrow as pa

    file = given.file()
    n = file.n_rows
    if n <= _GROUP or file._view.table.host.get("class") is not None:
        return None
    head = file[:0].read()
    levels = [head.index.get_level_values(level) for level in range(head.index.nlevels)]
    if any(
        str(dtype) in ("object", "Float32", "Float64") for dtype in [*head.dtypes, *(each.dtype for each in levels)]
    ):
        return None
    table, lost = _of_pandas(head, form)
    if table.num_columns < head.shape[1]:
        return None
    schema = table.schema
    metadata = json.loads(schema.metadata[b"pandas"])
    if isinstance(head.index, pd.RangeIndex):
        first, last = file[:1].read().index, file[-1:].read().index
        metadata["index_columns"][0].update(start=first.start, stop=last.stop, step=first.step)
    schema = schema.with_metadata({**schema.metadata, b"pandas": json.dumps(metadata).encode()})

    def tables() -> Iterator[Any]:
        for start in range(0, n, BATCH):
            part = pa.Table.from_pandas(file[start : start + BATCH].read())
            yield part.replace_schema_metadata(schema.metadata)

    return schema, tables, lost


def _as_attrs(frame: Any) -> dict[Any, Any] | None:
    try:
        found: dict[Any, Any] = json.loads(json.dumps(frame.attrs))
    except (TypeError, ValueError):
        return None
    return found


def _without_unsupported(frame: Any) -> tuple[Any, list[Loss]]:
    import pyarrow as pa

    kept, lost = [], []
    for i, label in enumerate(frame.columns):
        try:
            pa.Array.from_pandas(frame.iloc[:, i])
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            lost.append((label, f"{LEFT_OUT}: {str(error).partition(chr(10))[0][:150]}"))
        else:
            kept.append(i)
    return frame.iloc[:, kept], lost


def _readable(table: Any, frame: Any) -> tuple[Any, Any, list[Loss]]:
    """The columns that pandas reads back, and the others."""
    import pyarrow as pa

    try:
        table.slice(0, 0).to_pandas()
        return table, frame, []
    except Exception as error:
        failed = error
    kept: list[int] = []
    lost: list[Loss] = []
    for i, label in enumerate(frame.columns):
        try:
            pa.Table.from_pandas(frame.iloc[:0, [i]]).to_pandas()
        except Exception as error:
            lost.append((label, f"{LEFT_OUT}: pandas can't read it back: {_libraries.said(error)[:100]}"))
        else:
            kept.append(i)
    if kept:
        frame = frame.iloc[:, kept]
        table = pa.Table.from_pandas(frame)
        try:
            table.slice(0, 0).to_pandas()
            return table, frame, lost
        except Exception as error:
            failed = error
    raise UnsupportedTypeError(f"pandas can't read the frame back from Arrow: {_libraries.said(failed)}") from failed


def _changed(series: Any, column: Any) -> str | None:
    """How the values of a column of pandas change in Arrow; None if they come back."""
    kind = str(series.dtype)
    if kind in ("Float32", "Float64"):
        import numpy as np

        found = np.isnan(series.array.to_numpy(dtype=kind.lower(), na_value=0.0)).any()
        return "NaN becomes missing" if found else None
    if kind != "object":
        return None
    back = column.to_pandas()
    for one, other in zip(series, back.astype(object), strict=True):
        if type(one) is not type(other):
            return f"a value of type {type(one).__name__} becomes {type(other).__name__}"
        try:
            if one is other or one != one or (bool(one == other) and repr(one) == repr(other)):
                continue
        except (ValueError, TypeError):
            pass
        return f"values of type {type(one).__name__} change"
    return None


def _text(given: Input, path: str, options: Options) -> Plan:
    form: dict[str, Any] = {"threads": options.threads, "nested": "json"}
    end = path.lower().rpartition("/")[2]
    for suffix, codec in ((".gz", "gzip"), (".bgz", "gzip"), (".zst", "zstd")):
        if end.endswith(suffix):
            form["compression"], end = codec, end.removesuffix(suffix)
    if options.compression is not None:
        form["compression"] = None if options.compression == "none" else options.compression
    if end.endswith((".tsv", ".tab")):
        form["sep"] = "\t"
    lost = _losses.of_file(given)
    spec: list[Any] = []
    if isinstance(given, ArrowInput) and given.host == "pandas":
        given = ValueInput(given.whole(), given.name)
    given = _as_batches(given)
    if isinstance(given, (FileInput, ValueInput)):
        lost += _losses.of_index(given)
        value, more = _written_as_text(given)
        lost += more
        source = FileInput(value)
        lost += _of_text(source, _losses.in_csv)

        def write(new: New) -> None:
            with open(new.fd, "wb", closefd=False) as file, _reported(new.path):
                spec.append(write_csv(value, file, **form))
            options.done(value.n_rows)

        return Plan(lost, write, source.batches, lambda path: _reread_text(path, spec))
    if isinstance(given, TextInput):
        scan = given.scan
        lost += _of_text(given, _losses.in_csv)

        def write_scan(new: New) -> None:
            with open(new.fd, "wb", closefd=False) as file, _reported(new.path):
                spec.append(write_csv(scan, file, **form))

        return Plan(lost, write_scan, given.batches, lambda path: _reread_text(path, spec))
    lost += [*given.losses(), *_of_text(given, _losses.in_csv)]
    kept, more = _of_text_types(given.schema())
    lost += more
    import pyarrow as pa

    schema = given.schema()
    rest = pa.schema([schema.field(i) for i in kept])

    def written() -> Iterator[Any]:
        return (batch.select(kept) for batch in given.batches())

    def write_batches(new: New) -> None:
        empty = pa.Table.from_batches([], rest)
        with open(new.fd, "wb", closefd=False) as file, _reported(new.path):
            spec.append(write_csv(empty, file, **form))
            for batch in _counted(written(), options):
                write_csv(batch, file, header=False, **form)

    return Plan(lost, write_batches, written, lambda path: _reread_text(path, spec))


@contextmanager
def _reported(path: str) -> Iterator[None]:
    with _libraries.writing(path):
        yield


def _reread_text(path: str, spec: list[Any]) -> Input:
    return TextInput(scan_csv(path, spec=spec[0]))


def _of_text(given: Input, rule: Callable[[Any], str | None]) -> list[Loss]:
    if _libraries.load("pyarrow") is None:
        return []
    return _losses.of_text(given.schema(), rule)


def _of_text_types(schema: Any) -> tuple[list[int], list[Loss]]:
    """The columns of a schema that a text holds, and the others."""
    import pyarrow as pa

    kept, lost = [], []
    for i, field in enumerate(schema):
        try:
            write_csv(pa.Table.from_batches([], pa.schema([field])), io.BytesIO(), nested="json")
        except UnsupportedTypeError as error:
            lost.append((field.name, f"{LEFT_OUT}: {reason(error)}"))
        else:
            kept.append(i)
    return kept, lost


def _written_as_text(given: FileInput | ValueInput) -> tuple[File, list[Loss]]:
    """The columns of a file that a text holds, and the others."""
    file = given.file()
    if not is_frame(file):
        raise UnsupportedTypeError(f"{given.name} holds no table, and the target holds only tables")
    try:
        write_csv(file[:0], io.BytesIO(), nested="json")
        return file, []
    except UnsupportedTypeError:
        pass
    view = file._view
    every = list(range(view.handle.n_columns)) if view.columns is None else list(view.columns)
    kept, lost = [], []
    for number, label in zip(every, file.column_names, strict=True):
        try:
            write_csv(File._of(view.narrow([number], range(0))), io.BytesIO(), nested="json", index=False)
        except UnsupportedTypeError as error:
            lost.append((label, f"{LEFT_OUT}: {reason(error)}"))
        else:
            kept.append(number)
    return File._of(view.narrow(kept, view.rows)), lost


def _json_lines(given: Input, options: Options) -> Plan:
    if options.compression not in (None, "none"):
        raise ArgumentError("compression= is not for JSON lines")
    lost = _losses.of_file(given)
    if isinstance(given, ArrowInput) and given.host == "pandas":
        given = ValueInput(given.whole(), given.name)
    given = _as_batches(given)
    lost += [*_losses.of_index(given), *given.losses()]
    pa = _libraries.need("JSON lines", "pyarrow")
    schema = given.schema()
    kept = [i for i, field in enumerate(schema) if not _is_binary(field.type)]
    lost += [(schema.field(i).name, f"{LEFT_OUT}: JSON has no bytes") for i in range(len(schema)) if i not in kept]
    lost += _losses.of_text(pa.schema([schema.field(i) for i in kept]), _losses.in_json)
    names = [schema.field(i).name for i in kept]
    if len(set(names)) < len(names):
        raise UnsupportedTypeError("columns with equal names have no place in a JSON object: rename them")
    lost += _not_finite(given, [i for i in kept if pa.types.is_floating(schema.field(i).type)])

    def written() -> Iterator[Any]:
        return (batch.select(kept) for batch in given.batches())

    def write(new: New) -> None:
        polars = _libraries.load("polars")
        with open(new.fd, "wb", closefd=False) as file, _reported(new.path):
            for batch in _counted(written(), options):
                if polars is not None:
                    polars.from_arrow(batch).write_ndjson(file)
                else:
                    text = batch.to_pandas().to_json(orient="records", lines=True, date_format="iso")
                    file.write(text.rstrip("\n").encode() + b"\n")

    return Plan(lost, write, written, lambda path: opened(path, "jsonl"))


def _is_binary(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    if types.is_nested(kind):
        return any(_is_binary(kind.field(i).type) for i in range(kind.num_fields))
    if types.is_dictionary(kind):
        return _is_binary(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return _is_binary(kind.storage_type)
    return bool(
        types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_binary_view(kind)
        or types.is_fixed_size_binary(kind)
    )


def _not_finite(given: Input, columns: list[int]) -> list[Loss]:
    """Columns with NaN or infinity, which JSON does not have."""
    import pyarrow.compute as pc

    found: dict[int, Loss] = {}
    if columns:
        for batch in given.batches():
            for i in columns:
                if i not in found and pc.all(pc.is_finite(batch.column(i))).as_py() is False:
                    found[i] = batch.schema.field(i).name, "NaN and infinity become null"
            if len(found) == len(columns):
                break
    return list(found.values())


def _numpy(given: Input, form: str, options: Options) -> Plan:
    if options.compression not in (None, "none"):
        raise ArgumentError(f"compression= is not for files of {form}")
    import numpy as np

    lost = _losses.of_file(given)
    if isinstance(given, ArrowInput) and given.host == "pandas":
        given = ValueInput(given.whole(), given.name)
    value: Any = given.whole() if given.host in ("tree", "static_frame", "numpy") else None
    if form == "npz" and given.host == "static_frame" and hasattr(value, "to_npz"):
        arrays = value
        lost += _of_static_frame(value)
    elif isinstance(value, np.ndarray):
        arrays = {"arr_0": value}
    elif type(value) is dict and value and all(isinstance(one, np.ndarray) for one in value.values()):
        arrays = value
    elif given.host == "tree":
        raise UnsupportedTypeError(f"{given.name} holds no table and no arrays, and the target holds nothing else")
    else:
        arrays, more = _as_arrays(given)
        lost += [*_losses.of_index(given), *more]
        if isinstance(given, (FileInput, ValueInput)) and given.host == "static_frame" and value is not None:
            lost.append((None, f"the value of type {type(value).__name__} becomes arrays"))
    if type(arrays) is dict:
        for name, array in list(arrays.items()):
            if array.dtype.hasobject or array.dtype.kind == "T":
                texts = any(type(one) is str for one in array.flat)
                why = "NumPy has no text with missing values" if texts else "NumPy stores no objects"
                lost.append((name, f"{LEFT_OUT}: {why}"))
        arrays = {name: one for name, one in arrays.items() if not (one.dtype.hasobject or one.dtype.kind == "T")}
    if form == "npy" and (type(arrays) is not dict or len(arrays) != 1):
        n = len(arrays) if type(arrays) is dict else arrays.shape[1]
        raise UnsupportedTypeError(
            f"an NPY file holds one array, and there are {n}: choose one with columns=, or use NPZ"
        )

    def write(new: New) -> None:
        with _libraries.writing(new.path), open(new.fd, "wb", closefd=False) as file:
            if form == "npy":
                np.lib.format.write_array(file, next(iter(arrays.values())), allow_pickle=False)
            elif type(arrays) is dict:
                _npz.write_arrays(arrays, file)
            else:
                _npz.write_frame(arrays, file)

    def compare(path: str) -> bool:
        if form == "npy":
            return _are_same(next(iter(arrays.values())), np.load(path, allow_pickle=False))
        if type(arrays) is not dict:
            # The losses were found by reading it back.
            return True
        with np.load(path, allow_pickle=False) as archive:
            return _are_same(arrays, {name: archive[name] for name in archive.files})

    return Plan(lost, write, compare=compare)


def _of_static_frame(frame: Any) -> list[Loss]:
    """Losses of StaticFrame's own NPZ: reads it back, and compares."""
    buffer = io.BytesIO()
    _npz.write_frame(frame, buffer)
    buffer.seek(0)
    try:
        back = type(frame).from_npz(buffer)
    except Exception as error:
        raise UnsupportedTypeError(f"StaticFrame can't read it back: {_libraries.said(error)}") from error
    lost: list[Loss] = []
    if type(frame).__name__ != "Frame":
        lost.append((None, f"the class {type(frame).__name__} becomes Frame"))
    if not frame.equals(back, compare_name=True, compare_dtype=True, compare_class=True):
        lost.append((None, "StaticFrame does not store all names and types of labels"))
    return lost


def _as_arrays(given: Input) -> tuple[dict[str, Any], list[Loss]]:
    """The columns of a table as arrays. Text gets the width of its longest value."""
    file = given.file() if not isinstance(given, ArrowInput) else staged(given.whole())
    view = file._view
    every = list(range(view.handle.n_columns)) if view.columns is None else list(view.columns)
    found: dict[str, Any] = {}
    lost: list[Loss] = []
    if len(set(file.column_names)) < len(every):
        raise UnsupportedTypeError("columns with equal names have no place in an NPZ file: rename them")
    for number in every:
        part = File._of(view.narrow([number], view.rows))
        label = part.column_names[0]
        kind = part.schema.pairs[0][1]
        try:
            for name, array in part.read(to="numpy").items():
                found.setdefault(name, _fixed(array))
        except UnsupportedTypeError as error:
            lost.append((label, f"{LEFT_OUT}: {reason(error)}"))
            continue
        if kind.startswith("categorical") and not found[label].dtype.hasobject:
            lost.append((label, "its categories become text"))
        if part.written_by != "numpy" and "[" in kind and ", " in kind and kind.startswith("timestamp"):
            lost.append((label, "its time zone is lost"))
    return found, lost


def _fixed(array: Any) -> Any:
    """Text as an array of fixed width, if no value is missing; other arrays as they are."""
    import numpy as np

    if array.dtype.kind not in "OT" or not all(type(value) is str and not value.endswith("\0") for value in array):
        return array
    return array.astype("U") if len(array) else np.array([], "U1")
