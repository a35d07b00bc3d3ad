"""What Polars and pyarrow have in common: columns as Arrow streams, with the metadata of their fields."""

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
    """Adds all columns; returns what a host map keeps of them."""
    for name in names:
        # Arrow's interface ends names there: some libraries cut them, some end the process.
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
    """The columns as a table, and how many they are; see `levels.with_labels`.

    The table has Arrow's stream interface; it is one of pyarrow where a column is made for Arrow. Without `has_rows`
    it is that of these rows, and has none: what is refused for its values is refused all the same.
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
    """The places of the columns that are made for Arrow, among these."""
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
    """A table of pyarrow, of columns that are decoded for Arrow and of others."""
    import pyarrow as pa

    plain = [i for i in range(len(numbers)) if i not in made]
    found: dict[int, tuple[Any, Any]] = {}
    schema_metadata = None
    if plain:
        places = {i: place for place, i in enumerate(plain)}
        of_plain = {places[i]: metadata for i, metadata in fields.items() if i in places}
        stream = direct([numbers[i] for i in plain], of_plain)
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
    """Whether Arrow gets the metadata that the file has of its fields: Polars tells by them what is an Enum."""
    return host.get("host") in ("pyarrow", "polars")


@interpretation()
def _metadata(host: dict[str, Any], columns: list[int] | None) -> tuple[bytes | None, dict[int, bytes]]:
    """Metadata of the schema, and of fields by their place among the columns. Whether it is whole is checked later."""
    schema, fields = host.get("schema_metadata"), dict(host.get("field_metadata", ()))
    parts = [*fields.values()] if schema is None else [schema, *fields.values()]
    if not all(type(part) is bytes for part in parts) or not all(type(i) is int and i >= 0 for i in fields):
        raise TypeError("metadata are bytes")
    if columns is not None:
        fields = {i: fields[column] for i, column in enumerate(columns) if column in fields}
    return schema, fields
