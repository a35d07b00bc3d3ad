"""The columns of a text in place of an open file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from entasis._entasis import CsvTable


class Pieces:
    """A handle whose rows are those of a text. It replaces `_entasis.Handle`."""

    def __init__(self, table: CsvTable) -> None:
        self._table, self._handle = table, table.schema()

    @property
    def n_rows(self) -> int:
        """See `Handle.n_rows`."""
        return self._table.n_rows

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._handle, name)

    def read(
        self,
        columns: list[int] | None,
        rows: Any,
        host: str,
        own: bool,
        n_shared: int,
        threads: int | None,
        n_values: int | None = None,
    ) -> list[Any]:
        """See `Handle.read`. The rows are all rows."""
        assert rows is None, "all rows are read"
        if columns and min(columns) >= self._handle.n_columns:
            # These are categories.
            return self._handle.read(columns, rows, host, own, n_shared, threads, n_values)
        return self._table.read(self._handle, columns, host, n_shared, threads)
