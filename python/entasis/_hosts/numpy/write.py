"""Dicts of NumPy arrays to columns."""

from __future__ import annotations

from typing import Any

from entasis._columns import dtype_metadata as _dtype_metadata
from entasis._columns import dtypes as _dtypes
from entasis._columns.variants import BIG, CLONGDOUBLE, FIXED, OBJECT, RECORD, STRING, UNITS
from entasis._entasis import Builder, ColumnRef, is_unicode
from entasis.errors import ArgumentError, OutOfMemoryError, UnsupportedTypeError

from . import objects as _objects


def build(arrays: dict[Any, Any]) -> tuple[Builder, dict[str, Any]]:
    """Return a builder with all arrays, and the host map."""
    import numpy as np

    for name, array in arrays.items():
        if type(name) is not str:
            raise UnsupportedTypeError(f"column {name!r}: a name of type {type(name).__name__} is not supported yet")
        if type(array) is not np.ndarray:
            kind = type(array).__name__
            raise UnsupportedTypeError(f"column '{name}': {kind} is not supported yet, only a NumPy array")
        if array.ndim != 1:
            message = f"column '{name}': arrays of {array.ndim} dimensions are not supported yet, only of one"
            raise UnsupportedTypeError(message)
    n_rows = len(next(iter(arrays.values()))) if arrays else 0
    for name, array in arrays.items():
        if len(array) != n_rows:
            first = next(iter(arrays))
            raise ArgumentError(f"column '{name}' has {len(array)} values, column '{first}' {n_rows}")
        try:
            _dtypes.check_size(array)
        except OutOfMemoryError as error:
            raise OutOfMemoryError(f"column '{name}': {error}") from None
    builder = Builder(n_rows, list(arrays))
    host: dict[str, Any] = {"host": "numpy"}
    kinds: list[list[Any]] = []
    metadata = _dtype_metadata.Collector()
    for position, (name, array) in enumerate(arrays.items()):
        _, mixed = add(builder, array, position, cells=f"value[{name!r}]")
        if mixed is not None:
            kinds.append([position, ColumnRef(mixed)])
        if array.dtype.metadata is not None:
            metadata.add(array.dtype, [position])
    if kinds:
        host["missing_kinds"] = kinds
    return builder, host | metadata.encode(builder)


def is_table(value: Any) -> bool:
    """False: arrays outside dicts are written as trees."""
    return False


# Arrays of this average length in bytes, or more, are lent to the core instead of copied.
_NOT_COPIED = 16_384


def add_pool(builder: Builder, arrays: list[Any], n_values: int) -> None:
    """Add `n_values` values, in arrays of one dtype, as a pool."""
    import numpy as np

    dtype = arrays[0].dtype
    n_bytes = n_values * dtype.itemsize
    if len(arrays) == 1:
        (values,) = arrays
    elif n_bytes >= _NOT_COPIED * len(arrays) and dtype.isnative and dtype.kind in "biufcmM" and dtype.char != "G":
        number = builder.words(arrays[0])
        assert number is not None
        builder.extend(number, arrays[1:])
        return
    else:
        values = np.concatenate(arrays) if arrays[0].dtype.isnative else np.concatenate(arrays, dtype=arrays[0].dtype)
    add(builder, values, None)


def add(
    builder: Builder, array: Any, position: int | None, name: str = "", cells: str | None = None
) -> tuple[int | None, int | None]:
    """Add an array of one axis.

    Parameters
    ----------
    position
        The column of the table; None for an extra column.
    name
        The name of an extra column.
    cells
        The name of an array of objects in errors.

    Returns
    -------
    number, kinds
        The number of the column, or None for a column of the table. The number of a column that
        records markers of missing values, or None if they need none.
    """
    dtype = array.dtype
    what = f"column '{name if position is None else builder.name(position)}'"
    if dtype.kind == "O":
        return _objects.add(builder, array, position, OBJECT, name, cells)
    if dtype.kind == "T":
        described = _dtypes.encode_string(dtype, what)
        return builder.text(array.astype(object), position, name=name, host_variant=STRING, host_detail=described)
    host_variant = 0
    if dtype.names is not None or _dtypes.has_multiple(dtype):
        described = _dtypes.encode(_dtype_metadata.plain(dtype), what)
        memory = _dtypes.as_bytes(array)
        return builder.words(memory, position, name=name, host_variant=RECORD, host_detail=described), None
    if not dtype.isnative:
        array, host_variant = array.astype(dtype.newbyteorder("=")), BIG
    if dtype.kind == "U" and not is_unicode(array):
        number = builder.words(_dtypes.as_bytes(array), position, name=name, host_variant=host_variant | UNITS)
    elif dtype.kind in "US":
        return builder.text(array, position, name=name, host_variant=host_variant | FIXED)
    elif dtype.char == "G":
        number = builder.words(_dtypes.as_bytes(array), position, name=name, host_variant=host_variant | CLONGDOUBLE)
    else:
        number = builder.words(array, position, name=name, host_variant=host_variant)
    return number, None
