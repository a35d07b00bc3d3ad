"""Codecs of classes that users define: dataclasses, named tuples and Enums."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
from typing import Any

from entasis._arguments.options import shown
from entasis._record import Record
from entasis.errors import UnsupportedTypeError

from .parts import UNSUPPORTED, object_parts

# One tuple object for all members, so that a file stores the names once.
_ENUM = ("name", "value")


def encode(value: Any, kind: type) -> tuple[Any, ...] | None:
    """Take a value of such a class apart. None for other values."""
    if kind is Record:
        fields = value.fields
        return object_parts("record", value.kind, value.name, tuple(fields), *fields.values())
    if isinstance(value, enum.Enum):
        return object_parts("record", "enum", called(kind), _ENUM, value.name, value.value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = _field_names(kind)
        # `hasattr`, because a field may never have been set.
        if all(hasattr(value, name) for name in names) and not _has_more(value, names):
            return object_parts("record", "dataclass", called(kind), names, *(getattr(value, name) for name in names))
        return UNSUPPORTED
    if _is_named_tuple(kind):
        return object_parts("record", "namedtuple", called(kind), kind._fields, *value)  # type: ignore[attr-defined]
    return None


def called(kind: type) -> str:
    """The name of a class in files."""
    return f"{kind.__module__}.{kind.__qualname__}"


def _field_names(kind: type) -> tuple[str, ...]:
    names = _FIELDS.get(kind)
    if names is None:
        names = _FIELDS[kind] = tuple(field.name for field in dataclasses.fields(kind))
    return names


_FIELDS: dict[type, tuple[str, ...]] = {}


def _has_more(value: Any, names: tuple[str, ...]) -> bool:
    """Whether a value has attributes that are not fields."""
    return not set(getattr(value, "__dict__", ())) <= set(names)


def _is_named_tuple(kind: type) -> bool:
    return tuple in kind.__bases__ and type(getattr(kind, "_fields", None)) is tuple and hasattr(kind, "_make")


def decode(parts: list[Any], types: dict[str, type]) -> Any:
    """Make a value of one of the classes `types`, or a `Record` of another class."""
    kind, name, names, *values = parts
    fields = dict(zip(names, values, strict=True))
    if not all(type(key) is str for key in (kind, name, *fields)):
        raise TypeError("the names of a record must be strings")
    found = types.get(name)
    if found is None:
        return Record(kind, name, fields)
    if kind == "enum" and issubclass(found, enum.Enum):
        member = found.__members__.get(fields["name"])
        if member is None and issubclass(found, enum.Flag) and type(fields["value"]) is int:
            # A combination of flags has no member of its own. The class makes it from the value.
            with contextlib.suppress(ValueError):
                member = found(fields["value"])
        if member is None or member.value != fields["value"]:
            raise UnsupportedTypeError(f"{name} has no member {fields['name']!r} with the stored value")
        return member
    if kind == "namedtuple" and _is_named_tuple(found) and found._fields == tuple(fields):  # type: ignore[attr-defined]
        return found._make(values)  # type: ignore[attr-defined]
    if kind == "dataclass" and dataclasses.is_dataclass(found) and set(_field_names(found)) == set(fields):
        value = object.__new__(found)
        for field, part in fields.items():
            # Sets fields of frozen classes too, and runs no code of the class.
            object.__setattr__(value, field, part)
        return value
    raise UnsupportedTypeError(
        f"{name} differs from the {kind} that was written, which has the fields {', '.join(fields)}"
    )


def by_name(types: Any) -> dict[str, type]:
    """The classes of `types=`, by the names that files have for them."""
    found = {}
    for kind in types or ():
        if not isinstance(kind, type):
            raise TypeError(f"types must be classes, not {shown(kind)}")
        found[called(kind)] = kind
    return found
