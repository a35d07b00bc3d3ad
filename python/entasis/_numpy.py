"""Dicts of NumPy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _arrow, _dtypes, _labels, _objects, _rows, _tree
from ._entasis import Builder, ColumnRef, is_unicode
from ._hosts import interpretation
from .errors import ArgumentError, CorruptFileError, DuplicateColumnError, UnsupportedTypeError

if TYPE_CHECKING:
    from ._entasis import ArrowColumn, Column, Handle

# Flavours of columns (section 6 of the format): one of these, and a bit for the other order of bytes.
DTYPE, FIXED, OBJECT, UNITS, RECORD, CLONGDOUBLE, STRING = 0, 1, 2, 3, 4, 5, 6
BIG = 8


def build(arrays: dict[Any, Any]) -> tuple[Builder, dict[str, Any]]:
    """A builder with all arrays, and what is kept beside them."""
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
    builder = Builder(n_rows, list(arrays))
    host: dict[str, Any] = {"host": "numpy"}
    kinds: list[list[Any]] = []
    for position, array in enumerate(arrays.values()):
        mixed = _add(builder, array, position)
        if mixed is not None:
            kinds.append([position, ColumnRef(mixed)])
    if kinds:
        host["missing_kinds"] = kinds
    return builder, host


def is_table(value: Any) -> bool:
    """Arrays by themselves are no tables."""
    return False


# Bytes of arrays in one column, on average, from which on they are taken from where they are.
_NOT_COPIED = 16_384


def add_pool(builder: Builder, arrays: list[Any]) -> None:
    """Adds the values of arrays of one dtype as one column, that belongs to no table."""
    import numpy as np

    dtype, n_bytes = arrays[0].dtype, sum(array.nbytes for array in arrays)
    if len(arrays) == 1:
        (values,) = arrays
    elif n_bytes >= _NOT_COPIED * len(arrays) and dtype.isnative and dtype.kind in "biufcmM" and dtype.char != "G":
        number = builder.words(arrays[0])
        assert number is not None
        builder.extend(number, arrays[1:])
        return
    else:
        values = np.concatenate(arrays) if arrays[0].dtype.isnative else np.concatenate(arrays, dtype=arrays[0].dtype)
    _add(builder, values, None)


def read_pool(handle: Handle, column: int, start: int, stop: int, threads: int | None) -> Any:
    """Values of a column that belongs to no table."""
    import numpy as np

    (info,) = handle.columns([column])
    if stop > info.n_values:
        raise CorruptFileError(f"an array has values that its column has not ({stop} of {info.n_values})")
    rows = None if (start, stop) == (0, info.n_values) else range(start, stop)
    entries = handle.read([column], _rows.native(rows), "numpy", True, 0, threads, info.n_values)
    ((kind, _, info, values, mask),) = entries
    if kind == "block":
        swapped = info.flavour & BIG and values.dtype.itemsize > 1
        return (values.byteswap(inplace=True) if swapped else values)[0]
    if kind == "arrow":
        return _strings(info, values, True)
    if info.physical == "fixed bytes":
        values = _rows_of_bytes(info, values)
    if info.logical == "plain" and mask is not None and mask.any() and values.dtype.kind in "biu":
        # Vectors of R with missing values: NumPy has masked arrays for them.
        return np.ma.MaskedArray(values, mask)
    return _single(handle, kind, info, values, mask, stop - start)


def _add(builder: Builder, array: Any, position: int | None) -> int | None:
    """Adds an array. Returns the number of a column with the kinds of missing cells, when there are several."""
    dtype = array.dtype
    what = "an array" if position is None else f"column '{builder.name(position)}'"
    if dtype.kind == "O":
        return _objects.add(builder, array, position, OBJECT)[1]
    if dtype.kind == "T":
        detail = _dtypes.encode_string(dtype, what)
        return builder.text(array.astype(object), position, flavour=STRING, detail=detail)[1]
    if dtype.names is not None:
        detail = _dtypes.encode(dtype, what)
        builder.words(_dtypes.as_bytes(array), position, flavour=RECORD, detail=detail)
        return None
    flavour = 0
    if not dtype.isnative:
        array, flavour = array.astype(dtype.newbyteorder("=")), BIG
    if dtype.kind == "U" and not is_unicode(array):
        builder.words(_dtypes.as_bytes(array), position, flavour=flavour | UNITS)
    elif dtype.kind in "US":
        builder.text(array, position, flavour=flavour | FIXED)
    elif dtype.char == "G":
        builder.words(_dtypes.as_bytes(array), position, flavour=flavour | CLONGDOUBLE)
    else:
        builder.words(array, position, flavour=flavour)
    return None


def read(handle: Handle, host: dict[str, Any], columns: list[int] | None, rows: Any, threads: int | None) -> Any:
    """A dict of arrays of these columns and rows. Labels of pandas rows come first, unless they are a range."""
    # Flavours of StaticFrame are the same.
    own = host.get("host") in ("numpy", "static_frame")
    labels = _arrow.label_columns(host)
    wanted = list(range(handle.n_columns)) if columns is None else columns
    kinds = _kinds(host, wanted) if own else {}
    numbers = [*labels, *wanted]
    n = len(numbers)
    infos = handle.columns(numbers)
    for info in infos:
        _refuse(handle, info)
    names = [info.name for info in infos]
    if len(set(names)) < n:
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise DuplicateColumnError(f"a dict can't hold two columns with the name '{twice}': select some by position")
    n_rows = _rows.count(rows, handle.n_rows)
    numbers += kinds.values()
    found: list[Any] = [None] * len(numbers)
    entries = handle.read(numbers, _rows.native(rows), "numpy", own, 0, threads)
    entries = _tree.fill(handle, entries, rows, handle.n_rows)
    for kind, positions, column, values, mask in entries:
        if kind == "block":
            if own and column.flavour & BIG and values.dtype.itemsize > 1:
                # The native half made the array in the order of bytes that it is to have.
                values = values.byteswap(inplace=True)
            for position, row in zip(positions.tolist(), values, strict=True):
                found[position] = row
        elif kind == "arrow":
            for k, position in enumerate(positions):
                part = values if len(positions) == 1 else values.slice(k * n_rows, n_rows)
                found[position] = _strings(column, part, own)
        else:
            if own and column.physical == "fixed bytes":
                values = _rows_of_bytes(column, values)
            found[positions] = _single(handle, kind, column, values, mask, n_rows)
    for position, kind_column in enumerate(kinds):
        with interpretation():
            _restore(found[len(labels) + wanted.index(kind_column)], found[n + position])
    return dict(zip(names, found[:n], strict=True))


def _refuse(handle: Handle, column: Column) -> None:
    """Refuses types, also of categories, that NumPy has nothing for."""
    values = column if column.dictionary is None else handle.columns([column.dictionary])[0]
    if values.logical in ("decimal", "period", "interval"):
        hint = "to='pyarrow' or 'pandas'"
        raise UnsupportedTypeError(
            f"column '{column.name}': {values.type_name} has no counterpart in NumPy; use {hint}"
        )


@interpretation()
def _kinds(host: dict[str, Any], columns: list[int]) -> dict[int, int]:
    """Columns with several kinds of missing cells, and the columns that tell them."""
    kinds = dict(host.get("missing_kinds", ()))
    return {column: _labels.number_of(kinds[column]) for column in columns if column in kinds}


def _strings(column: Column, values: ArrowColumn, own: bool) -> Any:
    import numpy as np

    if own and column.flavour & ~BIG == FIXED:
        letter = "S" if column.physical == "binary" else "U"
        with interpretation():
            fixed = np.empty(len(values), f"{letter}{_width(column.detail)}")
        if not values.fill(fixed):
            raise CorruptFileError(f"column '{column.name}': a string is longer than {fixed.dtype} holds")
        return _swapped(fixed) if column.flavour & BIG else fixed
    if own and column.flavour == STRING:
        return _dtypes.decode_string(column.detail, values)
    out = np.empty(len(values), dtype=object)
    out[:] = values.to_objects(_missing(column) if own else None)
    return out


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


def _restore(array: Any, kinds: Any) -> None:
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
    entries = handle.read([column.dictionary], None, "numpy", False, 0, 1, dictionary.n_values)
    ((kind, _, info, values, category_mask),) = entries
    if kind == "block":
        categories = values[0]
    elif kind == "arrow":
        categories = _strings(info, values, False)
    else:
        categories = _single(handle, kind, info, values, category_mask, info.n_values)
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
