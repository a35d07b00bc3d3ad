"""Values of libraries that few formats keep. Entasis keeps them, or refuses them by name."""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import fractions
import functools
import io
import ipaddress
import math
import pathlib
import random
import re
import struct
import types
import uuid
import zoneinfo

import numpy as np
import pandas as pd
from dateutil import relativedelta
from dateutil import tz as dateutil_tz

offsets = pd.offsets
NOW = datetime.datetime(2020, 10, 25, 2, 30)
HOLIDAYS = [datetime.date(2020, 12, 25)]
HOUR = datetime.timedelta(hours=1)
ZONES = {
    "UTC": datetime.UTC,
    "zoneinfo UTC": zoneinfo.ZoneInfo("UTC"),
    "zoneinfo Etc/UTC": zoneinfo.ZoneInfo("Etc/UTC"),
    "zoneinfo": zoneinfo.ZoneInfo("Europe/Oslo"),
    "offset": datetime.timezone(2 * HOUR),
    "offset back": datetime.timezone(-11 * HOUR),
}
# Zones that have no name which gives them back.
ODD_ZONES = {
    "named offset": datetime.timezone(2 * HOUR, "X"),
    "named UTC": datetime.timezone(0 * HOUR, "UTC"),
    "dateutil UTC": dateutil_tz.UTC,
    "dateutil": dateutil_tz.gettz("Europe/Oslo"),
    "dateutil offset": dateutil_tz.tzoffset("A", 3600),
}

OFFSETS = {
    "DateOffset": offsets.DateOffset(months=1),
    "DateOffset, two": offsets.DateOffset(2, months=1, days=3),
    "DateOffset, at": offsets.DateOffset(day=3, hour=2),
    "DateOffset, of nothing": offsets.DateOffset(),
    "DateOffset, normalised": offsets.DateOffset(normalize=True, days=1),
    "DateOffset, nanoseconds": offsets.DateOffset(microseconds=4, nanoseconds=3),
    "DateOffset, weekday": offsets.DateOffset(weekday=1),
    "days": offsets.Day(3),
    "hours": offsets.Hour(25),
    "no hours": offsets.Hour(0),
    "nanoseconds": offsets.Nano(4),
    "business days": offsets.BDay(2),
    "business day, normalised": offsets.BDay(normalize=True),
    "business day, with an offset": offsets.BDay(offset=3 * HOUR),
    "business hours": offsets.BusinessHour(start="10:00", end="12:00"),
    "business hours with a break": offsets.BusinessHour(start=["09:00", "13:00"], end=["12:00", "17:00"]),
    "business hours with holidays": offsets.CustomBusinessHour(holidays=HOLIDAYS),
    "custom days": offsets.CustomBusinessDay(),
    "custom days with holidays": offsets.CustomBusinessDay(3, holidays=HOLIDAYS),
    "custom days of a week": offsets.CustomBusinessDay(weekmask="Sun Mon Tue Wed Thu"),
    "custom days with a calendar": offsets.CustomBusinessDay(calendar=np.busdaycalendar("1111100", ["2020-01-01"])),
    "custom month ends": offsets.CustomBusinessMonthEnd(holidays=HOLIDAYS, offset=HOUR),
    "custom month begins": offsets.CustomBusinessMonthBegin(),
    "month ends": offsets.MonthEnd(3),
    "month ends, normalised": offsets.MonthEnd(3, normalize=True),
    "month begins, back": offsets.MonthBegin(-1),
    "quarter ends": offsets.QuarterEnd(startingMonth=2),
    "business quarters": offsets.BQuarterBegin(),
    "year ends": offsets.YearEnd(month=6),
    "weeks": offsets.Week(),
    "weeks, on Mondays": offsets.Week(2, weekday=0),
    "week of month": offsets.WeekOfMonth(week=1, weekday=2),
    "last week of month": offsets.LastWeekOfMonth(weekday=4),
    "half months": offsets.SemiMonthEnd(day_of_month=20),
    "fiscal years": offsets.FY5253(weekday=4, startingMonth=12, variation="last"),
    "fiscal quarters": offsets.FY5253Quarter(
        qtr_with_extra_week=2, startingMonth=3, weekday=1, variation="nearest"
    ),
    "Easter": offsets.Easter(),
    "Easter, normalised": offsets.Easter(3, normalize=True),
}  # fmt: skip


class OwnDay(offsets.Day):
    pass


class OwnOffset(offsets.DateOffset):
    pass


class OwnZone(datetime.tzinfo):
    def utcoffset(self, _):
        return HOUR

    def dst(self, _):
        return None


class Raises:
    """A value that has something against being shown."""

    def __repr__(self):
        raise ZeroDivisionError


OWN = {base.__name__: type(f"Own{base.__name__}", (base,), {}) for base in (
    int, float, str, bytes, tuple, list, dict, set, datetime.date, datetime.datetime, decimal.Decimal,
    collections.OrderedDict, collections.Counter, pd.DataFrame, pd.Series,
)}  # fmt: skip


