"""NumPy: its own NPZ without pickles; other formats by way of Arrow, matrices as tensors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from . import NoCallError, RoundTrip, feather_table, parquet_table, vortex_table


def _to_arrow(array: Any) -> Any:
    if type(array) is not np.ndarray or array.ndim == 0:
        raise NoCallError(f"Arrow has no {type(array).__name__} of {np.ndim(array)} axes")
    if array.ndim == 1:
        # NaN is a value here, and no null.
        return pa.array(array, from_pandas=False)
    return pa.FixedShapeTensorArray.from_numpy_ndarray(np.ascontiguousarray(array))


def _from_arrow(column: Any) -> Any:
    if isinstance(column.type, pa.FixedShapeTensorType):
        return pa.concat_arrays(column.chunks).to_numpy_ndarray()
    return column.to_numpy(zero_copy_only=False)


def _through(tables: RoundTrip) -> RoundTrip:
    def run(value: Any, path: Path) -> Any:
        if not isinstance(value, dict):
            return _from_arrow(tables(pa.table({"x": _to_arrow(value)}), path).column(0))
        if not all(isinstance(name, str) for name in value):
            raise NoCallError("Arrow has names of text alone")
        back = tables(pa.table({name: _to_arrow(array) for name, array in value.items()}), path)
        return {name: _from_arrow(back.column(name)) for name in back.column_names}

    return run


def _npz(value: Any, path: Path) -> Any:
    arrays = value if isinstance(value, dict) else {"x": value}
    if not all(isinstance(array, np.ndarray) for array in arrays.values()):
        raise NoCallError("NPZ has arrays alone")
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
    with np.load(path, allow_pickle=False) as found:
        back = {name: found[name] for name in found.files}
    return back if isinstance(value, dict) else back["x"]


FORMATS = {
    "parquet": _through(parquet_table),
    "feather": _through(feather_table),
    "vortex": _through(vortex_table),
    "npz": _npz,
}
