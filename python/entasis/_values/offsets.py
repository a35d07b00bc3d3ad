"""Codec of pandas offsets: stored as a string if pandas parses it back, else by arguments."""

from __future__ import annotations

import datetime
from typing import Any

from entasis.errors import UnsupportedTypeError

# The classes of `pandas.offsets` that a file may name.
_CLASSES = frozenset(
    [
        "BDay",
        "BusinessDay",
        "BusinessHour",
        "BHalfYearBegin",
        "BHalfYearEnd",
        "BMonthBegin",
        "BMonthEnd",
        "BQuarterBegin",
        "BQuarterEnd",
        "BYearBegin",
        "BYearEnd",
        "BusinessMonthBegin",
        "BusinessMonthEnd",
        "CustomBusinessDay",
        "CustomBusinessHour",
        "CustomBusinessMonthBegin",
        "CustomBusinessMonthEnd",
        "DateOffset",
        "Day",
        "Easter",
        "FY5253",
        "FY5253Quarter",
        "HalfYearBegin",
        "HalfYearEnd",
        "Hour",
        "LastWeekOfMonth",
        "Micro",
        "Milli",
        "Minute",
        "MonthBegin",
        "MonthEnd",
        "Nano",
        "QuarterBegin",
        "QuarterEnd",
        "Second",
        "SemiMonthBegin",
        "SemiMonthEnd",
        "Week",
        "WeekOfMonth",
        "YearBegin",
        "YearEnd",
    ]
)
# Errors of pandas for strings and arguments that are invalid.
_REFUSALS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def encode(offset: Any) -> tuple[Any, ...] | None:
    """The name of the codec and the parts; None if an offset can't be stored exactly."""
    text = as_text(offset)
    if text is not None:
        return "pandas.offset", text
    name, keywords = type(offset).__name__, _keywords(offset)
    if not all(_is_plain(value) for value in keywords.values()):
        return None
    parts = (name, int(offset.n), bool(offset.normalize), keywords)
    try:
        found = decode_parts(*parts)
    except _REFUSALS:
        return None
    return ("pandas.offset_parts", *parts) if same(found, offset) else None


def as_text(offset: Any) -> str | None:
    """The string of an offset; None if pandas parses it to another offset."""
    try:
        text = str(offset.freqstr)
        return text if same(decode(text), offset) else None
    except _REFUSALS:
        return None


def same(left: Any, right: Any) -> bool:
    """Whether two offsets have equal arguments. Offsets that compare equal may differ in some."""
    if type(left) is not type(right) or left != right:
        return False
    if (left.n, left.normalize, repr(left)) != (right.n, right.normalize, repr(right)):
        return False
    keywords = [sorted((key, repr(value)) for key, value in _keywords(offset).items()) for offset in (left, right)]
    return keywords[0] == keywords[1] and _calendar(left) == _calendar(right)


def _keywords(offset: Any) -> dict[str, Any]:
    """The arguments of an offset besides its count.

    pandas rebuilds the calendar from the other arguments.
    """
    return {key: value for key, value in offset.kwds.items() if key != "calendar"}


def _calendar(offset: Any) -> Any:
    calendar = offset.kwds.get("calendar")
    return None if calendar is None else (calendar.holidays.tobytes(), calendar.weekmask.tobytes())


def _is_plain(value: Any) -> bool:
    import numpy as np

    if type(value) in (tuple, list):
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, str, datetime.timedelta, datetime.time, np.datetime64)


def decode(text: Any) -> Any:
    """Parse the string of an offset."""
    from pandas.tseries.frequencies import to_offset

    if type(text) is not str:
        raise TypeError("a frequency is a string")
    return to_offset(text)


def decode_parts(name: Any, n: Any, normalize: Any, keywords: Any) -> Any:
    """Make an offset of a class from its arguments."""
    import pandas as pd

    if name not in _CLASSES or type(n) is not int or type(normalize) is not bool:
        raise ValueError(f"an offset of class {name!r}")
    if not all(type(key) is str and _is_plain(value) for key, value in keywords.items()):
        raise TypeError("the arguments of an offset are plain values")
    make: Any = getattr(pd.offsets, name, None)
    if make is None:
        raise UnsupportedTypeError(f"pandas has no offset {name} here: update pandas")
    # Some classes, such as `Hour`, do not accept `normalize`.
    return make(n, normalize=normalize, **keywords) if normalize or keywords else make(n)
