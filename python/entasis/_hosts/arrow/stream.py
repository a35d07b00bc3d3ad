"""Arrow streams of columns, and the metadata of their fields, for Polars and pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._columns.levels import with_labels
from entasis._host_map import interpretation
from entasis._hosts.numpy.nested import can_convert
from entasis.errors import UnsupportedTypeError

from . import convert as _arrow_convert

if TYPE_CHECKING:
    from entasis._entasis import ArrowTable, Builder, Handle


def add(builder: Builder, frame: Any, names: list[str]) -> dict[str, Any]:
    """Add all columns of a frame. Returns the metadata for the host map."""
    for name in names:
        # Names in Arrow's C interface end at a zero character: some libraries cut such names,
        # others crash.
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


class ArrowColumns:
    """Reads any rows of some columns of a file for Arrow. All rows have one type.

    Parameters
    ----------
    handle, host, columns, threads
        The file, its host map, the numbers of the columns (None for all), the number of threads.
    layout, own, metadata, polars
        As for `Handle.read_arrow`.
    """

    def __init__(
        self,
        handle: Handle,
        host: dict[str, Any],
        columns: list[int] | None,
        threads: int | None,
        *,
        layout: int,
        own: bool,
        metadata: bool,
        polars: bool = False,
    ) -> None:
        self._handle, self._threads, self._polars = handle, threads, polars
        self._columns, self._names = with_labels(handle, host, columns)
        self.n = handle.n_columns if self._columns is None else len(self._columns)
        self._schema, self._fields = _metadata(host, self._columns) if metadata else (None, {})
        self._layout, self._own, self._metadata = layout, own, metadata
        self._made = [] if own else _converted(handle, self._columns)
        # The first decoded table, whose dictionaries all later tables use.
        self._first: Any = None

    def converted(self, rows: Any) -> dict[int, tuple[Any, Any]]:
        """Convert the columns that need it, at some rows: fields and arrays by position."""
        if not self._made:
            return {}
        import pyarrow as pa

        found = {}
        for i in self._made:
            (column,) = self._handle.columns([self._numbers[i]])
            array, metadata = _arrow_convert.convert(self._handle, column, rows, self._threads, polars=self._polars)
            found[i] = pa.field(column.name, array.type, metadata=metadata or None), array
        return found

    def read(self, rows: Any, converted: dict[int, tuple[Any, Any]]) -> Any:
        """Read rows as a table with Arrow's stream interface.

        Parameters
        ----------
        converted
            The result of `converted`, of these rows.

        Returns
        -------
        Any
            A table, of pyarrow if there are converted columns.
        """
        if not converted:
            table = self._direct(self._columns, self._fields, rows)
            return table.renamed(self._names) if self._names else table
        import pyarrow as pa

        plain = [i for i in range(self.n) if i not in converted]
        found = dict(converted)
        schema_metadata = None
        if plain:
            position_of = {i: position for position, i in enumerate(plain)}
            fields = {position_of[i]: metadata for i, metadata in self._fields.items() if i in position_of}
            stream = self._direct([self._numbers[i] for i in plain], fields, rows)
            with interpretation():
                table = pa.RecordBatchReader.from_stream(stream).read_all()
            schema_metadata = table.schema.metadata
            found |= {i: (table.schema.field(position), table.column(position)) for i, position in position_of.items()}
        in_order = [found[i] for i in range(self.n)]
        schema = pa.schema([field for field, _ in in_order], metadata=schema_metadata)
        table = pa.Table.from_arrays([array for _, array in in_order], schema=schema)
        return table.rename_columns([self._names.get(i, name) for i, name in enumerate(table.column_names)])

    @property
    def _numbers(self) -> list[int]:
        return list(range(self.n)) if self._columns is None else self._columns

    def _direct(self, columns: list[int] | None, fields: dict[int, bytes], rows: Any) -> ArrowTable:
        """Decode columns into Arrow's memory."""
        table = self._handle.read_arrow(
            columns,
            _rows.native(rows),
            self._layout,
            self._own,
            self._threads,
            fields,
            self._schema,
            self._metadata,
            self._polars,
            self._first,
        )
        if self._first is None:
            self._first = table
        return table


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
) -> tuple[Any, int]:
    """Read columns as a table with Arrow's stream interface; see `ArrowColumns`.

    Returns
    -------
    table, n
        The table, of pyarrow if a column has to be converted for Arrow, and the number of its
        columns.
    """
    found = ArrowColumns(handle, host, columns, threads, layout=layout, own=own, metadata=metadata, polars=polars)
    return found.read(rows, found.converted(rows)), found.n


def _converted(handle: Handle, columns: list[int] | None) -> list[int]:
    """The positions of columns that have to be converted for Arrow."""
    if not can_convert(handle):
        return []
    infos = handle.columns(columns)
    return [i for i, info in enumerate(infos) if _arrow_convert.is_converted(handle, info)]


def has_metadata(host: dict[str, Any]) -> bool:
    """Whether the file has metadata of fields. Polars recognises an Enum by them."""
    return host.get("host") in ("pyarrow", "polars")


@interpretation()
def _metadata(host: dict[str, Any], columns: list[int] | None) -> tuple[bytes | None, dict[int, bytes]]:
    """The schema's metadata, and field metadata by position. The native module checks the bytes."""
    schema, fields = host.get("schema_metadata"), dict(host.get("field_metadata", ()))
    parts = [*fields.values()] if schema is None else [schema, *fields.values()]
    if not all(type(part) is bytes for part in parts) or not all(type(i) is int and i >= 0 for i in fields):
        raise TypeError("metadata are bytes")
    if columns is not None:
        fields = {i: fields[column] for i, column in enumerate(columns) if column in fields}
    return schema, fields
