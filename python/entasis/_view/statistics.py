"""Statistics of the blocks of a column, and the order of its values."""

from __future__ import annotations

import decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from entasis._entasis import Column, Handle

BOUNDS, PREFIX, ASCENDING, DESCENDING, NAN, NAN_COUNTED = (1 << bit for bit in range(6))
# Bytes of a string that statistics store.
_CUT = 15
NUMBERS = {f"{sign}{bits}": f"<{sign}{bits // 8}" for sign in "iu" for bits in (8, 16, 32, 64)}
NUMBERS |= {"bool": "u1", "f32": "<f4", "f64": "<f8"}
STRINGS = ("utf8", "binary")
# The kinds of NumPy's times, by logical type. A time of day is a duration since midnight.
_TIMES = {"timestamp": "M", "date": "M", "duration": "m", "time": "m"}
_UNITS = frozenset(["D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"])
# The most values that are read where statistics don't decide on the order.
_MOST = 1 << 17


def records(handle: Handle, column: Column) -> Any:
    """The statistics of the blocks of a column, as an array of records.

    `min` and `max` are numbers where NumPy has the type, otherwise 16 bytes.
    """
    import numpy as np

    bound = NUMBERS.get(column.physical, "V16")
    fields = {
        "first": ("<i8", 0),
        "n": ("<i8", 8),
        "n_values": ("<i8", 16),
        "n_missing": ("<u4", 24),
        "flags": ("<u2", 28),
        # Reserved without `NAN_COUNTED`.
        "n_nan": ("<u4", 36),
        "min": (bound, 40),
        "max": (bound, 56),
    }
    formats, offsets = zip(*fields.values(), strict=True)
    dtype = np.dtype({"names": list(fields), "formats": formats, "offsets": offsets, "itemsize": 72})
    return np.frombuffer(handle.block_statistics(column.index), dtype)


def bounds(column: Column, found: Any) -> tuple[Any, Any, Any]:
    """Minima and maxima as arrays that compare, and whether each maximum is cut."""
    import numpy as np

    if column.physical in NUMBERS:
        return found["min"], found["max"], np.zeros(len(found), bool)
    is_text = column.physical in STRINGS

    def bound(stored: bytes) -> Any:
        if is_text:
            return stored[1 : 1 + stored[0]]
        return int.from_bytes(stored, "little", signed=column.physical != "u128")

    low, high = (np.array([bound(value) for value in found[name].tolist()], object) for name in ("min", "max"))
    is_long = np.array([is_text and len(value) == _CUT for value in high], bool)
    return low, high, is_long & (found["flags"] & PREFIX != 0)


def is_ascending(column: Column, found: Any, values_at: Callable[[Any], Any]) -> bool:
    """Whether the values of a column are known to be ascending: none is missing or NaN.

    Equal neighbours are allowed. Categoricals have the order of their codes.

    Parameters
    ----------
    found
        The `records` of the column.
    values_at
        Returns the values at some rows as an array. It is called if statistics don't decide:
        for bundles, and for long strings at the end of a block.
    """
    import numpy as np

    if column.n_missing or column.is_nested or column.physical == "null":
        return False
    low, high, is_cut = bounds(column, found)
    flags, n = found["flags"], found["n"]
    # The block has values of other columns too.
    is_mixed = found["n_values"] != n
    is_one = (flags & BOUNDS != 0) & (flags & NAN == 0) & (low == high) & ~is_cut
    is_inside = (flags & ASCENDING != 0) | ((n == 1) & (flags & NAN == 0)) | is_one.astype(bool)
    if not (is_inside | is_mixed).all():
        return False
    is_before = (high[:-1] < low[1:]).astype(bool) | ((high[:-1] == low[1:]).astype(bool) & ~is_cut[:-1])
    is_before &= flags[:-1] & flags[1:] & BOUNDS != 0
    # The next block's minimum begins with the cut maximum, so both values have to be read.
    pairs = zip(low[1:], high[:-1], is_cut[:-1], strict=True)
    begins = [bool(is_long) and value[:_CUT] == cap for value, cap, is_long in pairs]
    is_open = np.array(begins, bool) | is_mixed[:-1] | is_mixed[1:]
    is_before &= ~is_open
    if not (is_before | is_open).all():
        return False
    if is_inside.all() and is_before.all():
        return True
    is_wide = column.logical == "plain" and column.physical in ("i128", "u128")
    is_unread = column.logical in ("categorical", "object") or is_wide
    if is_unread or n[~is_inside].sum() + 2 * len(n) > _MOST:
        return False
    # Each of these rows is compared with the one before it.
    first = found["first"]
    inside = [np.arange(at + 1, at + size) for at, size in zip(first[~is_inside], n[~is_inside], strict=True)]
    later = np.sort(np.concatenate([*inside, first[1:][~is_before]]).astype(np.int64))
    rows = np.union1d(later, later - 1)
    values, positions = values_at(rows), np.searchsorted(rows, later)
    try:
        return bool(np.all(values[positions - 1] <= values[positions]))
    except TypeError:
        return False


def described(handle: Handle, columns: list[int]) -> list[dict[str, Any]]:
    """A dict for each block of these columns. See `File.stats`."""
    return [block for column in handle.columns(columns) for block in _blocks(handle, column)]


def _blocks(handle: Handle, column: Column) -> list[dict[str, Any]]:
    found = records(handle, column)
    lows, highs = _values(column, found, "min"), _values(column, found, "max")
    blocks = []
    for i, (record, low, high) in enumerate(zip(found, lows, highs, strict=True)):
        flags = int(record["flags"])
        # The statistics of a bundle cover several columns.
        is_known = record["n_values"] == record["n"]
        has_bounds = is_known and flags & BOUNDS
        order = "ascending" if flags & ASCENDING else "descending" if flags & DESCENDING else None
        blocks.append({
            "column": column.name,
            "block": i,
            "first_row": int(record["first"]),
            "n_rows": int(record["n"]),
            "min": low if has_bounds else None,
            "max": high if has_bounds else None,
            "is_cut": bool(has_bounds and flags & PREFIX),
            "n_missing": int(record["n_missing"]) if is_known else None,
            "has_nan": bool(flags & NAN) if is_known else None,
            "order": order if is_known and not column.is_nested else None,
        })  # fmt: skip
    return blocks


def _values(column: Column, found: Any, name: str) -> list[Any]:
    """Minima or maxima as values. None for types that are stored in another form."""
    stored = _TIMES.get(column.logical)
    if stored is not None and column.unit in _UNITS:
        return list(found[name].astype("<i8").astype(f"{stored}8[{column.unit}]"))
    if column.logical == "decimal" and column.physical not in STRINGS:
        low, high, _ = bounds(column, found)
        return [_decimal(int(value), column.scale) for value in (low if name == "min" else high)]
    if column.is_nested or column.logical not in ("plain", "json"):
        return [None] * len(found)
    if column.physical in NUMBERS:
        values = found[name].tolist()
        return [bool(value) for value in values] if column.physical == "bool" else values
    low, high, _ = bounds(column, found)
    values = (low if name == "min" else high).tolist()
    # A character that was cut is left out.
    return [value.decode(errors="ignore") for value in values] if column.physical == "utf8" else values


def _decimal(digits: int, scale: int) -> decimal.Decimal:
    return decimal.Decimal((int(digits < 0), tuple(map(int, str(abs(digits)))), -scale))
