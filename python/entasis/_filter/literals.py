"""Values in conditions, as the core takes them: a kind and its fields."""

from __future__ import annotations

import datetime
import decimal
import math
import uuid
from typing import Any

from entasis._arguments.options import shown
from entasis.errors import ArgumentError

# A kind, then an integer, float, string or bytes, and for decimals the digits after the point. The
# core parses strings that are compared with times.
Literal = tuple[Any, ...]

# Integers of so many digits have less than 128 bits.
_DIGITS = 38
_EPOCH = datetime.datetime(1970, 1, 1)
_DAY = 86_400
# Attoseconds, the unit in which all times are compared.
_PER_SECOND = 10**18
_UNITS = {"W": 604_800 * 10**18, "D": _DAY * 10**18, "h": 3_600 * 10**18, "m": 60 * 10**18, "s": 10**18}
_UNITS |= {"ms": 10**15, "us": 10**12, "ns": 10**9, "ps": 10**6, "fs": 10**3, "as": 1}


class Exact:
    """A value in the form that the core takes, if no Python type holds it exactly."""

    __slots__ = ("literal",)

    def __init__(self, literal: Literal) -> None:
        self.literal = literal

    def __repr__(self) -> str:
        kind, *fields = self.literal
        if kind == "decimal":
            return str(decimal.Decimal(fields[0]).scaleb(-fields[1]))
        what, attoseconds = fields
        if what == "duration":
            return f"{attoseconds // 10**9} ns"
        import numpy as np

        return str(np.datetime64(attoseconds // 10**9, "ns")) + ("Z" if what == "aware" else "")

    def __reduce__(self) -> tuple[Any, ...]:
        return Exact, (self.literal,)


def literal(value: Any, freq: str | None = None) -> Literal:
    """The literal for a value that is compared with a column.

    Parameters
    ----------
    value
        A value of Python, NumPy or pandas.
    freq
        The frequency of a column of periods.

    Raises
    ------
    ArgumentError
        Values of this type do not compare with columns.
    """
    if isinstance(value, Exact):
        return value.literal
    if freq is not None:
        return _period(value, freq)
    kind = type(value).__module__.partition(".")[0]
    if kind == "numpy":
        return _numpy(value)
    if isinstance(value, bool):
        return "bool", value
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, str):
        return "str", value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "bytes", bytes(value)
    if isinstance(value, decimal.Decimal):
        return _decimal(value)
    if isinstance(value, uuid.UUID):
        return "bytes", value.bytes
    time = _time(value)
    if time is not None:
        return time
    raise ArgumentError(f"a column does not compare with {shown(value)}{_advice(value)}")


def _advice(value: Any) -> str:
    name = type(value).__name__ if type(value).__module__.startswith("pandas") else ""
    if name == "Period":
        return ", unless it has periods: give a time, such as value.start_time"
    if name == "Interval":
        return ": read the rows and compare them in pandas, as in df[df[label] == value]"
    return ""


def _period(value: Any, freq: str) -> Literal:
    """The literal for a period, or for a text that pandas reads as one, as it does in memory."""
    import pandas as pd

    if isinstance(value, str):
        try:
            value = pd.Period(value, freq=freq)
        except ValueError:
            raise ArgumentError(
                f"{shown(value)} is not a period of frequency {freq}: write a time in it, such as '2024-01-31'"
            ) from None
        if value is pd.NaT:
            raise ArgumentError("nothing equals a missing value: write is_missing()")
    if not isinstance(value, pd.Period):
        raise ArgumentError(
            f"periods of frequency {freq} do not compare with {shown(value)}: give a pandas.Period or a text"
        )
    if value.freqstr != freq:
        raise ArgumentError(
            f"the period {value} has frequency {value.freqstr}, and the column {freq}: give value.asfreq({freq!r})"
        )
    return "period", value.ordinal


def _integer(value: int) -> Literal:
    if -(1 << 127) <= value < 1 << 127:
        return "int", value
    if abs(value) < 1 << 1024:
        return "long_decimal", str(value), 0
    # Such integers are beyond all numbers of columns.
    return "float", math.inf if value > 0 else -math.inf


def _float(value: float) -> Literal:
    if math.isnan(value):
        raise ArgumentError("nothing equals NaN: write is_nan() or is_missing()")
    return "float", value


def _decimal(value: decimal.Decimal) -> Literal:
    if value.is_nan():
        return _float(math.nan)
    if value.is_infinite():
        return _float(float(value))
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int), "the number is finite"
    text = ("-" if sign else "") + ("".join(map(str, digits)) or "0")
    scale = max(-(1 << 30), min(1 << 30, -exponent))
    return ("decimal", int(text), scale) if len(digits) <= _DIGITS else ("long_decimal", text, scale)


def _time(value: Any) -> Literal | None:
    nanoseconds = getattr(value, "nanosecond", getattr(value, "nanoseconds", 0))
    if isinstance(value, datetime.datetime):
        kind = "aware" if value.tzinfo is not None else "naive"
        naive = value.astimezone(datetime.UTC).replace(tzinfo=None) if kind == "aware" else value
        if type(value).__module__.startswith("pandas"):
            return "time", kind, _attoseconds(value.to_datetime64())  # type: ignore[attr-defined]
        return "time", kind, _of_delta(naive - _EPOCH)
    if isinstance(value, datetime.date):
        return "time", "naive", (value.toordinal() - _EPOCH.toordinal()) * _DAY * _PER_SECOND
    if isinstance(value, datetime.timedelta):
        return "time", "duration", _of_delta(value) + nanoseconds % 1000 * 10**9
    if isinstance(value, datetime.time):
        if value.tzinfo is not None:
            raise ArgumentError(f"{value!r} has a time zone, and times of day of columns have none: leave it out")
        seconds = value.hour * 3600 + value.minute * 60 + value.second
        return "time", "of_day", seconds * _PER_SECOND + value.microsecond * 10**12
    return None


def _of_delta(delta: datetime.timedelta) -> int:
    return (delta.days * _DAY + delta.seconds) * _PER_SECOND + delta.microseconds * 10**12


def _attoseconds(value: Any) -> int:
    """Attoseconds in a `datetime64` or `timedelta64` of NumPy."""
    import numpy as np

    unit, n = np.datetime_data(value.dtype)
    if unit in ("Y", "M") and value.dtype.kind == "M":
        value, unit, n = value.astype("datetime64[D]"), "D", 1
    if unit not in _UNITS:
        raise ArgumentError(f"{value!r} has no length in seconds: give it another unit")
    return int(value.astype(np.int64)) * n * _UNITS[unit]


def _numpy(value: Any) -> Literal:
    import numpy as np

    if isinstance(value, np.ndarray) and value.shape != ():
        raise ArgumentError("a column is compared with one value: for several there is is_in")
    scalar = value[()] if isinstance(value, np.ndarray) else value
    if isinstance(scalar, (np.datetime64, np.timedelta64)):
        if np.isnat(scalar):
            raise ArgumentError("nothing equals a missing value: write is_missing()")
        return "time", "naive" if scalar.dtype.kind == "M" else "duration", _attoseconds(scalar)
    item = scalar.item()
    if type(item).__module__ == "numpy":
        # A long double.
        item = float(item)
    return literal(item)
