"""StaticFrame: its own NPZ, `to_parquet`; Feather and Vortex by way of `to_arrow`.

Readers get the depths of the labels as arguments.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import static_frame as sf

from . import RoundTrip, feather_table, vortex_table


def _wrapped(frames: RoundTrip) -> RoundTrip:
    """Wrap a series or an index in a frame, and take it out of the frame that is read."""

    def run(value: Any, path: Path) -> Any:
        if isinstance(value, sf.Series):
            back = frames(value.to_frame(), path)
            # `to_frame` gives a series without a name the name 0.
            name = None if value.name is None else back.columns.values.tolist()[0]
            return type(value)(back.iloc[:, 0].values, index=back.index, name=name)
        if isinstance(value, (sf.Index, sf.IndexHierarchy)):
            return frames(sf.Frame(np.zeros((len(value), 1)), index=value), path).index
        return frames(value, path)

    return run


def _depths(frame: Any) -> dict[str, int]:
    return {"index_depth": frame.index.depth, "columns_depth": frame.columns.depth}


def _through(tables: RoundTrip) -> RoundTrip:
    def run(value: Any, path: Path) -> Any:
        return type(value).from_arrow(tables(value.to_arrow(), path), **_depths(value))

    return run


def _parquet(value: Any, path: Path) -> Any:
    if isinstance(value, sf.Bus):
        path = path.with_suffix(".zip")
        value.to_zip_parquet(path)
        return sf.Bus.from_zip_parquet(path)
    value.to_parquet(str(path))
    return type(value).from_parquet(str(path), **_depths(value))


def _npz(value: Any, path: Path) -> Any:
    if isinstance(value, sf.Bus):
        path = path.with_suffix(".zip")
        value.to_zip_npz(path)
        return sf.Bus.from_zip_npz(path)
    value.to_npz(str(path))
    return type(value).from_npz(str(path))


FORMATS = {
    "parquet": _wrapped(_parquet),
    "feather": _wrapped(_through(feather_table)),
    "vortex": _wrapped(_through(vortex_table)),
    "npz": _wrapped(_npz),
}
