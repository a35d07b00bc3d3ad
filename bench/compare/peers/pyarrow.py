"""Feather and Parquet, as pyarrow writes and reads them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..conditions import for_arrow
from .base import ArrowPeer, Filters, Opened, Refused


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

    def append(self, value: Any, path: Path, *, durable: bool = False) -> None:
        """Read everything, and write it again with the rows."""
        import pyarrow as pa
        from pyarrow import feather

        old = feather.read_table(str(path), memory_map=False)
        whole = pa.concat_tables([old, self.to_table(value).cast(old.schema)])
        feather.write_feather(whole, str(path), compression=self.codec)

    def add_columns(self, value: Any, path: Path) -> None:
        """Read everything, and write it again with the columns."""
        from pyarrow import feather

        whole = feather.read_table(str(path), memory_map=False)
        for label, column in zip(value.columns, self.to_table(value).columns, strict=True):
            whole = whole.append_column(label, column)
        feather.write_feather(whole, str(path), compression=self.codec)

    def stream(self, batches: Iterable[Any], path: Path) -> None:
        import pyarrow as pa

        options = pa.ipc.IpcWriteOptions(
            compression=None if self.codec == "uncompressed" else self.codec
        )
        writer = None
        for batch in batches:
            table = self.to_table(batch)
            writer = writer or pa.ipc.new_file(str(path), table.schema, options=options)
            writer.write_table(table)
        if writer is not None:
            writer.close()

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

    def stream(self, batches: Iterable[Any], path: Path) -> None:
        import pyarrow.parquet as pq

        writer = None
        for batch in batches:
            table = self.to_table(batch)
            if writer is None:
                writer = pq.ParquetWriter(str(path), table.schema, compression=self.codec)
            writer.write_table(table)
        if writer is not None:
            writer.close()

    def schema(self, path: Path) -> Any:
        import pyarrow.parquet as pq

        return pq.read_schema(str(path))

    def column(self, path: Path, label: str) -> Any:
        import pyarrow.parquet as pq

        return self.from_table(pq.read_table(str(path), columns=[label]))

    def filters(self, path: Path, schema: Any) -> Filters:
        import pyarrow.dataset

        data = pyarrow.dataset.dataset(str(path))

        def count(condition: Any) -> Callable[[], int]:
            expression = for_arrow(condition, schema)
            return lambda: data.count_rows(filter=expression)

        def rows(condition: Any, columns: list[str]) -> Callable[[], Any]:
            expression = for_arrow(condition, schema)
            return lambda: data.to_table(columns=columns, filter=expression)

        return Filters(count, rows)


class ParquetFolder(PyarrowPeer):
    """A folder with a file for each append. Their names are times, which order the rows."""

    key = "parquet-folder"
    label = "Parquet folder (pyarrow)"

    def write(self, value: Any, path: Path) -> None:
        path.mkdir()
        self.append(value, path)

    def append(self, value: Any, path: Path, *, durable: bool = False) -> None:
        import pyarrow.parquet as pq

        table = self.to_table(value)
        name = f"{time.time_ns():020}.parquet"
        with pq.ParquetWriter(str(path / name), table.schema) as writer:
            writer.write_table(table)

    def read(self, path: Path) -> Any:
        import pyarrow.parquet as pq

        return self.from_table(pq.read_table(str(path)))
