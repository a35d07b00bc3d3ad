"""Values whose classes are not imported: their parts by name."""

from __future__ import annotations

from typing import Any

from .errors import printable


class Record:
    """A value of a class that is not known here. The class is neither imported nor run.

    It was a dataclass, a named tuple, a member of an Enum, or a value of a class that its writer
    registered. Reading with `types=[Class]`, or after `register(Class)`, gives values of that class
    instead.

    Attributes
    ----------
    kind
        "dataclass", "namedtuple", "enum" or "registered"; "r" for a value of R that has no
        counterpart in Python.
    name
        The class, as "module.Class". For a value of R its kind: "r.vector", "r.call" ...
    fields
        The parts by name. They are attributes of the record too, except for those named `kind`,
        `name` or `fields`. An Enum member has the fields `name` and `value`, and a registered value
        has `value`: what `encode` returned.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Point:
    ...     x: int
    ...     y: int
    >>> record = en.read(en.to_bytes([Point(1, 2)]))[0]
    >>> record.x, record.fields
    (1, {'x': 1, 'y': 2})
    >>> en.read(en.to_bytes([Point(1, 2)]), types=[Point])
    [Point(x=1, y=2)]
    """

    __slots__ = ("fields", "kind", "name")

    def __init__(self, kind: str, name: str, fields: dict[str, Any]) -> None:
        self.kind = kind
        self.name = name
        self.fields = fields

    def __getattr__(self, name: str) -> Any:
        if name in Record.__slots__:
            raise AttributeError(name)
        try:
            return self.fields[name]
        except KeyError:
            message = f"the record has no {name!r}: one of {', '.join(self.fields)}"
            raise AttributeError(printable(message)) from None

    def __eq__(self, other: object) -> bool:
        if type(other) is not Record:
            return NotImplemented
        return (self.kind, self.name, self.fields) == (other.kind, other.name, other.fields)

    def __hash__(self) -> int:
        try:
            return hash((self.kind, self.name, *self.fields.items()))
        except TypeError:
            # A part may be unhashable. The names alone are a valid hash, since equal records have
            # equal names.
            return hash((self.kind, self.name, *self.fields))

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={value!r}" for name, value in self.fields.items())
        return f"<{self.kind} {self.name}({parts})>"
