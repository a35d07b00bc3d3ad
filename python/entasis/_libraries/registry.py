"""The hosts, and the modules of this package for each. They are imported when they are needed."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any, Literal

from entasis._arguments.options import shown
from entasis._columns.text import is_text
from entasis._host_map import interpretation
from entasis.errors import ArgumentError, MissingLibraryError

from . import library_errors, streams

Host = Literal["pandas", "polars", "pyarrow", "numpy", "static_frame"]
HOSTS: tuple[Host, ...] = ("pandas", "polars", "pyarrow", "numpy", "static_frame")

# Libraries whose columns can have NaN apart from missing values, best first.
_EXACT: tuple[Host, ...] = ("pyarrow", "polars")

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


# Modules of this package whose import is complete.
_loaded: dict[str, Any] = {}


def is_frame(value: Any) -> bool:
    """Whether a value of a library with frames is written as a table."""
    kind = type(value)
    root = kind.__module__.partition(".")[0]
    if root not in streams.FRAME_ROOTS:
        return False
    return kind.__name__ == "DataFrame" or bool(writer(root).is_table(value))


def is_columns(value: dict[Any, Any]) -> bool:
    """Whether a dict is written as a table: strings, with arrays of one axis and equal length."""
    if not value:
        return True
    if "numpy" not in sys.modules:
        return False
    import numpy as np

    n = None
    for array in value.values():
        # Stops at the first value that does not fit, so that large dicts of other values cost
        # nothing.
        if type(array) is not np.ndarray or array.ndim != 1 or len(array) != (len(array) if n is None else n):
            return False
        n = len(array)
    return all(type(name) is str and is_text(name) for name in value)


def collect(value: Any) -> Any:
    """Collect a stream, such as a record batch reader, or a dataset into a pyarrow table.

    All other values are returned unchanged.
    """
    if streams.is_dataset(value):
        return value.to_table()
    return streams.table(value) if streams.is_stream(value) else value


def build(value: Any) -> tuple[Any, dict[str, Any]]:
    """Return a builder with the columns of a frame or dict of arrays, and the host map."""
    root = "numpy" if type(value) is dict else type(value).__module__.partition(".")[0]
    host = writer(root)
    try:
        return host.build(value)  # type: ignore[no-any-return]
    except BaseException as error:
        if library_errors.library_of(error) is None:
            raise
        from . import frame_columns

        columns = frame_columns.of(value) or ()
        parts = ((name, partial(host.build, one)) for name, _, one in columns)
        raise library_errors.of_column(error, parts) from error


def without_index(value: Any) -> Any:
    """A frame or series with positions as row labels. It shares the columns."""
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
    """Convert a frame to the series, index or array that its own host wrote."""
    if "class" not in host or written_by in (None, "static_frame") or to not in (None, written_by):
        return value
    with interpretation():
        return writer(str(written_by)).restore(value, host)


def read_whole(handle: Any, host: dict[str, Any], threads: int | None, *, to_store: bool = False) -> Any:
    """Read a whole table as the kind of value that was written, or `to_store` it again."""
    found = host.get("host")
    written_by = found if isinstance(found, str) else None
    to = to_store_again(written_by) if to_store else None
    found = library_errors.read(reader(to, written_by), handle, host, None, None, threads)
    return restore(found, host, written_by, None)


def writer(host: str) -> Any:
    """The module of a host that writes."""
    return _module(_WRITERS[host])


def host_of(to: str | None, written_by: str | None) -> str:
    """The host `to`; by default the file's host, or else an installed one."""
    if to is not None and to not in HOSTS:
        raise ArgumentError(f"to={shown(to)} is not known: one of {', '.join(map(repr, HOSTS))}")
    known = written_by if written_by in HOSTS else None
    return to or known or next(filter(is_installed, HOSTS))


def is_foreign(written_by: str | None) -> bool:
    """Whether no library of Python wrote a table."""
    return written_by not in HOSTS


def to_store_again(written_by: str | None) -> str:
    """The library that reads a table to store it again: its own, or one that keeps all its values."""
    if not is_foreign(written_by):
        return str(written_by)
    for host in _EXACT:
        if is_installed(host):
            return host
    raise MissingLibraryError(
        "to store a table again that was not written from Python, pyarrow or Polars is needed, because pandas makes "
        "NaN a missing value: pip install pyarrow; or read it first, and write the result"
    )


def reader(to: str | None, written_by: str | None) -> Any:
    """The module that reads into the host `to`, by default the file's host."""
    to = host_of(to, written_by)
    found = _loaded.get(_READERS[to])
    if found is not None and sys.modules.get(to) is not None:
        return found
    from importlib import import_module

    try:
        import_module(to)
    except ImportError as error:
        others = [host for host in HOSTS if host != to and is_installed(host)]
        hint = f", or read with to={others[0]!r}" if others else ""
        raise MissingLibraryError(f"{to} is needed and can't be imported ({error}): pip install {to}{hint}") from error
    return _module(_READERS[to])


def is_installed(host: Host) -> bool:
    """Whether a library can be imported."""
    from importlib.util import find_spec

    return find_spec(host) is not None


def _module(name: str) -> Any:
    """Import a module. `sys.modules` may hold it while another thread still imports it."""
    found = _loaded.get(name)
    if found is None:
        from importlib import import_module

        found = _loaded[name] = import_module(name)
    return found
