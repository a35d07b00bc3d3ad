"""Parquet files."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from entasis._convert import libraries as _libraries

from . import base as _base
from .arrow import ArrowInput

if TYPE_CHECKING:
    from collections.abc import Iterator

# The greatest length of a row group of Parquet that is read at once.
_GROUP_LEN = 96 << 20


class ParquetInput(ArrowInput):
    """A Parquet file, which is read by row groups."""

    def __init__(self, source: str | bytes, name: str, threads: int | None) -> None:
        self._source, self.name, self._threads = source, name, threads
        with _libraries.reading(name):
            self._opened = self._open()
            self._begin()

    def _open(self) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        source = self._source if isinstance(self._source, str) else pa.BufferReader(self._source)
        # With buffers pyarrow would keep the bytes of all columns of a row group.
        return pq.ParquetFile(source, pre_buffer=False)

    def _schema(self) -> Any:
        return self._opened.schema_arrow

    def _count(self) -> int:
        return int(self._opened.metadata.num_rows)

    def _from(self, columns: list[str] | None, start: int) -> tuple[Iterator[Any], int]:
        groups, before, first = self._opened.metadata, 0, 0
        while first < groups.num_row_groups - 1 and before + groups.row_group(first).num_rows <= start:
            before += groups.row_group(first).num_rows
            first += 1
        return self._groups(columns, range(first, groups.num_row_groups)), before

    def _groups(self, columns: list[str] | None, numbers: range) -> Iterator[Any]:
        file, groups = self._open(), self._opened.metadata
        uses_threads = self._threads != 1
        for number in numbers:
            if groups.row_group(number).total_byte_size <= _GROUP_LEN:
                # Reading a row group at once is faster than reading it by batches.
                yield file.read_row_group(number, columns, use_threads=uses_threads)
            else:
                yield from file.iter_batches(_base.BATCH, [number], columns, use_threads=uses_threads)

    def _passing(self, table: Any, wanted: list[str] | None, needed: list[str] | None) -> Any:
        return super()._passing(table, wanted, None)

    def table(self) -> Any:
        if self._span is not None or self._filter is not None:
            return super().table()
        with _libraries.reading(self.name):
            found = self._open().read(self._columns, use_threads=self._threads != 1)
            return found if self._columns is None else found.select(self._columns)

    def _pandas(self) -> Any:
        import pandas as pd

        source = self._source if isinstance(self._source, str) else io.BytesIO(self._source)
        return pd.read_parquet(source, engine="pyarrow")
