"""Numbers of records, and how they are written."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

Record = dict[str, Any]
Key = TypeVar("Key", bound=Hashable)

BASE = "entasis"
HOSTS = {"arrow": "Arrow", "static_frame": "StaticFrame", "polars": "Polars", "python": "Python"}
TIMES = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
SIZES = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("bytes", 1.0))


def number(record: Record, key: str) -> float | None:
    """The value of the key if it is a positive number."""
    value = record.get(key)
    return float(value) if value and math.isfinite(value) and value > 0 else None


def name(record: Record) -> str:
    """The name of the format."""
    return str(record.get("label") or record["format"])


def host_label(record: Record) -> str:
    key = str(record.get("host") or "pandas")
    return HOSTS.get(key, key)


def is_base(record: Record) -> bool:
    return record.get("format") == BASE


def is_ours(record: Record) -> bool:
    """Whether the format is Entasis with any settings."""
    return record["format"].split("-")[0] == BASE


def successes(records: Iterable[Record]) -> list[Record]:
    return [record for record in records if not record.get("failure")]


def groups(records: Iterable[Record], key: Callable[[Record], Key]) -> dict[Key, list[Record]]:
    """The records of each key, in order of the keys' first occurrence."""
    found: dict[Key, list[Record]] = {}
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


def seconds(value: float) -> str:
    """A time with its unit."""
    unit, factor = next((one for one in TIMES if value >= one[1]), TIMES[-1])
    return f"{digits(value / factor)} {unit}"


def size(value: float) -> str:
    """Bytes with their unit."""
    unit, factor = next((one for one in SIZES if value >= one[1]), SIZES[-1])
    return f"{digits(value / factor)} {unit}"


def byte_unit(largest: float) -> tuple[str, float]:
    """A unit that suits values up to the largest."""
    return SIZES[0] if largest >= 2e9 else SIZES[1] if largest >= 1e5 else SIZES[2]


def time_unit(largest: float) -> tuple[str, float]:
    return TIMES[0] if largest >= 0.5 else TIMES[1] if largest >= 0.5e-3 else TIMES[2]
