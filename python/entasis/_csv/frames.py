"""The columns of a text as frames of libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from entasis._file.file import File
from entasis._libraries import registry as _hosts
from entasis._libraries.library_errors import read as read_columns
from entasis._view.table import OpenTable
from entasis._view.view import View

from .pieces import Pieces

if TYPE_CHECKING:
    from collections.abc import Iterable

    from entasis._entasis import ArrowTable, CsvTable, Handle
    from entasis._libraries.registry import Host


def frame(table: CsvTable, host: str, rows: Any, threads: int | None, *, arrow: bool) -> Any:
    """The columns of a text as a frame. `arrow`: whether they are read through Arrow."""
    if arrow and table.names and table.is_arrow:
        parts = table.arrow()
        stream = Stream(parts)
        if host == "polars":
            import polars as pl

            return pl.DataFrame(stream)
        import pyarrow as pa

        return pa.RecordBatchReader.from_stream(stream).read_all()
    if rows is None and host in ("pandas", "numpy", "static_frame"):
        return read_columns(_hosts.reader(host, None), cast("Handle", Pieces(table)), {}, None, None, threads)
    return as_file(table, threads).read(rows=rows, to=cast("Host", host), threads=threads)


def as_file(table: CsvTable, threads: int | None) -> File:
    """The columns of a text as a file in memory."""
    return File._of(View(OpenTable(table.file(threads), "<csv>")))


def chosen(names: list[str], columns: str | Iterable[str] | None, drop: str | Iterable[str] | None) -> list[str]:
    """The names of the columns to return, of all columns of the text."""
    if columns is not None:
        return [columns] if isinstance(columns, str) else list(columns)
    left_out = {drop} if isinstance(drop, str) else set(drop or ())
    return [name for name in names if name not in left_out]


class Stream:
    """Arrow tables of one type as one stream."""

    def __init__(self, parts: tuple[ArrowTable, ...]) -> None:
        self.parts = parts

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.parts[0].stream(iter(self.parts))
