"""The formats, each with its own best documented call for a library.

Values without a call are wrapped in a frame and taken out again.

A function gets a value and a path, writes the value there, and returns what it reads.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

RoundTrip = Callable[[Any, Path], Any]

LABELS = {
    "entasis": "Entasis",
    "parquet": "Parquet",
    "feather": "Feather",
    "pickle": "pickle",
    "vortex": "Vortex",
    "npz": "NPZ",
}
_NEEDS = {"entasis": "entasis", "vortex": "vortex"}
_MODULES = {
    "pandas": "pandas",
    "Polars": "polars",
    "pyarrow": "pyarrow",
    "NumPy": "numpy",
    "StaticFrame": "static_frame",
}


class NoCallError(TypeError):
    """The format has nothing for such a value."""


def formats(library: str) -> list[str]:
    """The formats that keep values of a library, installed or not."""
    own = import_module(f"{__name__}.{_MODULES[library]}").FORMATS
    return [key for key in LABELS if key in own or key in ("entasis", "pickle")]


def missing_module(key: str) -> str | None:
    """The module that a format needs and that is not installed."""
    module = _NEEDS.get(key)
    return module if module is not None and find_spec(module) is None else None


def round_trip(library: str, key: str) -> RoundTrip:
    """How a format writes and reads values of a library."""
    if key == "entasis":
        return _entasis
    if key == "pickle":
        return _pickle
    found: RoundTrip = import_module(f"{__name__}.{_MODULES[library]}").FORMATS[key]
    return found


def _entasis(value: Any, path: Path) -> Any:
    import entasis

    entasis.write(value, path)
    return entasis.read(path)


def _pickle(value: Any, path: Path) -> Any:
    with path.open("wb") as file:
        pickle.dump(value, file, protocol=5)
    with path.open("rb") as file:
        return pickle.load(file)


def vortex_table(table: Any, path: Path) -> Any:
    """A pyarrow table through a file of Vortex."""
    import vortex

    vortex.io.write(table, str(path))
    return vortex.open(str(path)).to_arrow().read_all()


def feather_table(table: Any, path: Path) -> Any:
    """A pyarrow table through a file of Feather."""
    from pyarrow import feather

    feather.write_feather(table, str(path))
    return feather.read_table(str(path))


def parquet_table(table: Any, path: Path) -> Any:
    """A pyarrow table through a file of Parquet."""
    import pyarrow.parquet as pq

    pq.write_table(table, path)
    return pq.read_table(path)
