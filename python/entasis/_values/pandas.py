"""Codecs of pandas: scalars, offsets and dtypes."""

from __future__ import annotations

import datetime
import zoneinfo
from typing import Any

from entasis._libraries import registry as _hosts
from entasis.errors import UnsupportedTypeError

from . import offsets as _offsets
from .parts import NA, NAT, UNSUPPORTED, object_parts
from .standard import decode_zone, encode_zone


def encode(value: Any) -> tuple[Any, ...]:
    import pandas as pd

    if value is pd.NaT:
        return ("unit", NAT)
    if value is pd.NA:
        return ("unit", NA)
    kind = type(value)
    if kind is pd.Timestamp:
        found = object_parts(
            "pandas.Timestamp", int(value.asm8.view("i8")), value.unit, _pandas_zone(value.tz), value.fold
        )
    elif kind is pd.Timedelta:
        found = object_parts("pandas.Timedelta", int(value.asm8.view("i8")), value.unit)
    elif kind is pd.Period:
        found = object_parts("pandas.Period", value.ordinal, value.freqstr)
        if not _offsets.same(_decode(found).freq, value.freq):
            return UNSUPPORTED
    elif kind is pd.Interval:
        for bound in (value.left, value.right):
            if type(bound) is pd.Timestamp and encode(bound) is UNSUPPORTED:
                return UNSUPPORTED
        return object_parts("pandas.Interval", value.left, value.right, value.closed)
    elif isinstance(value, pd.offsets.BaseOffset):
        parts = _offsets.encode(value)
        return UNSUPPORTED if parts is None else object_parts(*parts)
    elif kind is pd.CategoricalDtype and value.categories is None:
        found = object_parts("pandas.dtype", bool(value.ordered))
    elif isinstance(value, pd.api.extensions.ExtensionDtype):
        # Stored as an empty array, whose codec records all arguments of the dtype.
        dtype: Any = value
        empty = pd.array([], dtype=dtype)
        same = type(empty.dtype) is type(value) and empty.dtype == value and repr(empty.dtype) == repr(value)
        if isinstance(value, pd.PeriodDtype):
            same = same and _offsets.same(empty.dtype.freq, value.freq)
        if same:
            # An unsupported dtype raises here, so that the error has the dtype's path.
            _hosts.build(empty)
        return object_parts("pandas.dtype", empty) if same else UNSUPPORTED
    else:
        return UNSUPPORTED
    made = _decode(found)
    same = made == value and repr(made) == repr(value) and getattr(made, "fold", 0) == getattr(value, "fold", 0)
    return found if same else UNSUPPORTED


def _pandas_zone(zone: Any) -> Any:
    """Describe the zone of a timestamp.

    Another library's zone is stored if its name determines it.
    """
    if zone is None:
        return None
    import pandas as pd

    if type(zone) is datetime.timezone or type(zone) is zoneinfo.ZoneInfo:
        return encode_zone(zone)
    name = str(zone)
    try:
        if pd.Timestamp(0, tz=name).tz == zone:
            return [name]
    except (LookupError, OSError, TypeError, ValueError):
        # Errors of pandas for a string that is not the name of a zone.
        pass
    raise UnsupportedTypeError(f"the time zone {zone!r} can't be kept")


def _timestamp(value: int, unit: str, zone: Any, fold: int) -> Any:
    import numpy as np
    import pandas as pd

    make: Any = np.datetime64
    found: Any = pd.Timestamp(make(value, unit))
    if zone is None:
        return found.replace(fold=fold) if fold else found
    zone = zone[0] if type(zone) is list else decode_zone(zone)
    found = found.tz_localize("UTC").tz_convert(zone)
    # A fold may be set even on a time that is not ambiguous.
    return found if found.fold == fold else found.replace(fold=fold)


def _timedelta(value: int, unit: str) -> Any:
    import numpy as np
    import pandas as pd

    make: Any = np.timedelta64
    return pd.Timedelta(make(value, unit))


def _period(ordinal: int, freq: str) -> Any:
    import pandas as pd

    return pd.Period(ordinal=ordinal, freq=freq)


def _pandas_dtype(array: Any) -> Any:
    import pandas as pd

    if type(array) is bool:
        # A dtype without categories belongs to no array. Its part is whether it is ordered.
        return pd.CategoricalDtype(ordered=array)
    if not isinstance(array, pd.api.extensions.ExtensionArray):
        raise TypeError("a dtype of pandas is that of an array")
    return array.dtype


def _interval(left: Any, right: Any, closed: Any) -> Any:
    import pandas as pd

    return pd.Interval(left, right, closed)


DECODE = {
    "pandas.Interval": _interval,
    "pandas.Period": _period,
    "pandas.Timedelta": _timedelta,
    "pandas.Timestamp": _timestamp,
    "pandas.dtype": _pandas_dtype,
    "pandas.offset": _offsets.decode,
    "pandas.offset_parts": _offsets.decode_parts,
}


def _decode(parts: tuple[Any, ...]) -> Any:
    """Make a value from parts that `encode` made, to compare it with the original."""
    name, *rest = parts[2]
    make: Any = DECODE[name]
    return make(*rest)
