"""`python -m bench.overhead`: what Python costs in a write and a read of a small frame.

The frame has 5 columns and 100 rows. Time of Python is the time of the call minus the time in the
native half (`entasis._entasis`): making the file, decoding, the system. Medians of many calls, in
microseconds. The file is in memory (/dev/shm) where there is such a folder.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns
from typing import Any

CALLS = 3000


class Clock:
    """Nanoseconds that were spent in the native half."""

    def __init__(self) -> None:
        self.spent = 0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, on the clock."""

        def run(*args: Any, **kwargs: Any) -> Any:
            start = perf_counter_ns()
            try:
                return function(*args, **kwargs)
            finally:
                self.spent += perf_counter_ns() - start

        return run


def small_frame() -> Any:
    """A frame of 5 columns of different types and 100 rows."""
    import numpy as np
    import pandas as pd

    n = 100
    return pd.DataFrame(
        {
            "i": np.arange(n),
            "f": np.random.default_rng(0).random(n),
            "b": np.arange(n) % 3 == 0,
            "s": [f"text {i % 7}" for i in range(n)],
            "t": pd.to_datetime(np.arange(n), unit="s"),
        }
    )


def _median(call: Callable[[], Any], clock: Clock) -> tuple[float, float]:
    """Microseconds of a call, in total and in the native half."""
    totals, natives = [], []
    for _ in range(CALLS):
        clock.spent = 0
        start = perf_counter_ns()
        call()
        totals.append(perf_counter_ns() - start)
        natives.append(clock.spent)
    return statistics.median(totals) / 1000, statistics.median(natives) / 1000


def _watch(clock: Clock) -> None:
    """Puts the native half on the clock."""
    from entasis import _entasis
    from entasis._hosts.pandas import write as writer
    from entasis._view import table as opener

    native = _entasis.Handle

    class Handle:
        """A handle whose methods are on the clock."""

        def __init__(self, *arguments: Any) -> None:
            make: Any = clock.timed(native)
            self._found = make(*arguments)

        def __getattr__(self, name: str) -> Any:
            found = getattr(self._found, name)
            return clock.timed(found) if callable(found) else found

    builder: Any = writer.PandasBuilder
    for name in ("__init__", "words", "rows", "text", "arrow", "write"):
        inherited = getattr(builder, name)
        setattr(builder, name, clock.timed(inherited))
    watched = {**vars(_entasis), "Handle": Handle, "__module__": __name__}
    vars(opener)["_entasis"] = type("Native", (), watched)


def main() -> int:
    import entasis as en

    frame = small_frame()
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as folder:
        path = Path(folder) / "small.entasis"
        calls = {
            "write": lambda: en.write(frame, path, durable=False),
            "read": lambda: en.read(path),
        }
        for call in calls.values():
            call()
        clock = Clock()
        plain = {name: _median(call, clock)[0] for name, call in calls.items()}
        _watch(clock)
        for name, call in calls.items():
            _, native = _median(call, clock)
            python = plain[name] - native
            print(f"{name}: {plain[name]:.0f} us, {python:.0f} us in Python")
    return 0


if __name__ == "__main__":
    sys.exit(main())
