"""The base class of open files with any kind of value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from entasis._arguments.options import shown
from entasis._memory import reported

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from entasis._entasis import Handle

# Modules whose values users may want to compare a column with.
_VALUES = frozenset(["builtins", "datetime", "decimal", "fractions", "numpy", "pandas", "polars", "pyarrow", "uuid"])


class Opened(ABC):
    """An open file, or a part of one."""

    __slots__ = ("path",)

    path: str

    @property
    @abstractmethod
    def _handle(self) -> Handle:
        """The handle of the file."""

    @property
    def metadata(self) -> Any:
        """The value that was written as `metadata=`; None if the file has no metadata."""
        with reported:
            from entasis._values.cells import metadata

            return metadata(self._handle, self.path)

    @abstractmethod
    def read(self, *, index: bool = True) -> Any:
        """Read the value."""

    @abstractmethod
    def _to_store(self, to: str | None = None, *, index: bool = True) -> Any:
        """Read the value to store it again.

        A table that no library of Python wrote is read into `to`, or else into a library that keeps
        NaN apart from missing values. Its names of rows become a column then.
        """

    @abstractmethod
    def _summary(self) -> str:
        """The kind and size of the value."""

    @abstractmethod
    def _outlines_of_parts(self, name: str, level: int, depth: int, most: int) -> list[str]:
        """Lines for the parts of the value."""

    def _outline(self, name: str, level: int, depth: int, most: int) -> list[str]:
        """A line for the value, and lines for its parts down to `depth`."""
        parts = self._outlines_of_parts(name, level, depth, most) if level < depth else []
        return [f"{'  ' * level}{name}: {self._summary()}", *parts]

    def __eq__(self, other: object) -> bool:
        if other is None or isinstance(other, Opened) or type(other).__module__.partition(".")[0] not in _VALUES:
            return self is other
        raise TypeError(
            f"a File can't be compared with {shown(other)}: read the column and compare its values, as in "
            "mask = f['state'].read()['state'] == 'Texas', then f[mask]"
        )

    __hash__ = object.__hash__

    @abstractmethod
    def close(self) -> None:
        """Close the file."""

    @property
    @abstractmethod
    def closed(self) -> bool:
        """Whether the file was closed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def __copy__(self) -> Self: ...

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # The copy shares only what never changes.
        return self.__copy__()
