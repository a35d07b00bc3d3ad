"""One dictionary for all chunks of a column of pyarrow."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from entasis.errors import UnsupportedTypeError


def has_dictionary(kind: Any) -> bool:
    """Whether a type is or contains a dictionary."""
    import pyarrow as pa

    storage = getattr(kind, "storage_type", kind)
    return pa.types.is_dictionary(storage) or any(has_dictionary(field.type) for field in _fields(storage))


def _fields(kind: Any) -> list[Any]:
    import pyarrow as pa

    if pa.types.is_run_end_encoded(kind):
        return [pa.field("values", kind.value_type)]
    return [kind.field(i) for i in range(kind.num_fields)] if pa.types.is_nested(kind) else []


def unified(table: Any) -> Any:
    """The table with one dictionary in each column. Codes get a wider type where needed."""
    import pyarrow as pa

    schema = table.schema
    columns = [
        unified_column(field.name, column) if has_dictionary(field.type) else column
        for field, column in zip(schema, table.columns, strict=True)
    ]
    fields = [field.with_type(column.type) for field, column in zip(schema, columns, strict=True)]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, schema.metadata))


def unified_column(name: str, column: Any) -> Any:
    """A column with one dictionary for all its chunks."""
    import pyarrow as pa

    if column.num_chunks <= 1:
        return column
    # Dictionaries of chunks without values need not fit.
    column = pa.chunked_array([chunk for chunk in column.chunks if len(chunk)] or column.chunks[:1])
    try:
        return column.unify_dictionaries()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        # Dictionaries with null or nested values, or with as many values as the type of their codes
        # can count.
        pass
    try:
        return _with_joined_dictionary(column) if pa.types.is_dictionary(column.type) else _in_one_chunk(column)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowKeyError) as error:
        raise UnsupportedTypeError(
            f"column {name!r}: the dictionaries of its chunks can't be joined ({error}): give all chunks the same "
            "dictionary, or cast the column to a type without dictionaries"
        ) from error


def _in_one_chunk(column: Any) -> Any:
    """All chunks in one, which works for nested columns if their dictionaries are equal."""
    import pyarrow as pa

    return pa.chunked_array([pa.concat_arrays(column.chunks)])


def _with_joined_dictionary(column: Any) -> Any:
    """A column with one dictionary of all values, each once if the values can be compared."""
    import pyarrow as pa

    values, new_codes = _joined([chunk.dictionary for chunk in column.chunks])
    indices = [
        chunk.indices if codes is None else codes.take(chunk.indices)
        for chunk, codes in zip(column.chunks, new_codes, strict=True)
    ]
    width = _code_type(column.type.index_type, len(values))
    ordered = column.type.ordered
    return pa.chunked_array(
        [pa.DictionaryArray.from_arrays(codes.cast(width), values, ordered=ordered) for codes in indices]
    )


def _joined(dictionaries: list[Any]) -> tuple[Any, list[Any]]:
    """The values of several dictionaries, and the new codes of each; None keeps the old codes."""
    import pyarrow as pa

    different: list[Any] = []
    numbers = []
    for values in dictionaries:
        number = next((i for i, known in enumerate(different) if known is values or known.equals(values)), None)
        if number is None:
            number = len(different)
            different.append(values)
        numbers.append(number)
    if len(different) == 1:
        return different[0], [None] * len(numbers)
    whole = pa.concat_arrays(different)
    codes = pa.array(range(len(whole)), pa.int64())
    if not pa.types.is_dictionary(whole.type):
        with suppress(pa.ArrowNotImplementedError):
            coded = whole.dictionary_encode(null_encoding="encode")
            whole, codes = coded.dictionary, coded.indices
    starts = [0]
    for values in different:
        starts.append(starts[-1] + len(values))
    parts = [codes.slice(start, len(values)) for start, values in zip(starts, different, strict=False)]
    return whole, [parts[number] for number in numbers]


def _code_type(own: Any, n: int) -> Any:
    """The type of codes for `n` values: their `own` type, or the narrowest wider one that fits."""
    import pyarrow as pa

    signed = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
    unsigned = [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
    kinds = signed if own in signed else unsigned
    free = 1 if own in signed else 0
    return next(kind for kind in kinds if kind.bit_width >= own.bit_width and n <= 1 << (kind.bit_width - free))
