"""Finds the files of a table: a folder, a pattern, or a list of paths."""

from __future__ import annotations

import glob
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from entasis import _entasis
from entasis._arguments import sources as _sources
from entasis._arguments.options import shown
from entasis.errors import ArgumentError, MissingFileError

from . import manifest as _manifest
from .keys import NONE, TYPES, Keys

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .manifest import Manifest

_MARKS = "*?["


class Pin(NamedTuple):
    """The state of a file that is part of a table: its facts in the manifest."""

    length: int
    end: bytes
    generation: int
    n_rows: int
    is_counted: bool | None


class Files(NamedTuple):
    """Files in their order.

    Attributes
    ----------
    name
        Their name in messages.
    paths
        Their paths.
    keys
        The keys in the paths.
    pins
        The states of the files; None without a manifest.
    """

    name: str
    paths: list[str]
    keys: Keys
    pins: list[Pin] | None = None

    def of(self, numbers: Sequence[int]) -> Files:
        """Some of the files."""
        pins = None if self.pins is None else [self.pins[i] for i in numbers]
        return Files(self.name, [self.paths[i] for i in numbers], self.keys.of(numbers), pins)


def of_manifest(manifest: Manifest) -> Files:
    """The files of a manifest."""
    pins = [Pin(*each) for each in zip(*map(manifest.column, Pin._fields), strict=True)]
    return Files(manifest.folder, manifest.paths(), manifest.keys, pins)


def files(
    source: Any, hive: bool | Mapping[str, str] | None, *, has_manifest: bool = True
) -> tuple[Files, Manifest | None]:
    """The files of a source, and its manifest.

    Parameters
    ----------
    source
        The path of a folder or a file, a pattern, or a list of paths and patterns.
    hive
        Whether folders named `key=value` are keys; None: those below a folder are. A mapping gives
        types to keys.
    has_manifest
        Whether a manifest says which files are the table.
    """
    types = _types_of(hive)
    if isinstance(source, (list, tuple)):
        paths = [path for one in source for path in _expanded(_sources.path(one))]
        if not paths:
            raise ArgumentError("the list of files is empty: pass one or more paths")
        name = paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
        if has_manifest:
            _refuse_manifests(paths)
        return Files(name, paths, _keys(paths, types) if hive else NONE), None
    path = _sources.path(source)
    if not os.path.isdir(path):
        paths = _expanded(path)
        if has_manifest and paths != [path]:
            _refuse_manifests(paths)
        return Files(path, paths, _keys(paths, types) if hive else NONE), None
    if has_manifest and (manifest := _manifest.newest(path)) is not None:
        if types:
            raise ArgumentError(f"hive: the manifest of {shown(path, 200)} has the types of its keys")
        return of_manifest(manifest), manifest
    names = _entasis.folder_files(path)
    if not names:
        raise MissingFileError(f"the folder {path[:200]!r} has no file whose name ends in .entasis")
    paths = [os.path.join(path, *name.split("/")) for name in names]
    return Files(path, paths, NONE if hive is False else _keys(names, types)), None


def _refuse_manifests(paths: list[str]) -> None:
    """Refuse files of a folder whose manifest says which of its files are the table."""
    seen = set()
    for path in paths:
        folder = os.path.dirname(os.path.abspath(path))
        while folder not in seen:
            seen.add(folder)
            if _manifest.newest_number(folder) is not None:
                raise ArgumentError(
                    f"{shown(folder, 200)} is a data set, whose manifest says which files are its table: scan the "
                    "folder, or pass manifest=False"
                )
            folder = os.path.dirname(folder)


def _types_of(hive: Any) -> list[tuple[str, str]]:
    if hive is None or isinstance(hive, bool):
        return []
    if not hasattr(hive, "items"):
        raise ArgumentError(f"hive={shown(hive)}: True, False, or a mapping of keys to types")
    for name, kind in hive.items():
        if not isinstance(name, str) or kind not in TYPES:
            raise ArgumentError(f"hive: {shown(name)} is {shown(kind)}: a key is 'int64', 'date' or 'string'")
    return list(hive.items())


def _keys(paths: list[str], types: list[tuple[str, str]]) -> Keys:
    return Keys(*_entasis.path_keys([path.replace(os.sep, "/") for path in paths], types))


def _expanded(path: str) -> list[str]:
    """The paths of a pattern in the order of their bytes, or a path itself."""
    if os.path.lexists(path) or not any(mark in path for mark in _MARKS):
        if os.path.isdir(path):
            raise ArgumentError(f"{shown(path)} is a folder: pass it alone, or its files")
        return [path]
    found = [name for name in glob.glob(path, recursive=True) if not os.path.isdir(name)]
    if not found:
        raise MissingFileError(f"no file matches the pattern {path[:200]!r}")
    return sorted(found, key=os.fsencode)
