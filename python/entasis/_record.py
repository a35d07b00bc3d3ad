"""Values of classes that a reader may not have: their parts by name."""

from __future__ import annotations

from typing import Any

from .errors import printable


class Record:
    """A dataclass, named tuple or member of an Enum as it was written: nothing of its class is imported or run.

    A value of R that Python has not is one of kind "r" (`name` is what it is: "r.vector", "r.call" ...).

    `kind` is "dataclass", "namedtuple" or "enum", `name` the class ("module.Class"), `fields` a dict of its
    parts, which are attributes too. A member of an Enum has the fields `name` and `value`
    (`record.fields["name"]`). Reading with `types=[Class]` gives values of that class instead.
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
            # Members of an Enum have a hash whatever their value is, and so has what is compared by being the same.
            return hash((self.kind, self.name, *self.fields))

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={value!r}" for name, value in self.fields.items())
        return f"<{self.kind} {self.name}({parts})>"
