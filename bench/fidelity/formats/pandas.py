"""pandas: `to_parquet`, `to_feather`; Vortex by way of Arrow with the metadata of pandas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from . import RoundTrip, vortex_table


def _wrapped(frames: RoundTrip) -> RoundTrip:
    """Wrap other values in a frame, and take them out of the frame that is read."""

    def run(value: Any, path: Path) -> Any:
        if isinstance(value, pd.DataFrame):
            return frames(value, path)
        if isinstance(value, pd.Index):
            return frames(pd.DataFrame({"x": range(len(value))}, index=value), path).index
        if not isinstance(value, pd.Series):
            return frames(pd.DataFrame({"x": value}), path)["x"].array
        back = frames(value.to_frame(), path)
        # `to_frame` gives a series without a name the name 0.
        return back.iloc[:, 0].rename(None) if value.name is None else back.iloc[:, 0]

    return run


def _parquet(value: Any, path: Path) -> Any:
    value.to_parquet(path)
    return pd.read_parquet(path)


def _feather(value: Any, path: Path) -> Any:
    value.to_feather(path)
    return pd.read_feather(path)


def _vortex(value: Any, path: Path) -> Any:
    import pyarrow as pa

    return vortex_table(pa.Table.from_pandas(value), path).to_pandas()


FORMATS = {
    "parquet": _wrapped(_parquet),
    "feather": _wrapped(_feather),
    "vortex": _wrapped(_vortex),
}
