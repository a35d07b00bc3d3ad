"""Paths in a manifest: relative, and below the folder."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from entasis._arguments.options import shown
from entasis.errors import CorruptFileError

if TYPE_CHECKING:
    from collections.abc import Sequence

_DEVICES = frozenset(["CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(1, 10))])
# A part of a path that is empty, hidden, leads up, or may be the name of a device.
_ODD = re.compile(rf"/(?:[/_.]|\Z|(?:{'|'.join(sorted(_DEVICES))})\s*(?:[/.]|\Z))", re.IGNORECASE)


def below(folder: str, names: Sequence[str], manifest: str) -> list[str]:
    """The paths of the files that a manifest names.

    Raises
    ------
    CorruptFileError
        A path could lead out of the folder, means a device, is hidden, or occurs twice.
    """
    if not _are_plain(names):
        _refuse(names, manifest)
    start = os.path.join(folder, "")
    return [start + name for name in names] if os.sep == "/" else [start + name.replace("/", os.sep) for name in names]


def _are_plain(names: Sequence[str]) -> bool:
    """Whether all names are allowed, by one look at all of them."""
    text = "/".join(names)
    if any(mark in text for mark in "\0\\:") or len({os.path.normcase(name) for name in names}) < len(names):
        return False
    return not names or _ODD.search("/" + text) is None


def _refuse(names: Sequence[str], manifest: str) -> None:
    """Raise the error of the first name that is not allowed."""
    known = set()
    for name in names:
        parts = name.split("/")
        is_odd = not name or "\\" in name or "\0" in name or ":" in name
        if is_odd or any(part in ("", ".", "..") or _is_device(part) for part in parts):
            raise damaged(f"the manifest names a path out of its folder, {shown(name, 200)}", manifest)
        if any(part.startswith(("_", ".")) for part in parts):
            raise damaged(f"the manifest names {shown(name, 200)}, and no file of a table begins with _ or .", manifest)
        same = os.path.normcase(name)
        if same in known:
            raise damaged(f"the manifest names {shown(name, 200)} twice", manifest)
        known.add(same)


def check_links(folder: str, path: str) -> None:
    """Check that no link leads from a path below a folder to a place out of it.

    Raises
    ------
    CorruptFileError
        A link does.
    """
    root, real = os.path.realpath(folder), os.path.realpath(path)
    try:
        is_inside = os.path.commonpath([root, real]) == root
    except ValueError:
        # Another drive.
        is_inside = False
    if not is_inside:
        error = CorruptFileError(
            f"a link leads from {shown(path, 200)} out of its folder, and a data set has no files elsewhere: copy them"
        )
        error.file = path
        raise error


def is_linked(folder: str, path: str) -> bool:
    """Whether a link is among the folders between a folder and a path below it."""
    between = os.path.relpath(os.path.dirname(path), folder)
    return os.path.realpath(os.path.join(folder, between)) != os.path.normpath(
        os.path.join(os.path.realpath(folder), between)
    )


def damaged(said: str, manifest: str) -> CorruptFileError:
    """The error for a manifest that can't be right."""
    error = CorruptFileError(f"{said}: it is damaged or forged")
    error.file = manifest
    return error


def _is_device(part: str) -> bool:
    """Whether Windows takes a name for a device, whatever its suffix."""
    return part.partition(".")[0].rstrip().upper() in _DEVICES
