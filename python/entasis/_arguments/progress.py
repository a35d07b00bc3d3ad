"""Shows how far long work is."""

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
def shown(
    progress: bool | Callable[..., Any] | None, what: str, unit: str = "bytes"
) -> Iterator[Callable[[int, int | None], Any] | None]:
    """The function that the core calls; None costs nothing."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        bar = _Bar(what, unit)
        try:
            yield bar
        finally:
            bar.close()
    elif callable(progress):
        raised: list[BaseException] = []

        def show(done: int, total: int | None) -> None:
            try:
                progress(done, total, unit=unit)
            except BaseException as error:
                raised.append(error)
                raise

        try:
            yield show
        except BaseException:
            if raised:
                # Readers take errors of libraries for damage or defects. This one is the caller's.
                raise raised[0] from raised[0].__cause__
            raise
    else:
        # Bytes may be those of a key.
        found = "bytes" if isinstance(progress, bytes) else repr(progress)
        raise ArgumentError(f"progress={found}: True, or a function of the {unit} done and of all {unit}")


class Steady:
    """Joins the reports of several steps: the total stays the same, and the count never falls.

    Attributes
    ----------
    total
        The whole. None takes that of the first report. Reports of other totals are scaled to it.
    """

    __slots__ = ("_last", "_show", "total")

    def __init__(self, show: Callable[[int, int | None], Any], total: int | None = None) -> None:
        self._show, self.total, self._last = show, total, 0

    def __call__(self, done: int, total: int | None) -> None:
        if self.total is None:
            self.total = total
        if total and self.total is not None:
            done = done * self.total // total
        self._last = max(done, self._last)
        self._show(self._last, self.total)

    def share(self, before: int, n: int, total: int) -> Callable[[int, int | None], Any]:
        """The function for a step of `n` units after `before` ones, of `total`."""
        return lambda done, whole: self(before + n * done // (whole or 1), total)


class _Bar:
    """A bar of tqdm, else a line on the standard error."""

    def __init__(self, what: str, unit: str) -> None:
        self.unit = unit
        self.what, self.started, self.last = what, time.monotonic(), 0.0
        self.bar: Any = None
        self.is_plain = False

    def __call__(self, done: int, total: int | None) -> None:
        now = time.monotonic()
        is_shown = self.bar is not None or self.is_plain
        # The end of a bar is shown in any case.
        is_early = now - self.last < _INTERVAL and not (is_shown and done == total)
        if now - self.started < _PATIENCE or is_early:
            return
        self.last = now
        if self.bar is None and not self.is_plain:
            try:
                tqdm = import_module("tqdm").tqdm
            except ImportError:
                self.is_plain = True
            else:
                unit = "B" if self.unit == "bytes" else f" {self.unit}"
                self.bar = tqdm(desc=self.what, total=total, unit=unit, unit_scale=True)
        if self.bar is not None:
            # A second pass begins with the first byte.
            self.bar.total, self.bar.n = total, done
            self.bar.refresh()
        else:
            share = f"{100 * done // total} % of {self.size(total)}" if total else self.size(done)
            sys.stderr.write(f"\r{self.what}: {share}")
            sys.stderr.flush()

    def size(self, n: int) -> str:
        """A number of units as text."""
        return f"{n >> 20:,} MiB" if self.unit == "bytes" else f"{n:,} {self.unit}"

    def close(self) -> None:
        """Remove the bar, or end the line."""
        if self.bar is not None:
            self.bar.close()
        elif self.is_plain:
            sys.stderr.write("\n")
