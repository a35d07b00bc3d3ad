"""Polars: `write_parquet`, `write_ipc`; Vortex by way of Arrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from . import RoundTrip, vortex_table


def _wrapped(frames: RoundTrip) -> RoundTrip:
    """Wrap a series in a frame, and take it out of the frame that is read."""

    def run(value: Any, path: Path) -> Any:
        if isinstance(value, pl.Series):
            return frames(value.to_frame(), path).to_series(0)
        return frames(value, path)

    return run


def _parquet(value: Any, path: Path) -> Any:
    value.write_parquet(path)
    return pl.read_parquet(path)


def _feather(value: Any, path: Path) -> Any:
    value.write_ipc(path)
    return pl.read_ipc(path)


def _vortex(value: Any, path: Path) -> Any:
    return pl.from_arrow(vortex_table(value.to_arrow(), path))


FORMATS = {
    "parquet": _wrapped(_parquet),
    "feather": _wrapped(_feather),
    "vortex": _wrapped(_vortex),
}
