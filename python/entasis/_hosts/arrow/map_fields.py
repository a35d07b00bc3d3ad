"""Names and metadata of the fields of maps, which pyarrow replaces when it imports a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Name, keys and values of the metadata, and the fields inside.
    MapField = tuple[str, list[tuple[bytes, bytes]], list[Any]]


def restored(table: Any, fields: dict[int, MapField]) -> Any:
    """A table whose maps have their own fields.

    Parameters
    ----------
    table
        A table of pyarrow.
    fields
        The fields of columns with maps, by position: the result of `ArrowTable.map_fields`.
    """
    for position, field in fields.items():
        of_table = table.schema.field(position)
        kind = _type(of_table.type, field)
        if not kind.equals(of_table.type, check_metadata=True):
            column = table.column(position).cast(kind)
            table = table.set_column(position, of_table.with_type(kind), column)
    return table


def _type(kind: Any, field: MapField) -> Any:
    """A type with the fields of maps in it replaced."""
    import pyarrow as pa

    _, _, children = field
    types = pa.types
    if types.is_map(kind):
        (_, _, (key, item)) = children[0]
        key_field, item_field = _field_of_map(kind.key_field, key), _field_of_map(kind.item_field, item)
        return pa.map_(key_field, item_field, keys_sorted=kind.keys_sorted)
    if types.is_struct(kind):
        return pa.struct([_field(kind.field(i), child) for i, child in enumerate(children)])
    makes = {
        "list": pa.list_,
        "large_list": pa.large_list,
        "list_view": pa.list_view,
        "large_list_view": pa.large_list_view,
    }
    for name, make in makes.items():
        if getattr(types, f"is_{name}")(kind):
            return make(_field(kind.value_field, children[0]))
    if types.is_fixed_size_list(kind):
        return pa.list_(_field(kind.value_field, children[0]), kind.list_size)
    # Extension types, unions and runs stay as they are.
    return kind


def _field(of: Any, field: MapField) -> Any:
    return of.with_type(_type(of.type, field))


def _field_of_map(of: Any, field: MapField) -> Any:
    name, metadata, _ = field
    found = _field(of, field).with_name(name)
    return found.with_metadata(dict(metadata)) if metadata else found
