"""Numbers of records, and how they are written."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from html import escape
from typing import Any

Record = dict[str, Any]

BASE = "entasis"
HOSTS = {
    "pandas": "pandas",
    "arrow": "Arrow",
    "static_frame": "StaticFrame",
    "polars": "Polars",
    "python": "Python",
}
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(record: Record, *keys: str) -> float | None:
    """The first of the keys that holds a positive number."""
    for key in keys:
        value = record.get(key)
        if isinstance(value, int | float) and math.isfinite(value) and value > 0:
            return float(value)
    return None


def text(record: Record, key: str) -> str:
    """The value of the key, escaped; empty without one."""
    value = record.get(key)
    return "" if value is None else escape(str(value))


def name(record: Record) -> str:
    """The name of the format, not escaped."""
    return str(record.get("label") or record.get("format") or "?")


def is_base(record: Record) -> bool:
    return record.get("format") == BASE


def is_ours(record: Record) -> bool:
    return str(record.get("format", "")).split("-")[0] == BASE


def groups(
    records: Iterable[Record], key: Callable[[Record], Hashable]
) -> dict[Hashable, list[Record]]:
    """The records of each key, in the order in which the keys come."""
    found: dict[Hashable, list[Record]] = {}
    for record in records:
        found.setdefault(key(record), []).append(record)
    return found


def speed(record: Record, key: str) -> float | None:
    """Bytes in memory per second of that time."""
    seconds, size = number(record, key), number(record, "memory_bytes")
    return size / seconds if seconds and size else None


def digits(value: float) -> str:
    """Three significant digits, no exponent, with thousands marked."""
    value = float(f"{value:.3g}") if value < 100 else value
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.{2 - math.floor(math.log10(value))}f}" if value > 0 else "0"


def ratio(value: float | None) -> str:
    return "" if value is None else digits(value)


def seconds(value: float) -> str:
    """A time with its unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{digits(value / size)} {unit}"
    return f"{digits(value / 1e-9)} ns"


def size(value: float) -> str:
    """Bytes with their unit."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= factor:
            return f"{digits(value / factor)} {unit}"
    return f"{value:.0f} bytes"


def byte_unit(largest: float) -> tuple[str, float]:
    """A unit in which the values up to the largest read well."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6)):
        if largest >= 2 * factor:
            return unit, factor
    return ("MB", 1e6) if largest >= 1e5 else ("kB", 1e3)


def time_unit(largest: float) -> tuple[str, float]:
    for unit, factor in (("s", 1.0), ("ms", 1e-3)):
        if largest >= 0.5 * factor:
            return unit, factor
    return "µs", 1e-6


def count(value: float) -> str:
    """A tick of a logarithmic axis: 1, 1,000, 10⁶."""
    if value < 1:
        return f"{value:g}"
    power = round(math.log10(value))
    if power >= 5 and 10**power == round(value):
        return "10" + str(power).translate(SUPERSCRIPTS)
    return f"{value:,.0f}"


def duration(value: float) -> str:
    """A tick of a logarithmic axis of seconds: 10 ms."""
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= factor * 0.999:
            return f"{value / factor:g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def host_label(record: Record) -> str:
    key = str(record.get("host") or "pandas")
    return escape(HOSTS.get(key, key))
