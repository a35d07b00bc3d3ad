"""Bounds of the columns of a file, which rule out the file before it is opened."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from entasis._view import statistics as _statistics
from entasis._view.read import read as read_view
from entasis.errors import MissingLibraryError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from entasis._view.view import View

FLOATS = ("f32", "f64")
# The types of columns with bounds in a manifest, by the beginnings of their names.
_BOUNDED = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", *FLOATS, "date", "timestamp", "utf8")
# Short columns share blocks, whose statistics cover all of them. Their values are read.
_SHORT = 1 << 16
# The rows that are read at once where statistics do not decide.
_STEP = 1 << 20


class Bounds(NamedTuple):
    """Bounds of a column of a file. None is unknown.

    Attributes
    ----------
    low, high
        The least value, or a lower bound of strings, and the greatest one. NaN takes no part.
    n_missing
        The number of missing values, without NaN.
    has_nan
        Whether a value is NaN, which may be the missing value, as in pandas.
    has_values
        Whether a value is neither missing nor NaN.
    """

    low: Any
    high: Any
    n_missing: int | None
    has_nan: bool | None
    has_values: bool | None


_UNKNOWN = Bounds(None, None, None, None, None)


def bounded(names: Sequence[str], types: Sequence[str]) -> dict[str, str]:
    """The columns that have bounds in a manifest, with their types. A name that occurs twice has none."""
    n = Counter(names)
    every = zip(names, types, strict=True)
    return {name: kind for name, kind in every if kind.partition("[")[0] in _BOUNDED and n[name] == 1}


def of_columns(view: View, numbers: Sequence[int]) -> list[Bounds]:
    """The bounds of columns of a whole file, from statistics where these have a column alone."""
    found = [_of_statistics(view, number) for number in numbers]
    shared = [i for i, bounds in enumerate(found) if bounds is None]
    values = of_values(view, [numbers[i] for i in shared]) if view.n_rows <= _SHORT else [_UNKNOWN] * len(shared)
    for i, bounds in zip(shared, values, strict=True):
        found[i] = bounds
    return [_UNKNOWN if bounds is None else bounds for bounds in found]


def _of_statistics(view: View, number: int) -> Bounds | None:
    """The bounds of a column from statistics; None if they cover other columns too."""
    (column,) = view.handle.columns([number])
    records = _statistics.records(view.handle, column)
    blocks = _statistics.described(view.handle, [number])
    if any(block["n_missing"] is None for block in blocks):
        return None
    # How many values of each block are NaN; None is unknown.
    nan = [
        0 if not block["has_nan"] else int(record["n_nan"]) if record["flags"] & _statistics.NAN_COUNTED else None
        for block, record in zip(blocks, records, strict=True)
    ]
    empty = [n is not None and n + block["n_missing"] == block["n_rows"] for n, block in zip(nan, blocks, strict=True)]
    filled = [block for block in blocks if block["min"] is not None]
    low = high = None
    if filled and all(is_empty or block["min"] is not None for is_empty, block in zip(empty, blocks, strict=True)):
        low = min(block["min"] for block in filled)
        high = None if any(block["is_cut"] for block in filled) else max(block["max"] for block in filled)
    has_values = True if filled else False if all(empty) else None
    n_missing, has_nan = sum(block["n_missing"] for block in blocks), any(block["has_nan"] for block in blocks)
    return Bounds(low, high, n_missing, has_nan, has_values)


def of_values(view: View, numbers: Sequence[int]) -> list[Bounds]:
    """The bounds of columns of a whole file, from their values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not numbers:
        return []
    view = view.with_nan_to_null(False)
    n_missing, n_nan = [0] * len(numbers), [0] * len(numbers)
    ends: list[list[Any]] = [[] for _ in numbers]
    for start in range(0, max(view.n_rows, 1), _STEP):
        rows = range(start, min(start + _STEP, view.n_rows))
        table = read_view(view.narrow(list(numbers), rows), "pyarrow", 1, index=False, is_restored=False)
        for i, column in enumerate(table.columns):
            column = column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column
            n_missing[i] += column.null_count
            if pa.types.is_floating(column.type):
                is_nan = pc.is_nan(column)
                n_nan[i] += pc.sum(is_nan).as_py() or 0
                column = column.filter(pc.invert(is_nan))
            found = pc.min_max(column)
            ends[i] += [found["min"], found["max"]]
    bounds = []
    for i, of in enumerate(ends):
        low, high = of[:2]
        if len(of) > 2:
            both = pc.min_max(pa.chunked_array([pa.repeat(end, 1) for end in of]))
            low, high = both["min"], both["max"]
        bounds.append(Bounds(low, high, n_missing[i], n_nan[i] > 0, n_missing[i] + n_nan[i] < view.n_rows))
    return bounds


