"""What Polars and pyarrow have in common: columns as Arrow streams, with the metadata of their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _labels, _rows
from ._hosts import interpretation
from .errors import UnsupportedTypeError

if TYPE_CHECKING:
    from ._entasis import ArrowTable, Builder, Handle


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
) -> tuple[ArrowTable, int]:
    """The columns as a table, and how many they are. Labels of pandas rows come first, unless they are a range."""
    labels = label_columns(host)
    n = handle.n_columns if columns is None else len(columns)
    schema, fields = _metadata(host, columns) if metadata else (None, {})
    if labels:
        columns = [*labels, *(range(n) if columns is None else columns)]
        n += len(labels)
    table = handle.read_arrow(columns, _rows.native(rows), layout, own, threads, fields, schema, metadata, polars)
    return table, n


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


@interpretation()
def label_columns(host: dict[str, Any]) -> list[int]:
    """The columns that hold the labels of rows in a file of pandas, StaticFrame or R."""
    index = host.get("index") if host.get("host") in ("pandas", "static_frame", "r") else None
    if index is None:
        return []
    return _labels.columns_of({key: value for key, value in index.items() if key != "missing_kinds"})
