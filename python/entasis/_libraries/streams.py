"""Objects with Arrow's stream interface. Only objects that consist of a table alone are accepted.

Any class can have `__arrow_c_stream__`. The stream may lack labels, a shape or attributes that the
object has, so all other classes are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments.options import shown
from entasis.errors import ArgumentError, MissingLibraryError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Libraries with frames.
FRAME_ROOTS = frozenset(("pandas", "polars", "pyarrow", "static_frame"))
# Names of classes by the libraries that define them.
_TABLES = {
    "pyarrow": ("RecordBatchReader",),
    "duckdb": ("DuckDBPyRelation",),
    "_duckdb": ("DuckDBPyRelation",),
    "nanoarrow": ("ArrayStream", "CArrayStream"),
    "arro3": ("RecordBatchReader", "Table"),
    "adbc_driver_manager": ("ArrowArrayStreamHandle",),
    "geopandas": ("ArrowTable",),
}


def is_stream(value: Any) -> bool:
    """Whether a value only streams a table, as a record batch reader does."""
    kind = type(value)
    return hasattr(kind, "__arrow_c_stream__") and kind.__name__ in _TABLES.get(_root(kind), ())


def is_dataset(value: Any) -> bool:
    """Whether a value is a dataset of pyarrow or of a file, or a scanner or fragment of one."""
    kind = type(value)
    return hasattr(kind, "to_table") and not {"pyarrow", "entasis"}.isdisjoint(map(_root, kind.__mro__))


def check(value: Any) -> None:
    """Refuse an object that streams a table, but may be more than a table."""
    kind = type(value)
    if is_stream(value) or is_dataset(value):
        return
    instead = advice(kind)
    if instead:
        raise ArgumentError(f"a {kind.__module__}.{kind.__qualname__} is not a known frame or reader{instead}")


def advice(kind: type) -> str:
    """Name the value to pass instead of an object that streams; empty for other classes."""
    roots = set(map(_root, kind.__mro__))
    if not hasattr(kind, "__arrow_c_stream__") or _root(kind) in FRAME_ROOTS or "entasis" in roots:
        return ""
    if "pandas" in roots and hasattr(kind, "to_arrow"):
        return "; pass x.to_arrow(), as gdf.to_arrow() of a GeoDataFrame"
    if roots.isdisjoint(FRAME_ROOTS):
        return "; pass pa.RecordBatchReader.from_stream(x), which has its columns alone"
    return ""


def reader(value: Any) -> Any:
    """The record batch reader of a stream. An error of the stream becomes one of its batches."""
    kind = type(value)
    try:
        import pyarrow as pa
    except ImportError as error:
        message = f"pyarrow is needed to write a {kind.__name__}, and can't be imported ({error}): pip install pyarrow"
        raise MissingLibraryError(message) from error
    # The stream interface lacks the field names of maps, so it serves only other libraries.
    if isinstance(value, pa.RecordBatchReader):
        return value
    try:
        return pa.RecordBatchReader.from_stream(value)
    except pa.ArrowException as error:
        raise ArgumentError(f"{shown(value)} does not stream a table: {error}") from error


def batches(value: Any) -> Iterator[Any]:
    """The record batches of a stream as tables."""
    found = reader(value)
    import pyarrow as pa

    while True:
        try:
            batch = next(found, None)
        except pa.ArrowException as error:
            raise ArgumentError(f"{shown(value)} failed: {error}") from error
        if batch is None:
            return
        yield pa.Table.from_batches([batch])


def table(value: Any) -> Any:
    """All rows of a stream."""
    found = reader(value)
    import pyarrow as pa

    parts = list(batches(found))
    return pa.concat_tables(parts) if parts else pa.Table.from_batches([], found.schema)


def _root(kind: type) -> str:
    return kind.__module__.partition(".")[0]
