"""The interface of an object that is read by ranges, which each library implements."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

# The bytes at the beginning that are read when an object is opened: header and slot pages.
HEAD = 12_288
# The bytes at the end that are read then, unless the caller says otherwise.
TAIL = 65_536
# An object of known size that has at most this many bytes is read whole when it is opened.
WHOLE = 1 << 20
# How often an object is opened again that changes meanwhile.
_MOST = 3


class Replaced(Exception):
    """The object is not the one that was opened."""


class Ignored(Exception):
    """The server sent the whole object in place of a range."""


class Short(Exception):
    """The server sent fewer bytes than were asked for."""


class Stat(NamedTuple):
    """The size of an object, and its identity.

    The identity is the ETag, a version or a time of change, or empty if the store has none.
    """

    size: int
    identity: str


class Opened(NamedTuple):
    """An object with its first and last bytes."""

    stat: Stat
    head: Any
    tail: Any


class Reader:
    """An object that is read by ranges.

    Attributes
    ----------
    parallel
        How many ranges are read at the same time.
    is_serial
        Whether reads wait for each other.
    verifies
        Whether each read notices that the object was replaced.
    n_requests
        How many requests were sent, without those that a library sent again.
    """

    parallel = 10
    is_serial = False
    verifies = False

    def __init__(self) -> None:
        self.n_requests = 0
        self._lock = threading.Lock()

    def stat(self) -> Stat:
        """Ask for the size and the identity."""
        raise NotImplementedError

    def range(self, start: int, end: int, stat: Stat | None) -> tuple[Any, Stat | None]:
        """Read a range, which ends in the object if the size is known.

        Returns
        -------
        bytes, stat
            The bytes as a buffer, and the size and identity that came with the bytes; None if
            none did.

        Raises
        ------
        Replaced
            The store noticed that the object has another identity.
        Ignored
            The server sent the whole object.
        """
        raise NotImplementedError

    def open(self, prefetch: int, known: Stat | None = None) -> Opened:
        """Read the first and the last bytes, in as few round trips as the library allows.

        Parameters
        ----------
        prefetch
            How many bytes at the end are read.
        known
            The size of the object, and its identity if that is known. A short object is then read
            whole by one request. One of another size is opened as if nothing was known.
        """
        for _ in range(_MOST):
            try:
                if known is not None and 0 < known.size <= WHOLE and (known.identity or self.verifies):
                    return self._whole(known)
                return self._open(prefetch)
            except Replaced:
                known = None
        raise Replaced

    def _whole(self, known: Stat) -> Opened:
        """Read an object of known size in one request."""
        data, now = self.range(0, known.size, None)
        stat = known if now is None else now
        if stat.size != known.size or memoryview(data).nbytes != known.size:
            raise Replaced
        return Opened(stat, memoryview(data)[:HEAD], data)

    def _open(self, prefetch: int) -> Opened:
        """Ask for the size, and then for both ranges at once."""
        stat = self.stat()
        tail_at = max(0, stat.size - prefetch)
        if tail_at == 0:
            whole = self.read(0, stat.size, stat)
            return Opened(stat, memoryview(whole)[:HEAD], whole)
        n_head = min(HEAD, stat.size)
        head, tail = both(
            self.is_serial,
            lambda: self.read(0, n_head, stat),
            lambda: self.read(tail_at, stat.size - tail_at, stat),
        )
        return Opened(stat, head, tail)

    def read(self, offset: int, length: int, stat: Stat) -> Any:
        """Read a range of the object that was opened, and check that it is all of that range.

        Raises
        ------
        Replaced
            The object has another size or identity.
        Ignored, Short
            The server sent other bytes than those of the range.
        """
        if length == 0:
            return b""
        data, now = self.range(offset, offset + length, stat)
        check(data, length)
        if now is not None and now != stat:
            raise Replaced
        return data

    def _count(self) -> None:
        with self._lock:
            self.n_requests += 1


def check(data: Any, length: int) -> None:
    """Refuse a reply of another length."""
    n = memoryview(data).nbytes
    if n > length:
        raise Ignored
    if n < length:
        raise Short


def both(is_serial: bool, *functions: Callable[[], Any]) -> tuple[Any, ...]:
    """Call functions at the same time, and return their results. The first error is raised."""
    if is_serial:
        return tuple(function() for function in functions)
    with ThreadPoolExecutor(len(functions), "entasis-open") as pool:
        futures = [pool.submit(function) for function in functions]
        return tuple(future.result() for future in futures)
