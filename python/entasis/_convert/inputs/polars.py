"""Parquet and Arrow files that Polars reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._convert import libraries as _libraries

from . import base as _base
from .file import StagedInput

if TYPE_CHECKING:
    from collections.abc import Iterator


class PolarsInput(StagedInput):
    """A Parquet or Arrow file that Polars reads, where pyarrow is not installed."""

    host = "polars"

    def __init__(self, path: str, form: str, polars: Any) -> None:
        self.name = path
        with _libraries.reading(path):
            self._lazy = polars.scan_parquet(path) if form == "parquet" else polars.scan_ipc(path)
            self.n_rows = int(self._lazy.select(polars.len()).collect().item())

    def frames(self) -> Iterator[Any]:
        """The rows in frames of Polars."""
        assert self.n_rows is not None
        for start in range(0, max(self.n_rows, 1), 8 * _base.BATCH):
            with _libraries.reading(self.name):
                yield self._lazy.slice(start, 8 * _base.BATCH).collect()

    def whole(self) -> Any:
        with _libraries.reading(self.name):
            return self._lazy.collect()
