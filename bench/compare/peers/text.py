"""CSV, from and into pandas: by Entasis with the spec that it returned, and by Polars and pyarrow.

Text has no types of its own. The other libraries find them again, and where they are others than
those of the frame, the result is another one, as a note.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .base import ArrowPeer, Peer
from .polars import PolarsPeer


class CsvEntasis(Peer):
    key = "csv"
    label = "CSV (Entasis)"
    modules = ("entasis",)

    def __init__(self) -> None:
        self.spec: Any = None

    def write(self, value: Any, path: Path) -> None:
        import entasis

        self.spec = entasis.write_csv(value, str(path), index=False)

    def read(self, path: Path) -> Any:
        import entasis

        return entasis.read_csv(str(path), "pandas", spec=self.spec)


class CsvPolars(PolarsPeer):
    key = "csv-polars"
    label = "CSV (Polars)"
    hosts = ("pandas",)

    def write(self, value: Any, path: Path) -> None:
        self.to_polars(value).write_csv(path)

    def read(self, path: Path) -> Any:
        import polars as pl

        frame = pl.read_csv(path, try_parse_dates=True, infer_schema_length=10_000)
        return self.from_polars(frame)


class CsvPyarrow(ArrowPeer):
    key = "csv-pyarrow"
    label = "CSV (pyarrow)"
    modules = ("pyarrow",)
    hosts = ("pandas",)

    def write(self, value: Any, path: Path) -> None:
        from pyarrow import csv

        csv.write_csv(self.to_table(value), str(path))

    def read(self, path: Path) -> Any:
        from pyarrow import csv

        parsing = csv.ParseOptions(newlines_in_values=True)
        return self.from_table(csv.read_csv(str(path), parse_options=parsing))
