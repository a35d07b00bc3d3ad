"""The types of pyarrow: what they hold, and wider ones."""

from __future__ import annotations

from typing import Any

from entasis._hosts.arrow.run_ends import with_run_ends

from . import exact
from .host_types import Types, Unfit
from .pyarrow_dictionaries import to_dictionary, wider_codes


class ArrowTypes(Types):
    """The types of pyarrow. Columns are chunked arrays."""

    def type_of(self, column: Any) -> Any:
        """The type of a column."""
        return column.type

    def is_same(self, old: Any, new: Any) -> bool:
        """Whether two types are equal."""
        return bool(old == new)

    def is_empty(self, column: Any) -> bool:
        """Whether a column has no rows, or only nulls."""
        from pyarrow import types

        return bool(column.null_count == len(column)) or types.is_null(column.type)

    def is_untyped(self, dtype: Any) -> bool:
        """Whether a type says nothing about values."""
        from pyarrow import types

        return bool(types.is_null(dtype))

    def missing(self, dtype: Any, like: Any) -> Any:
        """A column of nulls."""
        import pyarrow as pa

        return pa.chunked_array([pa.nulls(len(like), dtype)])

    def convert(self, column: Any, dtype: Any) -> Any:
        """A column of another type with the same values."""
        import pyarrow as pa
        from pyarrow import types

        if types.is_run_end_encoded(column.type) and types.is_run_end_encoded(dtype):
            if column.type.value_type != dtype.value_type:
                raise Unfit
            return with_run_ends(column, dtype)
        if types.is_dictionary(dtype):
            return to_dictionary(column, dtype, self.convert)
        if types.is_dictionary(column.type):
            return self.convert(column.cast(column.type.value_type), dtype)
        lacking = _lacking(column.type, dtype)
        if lacking:
            raise Unfit(f"the field {lacking[0]!r}")
        if not _is_kind(column.type, dtype):
            raise Unfit
        if _is_number(column.type) and _is_number(dtype):
            _check_numbers(column, dtype)
            return column.cast(dtype, safe=False)
        try:
            return column.cast(dtype)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
            raise Unfit(_first_refused(column, dtype, str(error))) from None

    def wider(self, old: Any, column: Any) -> Any:
        """The type of `pa.concat_tables(promote_options="permissive")`.

        None if it is of another kind.
        """
        return wider(old, column.type)


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind))


def _check_numbers(column: Any, kind: Any) -> None:
    """Check that a type of numbers holds a column of numbers."""
    import numpy as np

    values = column.to_numpy() if not column.null_count else _filled(column)
    mask = np.asarray(column.is_null()) if column.null_count else None
    exact.convert(values, np.dtype(kind.to_pandas_dtype()), mask)


def _filled(column: Any) -> Any:
    """The values of a column of numbers, with zeros for nulls."""
    import numpy as np
    import pyarrow as pa

    values = np.zeros(len(column), column.type.to_pandas_dtype())
    # `fill_null` has no kernel for float16.
    values[np.asarray(column.is_valid())] = pa.chunked_array(column.drop_null().chunks, column.type).to_numpy()
    return values


def _first_refused(column: Any, kind: Any, message: str) -> str:
    """The first value that a cast refuses, found by halving the rows. The message if there is none."""
    import pyarrow as pa

    def is_refused(part: Any) -> bool:
        try:
            part.cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            return True
        return False

    start, n = 0, len(column)
    while n > 1:
        half = n // 2
        if not is_refused(column.slice(start, half)):
            start, half = start + half, n - half
        n = half
    value = column[start]
    if not value.is_valid or not is_refused(column.slice(start, n)):
        return message
    from entasis._arguments.options import shown

    return f"{shown(str(value))} in row {start:,}"


def _families() -> list[Any]:
    """Tests for types whose values mean the same."""
    from pyarrow import types

    def of(*tests: Any) -> Any:
        return lambda kind: any(test(kind) for test in tests)

    return [
        of(types.is_integer, types.is_floating),
        of(types.is_string, types.is_large_string, types.is_string_view),
        of(types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary),
        of(types.is_decimal),
        of(types.is_duration),
        of(types.is_time),
        of(types.is_date),
    ]


def _is_kind(old: Any, new: Any, is_inside: bool = False) -> bool:
    """Whether values of two types mean the same. The casts of the fields of nested types are exact."""
    from pyarrow import types

    if old == new or types.is_null(old):
        return True
    if types.is_timestamp(old) and types.is_timestamp(new):
        return bool(old.tz == new.tz)
    if any(is_kind(old) and is_kind(new) for is_kind in _families()):
        # pyarrow does not check that it rounds floats.
        narrows = is_inside and types.is_floating(old) and (types.is_integer(new) or new.bit_width < old.bit_width)
        return not narrows
    fields, of_new = _fields(old), _fields(new)
    if types.is_struct(old) and types.is_struct(new):
        known = {field.name: field for field in of_new}
        return all(field.name in known and _is_kind(field.type, known[field.name].type, True) for field in fields)
    if not fields or len(fields) != len(of_new) or types.is_struct(old) or types.is_struct(new):
        return False
    if types.is_map(old) != types.is_map(new) or getattr(old, "list_size", -1) != getattr(new, "list_size", -1):
        return False
    return all(_is_kind(field.type, other.type, True) for field, other in zip(fields, of_new, strict=True))


def _fields(kind: Any) -> list[Any]:
    """The fields of a struct, a map or a list."""
    from pyarrow import types

    if types.is_struct(kind):
        return [kind.field(i) for i in range(kind.num_fields)]
    if types.is_map(kind):
        return [kind.key_field, kind.item_field]
    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_list_view, types.is_large_list_view)
    return [kind.value_field] if any(is_list(kind) for is_list in lists) else []


def _lacking(old: Any, new: Any) -> list[str]:
    """The fields of structs that another type lacks."""
    from pyarrow import types

    fields, of_new = _fields(old), _fields(new)
    if types.is_struct(old) and types.is_struct(new):
        known = {field.name: field for field in of_new}
        found = [field.name for field in fields if field.name not in known]
        pairs = [(field, known[field.name]) for field in fields if field.name in known]
    else:
        found, pairs = [], list(zip(fields, of_new, strict=False))
    return found + [name for field, other in pairs for name in _lacking(field.type, other.type)]


def wider(old: Any, new: Any) -> Any:
    """The type that holds values of two types. None if there is none of their kind."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(old):
        return wider_codes(old, new)
    if types.is_run_end_encoded(old) and types.is_run_end_encoded(new) and old.value_type == new.value_type:
        return max(old, new, key=lambda kind: kind.run_end_type.bit_width)
    if not _is_kind(old, new) and not types.is_struct(old):
        return None
    if not types.is_string_view(old) and types.is_string_view(new):
        return pa.large_string()
    if types.is_integer(old) and types.is_integer(new) and types.is_uint64(old) != types.is_uint64(new):
        # pyarrow takes int64, which holds all values or refuses them.
        return pa.int64()
    schemas = [pa.schema([pa.field("x", kind)]) for kind in (old, new)]
    try:
        found = pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return None
    return found if not _lacking(old, found) and _is_kind(old, found) else None


TYPES = ArrowTypes()
