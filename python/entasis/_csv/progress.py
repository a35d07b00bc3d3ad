"""Shows how far a reading is."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from entasis.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Seconds before a bar appears, and between two of its states.
_PATIENCE, _INTERVAL = 1.0, 0.2


@contextmanager
def shown(progress: bool | Callable[..., Any] | None, what: str) -> Iterator[Callable[[int, int | None], Any] | None]:
    """The function that the core calls; None costs nothing."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        bar = _Bar(what)
        try:
            yield bar
        finally:
            bar.close()
    elif callable(progress):
        yield lambda done, total: progress(done, total, unit="bytes")
    else:
        raise ArgumentError(f"progress={progress!r}: True, or a function of the bytes done and of all bytes")


class _Bar:
    """A bar of tqdm, else a line on the standard error."""

    def __init__(self, what: str) -> None:
        self.what, self.started, self.last = what, time.monotonic(), 0.0
        self.bar: Any = None
        self.is_plain = False

    def __call__(self, done: int, total: int | None) -> None:
        now = time.monotonic()
        if now - self.started < _PATIENCE or now - self.last < _INTERVAL:
            return
        self.last = now
        if self.bar is None and not self.is_plain:
            try:
                tqdm = import_module("tqdm").tqdm
            except ImportError:
                self.is_plain = True
            else:
                self.bar = tqdm(desc=self.what, total=total, unit="B", unit_scale=True)
        if self.bar is not None:
            # A second pass begins with the first byte.
            self.bar.total, self.bar.n = total, done
            self.bar.refresh()
        else:
            share = f"{100 * done // total} % of {total >> 20:,} MiB" if total else f"{done >> 20:,} MiB"
            sys.stderr.write(f"\r{self.what}: {share}")
            sys.stderr.flush()

    def close(self) -> None:
        """Remove the bar, or end the line."""
        if self.bar is not None:
            self.bar.close()
        elif self.is_plain:
            sys.stderr.write("\n")
