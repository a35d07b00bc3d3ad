"""Fields of structs among selected columns."""

from __future__ import annotations


class FieldColumn(int):
    """The number of a column that is a field of a struct.

    A field belongs to no table. So its number is not that of a column of the table, as for index
    levels.

    Attributes
    ----------
    parents
        The numbers of the structs around it, from the outside.
    """

    parents: tuple[int, ...]

    def __new__(cls, number: int, parents: tuple[int, ...]) -> FieldColumn:
        found = super().__new__(cls, number)
        found.parents = parents
        return found

    def __reduce__(self) -> tuple[type[FieldColumn], tuple[int, tuple[int, ...]]]:
        return FieldColumn, (int(self), self.parents)


def are_among(columns: list[int] | None) -> bool:
    """Whether selected columns include fields of structs."""
    return columns is not None and FieldColumn in map(type, columns)
