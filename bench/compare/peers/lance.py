"""Lance: a data set is a folder; its size is the size of all files in it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from ..conditions import for_sql
from .base import ArrowPeer, Filters, Opened, nullable_types


class Lance(ArrowPeer):
    key = "lance"
    label = "Lance"
    modules = ("lance", "pyarrow")

    def write(self, value: Any, path: Path) -> None:
        import lance

        lance.write_dataset(self.to_table(value), str(path))

    def read(self, path: Path) -> Any:
        import lance

        return self.from_table(lance.dataset(str(path)).to_table())

    def append(self, value: Any, path: Path, *, durable: bool = False) -> None:
        import lance

        lance.write_dataset(self.to_table(value), str(path), mode="append")

    def add_columns(self, value: Any, path: Path) -> None:
        import lance

        lance.dataset(str(path)).add_columns(self.to_table(value).to_reader())

    def compact(self, path: Path) -> None:
        import lance

        data = lance.dataset(str(path))
        data.optimize.compact_files()
        data.cleanup_old_versions(older_than=timedelta(0))

    def schema(self, path: Path) -> Any:
        import lance

        return lance.dataset(str(path)).schema

    def column(self, path: Path, label: str) -> Any:
        import lance

        return self.from_table(lance.dataset(str(path)).to_table(columns=[label]))

    def open(self, path: Path, frame: Any) -> Opened:
        import lance

        data = lance.dataset(str(path))
        mapper = nullable_types(frame)
        return Opened(
            lambda columns, start, stop: data.to_table(
                columns=columns, offset=start, limit=stop - start
            ).to_pandas(types_mapper=mapper),
            lambda columns, rows: data.take(rows.tolist(), columns=columns).to_pandas(
                types_mapper=mapper
            ),
        )

    def filters(self, path: Path, schema: Any) -> Filters:
        import lance

        data = lance.dataset(str(path))

        def count(condition: Any) -> Callable[[], int]:
            text = for_sql(condition, schema, "`")
            return lambda: data.count_rows(filter=text)  # type: ignore[no-any-return]

        def rows(condition: Any, columns: list[str]) -> Callable[[], Any]:
            text = for_sql(condition, schema, "`")
            return lambda: data.to_table(columns=columns, filter=text)

        return Filters(count, rows)
