"""PyTables: an HDF5 file with one table of records, by default without compression."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .base import Peer, Refused
from .plain import from_plain, plain_columns

LEAST = 10_000  # the number of rows that PyTables expects by default, which sets the chunk size


class PyTables(Peer):
    """Written from and read into NumPy records, which favours PyTables. Strings have one width."""

    key = "pytables"
    label = "PyTables"
    modules = ("tables",)

    def __init__(self) -> None:
        self.changed: list[str] = []
        self.type: np.dtype | None = None  # of the records of the first frame

    def prepare(self, frame: Any) -> Any:
        columns, self.changed = plain_columns(frame)
        stored = {label: _stored(values) for label, values in columns.items()}
        named = [(label, values.dtype) for label, values in stored.items()]
        if self.type is None or self.type.names != tuple(stored):
            self.type = np.dtype(named)
        records = np.empty(len(frame), self.type)
        for label, values in stored.items():
            if values.dtype.itemsize > self.type[label].itemsize:
                raise Refused(f"column {label}: strings longer than those of the file")
            records[label] = values
        return records

    def write(self, value: Any, path: Path) -> None:
        import tables

        with tables.open_file(str(path), "w") as file:
            file.create_table("/", "t", obj=value, expectedrows=max(LEAST, len(value)))

    def append(self, value: Any, path: Path, *, durable: bool = False) -> None:
        import tables

        with tables.open_file(str(path), "a") as file:
            file.root.t.append(value)

    def read(self, path: Path) -> Any:
        import tables

        with tables.open_file(str(path), "r") as file:
            return file.root.t.read()

    def restore(self, got: Any, frame: Any) -> Any:
        columns = {}
        for label in frame.columns:
            values, dtype = np.ascontiguousarray(got[label]), frame[label].dtype
            if values.dtype.kind == "S":
                values = np.char.decode(values, "utf-8")
            elif isinstance(dtype, np.dtype) and dtype.kind in "mM":
                values = values.view(dtype)
            columns[label] = values
        return from_plain(columns, frame)

    def notes(self) -> list[str]:
        return [*self.changed, "written from and read into records of NumPy, not pandas"]


def _stored(values: np.ndarray) -> np.ndarray:
    """The values in a type that PyTables has: bytes for text, integers for times."""
    if values.dtype.kind == "U":
        return np.char.encode(values, "utf-8")
    return values.view(np.int64) if values.dtype.kind in "mM" else values
