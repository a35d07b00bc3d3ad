"""Random calls on one open file from eight threads: results are those of one thread."""

from __future__ import annotations

import faulthandler
import sys
import threading
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from bench.fidelity.same import check
from fuzz.python.outcome import attempt
from fuzz.python.use import use
from tiers import LONG, by_tier

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path

N_THREADS, N_CALLS = 8, by_tier(40, 100, 10_000)
# Each number is one call with its arguments.
N_KINDS = by_tier(150, 400)
PATIENCE = 6 * 3600 if LONG else 300


def frame() -> pd.DataFrame:
    n = 3000
    rng = np.random.default_rng(4)
    found = pd.DataFrame(
        {
            "i": rng.integers(0, 99, n),
            "f": rng.random(n),
            "s": pd.array([f"s{i % 70}" for i in range(n)], dtype="str"),
            "c": pd.Categorical(rng.integers(0, 9, n)),
            "t": pd.Timestamp("2020") + pd.to_timedelta(np.arange(n), "s"),
        },
        index=pd.Index(np.arange(n) * 2, name="at"),
    )
    found.attrs = {"unit": "m"}
    return found


def tree() -> dict[str, Any]:
    shared = [1, "two", [3.5]]
    return {
        "rows": [{"id": i, "x": i / 2} for i in range(200)],
        "shared": [shared, (shared,)],
        "array": np.arange(240.0).reshape(20, 12),
        "keys": {f"key{i}": i for i in range(5000)},
        "frame": frame()[:50],
        "set": {1, 2, 3},
    }


VALUES = {
    "frame": (frame, {}),
    "mapped": (lambda: {"a": np.arange(5000), "b": np.arange(5000) / 3}, {"memory_map": True}),
    "polars": (lambda: pytest.importorskip("polars").from_pandas(frame()), {}),
    "tree": (tree, {}),
}


def outcome(file: en.File, number: int) -> Any:
    """The result of a call, or the type of its error."""
    found = attempt(use, file, Random(number))
    return type(found) if isinstance(found, BaseException) else found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("is_closed", [False, True], ids=["open", "closed at times"])
def test_shared_handle(name: str, is_closed: bool, path: Path) -> None:
    make, options = VALUES[name]
    en.write(make(), path, compression=0, metadata=["m"])
    alone = en.open(path, **options)
    expected = [outcome(alone, number) for number in range(N_KINDS)]
    assert sum(isinstance(found, type) for found in expected) < N_KINDS / 3
    verified, described = en.verify(path), repr(en.info(path))
    shared = [en.open(path, **options)]
    failed: list[str] = []
    start = threading.Barrier(N_THREADS)

    def work(k: int) -> None:
        rng = Random(k)
        start.wait()
        try:
            for _ in range(N_CALLS):
                file = shared[0]
                if is_closed and rng.random() < 0.02:
                    file.close()
                    shared[0] = en.open(path, **options)
                number = rng.randrange(N_KINDS)
                found = outcome(file, number)
                # The texts of a closed file contain ", closed".
                if is_closed and (found is en.ClosedFileError or (file.closed and ", closed" in repr(found))):
                    continue
                check(expected[number], found)
                if rng.random() < 0.02:
                    assert en.verify(path) == verified
                    assert repr(en.info(path)) == described
        except BaseException as error:
            failed.append(f"thread {k}: {type(error).__name__}: {error}")

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    # A deadlock ends the process, with the stack of each thread.
    faulthandler.dump_traceback_later(PATIENCE, exit=True, file=sys.__stderr__)
    try:
        threads = [threading.Thread(target=work, args=(k,)) for k in range(N_THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        faulthandler.cancel_dump_traceback_later()
        sys.setswitchinterval(interval)
    assert failed == []
