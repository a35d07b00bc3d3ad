"""The base of all inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._convert.in_memory import staged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._convert.left_out import Loss
    from entasis._filter.conditions import Filter
    from entasis._typing import Columns, Rows

# The rows of a batch.
BATCH = 1 << 17


class Input:
    """A table, or another value, that is converted or compared.

    Attributes
    ----------
    name
        Its name in messages.
    host
        The library of the value that `whole` returns.
    n_rows
        The number of rows, if it is known before reading.
    """

    name: str = "<frame>"
    host: str = "pyarrow"
    n_rows: int | None = None

    def schema(self) -> Any:
        """The schema of the batches."""
        raise NotImplementedError

    def batches(self) -> Iterator[Any]:
        """The rows as tables of pyarrow."""
        raise NotImplementedError

    def whole(self) -> Any:
        """The value that the library itself reads."""
        raise NotImplementedError

    def losses(self) -> list[Loss]:
        """Columns that batches lack, with the reasons."""
        return []

    def file(self) -> Any:
        """The value as an open file, which is in memory for other formats."""
        return staged(self.whole())

    def selected(self, columns: Columns | None, rows: Rows | None, filter: Filter | None) -> Input:
        """Some columns and rows. `rows` applies before the filter."""
        raise NotImplementedError
