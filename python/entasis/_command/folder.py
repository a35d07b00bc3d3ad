"""Changes folders for the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._dataset import clean as _clean
from entasis._dataset import maintain, manifest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from entasis._stores.listing import Folder


def compact(inputs: Sequence[str | bytes], options: dict[str, Any]) -> dict[str, Any]:
    """Join the files of a folder. Returns how many files there are and were."""
    (folder,) = map(str, inputs)
    before = n_files(folder)
    maintain.compact(folder, None, None, options["wait"], None)
    return {"n_files": n_files(folder), "n_files_before": before}


def clean(inputs: Sequence[str | bytes], options: dict[str, Any]) -> dict[str, Any]:
    """Delete files of a folder. Returns their paths."""
    (folder,) = map(str, inputs)
    return {"removed": _clean.clean(folder, older_than=options["older_than"])}


def n_files(folder: str, store: Folder | None = None) -> int:
    """The number of files of the table of a folder; 0 without a manifest."""
    found = manifest.newest(folder, store)
    return 0 if found is None else found.file.n_rows
