"""The rows before those to append: in a file, and in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from entasis._file.file import File

from .columns import INDEX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .host_types import Types

    class Rules(Protocol):
        """The part of the rules of a library that reads rows."""

        types: Types

        def column(self, value: Any, key: int) -> Any:
            """A column of a value."""

        def index_of(self, value: Any) -> dict[str, Any] | None:
            """The description of an index."""


# The rows of a file that are read first to find a value.
_FIRST = 1024
# The greatest codes of dictionaries.
_CODES = {"i8": 127, "u8": 255, "i16": 32767, "u16": 65535}


class Earlier:
    """Rows that are there before an append. Columns are read when they are asked for.

    `table` gives a file, a value, or None, and `parts` are rows in memory that follow its rows.
    """

    def __init__(self, rules: Rules, table: Callable[[], Any], parts: list[Any], n: int) -> None:
        self._rules, self._table, self._parts = rules, table, parts
        # The number of rows.
        self.n = n
        self._known: dict[int, bool] = {}

    def is_empty(self, key: int) -> bool:
        """Whether a column has no rows, or only missing values."""
        if key not in self._known:
            is_value = self._rules.types.is_empty
            self._known[key] = all(is_value(column) for column in self.columns(key))
        return self._known[key]

    def columns(self, key: int) -> Iterator[Any]:
        """The column in pieces, as it is needed."""
        file = self._table()
        if isinstance(file, File):
            for part in (file[:_FIRST], file[_FIRST:]):
                if part.n_rows and key == INDEX:
                    yield read_index(part)
                elif part.n_rows:
                    yield self._rules.column(read_columns(part, [key]), 0)
        elif file is not None:
            yield self._rules.column(file, key)
        for part in self._parts:
            yield self._rules.column(part, key)

    def greatest_code(self, key: int) -> int | None:
        """The greatest code that a column of categories of the file can have. None: any."""
        file = self._table()
        if not isinstance(file, File):
            return None
        number = key
        if key == INDEX:
            spec = file._view.table.host.get("index") or {}
            if spec.get("kind") != "column":
                return None
            number = spec["column"].index
        (column,) = file._view.handle.columns([number])
        return _CODES.get(str(column.physical))

    @property
    def index(self) -> dict[str, Any] | None:
        """The description of the file's index."""
        file = self._table()
        if not isinstance(file, File):
            return None if file is not None or not self._parts else self._rules.index_of(self._parts[0])
        found = file._view.table.host.get("index")
        return found if isinstance(found, dict) else None


def read_columns(file: File, numbers: list[int]) -> Any:
    """Some columns of a file. A frame comes without its index."""
    view = file._view
    is_frame = view.table.host.get("class") is None
    return File._of(view.narrow(numbers, view.rows)).read(index=not is_frame)


def read_index(file: File) -> Any:
    """The index of a frame or series in a file, or the index that it holds."""
    view = file._view
    is_frame = view.table.host.get("class") is None
    value = File._of(view.narrow([] if is_frame else None, view.rows)).read()
    return getattr(value, "index", value)
