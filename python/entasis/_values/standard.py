"""Codecs of the standard library: times with zones, collections, and builtin classes."""

from __future__ import annotations

import datetime
import zoneinfo
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

from entasis.errors import UnsupportedTypeError

from .parts import FULL_DATETIME, FULL_TIME, FULL_TIMEDELTA, UNSUPPORTED, object_parts

_FACTORIES = {cls.__name__: cls for cls in (bool, int, float, complex, str, bytes, list, tuple, set, frozenset, dict)}
_CLASSES = {cls: name for name, cls in _FACTORIES.items()}


def encode(value: Any, kind: type) -> tuple[Any, ...]:
    if kind in (datetime.datetime, datetime.time):
        plain = value.replace(tzinfo=None, fold=0)
        return ("parts", FULL_DATETIME if kind is datetime.datetime else FULL_TIME, (plain, _zone(value), value.fold))
    if kind is datetime.timedelta:
        return ("parts", FULL_TIMEDELTA, (value.days, value.seconds, value.microseconds))
    if kind in (datetime.timezone, zoneinfo.ZoneInfo):
        return object_parts("zone", encode_zone(value))
    if kind is OrderedDict or kind is Counter:
        return object_parts(f"collections.{kind.__name__}", dict(value))
    if kind is type and value in _CLASSES:
        return object_parts("class", _CLASSES[value])
    if kind is deque:
        return object_parts("collections.deque", list(value), value.maxlen)
    if kind is defaultdict:
        factory = value.default_factory
        if factory is None or _FACTORIES.get(getattr(factory, "__name__", "")) is factory:
            return object_parts("collections.defaultdict", factory and factory.__name__, dict(value))
    return UNSUPPORTED


def _zone(value: Any) -> Any:
    return None if value.tzinfo is None else encode_zone(value.tzinfo)


def encode_zone(zone: Any) -> Any:
    """Describe a zone: an offset in microseconds and a name, or the key of a `ZoneInfo`."""
    if type(zone) is datetime.timezone:
        offset = zone.utcoffset(None)
        parts = zone.__getinitargs__()  # type: ignore[attr-defined]
        return (offset // datetime.timedelta(microseconds=1), parts[1] if len(parts) > 1 else None)
    if type(zone) is zoneinfo.ZoneInfo and zone.key is not None:
        return zone.key
    raise UnsupportedTypeError(f"the time zone {zone!r} can't be kept")


def decode_zone(zone: Any) -> Any:
    if zone is None:
        return None
    if type(zone) is str:
        try:
            return zoneinfo.ZoneInfo(zone)
        except zoneinfo.ZoneInfoNotFoundError as error:
            raise UnsupportedTypeError(f"the time zone {zone!r} is not installed: {error}") from error
    offset = datetime.timedelta(microseconds=zone[0])
    return datetime.timezone(offset) if zone[1] is None else datetime.timezone(offset, zone[1])


def _class(name: Any) -> Any:
    return _FACTORIES[name]


def _defaultdict(factory: str | None, items: dict[Any, Any]) -> Any:
    return defaultdict(None if factory is None else _FACTORIES[factory], items)


DECODE = {
    "class": _class,
    "collections.Counter": Counter,
    "collections.OrderedDict": OrderedDict,
    "collections.defaultdict": _defaultdict,
    "collections.deque": deque,
    "zone": decode_zone,
}
