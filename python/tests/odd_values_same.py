"""Whether two values have equal properties, also where their libraries ignore differences."""

from __future__ import annotations

import collections
import datetime
import decimal
import struct
import zoneinfo

import numpy as np
import pandas as pd


def same(left, right):
    """Whether they are."""
    if type(left) is not type(right):
        return False
    for kind, of_kind in _KINDS:
        if isinstance(left, kind):
            return bool(of_kind(left, right))
    return left == right and repr(left) == repr(right)


def _all(left, right):
    return len(left) == len(right) and all(map(same, left, right))


def _times(left, right):
    same_moment = left.replace(tzinfo=None, fold=0) == right.replace(tzinfo=None, fold=0)
    units = getattr(left, "unit", None) == getattr(right, "unit", None)
    return same_moment and units and left.fold == right.fold and same(left.tzinfo, right.tzinfo)


def _offset_parts(offset):
    keywords = dict(offset.kwds)
    calendar = keywords.pop("calendar", None)
    days = None if calendar is None else (calendar.holidays.tolist(), calendar.weekmask.tolist())
    return offset.n, offset.normalize, repr(sorted(keywords.items())), days, repr(offset)


def _multi(left, right):
    codes = all(np.array_equal(a, b) for a, b in zip(left.codes, right.codes, strict=True))
    return (
        codes
        and left.sortorder == right.sortorder
        and _all(left.levels, right.levels)
        and _all(left.names, right.names)
    )


def _index(left, right):
    freq = same(getattr(left, "freq", None), getattr(right, "freq", None))
    return freq and same(left.name, right.name) and same(left.array, right.array)


def _frame(left, right):
    columns = all(same(left.iloc[:, i].array, right.iloc[:, i].array) for i in range(left.shape[1]))
    return columns and all(same(getattr(left, part), getattr(right, part)) for part in ("index", "columns", "attrs"))


def _array(left, right):
    if (left.dtype, left.dtype.byteorder, left.shape) != (right.dtype, right.dtype.byteorder, right.shape):
        return False
    if left.ndim > 1 and left.flags.f_contiguous != right.flags.f_contiguous:
        return False
    if left.dtype.kind == "O":
        return _all(left.ravel().tolist(), right.ravel().tolist())
    # The padding of long doubles does not count.
    return bool((left == right).all()) if left.dtype.char in "gG" else left.tobytes() == right.tobytes()


def _masked(left, right):
    return all(
        same(np.asarray(getattr(left, part)), np.asarray(getattr(right, part))) for part in ("data", "mask")
    ) and (same(left.fill_value, right.fill_value))


def _scalar(left, right):
    if isinstance(left, (str, bytes)):
        # As values of Python: NumPy drops zero characters at the end.
        return left.__getnewargs__() == right.__getnewargs__() and len(left) == len(right)
    return left.dtype == right.dtype and _array(np.asarray(left), np.asarray(right))


def _extension(left, right):
    return len(left) == len(right) and same(left.dtype, right.dtype) and repr(left) == repr(right)


_KINDS = [
    (float, lambda a, b: struct.pack("d", a) == struct.pack("d", b)),
    (complex, lambda a, b: same(a.real, b.real) and same(a.imag, b.imag)),
    (int, lambda a, b: a == b),
    # Signaling NaN can't be compared.
    (decimal.Decimal, lambda a, b: a.as_tuple() == b.as_tuple()),
    (zoneinfo.ZoneInfo, lambda a, b: a.key == b.key),
    (datetime.timezone, lambda a, b: a.__getinitargs__() == b.__getinitargs__()),
    ((datetime.datetime, datetime.time), _times),
    (pd.offsets.BaseOffset, lambda a, b: _offset_parts(a) == _offset_parts(b)),
    (pd.Period, lambda a, b: a.ordinal == b.ordinal and same(a.freq, b.freq)),
    (pd.Interval, lambda a, b: a.closed == b.closed and same(a.left, b.left) and same(a.right, b.right)),
    (pd.DatetimeTZDtype, lambda a, b: a == b and same(a.tz, b.tz)),
    (pd.PeriodDtype, lambda a, b: a == b and same(a.freq, b.freq)),
    (pd.MultiIndex, _multi),
    (pd.RangeIndex, lambda a, b: (a.start, a.stop, a.step) == (b.start, b.stop, b.step) and same(a.name, b.name)),
    (pd.Index, _index),
    (pd.Series, lambda a, b: same(a.index, b.index) and same(a.name, b.name) and same(a.array, b.array)),
    (pd.DataFrame, _frame),
    (pd.arrays.NumpyExtensionArray, lambda a, b: same(a.to_numpy(), b.to_numpy())),
    (pd.arrays.IntervalArray, lambda a, b: a.closed == b.closed and same(a.left, b.left) and same(a.right, b.right)),
    (pd.Categorical, lambda a, b: same(a.categories, b.categories) and np.array_equal(a.codes, b.codes)),
    (pd.api.extensions.ExtensionArray, _extension),
    (np.ma.MaskedArray, _masked),
    (np.ndarray, _array),
    (np.generic, _scalar),
    (dict, lambda a, b: _all(list(a), list(b)) and _all(list(a.values()), list(b.values()))),
    ((list, tuple, collections.deque), _all),
]  # fmt: skip
