"""What Polars and pyarrow have in common: columns as Arrow streams, with the metadata of their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _rows
from ._hosts import interpretation
from ._row_labels import Levels
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
    """The columns as a table, and how many they are; see `with_labels`."""
    columns, names = with_labels(handle, host, columns)
    n = handle.n_columns if columns is None else len(columns)
    schema, fields = _metadata(host, columns) if metadata else (None, {})
    table = handle.read_arrow(columns, _rows.native(rows), layout, own, threads, fields, schema, metadata, polars)
    return table.renamed(names) if names else table, n


def with_labels(
    handle: Handle, host: dict[str, Any], columns: list[int] | None
) -> tuple[list[int] | None, dict[int, str]]:
    """The columns for a library without an index, and names by position of levels whose stored name is a column's too.

    Without a choice of columns the levels of the index come first; a choice names those that it wants.
    """
    n = handle.n_columns
    if columns is None:
        if host.get("index") is None or not (beside := (levels := Levels(handle, host)).columns):
            return None, {}
        columns = [*beside, *range(n)]
        places = range(len(beside))
    else:
        if not columns or max(columns) < n:
            return columns, {}
        levels = Levels(handle, host)
        places = [place for place, column in enumerate(columns) if column >= n]  # type: ignore[assignment]
    stored = handle.columns([columns[place] for place in places])
    wanted = {place: levels.name(columns[place]) for place in places}
    return columns, {place: wanted[place] for place, of in zip(places, stored, strict=True) if of.name != wanted[place]}


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
