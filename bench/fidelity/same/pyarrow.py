"""Tables, arrays and scalars of pyarrow. How a column is cut into chunks does not matter."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .different import Different, equal, equal_of
from .values import check_value

_WORDS = {16: pa.uint16(), 32: pa.uint32(), 64: pa.uint64()}


def check(a: Any, b: Any, path: str) -> None:
    """Raises `Different` when `b` is not the same as `a`."""
    if isinstance(a, (pa.Table, pa.RecordBatch)):
        _check_schema(a.schema, b.schema, path)
        equal(a.num_rows, b.num_rows, f"{path}: rows")
        for i, name in enumerate(a.schema.names):
            _check_column(a.column(i), b.column(i), f"{path}[{name!r}]")
        b.validate(full=True)
    elif isinstance(a, (pa.ChunkedArray, pa.Array)):
        _check_column(a, b, path)
        b.validate(full=True)
    elif isinstance(a, pa.Scalar):
        equal(a.type, b.type, f"{path}: type")
        _check_column(_repeated(a), _repeated(b), path)
    elif not a.equals(b):
        raise Different(f"{path}: {b} instead of {a}")


def _repeated(scalar: Any) -> Any:
    return pa.repeat(scalar, 1) if scalar.is_valid else pa.nulls(1, scalar.type)


def _check_schema(a: Any, b: Any, path: str) -> None:
    equal(a.names, b.names, f"{path}: names")
    equal(a.metadata or None, b.metadata or None, f"{path}: metadata")
    for i, name in enumerate(a.names):
        _check_field(a.field(i), b.field(i), f"{path}[{name!r}]")


def _check_field(a: Any, b: Any, path: str) -> None:
    equal(a.name, b.name, f"{path}: name")
    equal(a.nullable, b.nullable, f"{path}: nullable")
    # No metadata are the same as none of them, to Arrow too.
    equal(_metadata(a), _metadata(b), f"{path}: metadata")
    equal(a.type, b.type, f"{path}: type")
    for x, y in zip(_fields(a.type), _fields(b.type), strict=True):
        _check_field(x, y, f"{path}.{x.name}")


def _fields(kind: Any) -> list[Any]:
    """The fields in a type."""
    if isinstance(kind, pa.BaseExtensionType):
        return _fields(kind.storage_type)
    if pa.types.is_map(kind):
        return [kind.key_field, kind.item_field]
    if pa.types.is_run_end_encoded(kind) or not pa.types.is_nested(kind):
        return []
    return [kind.field(i) for i in range(kind.num_fields)]


def _metadata(field: Any) -> dict[bytes, bytes]:
    """What was put beside a field; Parquet adds numbers of its own."""
    found = (field.metadata or {}).items()
    return {key: value for key, value in found if not key.startswith(b"PARQUET:")}


def _check_column(a: Any, b: Any, path: str) -> None:
    equal(a.type, b.type, f"{path}: type")
    equal(len(a), len(b), f"{path}: length")
    check_array(_one_chunk(a), _one_chunk(b), path)


def _one_chunk(column: Any) -> Any:
    if isinstance(column, pa.Array):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    if column.num_chunks == 0:
        return pa.array([], column.type)
    if not pa.types.is_run_end_encoded(column.type):
        column = column.unify_dictionaries()
    return pa.concat_arrays(column.chunks)


def check_array(a: Any, b: Any, path: str) -> None:
    """Two arrays of one type are the same, bit by bit where they are not null."""
    kind = a.type
    if isinstance(kind, pa.BaseExtensionType):
        check_array(a.storage, b.storage, path)
    elif pa.types.is_run_end_encoded(kind) or pa.types.is_union(kind):
        _check_cells(a, b, path)
    else:
        equal(a.is_valid().to_pylist(), b.is_valid().to_pylist(), f"{path}: nulls")
        _check_valid(a, b, path)


def _check_cells(a: Any, b: Any, path: str) -> None:
    if pa.types.is_union(a.type):
        # `type_codes` begins at the first value of what was sliced.
        equal_of(lambda array: [x.type_code for x in array], a, b, f"{path}: types")
    check_value(a.to_pylist(), b.to_pylist(), path)


def _check_valid(a: Any, b: Any, path: str) -> None:
    kind = a.type
    if pa.types.is_null(kind):
        return
    if pa.types.is_dictionary(kind):
        check_array(a.dictionary, b.dictionary, f"{path}.dictionary")
        check_array(a.indices, b.indices, f"{path}.indices")
    elif pa.types.is_struct(kind):
        for i, (x, y) in enumerate(zip(a.flatten(), b.flatten(), strict=True)):
            check_array(x, y, f"{path}.{kind.field(i).name}")
    elif pa.types.is_map(kind):
        check_value(a.to_pylist(), b.to_pylist(), path)
    elif pa.types.is_fixed_size_list(kind):
        check_array(a.flatten(), b.flatten(), f"{path}.item")
    elif pa.types.is_nested(kind):
        equal_of(lambda array: pc.list_value_length(array).to_pylist(), a, b, f"{path}: lengths")
        check_array(a.flatten(), b.flatten(), f"{path}.item")
    elif pa.types.is_floating(kind):
        words = _WORDS[kind.bit_width]
        if not a.view(words).equals(b.view(words)):
            raise Different(f"{path}: {b.to_pylist()} instead of {a.to_pylist()}, or other bits")
    elif kind in (pa.month_day_nano_interval(),):
        check_value(
            [tuple(x) if x else x for x in a.to_pylist()],
            [tuple(x) if x else x for x in b.to_pylist()],
            path,
        )
    elif not a.equals(b):
        raise Different(f"{path}: {b.to_pylist()} instead of {a.to_pylist()}")
