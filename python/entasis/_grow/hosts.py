"""The library whose rules a change of a file follows."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from entasis._arguments.options import shown
from entasis._file.file import File, is_frame
from entasis.errors import ArgumentError, UnsupportedTypeError

if TYPE_CHECKING:
    from entasis._tree.tree import Tree

    from .rules import Rules

_RULES = {
    "pandas": "entasis._grow.pandas",
    "polars": "entasis._grow.polars",
    "pyarrow": "entasis._grow.pyarrow",
    "numpy": "entasis._grow.numpy",
    "static_frame": "entasis._grow.static_frame",
}
_FRAMES = (None, "RecordBatch", "Frame", "FrameGO", "FrameHE")


def rules(host: str) -> Rules:
    """The rules of a library."""
    found: Rules = import_module(_RULES[host]).RULES
    return found


def host_of(file: File | Tree) -> str:
    """The library whose rules a file follows."""
    if not is_frame(file):
        value = file.read()
        if type(value).__module__ == "numpy" and hasattr(value, "ndim"):
            return "numpy"
        raise ArgumentError(
            f"the file holds {shown(value)}: rows can be appended to frames, series, indexes, arrays and dicts of "
            "arrays; write the file again for other values"
        )
    host = file._view.table.host.get("host")
    if host not in _RULES:
        raise UnsupportedTypeError(f"the file was written by {host}: append to it from there")
    return str(host)


def frame_of(value: File | Tree) -> File:
    """A file that holds a frame, whose columns can change."""
    if not is_frame(value):
        raise ArgumentError("the file does not hold a frame: entasis.update changes the keys of a dict")
    host = value._view.table.host
    if host.get("class") not in _FRAMES:
        raise ArgumentError(f"the file holds a {host['class']}, not a frame: write it again")
    if host.get("host") not in _RULES:
        raise UnsupportedTypeError(f"the file was written by {host.get('host')}: change it from there")
    return value
