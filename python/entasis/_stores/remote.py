"""An object that is open: its size, its first and last bytes, and reads of ranges."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeVar

from entasis.errors import ArgumentError, EntasisError, FileError

from . import failures
from .address import parse
from .footer import decoded
from .library import store_of
from .options import Options
from .reader import TAIL, Ignored, Opened, Replaced, Short

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .address import Address
    from .reader import Reader, Stat
    from .store import Store

_Result = TypeVar("_Result")


class Remote:
    """An object on a store that is read by ranges, from several threads at the same time.

    `open_address` and `objects.open_object` make these.

    Attributes
    ----------
    name
        The address for messages, without secrets.

    Notes
    -----
    A pickle has the address, the names of the options, the size and the identity. An unpickled
    object sends no request until bytes are read, and is the same object then or raises an error.
    """

    def __init__(self, reader: Reader | None, address: Address, options: Options | None, prefetch: int) -> None:
        self._reader, self._address, self._options = reader, address, options
        self._prefetch = prefetch
        # The store, if its folder is open, and the size that a list reported.
        self._store: Store | None = None
        # Ranges of a footer.
        self._kept: list[tuple[int, Any]] = []
        self._listed: Stat | None = None
        self._lock = threading.Lock()
        self._stat: Stat | None = None
        self._opened: Opened | None = None
        # Whether the object that is read is the one of the pickle.
        self._is_checked = True
        self.name = address.shown

    @classmethod
    def of(cls, reader: Reader, other: Remote, opened: Opened) -> Remote:
        """An object that is open already, and reads by another reader."""
        remote = cls(reader, other._address, None, other._prefetch)
        remote._stat, remote._opened = opened.stat, opened
        return remote

    def cut(self) -> Opened:
        """The size, the identity, and the first and last bytes: no more than `prefetch` bytes."""
        stat, head, tail = self._open()
        return Opened(stat, head, memoryview(tail)[-self._prefetch :] if self._prefetch else b"")

    def use(self, footer: Any) -> None:
        """Take the bytes of opening from a footer. The first request checks the identity."""
        stat, ((_, head), (_, tail), *self._kept) = decoded(footer)
        self._stat, self._opened = stat, Opened(stat, head, tail)

    def __repr__(self) -> str:
        return f"Remote({self.name!r})"

    def __reduce__(self) -> Any:
        if self._options is None:
            raise ArgumentError(f"{self.name} was opened from an object, which is not pickled: open an address instead")
        if self._address.has_secret:
            raise ArgumentError(
                f"{self.name} is not pickled, as its address can have a secret: open it in each process"
            )
        return _unpickled, (self._address.plain, self._options, self._known(), self._prefetch)

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self._known().size

    @property
    def identity(self) -> str:
        """The ETag, version or time of change; empty if the store has none."""
        return self._known().identity

    @property
    def head(self) -> Any:
        """The first 12,288 bytes, or all bytes of a shorter object, as a buffer."""
        return self._open().head

    @property
    def tail(self) -> Any:
        """The last `prefetch` bytes, or all bytes of a shorter object, as a buffer."""
        return self._open().tail

    @property
    def is_serial(self) -> bool:
        """Whether reads wait for each other, as those of an open file do."""
        return self._of().is_serial

    @property
    def parallel(self) -> int:
        """How many ranges are read at the same time with profit."""
        return self._of().parallel

    @property
    def n_requests(self) -> int:
        """How many requests were sent, without those that a library sent again."""
        return 0 if self._reader is None else self._reader.n_requests

    def read_at(self, offset: int, length: int) -> Any:
        """Read a range, and return it as a buffer of exactly this length.

        Other threads run meanwhile.

        Raises
        ------
        FileError
            The object was replaced since it was opened, or the store can't be reached.
        ArgumentError
            The range is not in the object.
        """
        stat = self._known()
        if offset < 0 or length < 0 or offset + length > stat.size:
            raise ArgumentError(f"{self.name}: bytes {offset:,} to {offset + length:,} are not in {stat.size:,} bytes")
        if length == 0:
            return b""
        for at, data in self._kept:
            if at <= offset and offset + length <= at + len(data):
                return data[offset - at : offset - at + length]
        reader = self._of()
        if not self._is_checked:
            self.check()
        return self._guarded(lambda: reader.read(offset, length, stat))

    def check(self) -> None:
        """Ask whether the object is still the one that was opened.

        This matters after a failed checksum, for sources that do not report it for each range.

        Raises
        ------
        FileError
            The object was replaced.
        """
        now = self._guarded(self._of().stat)
        if now != self._known():
            raise failures.replaced(self._address)
        self._is_checked = True

    def replaced(self) -> FileError | None:
        """The error of an object that was replaced since it was opened.

        None if it is the same, or if its store does not say. This decides what a failed checksum
        means where requests have no condition.
        """
        try:
            now = self._guarded(self._of().stat)
        except EntasisError:
            return None
        return None if now == self._known() else failures.replaced(self._address)

    def _known(self) -> Stat:
        return self._stat if self._stat is not None else self._open().stat

    def _of(self) -> Reader:
        if self._reader is None:
            with self._lock:
                if self._reader is None:
                    self._reader = self._guarded(self._new_reader)
                    self._is_checked = self._reader.verifies
        return self._reader

    def _new_reader(self) -> Reader:
        assert self._options is not None, "objects have a reader"
        store = self._store or store_of(self._address, self._options)
        return store.reader(self._address)

    def _open(self) -> Opened:
        reader = self._of()
        with self._lock:
            if self._opened is None:
                opened = self._guarded(lambda: reader.open(self._prefetch, self._listed))
                if self._stat is not None and self._stat != opened.stat:
                    raise failures.replaced(self._address)
                self._opened, self._stat, self._is_checked = opened, opened.stat, True
            return self._opened

    def _guarded(self, function: Callable[[], _Result]) -> _Result:
        def inner() -> _Result:
            try:
                return function()
            except Replaced:
                error = failures.replaced(self._address)
            except Ignored:
                error = FileError(
                    f"{self.name}: the server ignores ranges and sends the whole object; download it, and open the file"
                )
            except Short:
                error = FileError(f"{self.name}: the server sent fewer bytes than it announced; try again")
            error.file = self.name
            raise error

        return failures.guarded(self._address, "read", inner)


def open_address(
    text: str,
    options: Options | Mapping[str, Any] | None = None,
    credentials: Any = None,
    prefetch: int = TAIL,
    footer: Any = None,
) -> Remote:
    """Open an object at an address, in one round trip where the store has ranges from the end.

    Parameters
    ----------
    text
        The address, for example `s3://bucket/frame.entasis`.
    options
        Options of the store by name.
    credentials
        A function that returns credentials.
    prefetch
        How many bytes at the end are read at once with those at the beginning.
    footer
        The bytes of opening, as `footer.encoded` returns them: no request is sent.

    Raises
    ------
    ArgumentError
        The address or an option is not valid.
    CorruptFileError
        The footer is damaged.
    MissingFileError, FilePermissionError, FileError
        The object does not exist, or can't be read.
    MissingLibraryError
        Neither obstore nor fsspec is installed.
    """
    return opened(open_lazily(parse(text), Options(options, credentials), prefetch), footer)


def open_lazily(address: Address, options: Options, prefetch: int = TAIL) -> Remote:
    """Return an object whose bytes are requested when they are needed."""
    if prefetch < 0:
        raise ArgumentError("prefetch is a number of bytes, and not negative")
    return Remote(None, address, options, prefetch)


def open_listed(store: Store, address: Address, options: Options, listed: Stat | None) -> Remote:
    """Open an object of a folder that is open.

    `listed` is the size that a list or a manifest reports, and the identity or an empty text. If it
    is short, the object is read whole by one request.
    """
    remote = Remote(None, address, options, TAIL)
    remote._store, remote._listed = store, listed
    return opened(remote)


def opened(remote: Remote, footer: Any = None) -> Remote:
    """Request the first and the last bytes of an object, or take them from a footer."""
    if footer is None:
        remote._open()
    else:
        remote.use(footer)
    return remote


def _unpickled(text: str, options: Options, stat: Any, prefetch: int) -> Remote:
    remote = open_lazily(parse(text), options, prefetch)
    remote._stat, remote._is_checked = stat, False
    return remote
