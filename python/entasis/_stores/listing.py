"""A folder on a store, with what data sets need."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from entasis.errors import MissingFileError

from . import failures
from .address import parse
from .library import store_of
from .options import Options
from .remote import open_listed
from .store import check_writable
from .writing import create, put_to

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .address import Address
    from .content import Content
    from .reader import Stat
    from .remote import Remote
    from .store import Entry, Store


class Folder:
    """A folder on a store. Paths are relative to it.

    Parameters
    ----------
    address
        The address of the folder.
    options
        Options of the store.

    Raises
    ------
    ArgumentError
        The address is on the web or on Hugging Face, which give no list of files.
    """

    def __init__(self, address: Address, options: Options) -> None:
        check_writable(address)
        self._address, self._options = address, options
        self._store: Store | None = None

    @classmethod
    def at(cls, text: str, storage_options: Mapping[str, Any] | None, credentials: Callable[[], Any] | None) -> Folder:
        """The folder at an address."""
        return cls(parse(text, is_folder=True), Options(storage_options, credentials))

    @classmethod
    def unless_file(
        cls, text: str, storage_options: Mapping[str, Any] | None, credentials: Callable[[], Any] | None
    ) -> Folder | None:
        """The folder at an address; None for an object, or on the web. Objects can have any name."""
        address, options = parse(text, is_folder=True), Options(storage_options, credentials)
        if address.kind in ("http", "hf"):
            return None
        if address.path and not address.path.endswith("/"):
            with suppress(MissingFileError):
                failures.guarded(address, "read", lambda: store_of(address, options).reader(address).stat())
                return None
        return cls(address, options)

    @property
    def name(self) -> str:
        """The address for messages, without secrets."""
        return self._address.shown

    def __repr__(self) -> str:
        return f"Folder({self.name!r})"

    def __reduce__(self) -> Any:
        return Folder, (self._address, self._options)

    @property
    def can_create(self) -> bool:
        """Whether `create` never replaces an object."""
        return self._of().can_create

    def list(self, prefix: str = "") -> list[Entry]:
        """The objects whose path begins with a prefix, in all folders, in the order of their paths.

        A folder that does not exist has no objects. This takes a request per 1,000 objects.
        """
        entries = failures.guarded(self._address, "list", self._of().entries, self._address, prefix)
        return sorted(entries, key=lambda entry: entry.path.encode("utf-8", "surrogateescape"))

    def open(self, path: str, listed: Stat | None = None) -> Remote:
        """Open an object, which is read by ranges.

        If `listed`, its size and identity in a list, says that it is short, it is read whole by one
        request.
        """
        return open_listed(self._of(), self._address.join(path), self._options, listed)

    def read(self, path: str) -> bytes:
        """The content of an object.

        Raises
        ------
        MissingFileError
            The object does not exist.
        """
        remote = self.open(path)
        if remote.size == memoryview(remote.tail).nbytes:
            return bytes(remote.tail)
        return bytes(remote.read_at(0, remote.size))

    def create(self, path: str, content: Content) -> None:
        """Write an object that does not exist, in one request.

        Raises
        ------
        ExistingFileError
            The object exists.
        """
        create(self._of(), self._address.join(path), content)

    def put(self, path: str, content: Content) -> None:
        """Write an object, and replace one of this path."""
        put_to(self._of(), self._address.join(path), content)

    def delete(self, path: str) -> None:
        """Delete an object, or do nothing if it does not exist."""
        address = self._address.join(path)
        failures.guarded(address, "delete", self._of().delete, address)

    def _of(self) -> Store:
        if self._store is None:
            self._store = failures.guarded(self._address, "list", store_of, self._address, self._options)
        return self._store
