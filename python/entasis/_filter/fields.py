"""Fields of struct columns in conditions."""

from __future__ import annotations

from typing import Any, NamedTuple


class Field(NamedTuple):
    """A field of a column, used in place of a label.

    Attributes
    ----------
    label
        The label of the column.
    names
        The name of the field, after the names of the structs around it.
    """

    label: Any
    names: tuple[str, ...]


def inside(label: Any, name: str) -> Field:
    """The field of a column, or of another field."""
    return Field(label.label, (*label.names, name)) if isinstance(label, Field) else Field(label, (name,))
