"""Tables, arrays and scalars of pyarrow. How a column is cut into chunks does not matter."""

from __future__ import annotations

import struct
from bisect import bisect_right
from typing import Any

import pyarrow as pa

from .different import Different, equal, shown
from .values import check_value

_WORDS = {16: pa.uint16(), 32: pa.uint32(), 64: pa.uint64()}


def check(a: Any, b: Any, path: str) -> None:
    """Raises `Different` when `b` is not the same as `a`."""
    if isinstance(a, (pa.Table, pa.RecordBatch)):
        _check_schema(a.schema, b.schema, path)
        equal(a.num_rows, b.num_rows, f"{path}: rows")
        b.validate(full=True)
        for i, name in enumerate(a.schema.names):
            _check_column(a.column(i), b.column(i), f"{path}[{name!r}]")
    elif isinstance(a, (pa.ChunkedArray, pa.Array)):
        b.validate(full=True)
        _check_column(a, b, path)
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
    # Empty metadata equal no metadata, for Arrow too.
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
    """Metadata of a field, without the numbers that Parquet adds."""
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
    equal(kind, b.type, f"{path}: type")
    equal(len(a), len(b), f"{path}: length")
    if isinstance(kind, pa.BaseExtensionType):
        check_array(a.storage, b.storage, path)
    elif pa.types.is_nested(kind) or pa.types.is_run_end_encoded(kind):
        # Value by value: kernels of pyarrow don't take every type, and some end the process.
        for i in range(len(a)):
            _check_value(a, i, b, i, f"{path}[{i}]")
    elif pa.types.is_dictionary(kind):
        check_array(a.dictionary, b.dictionary, f"{path}.dictionary")
        check_array(a.indices, b.indices, f"{path}.indices")
    else:
        equal(a.is_valid().to_pylist(), b.is_valid().to_pylist(), f"{path}: nulls")
        _check_plain(a, b, path)


def _check_value(a: Any, i: int, b: Any, j: int, path: str) -> None:
    """Value i of an array and value j of another one of the same type."""
    kind = a.type
    if isinstance(kind, pa.BaseExtensionType):
        _check_value(a.storage, i, b.storage, j, path)
    elif pa.types.is_run_end_encoded(kind):
        _check_value(a.values, _run(a, i), b.values, _run(b, j), path)
    elif pa.types.is_union(kind):
        (code, at), (other, other_at) = _place(a, i), _place(b, j)
        equal(code, other, f"{path}: number of the type")
        child = kind.type_codes.index(code)
        _check_value(a.field(child), at, b.field(child), other_at, path)
    elif pa.types.is_nested(kind):
        equal(a[i].is_valid, b[j].is_valid, f"{path}: null")
        if not a[i].is_valid:
            return
        if not pa.types.is_struct(kind):
            check_array(a[i].values, b[j].values, path)
            return
        for k in range(kind.num_fields):
            _check_value(a.field(k), i, b.field(k), j, f"{path}.{kind.field(k).name}")
    else:
        check_array(a.slice(i, 1), b.slice(j, 1), path)


def _run(array: Any, i: int) -> int:
    """The run that a value is in."""
    return bisect_right(array.run_ends.to_pylist(), array.offset + i)


def _place(array: Any, i: int) -> tuple[int, int]:
    """The type id of a value of a union, and its position in that child."""
    buffers, at = array.buffers(), array.offset + i
    (code,) = struct.unpack_from("b", buffers[1], at)
    if array.type.mode == "sparse":
        return code, i
    return code, struct.unpack_from("i", buffers[2], 4 * at)[0]


def _check_plain(a: Any, b: Any, path: str) -> None:
    kind = a.type
    if pa.types.is_null(kind):
        return
    if pa.types.is_floating(kind):
        words = _WORDS[kind.bit_width]
        if not a.view(words).equals(b.view(words)):
            raise Different(f"{path}: {b.to_pylist()} instead of {a.to_pylist()}, or other bits")
    elif kind == pa.month_day_nano_interval():
        check_value(
            [x and tuple(x) for x in a.to_pylist()], [x and tuple(x) for x in b.to_pylist()], path
        )
    elif not a.equals(b):
        raise Different(f"{path}: {shown(b)} instead of {shown(a)}")
