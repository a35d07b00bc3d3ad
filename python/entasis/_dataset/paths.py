"""Paths in a manifest: relative, and below the folder."""

from __future__ import annotations

import os

from entasis._arguments.options import shown
from entasis.errors import CorruptFileError

_DEVICES = frozenset(["CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(1, 10))])


def below(folder: str, path: str, manifest: str) -> str:
    """The path of a file that a manifest names.

    Raises
    ------
    CorruptFileError
        The path could lead out of the folder, or means a device.
    """
    parts = path.split("/")
    is_odd = not path or "\\" in path or "\0" in path or ":" in path
    if is_odd or any(part in ("", ".", "..") or _is_device(part) for part in parts):
        raise _damaged(path, manifest)
    return os.path.join(folder, *parts)


def check_links(folder: str, path: str) -> None:
    """Check that no link leads from a path below a folder to a place out of it.

    Raises
    ------
    CorruptFileError
        A link does.
    """
    root = os.path.realpath(folder)
    if os.path.commonpath([root, os.path.realpath(path)]) != root:
        raise _damaged(path, path)


def _is_device(part: str) -> bool:
    """Whether Windows takes a name for a device, whatever its suffix."""
    return part.partition(".")[0].rstrip().upper() in _DEVICES


def _damaged(path: str, manifest: str) -> CorruptFileError:
    error = CorruptFileError(
        f"the manifest names a path out of its folder, {shown(path, 200)}: it is damaged or forged"
    )
    error.file = manifest
    return error
