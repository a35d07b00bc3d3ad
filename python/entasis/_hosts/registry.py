"""Which library a value belongs to, and which modules of ours know it. Libraries are imported when they are needed."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, Literal

from entasis._arguments.options import shown
from entasis._columns.names import is_text
from entasis._host_map import interpretation
from entasis.errors import ArgumentError, MissingLibraryError

Host = Literal["pandas", "polars", "pyarrow", "numpy", "static_frame"]
HOSTS: tuple[Host, ...] = ("pandas", "polars", "pyarrow", "numpy", "static_frame")

_WRITERS = {
    "pandas": "entasis._hosts.pandas.write",
    "polars": "entasis._hosts.arrow.polars",
    "pyarrow": "entasis._hosts.arrow.pyarrow",
    "numpy": "entasis._hosts.numpy.write",
    "static_frame": "entasis._hosts.static_frame.write",
}
_READERS = _WRITERS | {
    "pandas": "entasis._hosts.pandas.read",
    "numpy": "entasis._hosts.numpy.read",
    "static_frame": "entasis._hosts.static_frame.read",
}


# Libraries that have frames.
_FRAME_ROOTS = frozenset(("pandas", "polars", "pyarrow", "static_frame"))

# Modules of ours that were imported to their end.
_loaded: dict[str, Any] = {}


def is_frame(value: Any) -> bool:
    """Whether a value is written as a table: a frame, series or index of a library, or an array that it has."""
    kind = type(value)
    root = kind.__module__.partition(".")[0]
    if root not in _FRAME_ROOTS:
        return False
    return kind.__name__ == "DataFrame" or bool(writer(root).is_table(value))


def is_columns(value: dict[Any, Any]) -> bool:
    """Whether a dict is a table of NumPy: names, and arrays of one dimension and one length."""
    if not value:
        return True
    if "numpy" not in sys.modules:
        return False
    import numpy as np

    n = None
    for array in value.values():
        # The first value mostly tells: large dicts are of other things.
        if type(array) is not np.ndarray or array.ndim != 1 or len(array) != (len(array) if n is None else n):
            return False
        n = len(array)
    return all(type(name) is str and is_text(name) for name in value)


def collect(value: Any) -> Any:
    """A table of pyarrow for what streams one: a reader of record batches, a relation of DuckDB, a dataset.

    Frames are left as they are. So are their subclasses, which have state that a stream does not carry.
    """
    kind = type(value)
    if not hasattr(kind, "__arrow_c_stream__") and not hasattr(kind, "to_table"):
        return value
    roots = {base.__module__.partition(".")[0] for base in kind.__mro__}
    if roots & _FRAME_ROOTS and (kind.__module__.partition(".")[0] != "pyarrow" or is_frame(value)):
        return value
    if not hasattr(kind, "__arrow_c_stream__"):
        return value.to_table() if "pyarrow" in roots else value
    try:
        import pyarrow as pa
    except ImportError as error:
        message = f"pyarrow is needed to write a {kind.__name__}, and can't be imported ({error}): pip install pyarrow"
        raise MissingLibraryError(message) from error
    return pa.table(value)


def build(value: Any) -> tuple[Any, dict[str, Any]]:
    """A builder with the columns of a frame or dict of arrays, and what is kept beside them."""
    root = "numpy" if type(value) is dict else type(value).__module__.partition(".")[0]
    return writer(root).build(value)  # type: ignore[no-any-return]


def without_index(value: Any) -> Any:
    """A frame or series with the positions for labels of rows. Its columns are shared."""
    root = "numpy" if type(value) is dict and is_columns(value) else type(value).__module__.partition(".")[0]
    if root in ("polars", "pyarrow", "numpy"):
        return value
    if root == "pandas" and hasattr(value, "index"):
        import pandas as pd

        value = value.copy(deep=False)
        value.index = pd.RangeIndex(len(value))
        return value
    if root == "static_frame" and hasattr(value, "relabel") and hasattr(value, "index"):
        import static_frame as sf

        return value.relabel(sf.IndexAutoFactory)
    raise ArgumentError(f"index=False is for frames and series, not for {shown(value)}")


def restore(value: Any, host: dict[str, Any], written_by: str | None, to: str | None) -> Any:
    """What a table is the form of, for the host that wrote it."""
    if "class" not in host or written_by in (None, "static_frame") or to not in (None, written_by):
        return value
    with interpretation():
        return writer(str(written_by)).restore(value, host)


def read_whole(handle: Any, host: dict[str, Any], threads: int | None) -> Any:
    """A whole table as the kind of value that was written."""
    found = host.get("host")
    written_by = found if isinstance(found, str) else None
    return restore(reader(None, written_by).read(handle, host, None, None, threads), host, written_by, None)


def writer(host: str) -> Any:
    """The module with `build`."""
    return _module(_WRITERS[host])


def reader(to: str | None, written_by: str | None) -> Any:
    """The module with `read`, for the host asked for, or else the one that wrote the file."""
    if to is not None and to not in HOSTS:
        raise ArgumentError(f"to={to!r} is not known: one of {', '.join(map(repr, HOSTS))}")
    if to is None:
        known = written_by if written_by in HOSTS else None
        to = known or next(filter(_is_installed, HOSTS))
    found = _loaded.get(_READERS[to])
    if found is not None and sys.modules.get(to) is not None:
        return found
    try:
        import_module(to)
    except ImportError as error:
        others = [host for host in HOSTS if host != to and _is_installed(host)]
        hint = f", or read with to={others[0]!r}" if others else ""
        raise MissingLibraryError(f"{to} is needed and can't be imported ({error}): pip install {to}{hint}") from error
    return _module(_READERS[to])


def _is_installed(host: Host) -> bool:
    from importlib.util import find_spec

    return find_spec(host) is not None


def _module(name: str) -> Any:
    """A module of ours, whole. That of `sys.modules` may be one that another thread has begun to import."""
    found = _loaded.get(name)
    if found is None:
        found = _loaded[name] = import_module(name)
    return found
