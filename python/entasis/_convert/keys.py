"""Keys of rows: columns whose values identify them."""

from __future__ import annotations

from typing import Any

from . import arrays as _arrays


def sortable(table: Any) -> Any:
    """Keys in types that sort and compare: numbers for times, and values for codes."""
    import pyarrow as pa

    columns = []
    for column in table.columns:
        plain = _arrays.plain(column)
        columns.append(plain.view(_INTEGER[plain.type.bit_width]()) if pa.types.is_temporal(plain.type) else plain)
    return pa.Table.from_arrays(columns, names=table.column_names)


def _int32() -> Any:
    import pyarrow as pa

    return pa.int32()


def _int64() -> Any:
    import pyarrow as pa

    return pa.int64()


_INTEGER = {32: _int32, 64: _int64}


def ordered(value: Any) -> tuple[Any, ...]:
    """A value in the order of pyarrow: NaN after numbers, missing values last."""
    if value is None:
        return (2,)
    return (1,) if value != value else (0, value)


def key(table: Any, keys: list[str], i: int) -> Any:
    found = tuple(value(table.column(name), i) for name in keys)
    return found[0] if len(found) == 1 else found


def value(column: Any, i: int) -> Any:
    try:
        return column[i].as_py()
    except (ValueError, OverflowError, ImportError):
        # A time that Python lacks.
        return str(column[i])
