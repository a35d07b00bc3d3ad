"""Compares arrays of Arrow value by value: floats by their bits, missing values apart from NaN."""

from __future__ import annotations

from typing import Any


def logical(kind: Any) -> Any:
    """A type without its layout: 32 or 64 bits of offsets, views, and widths of codes."""
    import pyarrow as pa

    types = pa.types
    if types.is_string(kind) or types.is_string_view(kind):
        return pa.large_string()
    if types.is_binary(kind) or types.is_binary_view(kind):
        return pa.large_binary()
    if types.is_dictionary(kind):
        return pa.dictionary(pa.int32(), logical(kind.value_type), kind.ordered)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_list_view(kind) or types.is_large_list_view(kind):
        return pa.large_list(pa.field("item", logical(kind.value_type)))
    if types.is_fixed_size_list(kind):
        return pa.list_(pa.field("item", logical(kind.value_type)), kind.list_size)
    if types.is_struct(kind):
        return pa.struct([pa.field(field.name, logical(field.type)) for field in kind])
    if types.is_run_end_encoded(kind):
        return logical(kind.value_type)
    return kind


def comparable(a: Any, b: Any) -> tuple[Any, Any] | None:
    """Two arrays with one type, if one of their types holds the values of the other."""
    import pyarrow as pa

    a, b = plain(a), plain(b)
    if a.type == b.type:
        return a, b
    for one, other, swaps in ((a, b, False), (b, a, True)):
        try:
            cast = other.cast(one.type)
        except (pa.ArrowException, ValueError, TypeError):
            continue
        return (cast, one) if swaps else (one, cast)
    return None


def plain(array: Any) -> Any:
    """An array without dictionaries, runs, extension types and views at its outermost level."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    types = pa.types
    if isinstance(array, pa.ExtensionArray):
        return plain(array.storage)
    if types.is_dictionary(array.type):
        return plain(array.dictionary_decode())
    if types.is_run_end_encoded(array.type):
        return plain(pc.run_end_decode(array))
    if types.is_string_view(array.type) or types.is_string(array.type):
        return array.cast(pa.large_string())
    if types.is_binary_view(array.type) or types.is_binary(array.type):
        return array.cast(pa.large_binary())
    if types.is_list(array.type):
        return array.cast(pa.large_list(array.type.value_field))
    return array


def differing(a: Any, b: Any, tolerance: float | None = None) -> Any:
    """A mask of NumPy of the values that differ in two plain arrays of one type."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    n = len(a)
    types = pa.types
    kind = a.type
    if types.is_null(kind):
        return np.zeros(n, bool)
    no_a, no_b = _mask(a.is_null()), _mask(b.is_null())
    missing = no_a != no_b
    both = ~no_a & ~no_b
    if types.is_floating(kind):
        x, y = _numbers(a), _numbers(b)
        bits = f"u{x.dtype.itemsize}"
        other = (x.view(bits) != y.view(bits)) & ~(np.isnan(x) & np.isnan(y))
        if tolerance is not None:
            with np.errstate(invalid="ignore", over="ignore"):
                other &= ~(np.abs(x - y) <= tolerance)
        return missing | (other & both)
    if types.is_struct(kind):
        found = missing
        for i in range(kind.num_fields):
            parts = comparable(a.field(i), b.field(i))
            assert parts is not None, "both structs have one type"
            found = found | (differing(*parts, tolerance) & both)
        return found
    if types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return missing | _lists(a, b, both, tolerance)
    if types.is_nested(kind):
        x, y = a.to_pylist(), b.to_pylist()
        return np.fromiter((not same(u, v) for u, v in zip(x, y, strict=True)), bool, n)
    if types.is_interval(kind):
        return missing | (np.fromiter((u != v for u, v in zip(a.to_pylist(), b.to_pylist(), strict=True)), bool, n))
    return missing | (_mask(pc.not_equal(a, b)) & both)


def same(a: Any, b: Any) -> bool:
    """Whether two values of Python are equal, with NaN equal to NaN, and 0.0 other than -0.0."""
    if isinstance(a, float) and isinstance(b, float):
        return repr(a) == repr(b)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(value, b[key]) for key, value in a.items())
    return bool(a == b)


def _lists(a: Any, b: Any, both: Any, tolerance: float | None) -> Any:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    lengths = [_numbers(pc.list_value_length(each)) for each in (a, b)]
    found = (lengths[0] != lengths[1]) & both
    rows = np.flatnonzero(both & ~found & (lengths[0] > 0))
    if len(rows):
        chosen = [each.take(pa.array(rows)) for each in (a, b)]
        parts = comparable(*(each.flatten() for each in chosen))
        assert parts is not None, "both lists have one type"
        inner = differing(*parts, tolerance)
        owners = np.repeat(rows, lengths[0][rows])
        found[owners[inner]] = True
    return found


def _mask(array: Any) -> Any:
    import pyarrow as pa

    return _numbers(array.cast(pa.uint8())) != 0


def _numbers(array: Any) -> Any:
    """The values of an array of numbers, with any ones for missing values.

    pyarrow's `to_numpy` and `scalar` would load pandas.
    """
    import numpy as np

    dtype, end = np.dtype(array.type.to_pandas_dtype()), array.offset + len(array)
    if not end:
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype, end)[array.offset :]
