"""Reads the folder of an address that names no object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis.errors import MissingFileError

from .scan import scan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from entasis._filter.conditions import Filter

    from .scan import FolderScan


def scan_at(
    address: str,
    missing: MissingFileError,
    columns: Any,
    rows: Any,
    filter: Filter | None,
    storage_options: Mapping[str, Any] | None,
    credentials: Callable[[], Any] | None,
    key: Any = None,
    password: str | None = None,
) -> FolderScan:
    """Scan the folder at an address.

    Raises
    ------
    MissingFileError
        `missing`, the error about the object, if no folder is there either.
    """
    try:
        return scan(
            address,
            columns=columns,
            filter=filter,
            rows=rows,
            storage_options=storage_options,
            credentials=credentials,
            key=key,
            password=password,
        )
    except MissingFileError:
        raise missing from None
