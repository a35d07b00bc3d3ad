"""Folders of Parquet files, and several files of Parquet or Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._convert import libraries as _libraries
from entasis.errors import ArgumentError

from . import base as _base
from .arrow import ArrowInput

if TYPE_CHECKING:
    from collections.abc import Iterator


class FolderInput(ArrowInput):
    """A folder of Parquet files, or several files of Parquet or Arrow, as one table."""

    def __init__(self, paths: str | list[str], form: str, threads: int | None) -> None:
        import pyarrow as pa
        import pyarrow.dataset as ds

        self._paths, self._threads = paths, threads
        self._is_parquet = form == "parquet"
        self.name = paths if isinstance(paths, str) else f"{paths[0]} and {len(paths) - 1} more"
        with _libraries.reading(self.name):
            found = ds.dataset(paths, format="parquet" if self._is_parquet else "ipc", partitioning="hive")
            parts = [fragment.physical_schema for fragment in found.get_fragments()]
            if any(not part.equals(parts[0]) for part in parts):
                try:
                    # Columns that some files lack are missing there.
                    whole = pa.unify_schemas([found.schema, *parts])
                except pa.ArrowException as error:
                    raise ArgumentError(f"the files of {self.name} have different columns: {error}") from error
                found = found.replace_schema(whole)
            self._dataset = found
            self._begin()

    def _schema(self) -> Any:
        return self._dataset.schema

    def _raw(self, columns: list[str] | None) -> Iterator[Any]:
        found: Iterator[Any] = self._dataset.to_batches(
            columns=columns,
            batch_size=_base.BATCH,
            batch_readahead=2,
            fragment_readahead=1,
            use_threads=self._threads != 1,
        )
        for batch in found:
            if not self._is_parquet:
                # Damage of offsets would end the process.
                batch.validate(full=True)
            yield batch

    def _pandas(self) -> Any:
        if not self._is_parquet:
            return super()._pandas()
        import pandas as pd

        paths: Any = self._paths
        return pd.read_parquet(paths, engine="pyarrow")
