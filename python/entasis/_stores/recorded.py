"""Records the ranges that opening an object reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .footer import Footer, encoded
from .reader import Reader, Stat
from .remote import Remote

if TYPE_CHECKING:
    from collections.abc import Callable


class _Recorder(Reader):
    """Reads from an object that is open, and keeps what it read."""

    verifies = True

    def __init__(self, remote: Remote) -> None:
        super().__init__()
        self._remote = remote
        # Ranges are joined and cut for as many requests at once.
        self.parallel, self.is_serial = remote.parallel, remote.is_serial
        self.ranges: dict[int, Any] = {}

    def range(self, start: int, end: int, stat: Stat | None) -> tuple[Any, Stat | None]:
        data = self._remote.read_at(start, end - start)
        known = self.ranges.get(start)
        if known is None or memoryview(known).nbytes < end - start:
            self.ranges[start] = data
        return data, None


def footer_of(remote: Remote, open_it: Callable[[Remote], Any]) -> bytes:
    """Open an object, and return every range of bytes that this read as a footer.

    The first and last bytes are there already. Others, of a long footer, are requested.
    """
    recorder = _Recorder(remote)
    opened = remote.cut()
    copy = Remote.of(recorder, remote, opened)
    open_it(copy)
    stat, head, tail = opened
    tail_at = stat.size - memoryview(tail).nbytes
    return encoded(Footer(stat, [(0, head), (tail_at, tail), *sorted(recorder.ranges.items())]))
