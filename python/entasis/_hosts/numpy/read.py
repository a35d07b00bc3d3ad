"""Columns to NumPy arrays, as dicts of them and for other hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._columns import dtype_metadata as _dtype_metadata
from entasis._columns import dtypes as _dtypes
from entasis._hosts.arrow import convert as _arrow_convert
from entasis._hosts.arrow import stream as _arrow
from entasis._hosts.pandas import index as _labels
from entasis._hosts.registry import interpretation
from entasis._values import cells as _cells
from entasis.errors import CorruptFileError, DuplicateColumnError, LimitError, UnsupportedTypeError

from . import nested as _numpy_nested
from .write import BIG, CLONGDOUBLE, FIXED, RECORD, STRING, UNITS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._entasis import ArrowColumn, Column, Handle


def read(handle: Handle, host: dict[str, Any], columns: list[int] | None, rows: Any, threads: int | None) -> Any:
    """A dict of arrays of these columns and rows; see `_arrow.with_labels`."""
    names, found = read_columns(handle, host, columns, rows, threads)
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise DuplicateColumnError(f"a dict can't hold two columns with the name '{twice}': select some by position")
    return dict(zip(names, found, strict=True))


def read_columns(
    handle: Handle, host: dict[str, Any], columns: list[int] | None, rows: Any, threads: int | None
) -> tuple[list[str], list[Any]]:
    """Names and arrays of these columns and rows."""
    # Flavours of StaticFrame are the same.
    own = host.get("host") in ("numpy", "static_frame")
    columns, renamed = _arrow.with_labels(handle, host, columns)
    numbers = list(range(handle.n_columns)) if columns is None else columns
    kinds = kinds_of_missing(host, numbers) if own else {}
    n = len(numbers)
    infos = handle.columns(numbers)
    names = [renamed.get(i, info.name) for i, info in enumerate(infos)]
    found: list[Any] = [None] * (n + len(kinds))
    nested = [i for i, info in enumerate(infos) if info.is_nested] if _arrow.can_convert(handle) else []
    places = [i for i in range(len(found)) if i not in nested] if nested else list(range(len(found)))
    wanted = [*numbers, *kinds.values()]
    if places:
        entries = handle.read([wanted[i] for i in places], _rows.native(rows), "numpy", own, 0, threads)
        for positions, values, _ in arrays(handle, entries, rows, handle.n_rows, own):
            for position, row in zip(positions.tolist(), values, strict=True):
                found[places[position]] = row
    for i in nested:
        found[i] = _numpy_nested.read(handle, infos[i], rows, threads)
    for i, column in enumerate(kinds):
        with interpretation():
            for position in (place for place, number in enumerate(numbers) if number == column):
                restore_missing(found[position], found[n + i])
    if own and _dtype_metadata.KEY in host:
        _restore_metadata(found, numbers, host)
    return names, found[:n]


@interpretation()
def _restore_metadata(arrays: list[Any], columns: list[int], host: dict[str, Any]) -> None:
    """Puts the metadata of dtypes."""
    metadata = _dtype_metadata.Columns(host, columns)
    for i, column in enumerate(columns):
        number = metadata.number(column)
        if number is not None:
            arrays[i] = metadata.restore(arrays[i], number)


def arrays(handle: Handle, entries: list[Any], rows: Any, n: int, own: bool) -> Iterator[tuple[Any, Any, Column]]:
    """What was decoded: positions, arrays with a row for each of them, and the type of the columns.

    `n` is the length of the columns, `rows` those that were asked for. `own`: NumPy or StaticFrame wrote the columns.
    """
    import numpy as np

    n_rows = _rows.count(rows, n)
    for kind, at, column, values, mask in _cells.fill(handle, entries, rows, n):
        _refuse(handle, column)
        if kind == "block":
            if own and column.flavour & BIG and values.dtype.itemsize > 1:
                # The native half made the array in the order of bytes that it is to have.
                values = values.byteswap(inplace=True)
            yield np.asarray(at), values, column
        elif kind == "arrow":
            yield np.asarray(at), _strings(column, values, len(at), own), column
        else:
            if own and column.physical == "fixed bytes":
                values = _rows_of_bytes(column, values)
            elif _arrow_convert.is_interval(column) and kind != "objects":
                with interpretation():
                    values = _arrow_convert.bounds(column, values)
            yield np.array([at]), _single(handle, kind, column, values, mask, n_rows).reshape(1, n_rows), column


def read_pool(handle: Handle, column: int, start: int, stop: int, threads: int | None) -> Any:
    """Values of a column that belongs to no table."""
    (info,) = handle.columns([column])
    if stop > info.n_values:
        raise CorruptFileError(f"an array has values that its column has not ({stop} of {info.n_values})")
    rows = None if (start, stop) == (0, info.n_values) else range(start, stop)
    return _pool_rows(handle, info, rows, threads)


def read_pool_at(handle: Handle, column: int, places: Any, threads: int | None) -> Any:
    """Values of a column that belongs to no table, at these places."""
    (info,) = handle.columns([column])
    if len(places) and int(places.max()) >= info.n_values:
        raise CorruptFileError(f"an array has values that its column has not ({places.max()} of {info.n_values})")
    return _pool_rows(handle, info, places, threads)


def _pool_rows(handle: Handle, info: Column, rows: Any, threads: int | None) -> Any:
    import numpy as np

    entries = handle.read([info.index], _rows.native(rows), "numpy", True, 0, threads, info.n_values)
    ((kind, _, _, values, mask),) = entries
    is_vector = kind not in ("block", "arrow") and info.logical == "plain" and info.physical != "fixed bytes"
    if is_vector and mask is not None and mask.any() and values.dtype.kind in "biu":
        # Vectors of R with missing values: NumPy has masked arrays for them.
        return np.ma.MaskedArray(values, mask)
    ((_, values, _),) = arrays(handle, entries, rows, info.n_values, True)
    return values[0]


def _refuse(handle: Handle, column: Column) -> None:
    """Refuses types, also of categories, that NumPy has nothing for."""
    values = column if column.dictionary is None else handle.columns([column.dictionary])[0]
    if values.logical in ("decimal", "period", "interval"):
        hint = "to='pyarrow' or 'pandas'"
        raise UnsupportedTypeError(
            f"column '{column.name}': {values.type_name} has no counterpart in NumPy; use {hint}"
        )


@interpretation()
def kinds_of_missing(host: dict[str, Any], columns: list[int]) -> dict[int, int]:
    """Columns with several kinds of missing cells, and the columns that tell them."""
    kinds = dict(host.get("missing_kinds", ()))
    return {column: _labels.number_of(kinds[column]) for column in columns if column in kinds}


def _strings(column: Column, values: ArrowColumn, k: int, own: bool) -> Any:
    """Strings of `k` columns that stand one after the other, as an array with a row for each."""
    import numpy as np

    n = len(values) // k
    if own and column.flavour & ~BIG == FIXED:
        letter = "S" if column.physical == "binary" else "U"
        with interpretation():
            fixed = zeros((k, n), f"{letter}{_width(column.detail)}")
        if not values.to_fixed(fixed):
            raise CorruptFileError(f"column '{column.name}': a string is longer than {fixed.dtype} holds")
        return _swapped(fixed) if column.flavour & BIG else fixed
    if own and column.flavour == STRING:
        return _dtypes.decode_string(column.detail, values).reshape(k, n)
    out = np.empty((k, n), dtype=object)
    missing = _missing(column) if own else None
    for i in range(k):
        out[i] = values.slice(i * n, n).to_objects(missing)
    return out


def zeros(shape: Any, dtype: str) -> Any:
    """An array of zeros."""
    import numpy as np

    try:
        return np.zeros(shape, dtype)
    except MemoryError as error:
        raise LimitError(f"not enough memory for strings of {dtype}: {error}") from error


def _width(detail: Any) -> int:
    """The characters of a dtype of strings."""
    if type(detail) is not int or detail < 0:
        raise TypeError("a width is a number")
    return detail


def _swapped(array: Any) -> Any:
    """The same values with their bytes in the other order."""
    return array.byteswap(inplace=True).view(array.dtype.newbyteorder())


@interpretation()
def _rows_of_bytes(column: Column, values: Any) -> Any:
    """Fixed bytes in the dtype that was written."""
    flavour = column.flavour & ~BIG
    if flavour == RECORD:
        return values.view(_dtypes.decode(column.detail, values.dtype.itemsize))
    if flavour == UNITS:
        values = values.view(f"U{values.dtype.itemsize // 4}")
    elif flavour != CLONGDOUBLE:
        return values
    return _swapped(values) if column.flavour & BIG else values


def _missing(column: Column) -> Any:
    import numpy as np

    if column.missing == "NaN":
        return np.nan
    if column.missing in ("NA", "NaT"):
        import pandas as pd

        return pd.NA if column.missing == "NA" else pd.NaT
    return None


def restore_missing(array: Any, kinds: Any) -> None:
    import numpy as np

    for code, name in ((2, "NA"), (3, "NaN"), (4, "NaT"), (5, "None")):
        at = np.flatnonzero(kinds == code)
        if len(at) == 0:
            continue
        if name in ("NA", "NaT"):
            import pandas as pd

            array[at] = pd.NA if name == "NA" else pd.NaT
        else:
            array[at] = np.nan if name == "NaN" else None


def _single(handle: Handle, kind: str, column: Column, values: Any, mask: Any, n_rows: int) -> Any:
    """An array of what NumPy has in another form."""
    import numpy as np

    if kind == "objects":
        return values
    if kind == "null":
        return np.full(n_rows, None, dtype=object)
    if column.logical == "categorical":
        return _categories(handle, column, values, mask)
    if column.logical == "time":
        values = values.astype("i8").view(f"m8[{column.unit}]")
    elif column.logical == "date":
        values = values.astype("M8[D]")
    if mask is None or not mask.any():
        return values
    if values.dtype.kind in "mM":
        values[mask] = np.array("NaT", values.dtype)
        return values
    if values.dtype.kind == "f":
        values[mask] = np.nan
        return values
    message = f"column '{column.name}': {column.type_name} with missing values has no counterpart in NumPy"
    raise UnsupportedTypeError(message)


def _categories(handle: Handle, column: Column, codes: Any, mask: Any) -> Any:
    """The values that codes stand for."""
    import numpy as np

    assert column.dictionary is not None, "a categorical has categories"
    (dictionary,) = handle.columns([column.dictionary])
    n = dictionary.n_values
    try:
        entries = handle.read([column.dictionary], None, "numpy", False, 0, 1, n)
        ((_, values, _),) = arrays(handle, entries, None, n, False)
    except UnsupportedTypeError as error:
        # The dictionary has no name.
        message = f"column '{column.name}': categories of {dictionary.type_name} have no counterpart in NumPy"
        raise UnsupportedTypeError(message) from error
    categories = values[0]
    missing = codes < 0 if codes.dtype.kind == "i" else mask
    if missing is None or not missing.any():
        return categories[codes]
    if categories.dtype.kind not in "OfmM":
        what = f"categories of {categories.dtype} with missing values"
        raise UnsupportedTypeError(f"column '{column.name}': {what} have no counterpart in NumPy")
    out = np.empty(len(codes), categories.dtype)
    out[~missing] = categories[codes[~missing]]
    kind = categories.dtype.kind
    out[missing] = np.array("NaT", categories.dtype) if kind in "mM" else {"f": np.nan, "O": None}[kind]
    return out
