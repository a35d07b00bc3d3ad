"""The keys by which the files of a data set are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entasis import _entasis
from entasis._arguments.secrets import known
from entasis._entasis import Password
from entasis._write import destination, write_whole

if TYPE_CHECKING:
    from entasis._arguments.secrets import Secret
    from entasis._entasis import Key

    from .manifest import Manifest


def of_manifest(manifest: Manifest) -> Key | None:
    """The key of new files of a data set; None for a plain one. A password opens them too, if it did."""
    if manifest.secret is None:
        return None
    table = manifest.file._view.table
    return _entasis.unlock(table.path if table.content is None else table.content, known(manifest.secret))


def of_new_data_set(secret: Secret | None) -> Key | None:
    """The key of a new data set: that of a password is derived once for all of its files."""
    found = known(secret)
    if not isinstance(found, Password):
        return found
    content = write_whole({}, destination(None, 0, 1, False, 0, secret=found), None, "error")
    assert content is not None, "it is written into memory"
    return _entasis.unlock(content, found)
