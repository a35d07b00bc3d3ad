"""Sources of conversions that are at addresses of stores."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from entasis._arguments import sources as _sources
from entasis._arguments.secrets import is_encrypted
from entasis._dataset.files import on_store
from entasis._dataset.manifest import exists, newest_source
from entasis._dataset.scan import scan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from entasis._arguments.secrets import Secret
    from entasis._stores.listing import Folder


@contextmanager
def brought(
    source: Any,
    storage_options: Mapping[str, Any] | None = None,
    credentials: Callable[[], Any] | None = None,
    secret: Secret | None = None,
) -> Iterator[Any]:
    """Prepare a source for the conversions, in a `with` block.

    The address of a folder becomes a scan, which `secret` opens if it is encrypted, and that of an
    object the path of a copy on the disk. Other sources stay as they are.
    """
    if not _sources.is_address(source):
        yield source
    elif (folder := _sources.folder_on_store(source, storage_options, credentials, may_be_file=True)) is not None:
        opens: Any = secret if secret is not None and _is_encrypted(folder) else None
        yield scan(source, storage_options=storage_options, credentials=credentials, key=opens)
    else:
        with _sources.fetched(_sources.remote(source, storage_options, credentials)) as path:
            yield path


def _is_encrypted(folder: Folder) -> bool:
    """Whether the table of a folder on a store is encrypted: its manifest, or else its first file."""
    if exists(folder.name, folder):
        return is_encrypted(newest_source(folder.name, folder))
    first = next((entry.path for entry in on_store(folder)), None)
    return first is not None and is_encrypted(folder.open(first))
