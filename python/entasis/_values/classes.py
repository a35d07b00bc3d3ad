"""Codecs of classes that users define: dataclasses, named tuples, Enums and registered classes."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import warnings
from collections.abc import Mapping
from typing import Any

from entasis import _register
from entasis._arguments.options import shown
from entasis._record import Record
from entasis._register import called, is_named_tuple
from entasis.errors import ArgumentError, EntasisError, UnsupportedTypeError, printable

from .parts import UNSUPPORTED, object_parts

# All values of a kind share one tuple object, so that a file stores the names once.
_ENUM = ("name", "value")
_REGISTERED = ("value",)
# Messages of functions are cut to so many characters.
_LONGEST = 200


def encode(value: Any, kind: type) -> tuple[Any, ...] | None:
    """Take a value of a user's class apart. None for other values."""
    functions = _register.functions(kind)
    if functions is not None and functions.encode is not None:
        encoded = _called("encode", called(kind), functions.encode, value)
        return object_parts("record", "registered", called(kind), _REGISTERED, encoded)
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
    if is_named_tuple(kind):
        return object_parts("record", "namedtuple", called(kind), kind._fields, *value)  # type: ignore[attr-defined]
    return None


def _called(what: str, name: str, function: Any, *arguments: Any) -> Any:
    """Call a function of a user for a class of this name."""
    try:
        return function(*arguments)
    except (EntasisError, MemoryError):
        raise
    except Exception as error:
        message = f"{what}= of {name} raised {type(error).__name__}: {error}"
        raise UnsupportedTypeError(printable(message[:_LONGEST])) from error


def _field_names(kind: type) -> tuple[str, ...]:
    names = _FIELDS.get(kind)
    if names is None:
        names = _FIELDS[kind] = tuple(field.name for field in dataclasses.fields(kind))
    return names


_FIELDS: dict[type, tuple[str, ...]] = {}


def _has_more(value: Any, names: tuple[str, ...]) -> bool:
    """Whether a value has attributes that are not fields."""
    return not set(getattr(value, "__dict__", ())) <= set(names)


def decode(parts: list[Any], types: dict[str, type]) -> Any:
    """Make a value of one of the classes `types`, or of a registered one, else a `Record`."""
    kind, name, names, *values = parts
    fields = dict(zip(names, values, strict=True))
    if not all(type(key) is str for key in (kind, name, *fields)):
        raise TypeError("the names of a record must be strings")
    found = types.get(name) or _register.classes().get(name)
    if found is None:
        _warn_of_namesakes(name, types)
        return Record(kind, name, fields)
    if kind == "registered":
        return _decoded(found, name, fields)
    if kind == "enum" and issubclass(found, enum.Enum):
        return _member(found, name, fields)
    if kind == "namedtuple" and is_named_tuple(found):
        return found._make(_completed(found, kind, name, fields).values())  # type: ignore[attr-defined]
    if kind == "dataclass" and dataclasses.is_dataclass(found):
        value = object.__new__(found)
        for field, part in _completed(found, kind, name, fields).items():
            # Sets fields of frozen classes too, and runs no code of the class.
            object.__setattr__(value, field, part)
        return value
    raise UnsupportedTypeError(f"{name} was written as a {kind}, which the class {called(found)} is not")


def _decoded(found: type, name: str, fields: dict[str, Any]) -> Any:
    """Make a value by the function that is registered for its class."""
    functions = _register.functions(found)
    if functions is None or functions.decode is None:
        raise UnsupportedTypeError(
            f"{name} was written by functions of entasis.register: register {called(found)} with them before reading"
        )
    (value,) = fields.values()
    return _called("decode", name, functions.decode, value)


def _member(found: type[enum.Enum], name: str, fields: dict[str, Any]) -> enum.Enum:
    member = found.__members__.get(fields["name"])
    if member is None and issubclass(found, enum.Flag) and type(fields["value"]) is int:
        # A combination of flags has no member of its own. The class makes it from the value.
        with contextlib.suppress(ValueError):
            member = found(fields["value"])
    if member is None or member.value != fields["value"]:
        raise UnsupportedTypeError(f"{name} has no member {fields['name']!r} with the stored value")
    return member


def _completed(found: type, kind: str, name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The stored fields in the class's order, and the defaults of fields that the class gained."""
    if kind == "dataclass":
        wanted: tuple[str, ...] = _field_names(found)
    else:
        wanted = found._fields  # type: ignore[attr-defined]
    if tuple(fields) == wanted:
        return fields
    gained = _defaults(found, kind, [field for field in wanted if field not in fields])
    unknown = [field for field in fields if field not in wanted]
    lacking = [field for field in wanted if field not in fields and field not in gained]
    if unknown or lacking:
        raise UnsupportedTypeError(
            f"{called(found)} differs from the {kind} {name} that was written, which has the fields "
            f"{', '.join(fields)}: "
            + (f"the class has no {', '.join(unknown)}" if unknown else f"no default for {', '.join(lacking)}")
        )
    every = fields | gained
    return {field: every[field] for field in wanted}


def _defaults(found: type, kind: str, names: list[str]) -> dict[str, Any]:
    """The defaults of these fields, if they have one."""
    if kind == "namedtuple":
        of_tuple: dict[str, Any] = found._field_defaults  # type: ignore[attr-defined]
        return {name: of_tuple[name] for name in names if name in of_tuple}
    defaults = {}
    for field in dataclasses.fields(found):
        if field.name not in names:
            continue
        if field.default_factory is not dataclasses.MISSING:
            defaults[field.name] = _called("default_factory", f"{called(found)}.{field.name}", field.default_factory)
        elif field.default is not dataclasses.MISSING:
            defaults[field.name] = field.default
    return defaults


def _warn_of_namesakes(name: str, types: dict[str, type]) -> None:
    """Warn if a class of this name is known, but from another module."""
    last = name.rpartition(".")[2]
    for known in (types, _register.classes()):
        for other, kind in known.items():
            if other.rpartition(".")[2] == last:
                message = (
                    f"the file has values of {name}, which is not {other}: they are read as entasis.Record. "
                    f"If it is the same class, pass types={{{name!r}: {kind.__qualname__}}}"
                )
                warnings.warn(printable(message), stacklevel=2)
                return


def by_name(types: Any) -> dict[str, type]:
    """The classes of `types=`, by the names that files have for them."""
    pairs = types.items() if isinstance(types, Mapping) else ((None, kind) for kind in types or ())
    found = {}
    for name, kind in pairs:
        if not isinstance(kind, type):
            raise ArgumentError(f"types must be classes, not {shown(kind)}")
        if name is not None and type(name) is not str:
            raise ArgumentError(f"the keys of types must be names of classes, as 'module.Class', not {shown(name)}")
        found[called(kind) if name is None else name] = kind
    return found
