"""A bucket, a container or a server, through the library that is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from entasis.errors import ArgumentError

from .reader import Stat

if TYPE_CHECKING:
    from .address import Address
    from .content import Body
    from .reader import Reader

# A put in one piece takes 5 GiB at most, on all stores.
LARGEST_PUT = 5 << 30
INSTALL = 'pip install "entasis[cloud]"'


class Entry(NamedTuple):
    """An object in a folder.

    Attributes
    ----------
    path
        Its path within the folder.
    size
        The bytes of the object.
    identity
        Its ETag, version or time of change; empty if the list has none.
    modified
        When it was written, in seconds since 1970 by the clock of the store; infinite if the list
        does not say.
    """

    path: str
    size: int
    identity: str
    modified: float

    @property
    def stat(self) -> Stat:
        """The size and the identity."""
        return Stat(self.size, self.identity)


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

    def put(self, address: Address, body: Body, size: int) -> None:
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


def check_writable(address: Address) -> None:
    """Refuse to write, list and delete on servers that are only read."""
    if address.kind == "http":
        raise ArgumentError(f"{address}: the web is only read; write to a store, such as s3://, gs:// or az://")
    if address.kind == "hf":
        raise ArgumentError(f"{address}: Hugging Face is only read; write a file, and upload it with huggingface_hub")
