"""Selections of rows, or of positions on another axis, resolved to a range or an array of int64."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TYPE_CHECKING, Any

from entasis.errors import ArgumentError, ColumnsOutOfRangeError, RowsOutOfRangeError

from .options import integer, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from entasis._typing import Rows

# None for all rows, or a range or int64 array without negative numbers.
Resolved = Any

_MAY_BE = "a slice, a range, integers or booleans in a list or array, or a tuple (start, stop)"
_MISSING = frozenset(["NoneType", "NAType", "NaTType"])


def resolve(
    rows: Rows | None,
    n_rows: int,
    has_index: Callable[[Any], bool] | None = None,
    noun: str = "row",
    holder: str = "table",
) -> Resolved:
    """Resolve a selection of `n_rows` rows to None for all, a range, or an array of int64.

    Parameters
    ----------
    has_index
        Returns whether a boolean Series with this index is in the order of the rows.
    noun, holder
        Words for error messages: a position is a "row" or "column" of a "table", "list" or "array".

    Raises
    ------
    RowsOutOfRangeError, ColumnsOutOfRangeError
        A position is out of range, or a mask has another length.
    ArgumentError
        The selection has another form.
    """
    try:
        return _resolve(rows, n_rows, has_index, noun)
    except (RowsOutOfRangeError, ColumnsOutOfRangeError) as error:
        error.args = (f"{error}: the {holder} has {n_rows} {noun}{'' if n_rows == 1 else 's'}",)
        raise


def _resolve(rows: Rows | None, n_rows: int, has_index: Callable[[Any], bool] | None, noun: str) -> Resolved:
    if rows is None:
        return None
    if isinstance(rows, slice):
        return _all(sliced(range(n_rows), rows), n_rows)
    if isinstance(rows, tuple):
        return _tuple(rows, n_rows, noun)
    if isinstance(rows, range):
        return _all(_range(rows, n_rows, noun), n_rows)
    row = integer(rows)
    if row is None:
        return _array(rows, n_rows, has_index, noun)
    first = row + n_rows if row < 0 else row
    if not 0 <= first < n_rows:
        raise _out_of_range(f"{noun} {row} is out of range", noun)
    return range(first, first + 1)


def is_mask(rows: Any) -> bool:
    """Whether rows are a mask: booleans, possibly with missing values."""
    if isinstance(rows, (list, tuple)):
        return any(kind.__name__ in ("bool", "bool_") for kind in set(map(type, rows)))
    kind = str(getattr(rows, "dtype", getattr(rows, "type", "")))
    if kind == "object" and hasattr(rows, "__array__"):
        import numpy as np

        return is_mask(np.asarray(rows, object).ravel().tolist())
    return kind in ("bool", "boolean", "Boolean", "bool[pyarrow]")


def sliced(numbers: Any, part: slice) -> Any:
    """Apply a slice that a caller passed to a range or list."""
    try:
        return numbers[part]
    except (TypeError, ValueError) as error:
        is_label = any(isinstance(end, str) for end in (part.start, part.stop))
        raise ArgumentError(f"{shown(part)}: {error}{'; labels are for f.loc[...]' if is_label else ''}") from None


def _all(rows: Resolved, n_rows: int) -> Resolved:
    """None for the range of all rows, because reading everything has a faster path."""
    return None if isinstance(rows, range) and rows == range(n_rows) and n_rows > 1 else rows


def _tuple(rows: tuple[Any, ...], n_rows: int, noun: str) -> Resolved:
    start, stop = (_end(rows[0], 0), _end(rows[1], n_rows)) if len(rows) == 2 else (None, None)
    if start is not None and stop is not None:
        start, stop = start + n_rows if start < 0 else start, stop + n_rows if stop < 0 else stop
        if start < 0 or stop > n_rows or start > stop:
            shown = ", ".join("None" if row is None else str(integer(row)) for row in rows)
            raise _out_of_range(f"{noun}s ({shown}) are out of range", noun)
        return _all(range(start, stop), n_rows)
    if not rows or is_mask(rows):
        return _array(list(rows), n_rows, None, noun)
    raise ArgumentError(
        f"{noun}s as a tuple are (start, stop), two integers or None, or a mask of booleans, not {len(rows)} items of "
        f"other kinds; use a list for {noun} numbers"
    )


def _end(row: Any, default: int) -> int | None:
    """One end of (start, stop), or `default` if it is None.

    Returns None for a value of another type.
    """
    return row if type(row) is int else default if row is None else integer(row)


def _range(rows: range, n_rows: int, noun: str) -> Resolved:
    if not rows:
        return range(0)
    low, high = min(rows[0], rows[-1]), max(rows[0], rows[-1])
    if low < -n_rows or high >= n_rows:
        raise _out_of_range(f"{noun}s {rows[0]} to {rows[-1]} are out of range", noun)
    if low >= 0:
        return rows
    if high < 0:
        return range(rows.start + n_rows, rows.stop + n_rows, rows.step)
    import numpy as np

    return np.array(rows, np.int64) % n_rows


def _array(rows: Any, n_rows: int, has_index: Callable[[Any], bool] | None, noun: str) -> Any:
    import numpy as np

    array = _values(rows, has_index, n_rows, noun)
    if array.ndim != 1:
        raise ArgumentError(f"{noun}s are one-dimensional, not of {array.ndim} dimensions")
    if array.dtype == np.bool_:
        if len(array) != n_rows:
            raise _out_of_range(f"the mask has {len(array)} values", noun)
        return np.flatnonzero(array).astype(np.int64, copy=False)
    if len(array) == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind not in "iu":
        hint = "; labels are for f.loc[...]" if array.dtype.kind in "OUSM" else ""
        raise ArgumentError(f"{noun}s are integers or booleans, not {array.dtype}{hint}")
    low, high = int(array.min()), int(array.max())
    if low < -n_rows or high >= n_rows:
        row = low if low < -n_rows else high
        raise _out_of_range(f"{noun} {row} is out of range", noun)
    array = array.astype(np.int64, copy=False)
    return np.where(array < 0, array + n_rows, array) if low < 0 else array


def _values(rows: Any, has_index: Callable[[Any], bool] | None, n_rows: int, noun: str) -> Any:
    """Integers or booleans of any library as a NumPy array. Missing booleans become False."""
    import numpy as np

    if type(rows) is list and set(map(type, rows)) == {int}:
        return np.asarray(rows)
    is_sequence = hasattr(rows, "__len__") and (hasattr(rows, "__getitem__") or hasattr(rows, "__array__"))
    if not is_sequence or isinstance(rows, (str, bytes, bytearray, Mapping, Set)) or getattr(rows, "ndim", 1) == 0:
        hint = "; labels are for f.loc[...]" if isinstance(rows, str) else ""
        if isinstance(rows, (bool, np.bool_)):
            hint = "; a File is not compared: read the column, compare its values, and pass the result"
        raise ArgumentError(f"{noun}s can't be {shown(rows)}: they are {_MAY_BE}{hint}")
    root = type(rows).__module__.partition(".")[0]
    if root == "static_frame":
        # Iterating over a Series of StaticFrame gives its labels.
        index, rows = getattr(rows, "index", None), rows.values
    else:
        index = getattr(rows, "index", None) if root == "pandas" and type(rows).__name__ == "Series" else None
    if hasattr(rows, "__array__") and not is_mask(rows):
        array = np.asarray(rows)
        return _integers(array.tolist(), noun) if array.dtype.kind == "O" and array.ndim == 1 else array
    if not is_mask(rows):
        try:
            return np.asarray(rows)
        except ValueError as error:
            # The sequence holds sequences of different lengths.
            raise ArgumentError(f"{noun}s are one-dimensional ({error})") from None
    if index is not None and not (has_index and has_index(index)):
        raise ArgumentError(
            f"the mask is a Series whose index is neither that of the file nor 0 to {n_rows - 1}: give it the file's "
            "index, or pass its values in the order of the rows with .to_numpy()"
        )
    return _mask(rows, root, noun)


def _mask(rows: Any, root: str, noun: str) -> Any:
    import numpy as np

    if root in ("polars", "pyarrow"):
        return np.asarray(rows.fill_null(False), np.bool_)
    if isinstance(rows, np.ma.MaskedArray):
        return np.asarray(rows.filled(False), np.bool_)
    if str(getattr(rows, "dtype", "object")) in ("boolean", "bool[pyarrow]"):
        return rows.to_numpy(dtype=np.bool_, na_value=False)
    if getattr(rows, "dtype", None) == np.bool_:
        return np.asarray(rows)
    cells = rows.tolist() if hasattr(rows, "tolist") else rows
    for kind in set(map(type, cells)):
        if kind.__name__ not in ("bool", "bool_", *_MISSING) and kind is not float:
            raise ArgumentError(f"{noun}s can't mix booleans and values of type {kind.__name__}")
    if any(type(cell) is float and cell == cell for cell in cells):
        raise ArgumentError(f"{noun}s can't mix booleans and numbers")
    return np.array([type(cell).__name__ in ("bool", "bool_") and bool(cell) for cell in cells], np.bool_)


def _integers(cells: list[Any], noun: str) -> Any:
    """Convert an array of objects that are integers."""
    import numpy as np

    numbers = [integer(cell) for cell in cells]
    if None in numbers:
        what = shown(cells[numbers.index(None)])
        raise ArgumentError(f"{noun}s are integers or booleans, not {what}; labels are for f.loc[...]")
    return np.array(numbers) if numbers else np.empty(0, np.int64)


def _out_of_range(what: str, noun: str) -> Exception:
    return RowsOutOfRangeError(what) if noun == "row" else ColumnsOutOfRangeError(what)


def count(rows: Resolved, n_rows: int) -> int:
    """The number of selected rows."""
    return n_rows if rows is None else len(rows)


def compose(outer: Resolved, inner: Resolved) -> Resolved:
    """Apply the selection `inner` to the rows that `outer` selects."""
    if outer is None:
        return inner
    if inner is None:
        return outer
    if isinstance(inner, range):
        return outer[as_slice(inner)]
    if isinstance(outer, range):
        return inner * outer.step + outer.start
    return outer[inner]


def as_slice(rows: range) -> slice:
    """The slice that selects the rows of a range."""
    if len(rows) == 0:
        return slice(0, 0)
    # A negative stop would count from the end, so a range that runs down to row 0 has stop None.
    return slice(rows.start, rows.stop if rows.stop >= 0 else None, rows.step)


def at(values: Any, rows: Resolved) -> Any:
    """Select rows of an array or index."""
    if rows is None:
        return values
    return values[as_slice(rows) if isinstance(rows, range) else rows]


def native(rows: Resolved) -> Any:
    """The form of a selection that the native module takes."""
    if rows is None or not isinstance(rows, range):
        return rows
    if len(rows) == 0:
        return (0, 0, 1)
    return (rows.start, rows.stop, rows.step)