def hiding(view: View, types: Mapping[str, str], said: Mapping[str, Bounds]) -> str | None:
    """The name of a column whose bounds in a manifest leave out values of its file; None if none does.

    Parameters
    ----------
    types
        The types of columns by name, as the manifest has them.
    said
        The bounds of the manifest.
    """
    names, kinds = view.schema()
    left = [number for number, name in enumerate(names) if name in said]
    for number in left:
        if types[names[number]] != kinds[number]:
            return names[number]
    # Strings are cut in statistics, so that their values may have to decide.
    for way in (of_columns, of_values):
        found = zip(left, way(view, left), strict=True)
        left = [number for number, of in found if not _covers(said[names[number]], of, kinds[number])]
    return names[left[0]] if left else None


def _covers(said: Bounds, found: Bounds, kind: str) -> bool:
    """Whether bounds of a manifest leave out no value for sure."""
    is_missed = said.n_missing == 0 and found.n_missing != 0
    if is_missed or (said.has_nan is False and found.has_nan is not False):
        return False
    if found.has_values is False:
        return True
    if said.has_values is False:
        return False
    low, high, least, greatest = (_ordered(value, kind) for value in (said.low, said.high, found.low, found.high))
    try:
        is_low = low is None or (least is not None and low <= least)
        return bool(is_low and (high is None or (greatest is not None and greatest <= high)))
    except TypeError:
        # The manifest has bounds of another type.
        return False


def _ordered(value: Any, kind: str) -> Any:
    """A bound as a value that Python orders as files do; None if it is missing."""
    if kind.startswith(("date", "timestamp")):
        found = scalar(value, arrow_type(kind))
        if found is None or not hasattr(found, "is_valid"):
            return found
        return found.value if found.is_valid else None
    value = value.as_py() if hasattr(value, "as_py") else value
    return value.encode() if isinstance(value, str) else value


def pyarrow() -> Any:
    """The library that has all types of bounds."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingLibraryError("data sets need pyarrow: pip install pyarrow") from error
    return pyarrow


def arrow_type(kind: str) -> Any:
    """The type of bounds."""
    pa = pyarrow()
    simple = {
        **{
            f"{sign}{bits}": f"{name}{bits}" for sign, name in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)
        },
        "f32": "float32",
        "f64": "float64",
        "date": "date32",
        "utf8": "large_string",
    }
    if kind in simple:
        return getattr(pa, simple[kind])()
    unit, _, zone = kind.removeprefix("timestamp[").removesuffix("]").partition(", ")
    return pa.timestamp(unit, zone or None) if unit in ("s", "ms", "us", "ns") else pa.null()


def scalar(value: Any, of: Any) -> Any:
    """A bound as a scalar of a type; None if it has no exact counterpart."""
    import numpy as np

    pa = pyarrow()
    if value is None or pa.types.is_null(of):
        return None
    try:
        if isinstance(value, pa.Scalar):
            return value.cast(of).as_py() if not pa.types.is_timestamp(of) else value.cast(of)
        if isinstance(value, np.datetime64):
            if pa.types.is_date(of):
                return value.astype("M8[D]").astype(object)
            return pa.scalar(value.astype(f"M8[{of.unit}]").astype("i8").item(), pa.int64()).cast(of)
        return pa.scalar(value, of).as_py()
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return None
