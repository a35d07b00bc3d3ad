"""Feather and Parquet, as pyarrow writes and reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .base import ArrowPeer, Opened, Refused


class PyarrowPeer(ArrowPeer):
    modules = ("pyarrow",)
    has_threads = True

    def set_threads(self, threads: int) -> None:
        import pyarrow

        pyarrow.set_cpu_count(threads)


class Feather(PyarrowPeer):
    opened = "(memory-mapped)"

    def __init__(self, codec: str) -> None:
        super().__init__()
        self.codec = codec
        short = "raw" if codec == "uncompressed" else codec
        self.key = f"feather-{short}"
        self.label = f"Feather {short}"

    def write(self, value: Any, path: Path) -> None:
        from pyarrow import feather

        feather.write_feather(value, str(path), compression=self.codec)

    def read(self, path: Path) -> Any:
        from pyarrow import feather

        if self.host == "arrow":
            return feather.read_table(str(path), memory_map=False)
        return feather.read_feather(str(path))

    def schema(self, path: Path) -> Any:
        import pyarrow as pa

        with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
            return reader.schema

    def column(self, path: Path, label: str) -> Any:
        from pyarrow import feather

        return self.from_table(feather.read_table(str(path), columns=[label]))

    def open(self, path: Path, frame: Any) -> Opened:
        if self.codec != "uncompressed":
            raise Refused("no reading of some rows")
        from pyarrow import feather

        table = feather.read_table(str(path), memory_map=True)
        return Opened(
            lambda columns, start, stop: (
                table.select(columns).slice(start, stop - start).to_pandas()
            ),
            lambda columns, rows: table.select(columns).take(rows).to_pandas(),
        )


class Parquet(PyarrowPeer):
    def __init__(self, codec: str) -> None:
        super().__init__()
        self.codec = codec
        self.key = f"parquet-{codec}"
        self.label = f"Parquet {codec} (pyarrow)"

    def write(self, value: Any, path: Path) -> None:
        import pyarrow.parquet as pq

        pq.write_table(self.to_table(value), str(path), compression=self.codec)

    def read(self, path: Path) -> Any:
        import pyarrow.parquet as pq

        table = pq.read_table(str(path))
        return table.to_pandas() if self.host == "pandas" else table

    def schema(self, path: Path) -> Any:
        import pyarrow.parquet as pq

        return pq.read_schema(str(path))

    def column(self, path: Path, label: str) -> Any:
        import pyarrow.parquet as pq

        return self.from_table(pq.read_table(str(path), columns=[label]))
