"""Arrow streams of columns, and the metadata of their fields, for Polars and pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._host_map import interpretation
from entasis._hosts.levels import with_labels
from entasis._hosts.numpy.nested import can_convert
from entasis.errors import UnsupportedTypeError

from . import convert as _arrow_convert

if TYPE_CHECKING:
    from collections.abc import Callable

    from entasis._entasis import ArrowTable, Builder, Handle


def add(builder: Builder, frame: Any, names: list[str]) -> dict[str, Any]:
    """Add all columns of a frame. Returns the metadata for the host map."""
    for name in names:
        # Names in Arrow's C interface end at a zero: some libraries cut them, others crash.
        if "\0" in name:
            raise UnsupportedTypeError(f"column {name!r}: a name with a zero character is not supported")
    if not names:
        metadata = getattr(getattr(frame, "schema", None), "metadata", None)
        return {} if not metadata else {"empty_schema": [[key, value] for key, value in metadata.items()]}
    schema, fields = builder.arrow_table(frame)
    host: dict[str, Any] = {}
    if schema is not None:
        host["schema_metadata"] = schema
    if fields:
        host["field_metadata"] = [[position, metadata] for position, metadata in fields]
    return host


def read(
    handle: Handle,
    host: dict[str, Any],
    columns: list[int] | None,
    rows: Any,
    threads: int | None,
    *,
    layout: int,
    own: bool,
    metadata: bool,
    polars: bool = False,
    has_rows: bool = True,
) -> tuple[Any, int]:
    """Read columns as a table with Arrow's stream interface.

    Parameters
    ----------
    has_rows
        False gives a table without rows that has the types of these rows, and refuses the same
        values.

    Returns
    -------
    table, n
        The table, of pyarrow if a column has to be converted for Arrow, and the number of its
        columns.
    """
    columns, names = with_labels(handle, host, columns)
    n = handle.n_columns if columns is None else len(columns)
    schema, fields = _metadata(host, columns) if metadata else (None, {})

    def direct(numbers: list[int] | None, fields: dict[int, bytes]) -> ArrowTable:
        read = rows if has_rows else range(0)
        return handle.read_arrow(numbers, _rows.native(read), layout, own, threads, fields, schema, metadata, polars)

    made = [] if own else _converted(handle, columns)
    if not made:
        table = direct(columns, fields)
        return table.renamed(names) if names else table, n
    numbers = list(range(n)) if columns is None else columns
    found = _assemble(handle, numbers, set(made), fields, direct, rows, threads, polars=polars, has_rows=has_rows)
    return found.rename_columns([names.get(i, name) for i, name in enumerate(found.column_names)]), n


def _converted(handle: Handle, columns: list[int] | None) -> list[int]:
    """The positions of columns that have to be converted for Arrow."""
    if not can_convert(handle):
        return []
    infos = handle.columns(columns)
    return [i for i, info in enumerate(infos) if _arrow_convert.is_converted(handle, info)]


def _assemble(
    handle: Handle,
    numbers: list[int],
    made: set[int],
    fields: dict[int, bytes],
    direct: Callable[[list[int], dict[int, bytes]], ArrowTable],
    rows: Any,
    threads: int | None,
    *,
    polars: bool,
    has_rows: bool,
) -> Any:
    """A pyarrow table of columns that are decoded for Arrow and of converted columns."""
    import pyarrow as pa

    plain = [i for i in range(len(numbers)) if i not in made]
    found: dict[int, tuple[Any, Any]] = {}
    schema_metadata = None
    if plain:
        places = {i: place for place, i in enumerate(plain)}
        of_plain = {places[i]: metadata for i, metadata in fields.items() if i in places}
        stream = direct([numbers[i] for i in plain], of_plain)
        with interpretation():
            table = pa.RecordBatchReader.from_stream(stream).read_all()
        schema_metadata = table.schema.metadata
        found = {i: (table.schema.field(place), table.column(place)) for i, place in places.items()}
    for i in made:
        (column,) = handle.columns([numbers[i]])
        array, metadata = _arrow_convert.convert(handle, column, rows, threads, polars=polars)
        found[i] = pa.field(column.name, array.type, metadata=metadata or None), array if has_rows else array[:0]
    in_order = [found[i] for i in range(len(numbers))]
    schema = pa.schema([field for field, _ in in_order], metadata=schema_metadata)
    return pa.Table.from_arrays([array for _, array in in_order], schema=schema)


def has_metadata(host: dict[str, Any]) -> bool:
    """Whether the file has metadata of fields. Polars recognises an Enum by them."""
    return host.get("host") in ("pyarrow", "polars")


@interpretation()
def _metadata(host: dict[str, Any], columns: list[int] | None) -> tuple[bytes | None, dict[int, bytes]]:
    """The metadata of the schema, and of fields by position. The native module checks the bytes."""
    schema, fields = host.get("schema_metadata"), dict(host.get("field_metadata", ()))
    parts = [*fields.values()] if schema is None else [schema, *fields.values()]
    if not all(type(part) is bytes for part in parts) or not all(type(i) is int and i >= 0 for i in fields):
        raise TypeError("metadata are bytes")
    if columns is not None:
        fields = {i: fields[column] for i, column in enumerate(columns) if column in fields}
    return schema, fields
