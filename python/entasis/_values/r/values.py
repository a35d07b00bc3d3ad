"""Vectors of R with attributes as values of Python: dates, times, factors, named vectors.

A vector without a rule stays a `Record`.
"""

from __future__ import annotations

import datetime
from typing import Any, cast

NA_INTEGER64 = -(2**63)
# The bits of the NaN that the native module gives for a missing double.
NAN = 0x7FF8000000000000
SECONDS_IN = {"secs": 1, "mins": 60, "hours": 3600, "days": 86400, "weeks": 604800}
# Units of NumPy from coarse to fine, with their number per second.
UNITS = (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9))


def value_of(value: Any, attributes: dict[str, Any]) -> Any:
    """Convert a vector with attributes. None if no rule applies."""
    if "names" in attributes:
        return _named(value, attributes)
    classes = _strings(attributes.get("class"))
    if not classes:
        return None
    kind, others = classes[-1], set(attributes) - {"class"}
    if classes == ["integer64"] and not others:
        return _integers(value)
    if classes in (["factor"], ["ordered", "factor"]) and others == {"levels"}:
        return _factor(value, attributes["levels"], is_ordered=len(classes) == 2)
    values = _floats(value)
    if values is None:
        return None
    if classes == ["Date"] and not others:
        return _dates(values)
    if set(classes) == {"POSIXct", "POSIXt"} and others <= {"tzone"}:
        return _instants(values, attributes.get("tzone"))
    if kind == "difftime" and classes in (["difftime"], ["hms", "difftime"]) and others == {"units"}:
        return _spans(values, SECONDS_IN.get(attributes["units"]) if type(attributes["units"]) is str else None)
    return None


def _strings(value: Any) -> list[str]:
    values = [value] if type(value) is str else value.tolist() if hasattr(value, "tolist") else []
    return values if type(values) is list and all(type(one) is str for one in values) else []


def _floats(value: Any) -> Any:
    """Numbers as doubles, with NaN for missing values; None for other values."""
    import numpy as np

    if type(value) in (int, float):
        return np.array([value], "f8")
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in "if":
        return None
    return np.ma.filled(value.astype("f8"), np.nan)


def _named(value: Any, attributes: dict[str, Any]) -> Any:
    """A dict of a named vector; None unless all names are present, distinct and not empty."""
    import numpy as np

    names = attributes["names"]
    names = [names] if type(names) is str else names.tolist() if isinstance(names, np.ndarray) else []
    if not all(type(name) is str and name for name in names) or len(set(names)) != len(names):
        return None
    rest = {key: of for key, of in attributes.items() if key != "names"}
    values = value_of(value, rest) if rest else value
    if values is None:
        return None
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            return None
        # Each value is the same as for a vector of length 1.
        items = (
            [_alone(values[i : i + 1]) for i in range(len(values))] if values.dtype.kind in "mM" else values.tolist()
        )
    elif hasattr(values, "categories"):
        items = [None if one != one else one for one in values.tolist()]
    elif type(values) in (bool, int, float, complex, str) or isinstance(values, (datetime.date, datetime.timedelta)):
        items = [values]
    elif isinstance(values, np.generic):
        items = [_alone(values.reshape(1))]
    else:
        return None
    return dict(zip(names, items, strict=True)) if len(items) == len(names) else None


def _alone(values: Any) -> Any:
    """The only time of an array; None if that time is missing."""
    import numpy as np

    return None if np.isnat(values[0]) else values[0]


def _integers(value: Any) -> Any:
    """Values of class `integer64`, which R stores in the memory of doubles."""
    import numpy as np

    is_scalar = type(value) is float
    if is_scalar:
        value = np.array([value], "f8")
    if not isinstance(value, np.ndarray) or value.dtype != np.float64:
        return None
    data = np.ascontiguousarray(np.ma.getdata(value)) if value.ndim == 1 else np.ma.getdata(value)
    integers = data.view(np.int64)
    if (integers == NAN).any() and not is_scalar:
        # The reader replaced R's missing double by this NaN, so the integer's bits are lost.
        return None
    missing = integers == NA_INTEGER64
    if missing.any():
        return np.ma.MaskedArray(integers, missing)
    return int(integers[0]) if is_scalar else integers


