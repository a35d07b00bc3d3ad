"""Several files of Entasis, or a folder of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._dataset.scan import FolderScan, span
from entasis._grow.writer import Writer

from . import base as _base

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from entasis._entasis import Destination
    from entasis._filter.conditions import Filter
    from entasis._typing import Columns, Rows

# The rows that are in memory at a time.
_ROWS = 1 << 20


class ScanInput(_base.Input):
    """The rows of many files of Entasis."""

    def __init__(self, found: FolderScan) -> None:
        self.scan = found
        self.name = found._query.table.files.name
        self.host = found._query.table.first.written_by or "pyarrow"

    def schema(self) -> Any:
        return self.scan.to_dataset().schema

    def batches(self) -> Iterator[Any]:
        return self.scan.batches(_base.BATCH, to="pyarrow")

    def whole(self) -> Any:
        return self.scan.read()

    def selected(self, columns: Columns | None, rows: Rows | None, filter: Filter | None) -> _base.Input:
        query = self.scan._query._replace(rows=span(rows))
        query = query if columns is None else query.select(columns)  # type: ignore[arg-type]
        return ScanInput(FolderScan(query if filter is None else query.filtered(filter)))

    def store(self, to: Destination, done: Callable[[int], None]) -> None:
        """Write the rows into an Entasis file of the library of the first file."""
        n, is_any = 0, False
        with Writer(to, None, False, widen=True) as writer:
            for part in self.scan.batches(_ROWS):
                is_any = True
                writer.write(part)
                n += len(part) if not isinstance(part, dict) else len(next(iter(part.values())))
                done(n)
            if not is_any:
                writer.write(self.scan.limit(0).read())
