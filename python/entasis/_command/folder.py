"""Opens folders on stores and changes folders for the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import sources as _sources
from entasis._dataset import clean as _clean
from entasis._dataset import maintain, manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from entasis._entasis import Key, Password
    from entasis._stores.listing import Folder


def on_store(address: str) -> Folder | None:
    """The folder at an address; None if that is the address of an object."""
    found: Folder | None = _sources.folder_on_store(address, None, None, may_be_file=True)
    return found


def compact(
    inputs: Sequence[str | bytes],
    options: dict[str, Any],
    progress: Callable[[int, int | None], Any],
    secret: Key | Password | None,
) -> dict[str, Any]:
    """Join the files of a folder. Returns how many files there are and were."""
    (folder,) = map(str, inputs)
    store = _sources.folder_on_store(folder, None, None, may_be_file=False)
    # Refuses the address of an object, which does not change in place.
    path = _sources.path(folder) if store is None else store.name
    before = _n_files(path, store, secret)
    maintain.compact(path, None, None, options["wait"], progress, store, secret)
    return {"folder": path, "n_files": _n_files(path, store, secret), "n_files_before": before}


def clean(
    inputs: Sequence[str | bytes],
    options: dict[str, Any],
    progress: Callable[[int, int | None], Any],
    secret: Key | Password | None,
) -> dict[str, Any]:
    """Delete files of a folder. Returns their paths."""
    (folder,) = map(str, inputs)
    key: Any = secret
    return {"removed": _clean.clean(folder, older_than=options["older_than"], key=key)}


def _n_files(folder: str, store: Folder | None, secret: Key | Password | None) -> int:
    """The number of files of the table of a folder; 0 without a manifest."""
    found = manifest.newest(folder, store, secret)
    return 0 if found is None else found.file.n_rows
