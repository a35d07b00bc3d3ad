"""Dictionaries of pyarrow: rows that get the dictionary type of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .host_types import Unfit

if TYPE_CHECKING:
    from collections.abc import Callable


def to_dictionary(column: Any, kind: Any, convert: Callable[[Any, Any], Any]) -> Any:
    """A column of values or of dictionaries as dictionaries of a type. `convert` converts values."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        if kind.ordered:
            # The order of values is unknown.
            raise Unfit("values without an order")
        column = convert(column, kind.value_type).dictionary_encode()
    elif column.type.ordered != kind.ordered:
        raise Unfit("the other order" if kind.ordered else "an order")
    chunks = []
    for chunk in column.chunks:
        values = pa.chunked_array([chunk.dictionary])
        if values.type != kind.value_type:
            values = convert(values, kind.value_type)
        if len(values) > greatest_code(kind.index_type) + 1:
            raise Unfit(f"{len(values):,} categories")
        codes = chunk.indices.cast(kind.index_type)
        dictionary = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
        chunks.append(pa.DictionaryArray.from_arrays(codes, dictionary, ordered=kind.ordered))
    return pa.chunked_array(chunks, kind)


def greatest_code(kind: Any) -> int:
    """The greatest code of an integer type."""
    import numpy as np

    return int(np.iinfo(kind.to_pandas_dtype()).max)


def n_joined(old: Any, new: Any) -> int:
    """The number of categories of two columns of dictionaries of one type."""
    import pyarrow as pa

    found = [chunk.dictionary for column in (old, new) for chunk in column.chunks]
    if not found:
        return 0
    if all(values.equals(found[0]) for values in found):
        return len(found[0])
    try:
        return len(pa.chunked_array(found).unique())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        # Nested categories. The core counts them.
        return 0


def with_codes(kind: Any, n: int) -> Any:
    """The type whose codes tell `n` categories apart."""
    import pyarrow as pa

    signed = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
    unsigned = [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
    widths = unsigned if pa.types.is_unsigned_integer(kind.index_type) else signed
    found = next(width for width in widths if greatest_code(width) >= n - 1)
    return pa.dictionary(found, kind.value_type, kind.ordered)


def wider_codes(old: Any, new: Any) -> Any:
    """The dictionary type with the wider codes of two."""
    import pyarrow as pa

    if not pa.types.is_dictionary(new) or old.value_type != new.value_type or old.ordered != new.ordered:
        return None
    widest = max(old.index_type, new.index_type, key=greatest_code)
    return pa.dictionary(widest, old.value_type, old.ordered)
