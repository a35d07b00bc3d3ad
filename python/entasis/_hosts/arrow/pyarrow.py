"""pyarrow tables, through Arrow's C stream interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._entasis import Builder
from entasis._host_map import interpretation
from entasis.errors import UnsupportedTypeError

from . import map_fields
from . import stream as _arrow
from .dictionaries import has_dictionary, unified

if TYPE_CHECKING:
    from entasis._entasis import Handle

_LARGE = 1


def build(table: Any) -> tuple[Builder, dict[str, Any]]:
    """Return a builder with all columns of a table, and the host map."""
    import pyarrow as pa

    if type(table) is not pa.Table:
        table, class_entry = as_table(table)
        builder, host = build(table)
        return builder, host | class_entry
    for field in table.schema:
        inner = field.type
        if "\0" in str(inner):
            raise UnsupportedTypeError(f"column '{field.name}': a time zone with a zero character is not supported")
    names, stream = table.column_names, table
    if any(has_dictionary(kind) for kind in table.schema.types):
        stream = unified(table) if table.num_rows else _without_rows(table)
    builder = Builder(table.num_rows, names)
    return builder, {"host": "pyarrow"} | _arrow.add(builder, stream, names)


def _without_rows(table: Any) -> Any:
    """A table without rows as a stream of one batch. A stream without batches loses the dictionaries."""
    import pyarrow as pa

    batch = pa.RecordBatch.from_arrays([_one_chunk(column) for column in table.columns], schema=table.schema)
    return pa.RecordBatchReader.from_batches(table.schema, [batch])


def read(handle: Handle, host: dict[str, Any], columns: list[int] | None, rows: Any, threads: int | None) -> Any:
    """Read columns and rows as a table with one chunk for each column.

    A chunk of `string` or `binary` holds at most 2 GiB, so larger columns become `large_string` or
    `large_binary`.
    """
    import pyarrow as pa

    own = host.get("host") == "pyarrow"
    metadata = _arrow.has_metadata(host)
    table, _ = _arrow.read(handle, host, columns, rows, threads, layout=_LARGE, own=own, metadata=metadata)
    # Classes of extension types parse the metadata of the file.
    with interpretation():
        found = pa.RecordBatchReader.from_stream(table).read_all()
    fields = table.map_fields() if own else None
    if fields:
        found = map_fields.restored(found, fields)
    if own and "empty_schema" in host:
        with interpretation():
            return found.replace_schema_metadata(dict(host["empty_schema"]))
    return found


def is_table(value: Any) -> bool:
    """Whether a value is written as a table."""
    import pyarrow as pa

    return isinstance(value, (pa.Table, pa.RecordBatch, pa.Array, pa.ChunkedArray, pa.Scalar))


def as_table(value: Any) -> tuple[Any, dict[str, Any]]:
    """A table of a value, and the entry of the host map that records its class."""
    import pyarrow as pa

    if isinstance(value, pa.RecordBatch):
        return pa.Table.from_batches([value]), {"class": "RecordBatch"}
    if isinstance(value, pa.ChunkedArray):
        return pa.table([value], [""]), {"class": "ChunkedArray"}
    if isinstance(value, pa.Array):
        return pa.table([value], [""]), {"class": "Array"}
    if isinstance(value, pa.Scalar):
        return pa.table([pa.array([value.as_py()], value.type) if not value.is_valid else pa.repeat(value, 1)], [""]), {
            "class": "Scalar"
        }
    raise UnsupportedTypeError(f"a pyarrow {type(value).__name__} can't be kept")


def restore(table: Any, host: dict[str, Any]) -> Any:
    """Convert a table to the array, scalar or batch that was written."""
    import pyarrow as pa

    kind = host["class"]
    if kind == "RecordBatch":
        arrays = [_one_chunk(column) for column in table.columns]
        if not arrays:
            return pa.RecordBatch.from_struct_array(pa.array([{}] * table.num_rows, pa.struct([])))
        return pa.RecordBatch.from_arrays(arrays, schema=table.schema)
    if kind not in ("ChunkedArray", "Array", "Scalar"):
        raise ValueError(f"a class {kind!r} is not known")
    if table.num_columns != 1:
        return table
    column = table.column(0)
    if kind == "ChunkedArray":
        return column
    array = _one_chunk(column)
    return array[0] if kind == "Scalar" and len(array) == 1 else array


def _one_chunk(column: Any) -> Any:
    import pyarrow as pa

    return column.chunk(0) if column.num_chunks else pa.nulls(0, column.type)
