"""The library that reads and writes a store: obstore, or else fsspec."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entasis.errors import MissingLibraryError

from .store import INSTALL

if TYPE_CHECKING:
    from .address import Address
    from .options import Options
    from .store import Store


def store_of(address: Address, options: Options) -> Store:
    """The store of an address: of obstore, or else of fsspec.

    Raises
    ------
    MissingLibraryError
        Neither library is installed, or fsspec's library for this store is not.
    """
    if address.kind != "memory":
        try:
            from ._obstore import ObstoreStore
        except ImportError:
            pass
        else:
            return ObstoreStore(address, options)
    try:
        from ._fsspec import FsspecStore
    except ImportError:
        pass
    else:
        return FsspecStore(address, options)
    raise MissingLibraryError(f"{address.kind}:// addresses need obstore, which is not installed: {INSTALL}")
