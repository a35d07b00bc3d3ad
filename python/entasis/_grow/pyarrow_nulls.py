"""Nulls in columns of pyarrow whose fields are `not null`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator


def check_nulls(what: str, field: Any, column: Any) -> None:
    """Check that no field that is not nullable has nulls, in a chunked array and inside it."""
    if not field.nullable and column.null_count:
        raise _refused(what, field.type, column.null_count)
    if _has_required(field.type):
        for chunk in column.chunks:
            _check_inside(what, chunk)


def _refused(what: str, kind: Any, n: int) -> ArgumentError:
    return ArgumentError(
        f"{what} is {kind} not null in the file, and {n:,} of its values in the rows to append are null: fill them "
        "(pyarrow.compute.fill_null)"
    )


def _fields(kind: Any) -> list[Any]:
    """The fields of a struct, or the field of the items of a list or map. Keys of maps have no nulls."""
    from pyarrow import types

    kind = getattr(kind, "storage_type", kind)
    if types.is_struct(kind):
        return [kind.field(i) for i in range(kind.num_fields)]
    if types.is_map(kind):
        return [kind.item_field]
    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_list_view, types.is_large_list_view)
    return [kind.value_field] if any(is_list(kind) for is_list in lists) else []


def _has_required(kind: Any) -> bool:
    """Whether a field inside of a type is not null."""
    return any(not field.nullable or _has_required(field.type) for field in _fields(kind))


def _check_inside(what: str, array: Any) -> None:
    """Check the fields inside of an array."""
    if not len(array):
        return
    for field, values in zip(_fields(array.type), _values(array), strict=True):
        inside = f"{what}, field {field.name!r},"
        if not field.nullable and values.null_count:
            raise _refused(inside, field.type, values.null_count)
        if _has_required(field.type):
            _check_inside(inside, values)


def _values(array: Any) -> Iterator[Any]:
    """The values of each field, except values under nulls."""
    from pyarrow import types

    if hasattr(array, "storage"):
        array = array.storage
    if array.null_count:
        array = array.filter(array.is_valid())
    if types.is_struct(array.type):
        # The structs are not null, so `flatten` hides no value of a field.
        yield from array.flatten()
    elif types.is_map(array.type):
        items = array.items
        first, last = array.offsets[0].as_py(), array.offsets[len(array)].as_py()
        yield items.slice(first, last - first)
    else:
        yield array.flatten()
