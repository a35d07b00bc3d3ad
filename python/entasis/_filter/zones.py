"""Advice for times without a time zone that are compared with a column that has one."""

from __future__ import annotations

import datetime
import re
import zoneinfo
from typing import Any

from entasis._arguments.options import shown
from entasis.errors import ArgumentError

_NAIVE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?")
_OFFSET = re.compile(r"([+-])(\d\d):(\d\d)")


def refuse_naive(value: Any, zone: str) -> None:
    """Refuse a time without a zone for a column in the time zone `zone`. The error has the right form."""
    text = _naive_text(value)
    if text is None:
        return
    what = text if type(value).__module__ == "numpy" else shown(value)
    offset = _offset_at(text, zone)
    if offset is None:
        advice = f"write the offset that {zone} has then after it, such as +01:00"
    else:
        text += "" if "T" in text or " " in text else "T00:00"
        advice = f"write {text + offset!r} for that time in {zone}"
    raise ArgumentError(f"{what} has no time zone, and the column has one: {advice}")


def _naive_text(value: Any) -> str | None:
    """A time without a zone in ISO 8601; None for other values."""
    if isinstance(value, str):
        return value if _NAIVE.fullmatch(value) else None
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ") if value.tzinfo is None else None
    if isinstance(value, datetime.date):
        return value.isoformat()
    if type(value).__name__ == "datetime64":
        text = str(value)
        # NumPy writes hours without minutes.
        text += ":00" if len(text) == 13 else ""
        return text if _NAIVE.fullmatch(text) else None
    return None


def _offset_at(text: str, zone: str) -> str | None:
    """The offset of a zone at a local time, as `+01:00`.

    None if this system lacks the zone, if the local time does not exist or occurs twice, or if the
    offset has seconds.
    """
    if _OFFSET.fullmatch(zone):
        return zone
    try:
        local = datetime.datetime.fromisoformat(text).replace(tzinfo=zoneinfo.ZoneInfo(zone))
    except (LookupError, OSError, ValueError):
        return None
    offsets = {local.replace(fold=fold).utcoffset() for fold in (0, 1)}
    offset = offsets.pop()
    if offsets or offset is None or offset.total_seconds() % 60:
        return None
    return local.strftime("%z")[:3] + ":" + local.strftime("%z")[3:5]