def _times():
    for name, zone in ZONES.items():
        for fold in (0, 1):
            yield f"datetime, {name}, fold {fold}", NOW.replace(tzinfo=zone, fold=fold)
            yield f"time, {name}, fold {fold}", datetime.time(1, 2, tzinfo=zone, fold=fold)
            yield f"Timestamp, {name}, fold {fold}", pd.Timestamp(NOW.replace(tzinfo=zone, fold=fold))
        moment = pd.Timestamp(NOW, tz=zone)
        index = pd.DatetimeIndex([moment, pd.NaT])
        yield f"zone, {name}", zone
        yield f"dtype, {name}", pd.DatetimeTZDtype("ns", zone)
        yield f"Interval, {name}", pd.Interval(moment, moment + pd.Timedelta("1D"))
        yield f"DatetimeIndex, {name}", index
        yield f"IntervalIndex, {name}", pd.IntervalIndex.from_arrays(index, index)
        yield f"Categorical, {name}", pd.Categorical(index)
        yield f"MultiIndex, {name}", pd.MultiIndex.from_arrays([index])
        yield f"frame, {name}", pd.DataFrame({"a": index, "b": index.tz_convert("UTC"), "c": index})
    yield "Timestamp without a zone, fold 1", pd.Timestamp(NOW.replace(fold=1))
    yield "Timestamp, far", pd.Timestamp("9999-12-31").as_unit("s")


def _frequencies():
    for name, offset in OFFSETS.items():
        yield f"offset, {name}", offset
        try:
            index = pd.date_range("2020-01-01", periods=3, freq=offset)
        except (TypeError, ValueError):
            continue
        yield f"freq, {name}", index
        yield f"freq of a level, {name}", pd.MultiIndex.from_product([index, [1]])
        if index.is_unique:
            yield f"freq of categories, {name}", pd.Categorical(index)
    for freq in ("Y", "Q-MAR", "M", "W-TUE", "D", "2h", "15min", "s", "ns"):
        yield f"Period, {freq}", pd.Period("2020-03-03", freq=freq)
        yield f"PeriodDtype, {freq}", pd.PeriodDtype(freq)
        yield f"PeriodIndex, {freq}", pd.period_range("2020-03-03", periods=2, freq=freq)


def _labels():
    levels, codes = [[1, 2], [3, 4]], [[0, 1], [0, 1]]
    for order in (None, 0, 1, 2):
        index = pd.MultiIndex(levels=levels, codes=codes, sortorder=order)
        yield f"sortorder {order}", index
        yield f"sortorder {order}, of rows", pd.DataFrame({"a": [1, 2]}, index=index)
        yield f"sortorder {order}, of columns", pd.DataFrame([[1, 2]], columns=index)
    yield "MultiIndex of one name", pd.MultiIndex.from_arrays([[1], [2]], names=["a", "a"])
    yield "MultiIndex without labels", pd.MultiIndex.from_arrays([[], []])
    yield "MultiIndex, unused levels", pd.MultiIndex(levels=[[1, 2, 9], [3, 4]], codes=[[0, 1], [0, -1]])
    names = {"offset": offsets.Easter(), "date": datetime.date(2020, 1, 1), "time": pd.Timestamp(0, tz="UTC"),
             "text": np.str_("a\0"), "bytes": np.bytes_(b"a\0"), "unit": np.zeros(1, "M8")[0], "many": 10**5000,
             "zone": ZONES["zoneinfo UTC"], "tuple": (1, (offsets.Week(), None))}  # fmt: skip
    for name, label in names.items():
        yield f"name, {name}", pd.Series([1], index=pd.Index([1], name=label), name=label)
        labels = np.empty(2, object)
        labels[:] = label, 1
        yield f"labels, {name}", pd.DataFrame([[1, 2]], columns=pd.Index(labels, dtype=object), index=[1])
    frame = pd.DataFrame({"a": [offsets.Easter(), 1]})
    frame.attrs["of"] = {"o": offsets.DateOffset(days=1), "z": ZONES["zoneinfo UTC"]}
    yield "objects and attrs", frame


