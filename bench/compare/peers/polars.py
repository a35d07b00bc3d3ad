"""Parquet and Arrow IPC, as Polars writes and reads them.

The timing includes conversion between the host's frame and Polars, as for a user of pandas or Arrow
who calls Polars for its files.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..conditions import for_polars
from .base import ArrowPeer, Filters, Opened


class PolarsPeer(ArrowPeer):
    modules = ("polars", "pyarrow")

    def to_polars(self, value: Any) -> Any:
        import polars as pl

        return pl.from_pandas(value) if self.host == "pandas" else pl.from_arrow(value)

    def from_polars(self, frame: Any) -> Any:
        if self.host == "pandas":
            return frame.to_pandas(types_mapper=self.mapper)
        return frame.to_arrow()

    def restore(self, got: Any, frame: Any) -> Any:
        return got

    def notes(self) -> list[str]:
        return ["from and into Arrow by way of a Polars frame"] if self.host == "arrow" else []


class ParquetPolars(PolarsPeer):
    def __init__(self, codec: Any) -> None:
        super().__init__()
        self.codec = codec
        self.key = f"polars-{codec}"
        self.label = f"Parquet {codec} (Polars)"

    def write(self, value: Any, path: Path) -> None:
        self.to_polars(value).write_parquet(path, compression=self.codec)

    def read(self, path: Path) -> Any:
        import polars as pl

        return self.from_polars(pl.read_parquet(path))

    def schema(self, path: Path) -> Any:
        import polars as pl

        return pl.read_parquet_schema(path)

    def column(self, path: Path, label: str) -> Any:
        import polars as pl

        return self.from_polars(pl.read_parquet(path, columns=[label]))

    def open(self, path: Path, frame: Any) -> Opened:
        import polars as pl

        from .base import nullable_types

        mapper = nullable_types(frame)
        scan = pl.scan_parquet(path)
        return Opened(
            lambda columns, start, stop: (
                scan.select(columns)
                .slice(start, stop - start)
                .collect()
                .to_pandas(types_mapper=mapper)
            )
        )

    def filters(self, path: Path, schema: Any) -> Filters:
        import polars as pl

        scan = pl.scan_parquet(path)
        # With string views, so that strings are not copied once more.
        level = pl.CompatLevel.newest()

        def count(condition: Any) -> Callable[[], int]:
            query = scan.filter(for_polars(condition)).select(pl.len())
            return lambda: query.collect().item()  # type: ignore[no-any-return]

        def rows(condition: Any, columns: list[str]) -> Callable[[], Any]:
            query = scan.filter(for_polars(condition)).select(columns)
            return lambda: query.collect().to_arrow(compat_level=level)

        return Filters(count, rows)


class IpcPolars(PolarsPeer):
    """Arrow IPC files; Polars maps uncompressed ones into memory instead of reading them."""

    def __init__(self, codec: Any) -> None:
        super().__init__()
        self.codec = codec
        short = "raw" if codec == "uncompressed" else codec
        self.key = f"ipc-{short}"
        self.label = f"IPC {short} (Polars)"

    def write(self, value: Any, path: Path) -> None:
        self.to_polars(value).write_ipc(path, compression=self.codec)

    def read(self, path: Path) -> Any:
        import polars as pl

        return self.from_polars(pl.read_ipc(path))

    def notes(self) -> list[str]:
        mapped = "may be memory-mapped: what isn't looked at isn't read"
        return super().notes() + ([mapped] if self.codec == "uncompressed" else [])

    def schema(self, path: Path) -> Any:
        import polars as pl

        return pl.read_ipc_schema(path)

    def column(self, path: Path, label: str) -> Any:
        import polars as pl

        return self.from_polars(pl.read_ipc(path, columns=[label]))
