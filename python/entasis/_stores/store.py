"""A bucket, a container or a server, through the library that is installed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from entasis.errors import ArgumentError

if TYPE_CHECKING:
    from .address import Address
    from .reader import Reader

# A put in one piece takes 5 GiB at most, on all stores.
LARGEST_PUT = 5 << 30
INSTALL = 'pip install "entasis[cloud]"'


class Entry(NamedTuple):
    """An object in a folder: its path within the folder, its size, and its identity or ''."""

    path: str
    size: int
    identity: str


class Store:
    """A bucket, a container or a server.

    Attributes
    ----------
    can_create
        Whether an object can be created without ever replacing another one.
    """

    can_create = False

    def reader(self, address: Address) -> Reader:
        """Return an object that is read by ranges. This sends no request."""
        raise NotImplementedError

    def put(self, address: Address, content: Content) -> None:
        """Write an object as a whole; the object is visible when everything is there."""
        raise NotImplementedError

    def create(self, address: Address, content: bytes) -> None:
        """Write an object in one request, unless one of this name exists."""
        raise NotImplementedError

    def entries(self, address: Address, prefix: str) -> list[Entry]:
        """The objects in a folder whose path within it begins with a prefix, in all its folders."""
        raise NotImplementedError

    def delete(self, address: Address) -> None:
        """Delete an object. This succeeds, too, if the object does not exist."""
        raise NotImplementedError


def length(content: Content) -> int:
    """The number of bytes of a content to write."""
    return os.stat(content).st_size if isinstance(content, os.PathLike) else len(memoryview(content))


def check_writable(address: Address) -> None:
    """Refuse to write, list and delete on servers that are only read."""
    if address.kind == "http":
        raise ArgumentError(f"{address}: the web is only read; write to a store, such as s3://, gs:// or az://")
    if address.kind == "hf":
        raise ArgumentError(f"{address}: Hugging Face is only read; write a file, and upload it with huggingface_hub")


if TYPE_CHECKING:
    # Bytes, or the path of a local file.
    Content = bytes | bytearray | memoryview | os.PathLike[str]
else:
    Content = Any
