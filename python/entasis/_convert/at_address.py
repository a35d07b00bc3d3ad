"""Sources of conversions that are at addresses of stores."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from entasis._arguments import sources as _sources
from entasis._dataset.scan import scan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


@contextmanager
def brought(
    source: Any,
    storage_options: Mapping[str, Any] | None = None,
    credentials: Callable[[], Any] | None = None,
) -> Iterator[Any]:
    """Prepare a source for the conversions, in a `with` block.

    The address of a folder becomes a scan, that of an object the path of a copy on the disk. Other
    sources stay as they are.
    """
    if not _sources.is_address(source):
        yield source
    elif _sources.folder_on_store(source, storage_options, credentials, may_be_file=True) is not None:
        yield scan(source, storage_options=storage_options, credentials=credentials)
    else:
        with _sources.fetched(_sources.remote(source, storage_options, credentials)) as path:
            yield path
