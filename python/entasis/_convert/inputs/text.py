"""Scans of texts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from entasis._arguments import sources as _sources
from entasis._csv import arguments as _text_arguments
from entasis._csv.scan import CsvScan, scan_csv
from entasis._csv.sniff import sniff_csv
from entasis.errors import ArgumentError

from . import base as _base

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._filter.conditions import Filter
    from entasis._typing import Columns, Rows


class TextInput(_base.Input):
    """A scan of a text."""

    def __init__(self, scan: CsvScan) -> None:
        self.scan = scan
        self.name = scan._query.text.name

    def schema(self) -> Any:
        return self.scan.limit(0).to_pyarrow().schema

    def batches(self) -> Iterator[Any]:
        return self.scan.batches(_base.BATCH, to="pyarrow")

    def whole(self) -> Any:
        return self.scan.to_pyarrow()

    def selected(self, columns: Columns | None, rows: Rows | None, filter: Filter | None) -> _base.Input:
        query = self.scan._query
        if rows is not None:
            limits = _text_arguments.limits(rows)
            if limits is None:
                raise ArgumentError("rows= of a text is (start, stop), or a slice or range of consecutive rows")
            query = query._replace(rows=limits)
        if columns is not None:
            query = query.select(columns)  # type: ignore[arg-type]
        return TextInput(CsvScan(query if filter is None else query.filtered(filter)))


def scan(source: Any, threads: int | None, text: dict[str, Any]) -> CsvScan:
    """A scan of a text. Its types hold for all rows, where they can be found out beforehand."""
    if text.keys() <= {"dates", "encoding"} and not isinstance(source, (list, tuple)) and not hasattr(source, "read"):
        path = None if isinstance(source, (bytes, bytearray, memoryview)) else _sources.path(source)
        if path is None or os.path.isfile(path):
            return scan_csv(source, spec=sniff_csv(source, rows="all", **text), threads=threads)
    return scan_csv(source, threads=threads, **text)
