"""The base class of the types of a library."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from entasis._arguments.options import shown

if TYPE_CHECKING:
    from collections.abc import Callable


class Unfit(Exception):
    """A type does not hold a column. `reason` names the first value that it does not hold.

    `message` replaces the usual message, after the name of the column.
    """

    def __init__(self, reason: str = "", message: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.message = reason, message


def value_at(value: Any, row: int) -> Unfit:
    """The exception for a value in a row."""
    return Unfit(f"{shown(value)} in row {row:,}")


class Types(ABC):
    """The types of a library, and the values that they hold. Columns are those of the library."""

    @abstractmethod
    def type_of(self, column: Any) -> Any:
        """The type of a column."""

    @abstractmethod
    def is_same(self, old: Any, new: Any) -> bool:
        """Whether two types are equal."""

    @abstractmethod
    def is_empty(self, column: Any) -> bool:
        """Whether a column has no rows, or only missing values that any type may have."""

    def is_untyped(self, dtype: Any) -> bool:
        """Whether a type says nothing about values, as the type of a first frame without rows."""
        return False

    @abstractmethod
    def missing(self, dtype: Any, like: Any) -> Any:
        """A column of missing values, as long as another one. None if the type has none."""

    @abstractmethod
    def convert(self, column: Any, dtype: Any) -> Any:
        """A column with the type. The type of categories may get more of them.

        Raises `Unfit` if a value would change.
        """

    @abstractmethod
    def wider(self, old: Any, column: Any) -> Any:
        """The type that the library's own concatenation gives. None if it is of another kind."""

    def with_missing(self, dtype: Any, column: Any) -> Any:
        """The type that holds the values of a column, and missing ones. None if there is none."""
        return None if self.missing(dtype, column) is None else dtype

    def grows(self, old: Any, new: Any, greatest_code: Callable[[], int | None]) -> bool:
        """Whether stored values of the type `old` have to be stored anew for `new`.

        `greatest_code` returns the greatest code that a stored column of categories can have.
        """
        return not self.is_same(old, new)

    def name(self, dtype: Any) -> str:
        """The name of a type in errors."""
        return str(dtype)
