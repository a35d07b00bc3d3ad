"""The base class of the rules that changes of a file follow, one for each library."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from entasis._file.opened import Opened

from .columns import check_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from entasis._file.file import File

    from .fitting import Fitted, Options
    from .host_types import Types

    # For each column after the change: whether it is new, and its position in the new frame or the
    # file.
    Sources = list[tuple[bool, int]]


class Rules(ABC):
    """The rules of a library for appended rows and changed columns.

    The defaults suit immutable values without an index, whose column labels are strings.
    """

    # The name of the library.
    HOST: str
    # Whether a kept batch has to be copied, because the caller may change it.
    IS_COPIED = False
    # Whether each append writes the file anew.
    IS_WHOLE = False
    # The types of the library.
    types: Types

    def loaded(self, value: Any) -> Any:
        """An open file in memory, if possible without a change of values; any other value."""
        return value._to_store(self.HOST) if isinstance(value, Opened) else value

    @abstractmethod
    def collect(self, value: Any) -> Any:
        """The value as one of the library."""

    def head(self, value: Any) -> Any:
        """No rows of a value."""
        return value[:0]

    def length(self, value: Any) -> int:
        """The number of rows of a value."""
        return len(value)

    @abstractmethod
    def labels(self, value: Any) -> list[Any]:
        """The labels of its columns."""

    @abstractmethod
    def column(self, value: Any, key: int) -> Any:
        """A column of a value by its position, or its index."""

    @abstractmethod
    def fit(self, old: Any, new: Any, options: Options) -> Fitted:
        """The rows to append with the file's types, and wider types that parts of the file need.

        `old` has no rows.
        """

    @abstractmethod
    def grow(self, value: Any, dtypes: list[Any], part: Any, n: int) -> Any:
        """A value of `n` rows with other types, and missing values in the columns of `part`.

        `dtypes` has a type for each column of the value; None keeps it.
        """

    def index_of(self, value: Any) -> dict[str, Any] | None:
        """The description of an index whose labels are a range."""
        return None

    def grow_index(self, index: Any, dtype: Any) -> Any:
        """An index with a wider type."""
        raise AssertionError("frames of this library have no index that grows")

    @abstractmethod
    def take(self, value: Any, positions: list[int]) -> Any:
        """Some columns of a frame."""

    def with_index(self, value: Any, index: Any) -> Any:
        """A value with another index."""
        raise AssertionError("frames of this library have no index that grows")

    def encode_index(self, builder: Any, index: Any) -> dict[str, Any]:
        """The description of an index whose labels become columns of the builder."""
        raise AssertionError("frames of this library have no index that grows")

    @abstractmethod
    def concat(self, old: Any, new: Any) -> Any:
        """The value of the file after the append."""

    def is_direct(self, file: File, new: Any) -> bool:
        """Whether rows need no conversion if their columns have the labels and types of the file."""
        return False

    def joined_index(self, old: Any, new: Any, file: File, part: Any) -> dict[str, Any] | None:
        """The changes in the description of the index. None if its labels have to be stored anew."""
        return None

    @abstractmethod
    def columns(self, value: Any, file: File) -> Any:
        """New columns of a file, with its number of rows."""

    @abstractmethod
    def nothing(self) -> Any:
        """A value without columns and rows."""

    def blank(self, n: int) -> Any:
        """A frame of rows without columns, for the file of an index."""
        return self.nothing()

    @abstractmethod
    def joined_labels(self, old: Any, new: Any, sources: Sources) -> Any:
        """The labels of columns of the file and of new ones."""

    def renamed_labels(self, old: Any, labels: list[Any], names: Any) -> Any:
        """The labels of the columns of the file, some of them renamed."""
        check_names(labels)
        return labels

    def encode_labels(self, builder: Any, labels: Any) -> tuple[list[str], Any]:
        """The names of columns, and the description of labels that differ from the names."""
        return labels, None

    def encode_levels(
        self, builder: Any, file: File, dropped: Sequence[int], names: Mapping[int, Any]
    ) -> tuple[dict[str, Any], list[tuple[int, str]]] | None:
        """The changes in the description of the index, and new names of its columns by their numbers.

        None if the labels have to be stored anew.
        """
        return None

    def with_levels(self, value: Any, dropped: Sequence[int], names: Mapping[int, Any]) -> Any:
        """The frame without levels of its index, and with other names of levels."""
        raise AssertionError("frames of this library have no index")

    @abstractmethod
    def with_columns(self, old: Any, new: Any, sources: Sources, labels: Any) -> Any:
        """The frame with columns of the file and new ones."""

    @abstractmethod
    def rows(self, value: Any, start: int, stop: int) -> Any:
        """Some rows of a value."""

    @abstractmethod
    def joined(self, parts: list[Any]) -> Any:
        """Parts that follow each other, as one."""

    def known(self, old: Any, new: Any) -> Any:
        """No rows with the categories of rows before, `old`, and of new ones that were fitted to it."""
        return old

    def is_counted(self, index: dict[str, Any] | None) -> bool:
        """Whether an index, as a host map describes it, counts from 0."""
        return False

    def counted(self, part: Any, start: int) -> Any:
        """Rows whose index counts from 0, with an index from `start` on; other rows unchanged."""
        return part

    @abstractmethod
    def size(self, value: Any) -> int:
        """Bytes of a value, about."""

    def own(self, value: Any) -> Any:
        """A value that its owner can't change any more."""
        return value