def _numpy():
    for code in (
        "i1",
        "u8",
        "f2",
        "f8",
        "g",
        "c8",
        "?",
        "S3",
        "U2",
        "V3",
        "M8[D]",
        "M8[25s]",
        "m8[D]",
        "m8",
        ">i4",
        ">U2",
    ):
        zeros = np.zeros((2, 2), code, order="F")
        yield from (
            (f"array, {code}", zeros),
            (f"no axes, {code}", np.zeros((), code)),
            (f"dtype, {code}", zeros.dtype),
        )
        yield f"none, {code}", np.zeros((0, 3), code)
        yield f"scalar, {code}", zeros[0, 0]
        yield f"masked, {code}", np.ma.MaskedArray(zeros, [[True, False], [False, False]])
    yield "time without unit", np.datetime64("NaT")
    yield "str_ with zero", np.str_("a\0")
    yield "bytes_ with zero", np.bytes_(b"a\0")
    yield "record", np.zeros(1, [("a", "i4"), ("b", "f8")])[0]
    yield "masked records", np.ma.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")], mask=[(1, 0)])
    yield "aligned", np.dtype([("a", "i1"), ("b", "i8")], align=True)
    yield "objects", np.asfortranarray(np.array([[1, "a"], [None, offsets.Day()]], object))
    yield "masked, shared mask", np.ma.array([1, 2], mask=False, shrink=False)


def _plain():
    for text in ("1", "1.00", "-0", "0E+5", "NaN", "sNaN", "-NaN", "NaN123", "-Infinity", "1E-400"):
        yield f"Decimal {text}", decimal.Decimal(text)
    for name in ("PurePosixPath", "PureWindowsPath", "PosixPath"):
        for text in ("", "a/b", "//a/../b/"):
            yield f"{name} {text!r}", getattr(pathlib, name)(text)
    yield "Fraction", fractions.Fraction(1, 3)
    yield "NaN with a payload", struct.unpack("d", b"\x01\0\0\0\0\0\xf8\x7f")[0]
    yield "-NaN", -math.nan
    yield "complex", complex(-0.0, math.nan)
    yield "many digits", 10**5000
    yield "half a pair", "\ud800"
    yield "range", range(5, 5, 2)
    yield "slice", slice("a", 1.5)
    yield "timedelta", datetime.timedelta.min
    yield "deque", collections.deque([1], maxlen=3)
    yield "Counter", collections.Counter("aab")
    yield "dict", {1: 1, "1": 2, (1,): 3, None: 4, math.inf: 5, b"a": 6, offsets.Easter(): 7, ZONES["UTC"]: 8}
    yield "bytearray", bytearray(b"ab")
    yield "uuid", uuid.UUID(int=5)
    yield "types", [bool, int, float, str, bytes, list, dict]
    for closed in ("left", "right", "both", "neither"):
        yield f"Interval, {closed}", pd.Interval(0, np.int64(1), closed)
    yield "Interval of infinity", pd.Interval(-math.inf, math.inf)
    yield "CategoricalDtype", pd.CategoricalDtype(["a"], True)
    yield "SparseDtype", pd.SparseDtype("f8", 0.0)
    yield "IntervalDtype", pd.IntervalDtype("i8", "left")


KEPT = dict(value for make in (_times, _frequencies, _labels, _numpy, _plain) for value in make())

REFUSED = {
    **{f"datetime, {name}": NOW.replace(tzinfo=zone) for name, zone in ODD_ZONES.items() if "dateutil" in name},
    **{f"Timestamp, {name}": pd.Timestamp(NOW, tz=zone) for name, zone in ODD_ZONES.items() if "dateutil" in name},
    **{f"dtype, {name}": pd.DatetimeTZDtype("ns", zone) for name, zone in ODD_ZONES.items()},
    "a zone of one's own": NOW.replace(tzinfo=OwnZone()),
    "DateOffset, weekday of dateutil": offsets.DateOffset(weekday=relativedelta.MO(1)),
    "offset of one's own": OwnDay(2),
    "DateOffset of one's own": OwnOffset(days=2),
    "relativedelta": relativedelta.relativedelta(months=1),
    "PeriodDtype, normalised": pd.PeriodDtype(offsets.MonthEnd(3, normalize=True)),
    "Period of weeks": pd.Period("2020-03-03", freq=offsets.Week()),
    "busdaycalendar": np.busdaycalendar(),
    "Generator": np.random.default_rng(1),
    "ufunc": np.add,
    "class of NumPy": np.int32,
    "Context": decimal.Context(prec=5),
    "address": ipaddress.ip_address("1.2.3.4"),
    "network": ipaddress.ip_network("10.0.0.0/8"),
    "pattern": re.compile("a+", re.I),
    "partial": functools.partial(int, base=2),
    "function": len,
    "module": math,
    "generic": list[int],
    "exception": ValueError("a"),
    "Random": random.Random(1),
    "array of the standard library": array.array("i", [1, 2]),
    "memoryview": memoryview(b"ab"),
    "proxy": types.MappingProxyType({1: 2}),
    "file": io.BytesIO(b"a"),
    "what can't be shown": Raises(),
    "void columns": pd.DataFrame({"a": pd.Series(np.array([b"abcd"], "V4"))}),
    "matrix": np.matrix([[1]]),
    **{f"own {name}": kind(*{"date": (2020, 1, 1), "datetime": (2020, 1, 1),
                             "DataFrame": ({"a": [1]},)}.get(name, ()))
       for name, kind in OWN.items()},
}  # fmt: skip
