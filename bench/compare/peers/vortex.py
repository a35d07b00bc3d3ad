"""Vortex files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..conditions import for_vortex
from .base import ArrowPeer, Filters, Opened, nullable_types


class Vortex(ArrowPeer):
    key = "vortex"
    label = "Vortex"
    modules = ("vortex", "pyarrow")
    has_threads = True

    def set_threads(self, threads: int) -> None:
        import vortex

        if hasattr(vortex, "set_worker_threads"):
            vortex.set_worker_threads(threads)

    def write(self, value: Any, path: Path) -> None:
        import vortex

        vortex.io.write(self.to_table(value), str(path))

    def read(self, path: Path) -> Any:
        import vortex

        return self.from_table(vortex.open(str(path)).to_arrow().read_all())

    def schema(self, path: Path) -> Any:
        import vortex

        return vortex.open(str(path)).dtype

    def column(self, path: Path, label: str) -> Any:
        import vortex

        rows = vortex.open(str(path)).scan([label]).read_all()
        return self.from_table(rows.to_arrow_table())

    def open(self, path: Path, frame: Any) -> Opened:
        import pyarrow as pa
        import vortex

        file = vortex.open(str(path))
        mapper = nullable_types(frame)
        scans: dict[tuple[str, ...], Any] = {}

        def rows(columns: list[str], start: int, stop: int) -> Any:
            scan = scans.get(tuple(columns))
            if scan is None:
                scan = scans[tuple(columns)] = file.to_repeated_scan(columns)
            found = scan.execute(row_range=(start, stop)).read_all()
            return found.to_arrow_table().to_pandas(types_mapper=mapper)

        def take(columns: list[str], numbers: Any) -> Any:
            indices = vortex.array(pa.array(numbers, pa.uint64()))
            found = file.scan(columns, indices=indices).read_all()
            return found.to_arrow_table().to_pandas(types_mapper=mapper)

        return Opened(rows, take)

    def filters(self, path: Path, schema: Any) -> Filters:
        import vortex

        file = vortex.open(str(path))

        def count(condition: Any) -> Callable[[], int]:
            expression = for_vortex(condition, schema)
            return lambda: len(file.scan([], expr=expression).read_all())

        def rows(condition: Any, columns: list[str]) -> Callable[[], Any]:
            expression = for_vortex(condition, schema)
            return lambda: file.scan(columns, expr=expression).read_all().to_arrow_table()

        return Filters(count, rows)
