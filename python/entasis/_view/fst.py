"""Open tables of fst: columns and rows are decoded when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis import _entasis

if TYPE_CHECKING:
    from typing import Self

    from entasis._entasis import FstParts, Handle


class FstHandle:
    """A handle of a table of fst. It replaces `_entasis.Handle`.

    Names and facts come from the header. Views are read through `part`, which decodes their columns
    and rows alone. All other uses decode the whole table, once.

    Attributes
    ----------
    parts
        The handle itself, by which a table knows that its parts can be decoded alone.
    """

    memory_map = False
    is_table = True
    has_cells = False

    def __init__(self, parts: FstParts, nan_to_null: bool | None = None) -> None:
        self._parts, self.nan_to_null = parts, nan_to_null
        self._empty: Handle | None = None
        self._whole: Handle | None = None
        self._types: tuple[list[str], list[str]] | None = None

    @classmethod
    def opened(cls, path: str, limits: dict[str, int] | None) -> Self | None:
        """Open a file; None if it is not of fst."""
        parts = _entasis.FstParts.open(path, limits)
        return None if parts is None else cls(parts)

    @property
    def parts(self) -> FstHandle:
        return self

    @property
    def n_rows(self) -> int:
        """See `Handle.n_rows`."""
        return self._parts.n_rows

    @property
    def n_columns(self) -> int:
        """See `Handle.n_columns`."""
        return self._parts.n_columns

    def lost(self) -> None:
        """See `Handle.lost`."""

    def give(self) -> None:
        """See `Handle.give`. Parts are given anyway."""

    def with_classes(self, classes: dict[str, type]) -> FstHandle:
        """See `Handle.with_classes`. Columns of fst have no records."""
        return self

    def with_nan_to_null(self, nan_to_null: bool | None) -> FstHandle:
        """See `Handle.with_nan_to_null`."""
        return FstHandle(self._parts, nan_to_null)

    def narrowed(self, decimals: bool) -> FstHandle:
        """See `Handle.narrowed`. Columns of fst have no decimals, and no dictionaries of blocks."""
        return self

    def host(self) -> Any:
        """See `Handle.host`."""
        return self._of_header().host()

    def names(self) -> list[str]:
        """See `Handle.names`."""
        return self._of_header().names()

    def joined_names(self) -> tuple[bytes, bytes]:
        """See `Handle.joined_names`."""
        return self._of_header().joined_names()

    def find(self, name: str) -> list[int]:
        """See `Handle.find`."""
        return self._of_header().find(name)

    def schema(self) -> tuple[list[str], list[str]]:
        """See `Handle.schema`. Only columns whose type depends on their values are decoded."""
        if self._types is None:
            self._types = self._parts.schema().schema()
        return self._types

    def part(self, columns: list[int] | None, rows: Any) -> tuple[Handle, list[int] | None, Any]:
        """A handle with some columns and rows, and their numbers in it.

        `columns` and `rows` are those of a `View`.
        """
        n_rows, n_columns = self.n_rows, self.n_columns
        is_whole = columns is None and rows is None
        if self._whole is not None or (columns is not None and not all(0 <= number < n_columns for number in columns)):
            return self.whole_table(), columns, rows
        start, stop = 0, n_rows
        if rows is not None:
            # Rows are a range, or an array of numbers.
            lists = isinstance(rows, range)
            first, last = (
                (0, -1) if len(rows) == 0 else sorted((rows[0], rows[-1])) if lists else (rows.min(), rows.max())
            )
            start, stop = int(first), int(last) + 1
            rows = range(rows.start - start, rows.stop - start, rows.step) if lists else rows - start
            if rows == range(stop - start) if lists else False:
                rows = None
        found = self._parts.part(columns, start, stop).with_nan_to_null(self.nan_to_null)
        # The values are read once.
        found.give()
        return found, None, None if is_whole else rows

    def whole_table(self) -> Handle:
        """A handle of the decoded table, which is kept."""
        if self._whole is None:
            self._whole = self._parts.part(None, 0, self.n_rows).with_nan_to_null(self.nan_to_null)
        return self._whole

    def _of_header(self) -> Handle:
        if self._empty is None:
            self._empty = self._parts.part(None, 0, 0)
        return self._empty

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.whole_table(), name)
