"""Types of Arrow as Spark has them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from entasis._arguments.options import shown
from entasis.errors import ArgumentError, UnsupportedTypeError

from .spark_library import types

# The digits of Spark's decimals.
_MOST_DIGITS = 38


def fields_of(schema: pa.Schema) -> tuple[Any, pa.Schema]:
    """The columns as a type of Spark, and the types of the batches that it takes.

    Raises
    ------
    UnsupportedTypeError
        Spark has no such type.
    """
    found, arrow = [], []
    for field in schema:
        both = _type_of(field.type)
        if both is None:
            raise UnsupportedTypeError(
                f"column {shown(field.name)} is {field.type}, which Spark lacks: name others by the option 'columns'"
            )
        found.append(types.StructField(field.name, both[0], True))
        arrow.append(pa.field(field.name, both[1]))
    return types.StructType(found), pa.schema(arrow)


def in_types(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch in the types that Spark takes.

    Raises
    ------
    ArgumentError
        Spark's type does not hold all values exactly.
    """
    columns = []
    for column, field in zip(batch.columns, schema, strict=True):
        try:
            columns.append(_cast(column, field.type))
        except pa.ArrowInvalid as error:
            raise ArgumentError(
                f"column {shown(field.name)} is {column.type}, and Spark's {field.type} does not hold all of its "
                f"values: {error}"
            ) from error
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _cast(column: Any, kind: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column if column.type == kind else column.cast(kind)


def _type_of(kind: Any) -> tuple[Any, Any] | None:
    """The type of Spark for a type of Arrow, and the type of Arrow that it takes; None without one."""
    simple = {
        pa.bool_(): (types.BooleanType, pa.bool_()),
        pa.int8(): (types.ByteType, pa.int8()),
        pa.int16(): (types.ShortType, pa.int16()),
        pa.int32(): (types.IntegerType, pa.int32()),
        pa.int64(): (types.LongType, pa.int64()),
        pa.uint8(): (types.ShortType, pa.int16()),
        pa.uint16(): (types.IntegerType, pa.int32()),
        pa.uint32(): (types.LongType, pa.int64()),
        pa.float16(): (types.FloatType, pa.float32()),
        pa.float32(): (types.FloatType, pa.float32()),
        pa.float64(): (types.DoubleType, pa.float64()),
        pa.date32(): (types.DateType, pa.date32()),
    }
    if kind in simple:
        made, arrow = simple[kind]
        return made(), arrow
    if kind == pa.uint64():
        return types.DecimalType(20, 0), pa.decimal128(20, 0)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return types.StringType(), pa.string()
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return types.BinaryType(), pa.binary()
    if pa.types.is_timestamp(kind):
        if kind.tz is None:
            return types.TimestampNTZType(), pa.timestamp("us")
        return types.TimestampType(), pa.timestamp("us", "UTC")
    if pa.types.is_duration(kind):
        return types.DayTimeIntervalType(), pa.duration("us")
    if pa.types.is_decimal(kind) and kind.precision <= _MOST_DIGITS and 0 <= kind.scale <= kind.precision:
        return types.DecimalType(kind.precision, kind.scale), pa.decimal128(kind.precision, kind.scale)
    if pa.types.is_dictionary(kind):
        return _type_of(kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        inner = _type_of(kind.value_type)
        return None if inner is None else (types.ArrayType(inner[0]), pa.list_(pa.field("element", inner[1])))
    return None
