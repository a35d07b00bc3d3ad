"""Conversion of columns whose type Arrow lacks: objects, times in units of NumPy, intervals."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._columns.intervals import is_interval, subtype
from entasis._host_map import interpretation
from entasis._hosts.numpy.arrays import arrays
from entasis._values import cells as _cells
from entasis.errors import UnsupportedTypeError

from . import objects as _object_columns

if TYPE_CHECKING:
    from entasis._entasis import Column, Handle

_UNITS = ("s", "ms", "us", "ns")
# Polars converts seconds to milliseconds, which have to fit into an i64.
_MOST_SECONDS = ((1 << 63) - 1) // 1000


def is_converted(handle: Handle, column: Column) -> bool:
    """Whether a column has to be converted here. All others are decoded into Arrow's memory."""
    if column.dictionary is not None:
        return is_interval(handle.columns([column.dictionary])[0])
    if column.logical == "object":
        return True
    if column.logical in ("timestamp", "duration"):
        return column.unit not in _UNITS
    return is_interval(column)


def convert(
    handle: Handle, column: Column, rows: Any, threads: int | None, *, polars: bool
) -> tuple[Any, dict[str, str]]:
    """Read a column as an array of pyarrow. Returns it with the metadata of its field."""
    if column.logical == "object":
        # The type depends on all rows, so that all parts of the file have one schema.
        whole = _object_columns.to_arrow(column.name, _cells.objects(handle, column, None, handle.n_rows))
        return whole if rows is None else whole.take(_numbers(rows)), {}
    if column.dictionary is not None:
        return _interval_categories(handle, column, rows, threads)
    entries = handle.read([column.index], _rows.native(rows), "numpy", False, 0, threads)
    ((_, values, _),) = arrays(handle, entries, rows, handle.n_rows, False)
    if column.logical == "extension":
        return _intervals(column, values[0])
    return _times(column, values[0], polars=polars), {}


def _numbers(rows: Any) -> Any:
    import numpy as np
    import pyarrow as pa

    return pa.array(np.asarray(rows, dtype="i8"))


def _times(column: Column, values: Any, *, polars: bool) -> Any:
    """Convert times to dates, seconds or nanoseconds.

    Values that do not fit exactly are refused.
    """
    import numpy as np
    import pyarrow as pa

    unit, letter = column.unit, values.dtype.kind
    if unit == "none" or (letter == "m" and unit in ("Y", "M")):
        raise UnsupportedTypeError(f"column '{column.name}': {column.type_name} has no counterpart in Arrow")
    is_date = letter == "M" and unit in ("Y", "M", "W", "D")
    to = "D" if is_date else "ns" if unit in ("ps", "fs", "as") else "s"
    beyond = UnsupportedTypeError(f"column '{column.name}': {column.type_name} beyond what {to} hold exactly in Arrow")
    try:
        made = values.astype(f"{letter}8[{to}]")
        fits = np.array_equal(made.astype(values.dtype).view("i8"), values.view("i8"))
    except OverflowError:
        # Older versions of NumPy wrap around.
        raise beyond from None
    there = ~np.isnat(values)
    numbers = made.view("i8")[there]
    most = (1 << 31) - 1 if is_date else _MOST_SECONDS if polars and to == "s" else (1 << 63) - 1
    if not fits or (len(numbers) and not -most <= int(numbers.min()) <= int(numbers.max()) <= most):
        raise beyond
    kind = pa.date32() if is_date else pa.timestamp(to) if letter == "M" else pa.duration(to)
    # Zero in place of missing values, because some engines convert masked values too.
    numbers = np.where(there, made.view("i8"), 0)
    plain = pa.array(numbers.astype("i4") if is_date else numbers, mask=~there)
    return plain.view(kind)


@interpretation()
def _intervals(column: Column, values: Any) -> tuple[Any, dict[str, str]]:
    """Structs of both bounds. A missing interval is null."""
    import numpy as np
    import pyarrow as pa

    pairs, zone = values, _of_arrow(subtype(column)[1])
    fields = []
    for name in ("left", "right"):
        bound = pa.array(np.ascontiguousarray(pairs[name]), from_pandas=True)
        fields.append(bound if zone is None else bound.view(pa.timestamp(bound.type.unit, zone)))
    closed = column.detail["closed"]
    if type(closed) is not str:
        raise TypeError("an interval is closed on a side")
    kind = pa.struct([pa.field(name, field.type) for name, field in zip(("left", "right"), fields, strict=True)])
    return pa.StructArray.from_arrays(fields, fields=list(kind), mask=fields[0].is_null()), {"closed": closed}


def _of_arrow(zone: str | None) -> str | None:
    """The name of a zone in Arrow. pandas calls the offset `+02:00` `UTC+02:00`."""
    return zone if zone is None else re.sub(r"^UTC(?=[+-]\d\d:\d\d$)", "", zone)


def _interval_categories(handle: Handle, column: Column, rows: Any, threads: int | None) -> tuple[Any, dict[str, str]]:
    """A categorical of intervals as a column of intervals. Few libraries have such dictionaries."""
    import pyarrow as pa

    assert column.dictionary is not None, "a categorical has categories"
    (dictionary,) = handle.columns([column.dictionary])
    entries = handle.read([column.dictionary], None, "numpy", False, 0, threads, dictionary.n_values)
    ((_, values, _),) = arrays(handle, entries, None, dictionary.n_values, False)
    categories, metadata = _intervals(dictionary, values[0])
    ((_, _, _, codes, mask),) = handle.read([column.index], _rows.native(rows), "numpy", False, 0, threads)
    missing = codes < 0 if codes.dtype.kind == "i" else mask
    return categories.take(pa.array(codes, mask=missing)), metadata
