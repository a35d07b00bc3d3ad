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
    from collections.abc import Callable, Mapping, Sequence

    from entasis._arguments.secrets import Secret
    from entasis._arguments.sources import Source
    from entasis._stores.listing import Folder
    from entasis._stores.reader import Stat
    from entasis._stores.store import Entry

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
    store
        The folder on a store that has the files; None on the disk. `names` are their paths in it.
    listed
        The sizes of these objects, and their identities as far as a list reported them; None if the
        folder was not listed.
    secret
        What opens encrypted files; None for plain ones.
    """

    name: str
    paths: list[str]
    keys: Keys
    pins: list[Pin] | None = None
    store: Folder | None = None
    names: list[str] | None = None
    listed: list[Stat] | None = None
    secret: Secret | None = None

    def of(self, numbers: Sequence[int]) -> Files:
        """Some of the files."""
        pins = None if self.pins is None else [self.pins[i] for i in numbers]
        names = None if self.names is None else [self.names[i] for i in numbers]
        listed = None if self.listed is None else [self.listed[i] for i in numbers]
        paths = [self.paths[i] for i in numbers]
        return Files(self.name, paths, self.keys.of(numbers), pins, self.store, names, listed, self.secret)

    def length(self, number: int) -> int:
        """The bytes of a file."""
        return os.path.getsize(self.paths[number]) if self.listed is None else self.listed[number].size

    def source(self, number: int) -> Source:
        """The source of a file: its path, or its object on a store."""
        if self.store is None or self.names is None:
            return self.paths[number]
        return self.store.open(self.names[number], listed=None if self.listed is None else self.listed[number])


def of_manifest(manifest: Manifest) -> Files:
    """The files of a manifest."""
    names, *facts = manifest.columns(["path", *Pin._fields])
    pins = list(map(Pin._make, zip(*facts, strict=True)))
    paths = manifest.paths(names)
    if manifest.store is None:
        return Files(manifest.folder, paths, manifest.keys, pins, secret=manifest.secret)
    from entasis._stores.reader import Stat

    # The lengths of encrypted files are those before encryption.
    listed = [Stat(pin.length, "") for pin in pins] if manifest.secret is None else None
    return Files(manifest.folder, paths, manifest.keys, pins, manifest.store, names, listed, manifest.secret)


def files(
    source: Any,
    hive: bool | Mapping[str, str] | None,
    *,
    has_manifest: bool = True,
    storage_options: Mapping[str, Any] | None = None,
    credentials: Callable[[], Any] | None = None,
    secret: Secret | None = None,
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
    storage_options, credentials
        Options of a store, for addresses.
    secret
        What opens encrypted files. The password of files without a manifest is derived for each.
    """
    types = _types_of(hive)
    if _sources.is_address(source):
        return _on_store(source, hive, types, has_manifest, storage_options, credentials, secret)
    _sources.refuse_options(storage_options, credentials)
    if isinstance(source, (list, tuple)):
        paths = [path for one in source for path in _expanded(_sources.path(one))]
        if not paths:
            raise ArgumentError("the list of files is empty: pass one or more paths")
        name = paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
        if has_manifest:
            _refuse_manifests(paths)
        return Files(name, paths, _keys(paths, types) if hive else NONE, secret=secret), None
    path = _sources.path(source)
    if not os.path.isdir(path):
        paths = _expanded(path)
        if has_manifest and paths != [path]:
            _refuse_manifests(paths)
        return Files(path, paths, _keys(paths, types) if hive else NONE, secret=secret), None
    if has_manifest and (manifest := _manifest.newest(path, None, secret)) is not None:
        if types:
            raise ArgumentError(f"hive: the manifest of {shown(path, 200)} has the types of its keys")
        return of_manifest(manifest), manifest
    names = _entasis.folder_files(path)
    if not names:
        raise MissingFileError(f"the folder {path[:200]!r} has no file whose name ends in .entasis")
    paths = [os.path.join(path, *name.split("/")) for name in names]
    return Files(path, paths, NONE if hive is False else _keys(names, types), secret=secret), None


def _on_store(
    address: str,
    hive: bool | Mapping[str, str] | None,
    types: list[tuple[str, str]],
    has_manifest: bool,
    storage_options: Mapping[str, Any] | None,
    credentials: Callable[[], Any] | None,
    secret: Secret | None,
) -> tuple[Files, Manifest | None]:
    """The files of a folder on a store, or one object."""
    from entasis._stores.listing import Folder

    if address.endswith(".entasis"):
        above, _, name = address.rpartition("/")
        store = Folder.at(above, storage_options, credentials)
        path = _manifest.joined(store.name, name)
        return Files(path, [path], _keys([name], types) if hive else NONE, None, store, [name], None, secret), None
    store = Folder.at(address, storage_options, credentials)
    if has_manifest and (manifest := _manifest.newest(store.name, store, secret)) is not None:
        if types:
            raise ArgumentError(f"hive: the manifest of {shown(store.name, 200)} has the types of its keys")
        return of_manifest(manifest), manifest
    return without_manifest(store, hive, types, secret), None


def without_manifest(
    store: Folder,
    hive: bool | Mapping[str, str] | None,
    types: list[tuple[str, str]],
    secret: Secret | None = None,
) -> Files:
    """The files of a folder on a store that has no manifest. `types` are those that `hive` gives keys."""
    entries = on_store(store)
    if not entries:
        raise MissingFileError(f"the folder {store.name[:200]!r} has no object whose name ends in .entasis")
    names, listed = [entry.path for entry in entries], [entry.stat for entry in entries]
    paths = [_manifest.joined(store.name, name) for name in names]
    return Files(store.name, paths, NONE if hive is False else _keys(names, types), None, store, names, listed, secret)


def on_store(store: Folder) -> list[Entry]:
    """The files of a folder on a store, as `folder_files` finds those on the disk."""
    return [entry for entry in store.list() if _is_of_table(entry.path)]


def _is_of_table(name: str) -> bool:
    """Whether an object below a folder is one of its files, by its name."""
    return name.endswith(".entasis") and not any(part.startswith(("_", ".")) for part in name.split("/"))


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
