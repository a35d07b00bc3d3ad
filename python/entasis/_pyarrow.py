"""pyarrow tables, through Arrow's C stream interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _arrow
from ._entasis import Builder
from ._hosts import interpretation
from .errors import UnsupportedTypeError

if TYPE_CHECKING:
    from ._entasis import Handle

_LARGE = 1


def build(table: Any) -> tuple[Builder, dict[str, Any]]:
    """A builder with all columns of a table, and what is kept beside them."""
    import pyarrow as pa

    if type(table) is not pa.Table:
        raise UnsupportedTypeError(f"a pyarrow {type(table).__name__} is not supported yet, only a Table")
    for field in table.schema:
        inner = field.type
        if "\0" in str(inner):
            raise UnsupportedTypeError(f"column '{field.name}': a time zone with a zero character is not supported")
    if any(has_dictionary(kind) for kind in table.schema.types):
        table = table.unify_dictionaries()
    builder = Builder(table.num_rows, table.column_names)
    return builder, {"host": "pyarrow"} | _arrow.add(builder, table, table.column_names)


def has_dictionary(kind: Any) -> bool:
    """Whether a type is a dictionary, or has one in it."""
    import pyarrow as pa

    storage = getattr(kind, "storage_type", kind)
    return pa.types.is_dictionary(storage) or any(has_dictionary(field.type) for field in _fields(storage))


def _fields(kind: Any) -> list[Any]:
    import pyarrow as pa

    if pa.types.is_run_end_encoded(kind):
        return [pa.field("values", kind.value_type)]
    return [kind.field(i) for i in range(kind.num_fields)] if pa.types.is_nested(kind) else []


def read(handle: Handle, host: dict[str, Any], columns: list[int] | None, rows: Any, threads: int | None) -> Any:
    """A table of these columns and rows, each column in one chunk.

    Strings and bytes of more than 2 GiB in a column come as `large_string` and `large_binary`: one chunk of `string`
    can't hold them.
    """
    import pyarrow as pa

    own = host.get("host") == "pyarrow"
    table, _ = _arrow.read(handle, host, columns, rows, threads, layout=_LARGE, own=own, metadata=own)
    found = pa.RecordBatchReader.from_stream(table).read_all()
    if own and "empty_schema" in host:
        with interpretation():
            return found.replace_schema_metadata(dict(host["empty_schema"]))
    return found
