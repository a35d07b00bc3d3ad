"""Facts about a file that a manifest has."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from entasis._open import open_value

from .bounds import Bounds, bounded, of_columns

if TYPE_CHECKING:
    from entasis._entasis import Key, Password
    from entasis._view.view import View


class FileFacts(NamedTuple):
    """A file of a manifest.

    Attributes
    ----------
    path
        The path relative to the folder, with `/`.
    length
        The bytes of the file; of an encrypted one those before encryption.
    end
        The last of these bytes, which have its id and its root checksum.
    generation
        The number of the generation.
    n_rows
        The number of rows.
    is_counted
        Whether the labels of rows are their numbers in the file, or a library counts rows itself.
        None in manifests of other writers, whose files have no labels.
    texts
        The texts of the keys; None is missing.
    bounds
        The bounds of columns, by name.
    """

    path: str
    length: int
    end: bytes
    generation: int
    n_rows: int
    is_counted: bool | None
    texts: tuple[str | None, ...]
    bounds: dict[str, Bounds]


def facts(folder: str, path: str, texts: tuple[str | None, ...], secret: Key | Password | None = None) -> FileFacts:
    """Open a file, and collect its facts."""
    file: Any = open_value(os.path.join(folder, *path.split("/")), secret)
    view: View = file._view
    length, end = view.handle.fingerprint()
    names, types = view.schema()
    # Labels need not be text, so columns are named by number.
    numbers = {name: number for number, name in enumerate(names)}
    of = bounded(names, types)
    found = dict(zip(of, of_columns(view, [numbers[name] for name in of]), strict=True))
    generation = view.handle.generation
    return FileFacts(path, length + len(end), end, generation, view.n_rows, first_label(view) == 0, texts, found)


def first_label(view: View) -> int | None:
    """The label of the first row of a file whose labels count rows; None for other labels."""
    has_index = view.written_by in ("pandas", "static_frame")
    spec = view.table.host.get("index") if has_index else None
    if spec is None or spec["kind"] == "auto":
        return 0
    return int(spec["start"]) if spec["kind"] == "range" and spec["step"] == 1 else None