def _factor(value: Any, levels: Any, is_ordered: bool) -> Any:
    import numpy as np

    labels = _strings(levels)
    if type(value) is int:
        value = np.array([value], "i4")
    if (
        not isinstance(value, np.ndarray)
        or value.ndim != 1
        or value.dtype.kind != "i"
        or len(set(labels)) != len(labels)
    ):
        return None
    if len(labels) != (1 if type(levels) is str else len(levels)):
        return None
    codes = np.ma.filled(value, 0) - 1
    if len(codes) and not -1 <= codes.min() <= codes.max() < len(labels):
        return None
    try:
        import pandas as pd
    except ImportError:
        return None
    return pd.Categorical.from_codes(codes, pd.Index(labels, dtype="str"), ordered=is_ordered)


def _dates(values: Any) -> Any:
    import numpy as np

    there = _there(values)
    if there is None or np.abs(there).max(initial=0) >= 2**31 or (there != np.trunc(there)).any():
        return None
    dates = there.astype("i8").astype("M8[D]")
    dates[np.isnan(values)] = np.datetime64("NaT", "D")
    if len(dates) != 1:
        return dates
    date = dates[0].item()
    # `item` gives an integer for years outside 1 to 9999.
    return date if isinstance(date, datetime.date) else dates[0]


def _instants(values: Any, tzone: Any) -> Any:
    import numpy as np

    zones = _strings(tzone)
    name = zones[0] if zones else ""
    found = _in_unit(values, None)
    if found is None:
        return None
    unit, counts = found
    times = counts.astype(f"M8[{unit}]")
    times[np.isnan(values)] = np.datetime64("NaT", cast("Any", unit))
    if len(times) != 1 or np.isnat(times[0]):
        return times if len(times) != 1 else times[0]
    from zoneinfo import ZoneInfo

    try:
        zone: Any = ZoneInfo(name or "UTC")
    except (ValueError, OSError, LookupError):
        return None
    if unit == "ns":
        try:
            import pandas as pd
        except ImportError:
            return times[0]
        return pd.Timestamp(times[0]).tz_localize("UTC").tz_convert(zone)
    try:
        since = datetime.timedelta(microseconds=int(times[0].astype("M8[us]").astype("i8")))
        return (datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + since).astimezone(zone)
    except OverflowError:
        return times[0]


def _spans(values: Any, seconds: int | None) -> Any:
    import numpy as np

    found = None if seconds is None else _in_unit(values, seconds)
    if found is None:
        return None
    unit, counts = found
    spans = counts.astype(f"m8[{unit}]")
    spans[np.isnan(values)] = np.timedelta64("NaT", cast("Any", unit))
    if len(spans) != 1 or np.isnat(spans[0]) or unit == "ns":
        return spans if len(spans) != 1 else spans[0]
    span = spans[0].astype("m8[us]").item()
    return span if isinstance(span, datetime.timedelta) else spans[0]


def _there(values: Any) -> Any:
    """Values with zero in place of missing ones; None if one is infinite."""
    import numpy as np

    there = np.where(np.isnan(values), 0.0, values)
    return there if np.isfinite(there).all() else None


def _in_unit(values: Any, seconds: int | None) -> tuple[str, Any] | None:
    """Find the coarsest unit in which all values are whole numbers, as the writer in R does.

    Parameters
    ----------
    seconds
        The length of the unit of spans; None for instants, which R counts in seconds.

    Returns
    -------
    tuple or None
        The unit and the whole numbers; None if no unit fits.
    """
    import numpy as np

    there = _there(values)
    if there is None:
        return None
    for unit, per_second in UNITS:
        scale = per_second * (seconds or 1)
        if np.abs(there).max(initial=0) * scale >= 2**62:
            return None
        if seconds is None:
            # Whole seconds and the fraction are converted separately, because each is exact.
            whole = np.trunc(there)
            rest = np.rint((there - whole) * per_second)
            counts, back = whole.astype("i8") * per_second + rest.astype("i8"), whole + rest / per_second
        else:
            counts = np.rint(there * scale).astype("i8")
            back = counts / scale
        if (back == there).all():
            return unit, counts
    return None
