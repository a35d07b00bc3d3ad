"""Open files, threads, mappings and memory stay flat, however often files are opened and read."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import forks
import pytest
from tiers import LONG, by_tier

N = by_tier(1000, 2000, 100_000)
KINDS = [
    *("pandas", "polars", "pyarrow", "numpy", "static_frame", "tree", "mapped", "abandoned", "stream"),
    *("filter", "wrong filter"),
    *("append", "wrong append", "columns", "batches", "batches, given up"),
    *("no such file", "damaged footer", "damaged page", "damaged page, mapped", "wrong rows"),
]
# Changes write files, which takes long.
CHANGES = {"append": 300, "columns": 300, "batches": 300, "batches, given up": 300}
# A leak of one object a call is larger than these. The C library gives out 32 bytes at least, and
# some hundred objects are kept after any number of calls.
FILES, THREADS, MAPPINGS = 0, 0, 40
PER_CALL, ONCE, OBJECTS = 16, 24 << 10, 200
RESIDENT = 24 << 20

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def growth(kind: str, n: int, folder: Path) -> dict[str, int]:
    done = forks.script(Path(__file__).with_name("leaks.py"), kind, n, folder, timeout=3600)
    assert done.returncode == 0, done.stderr.decode()
    found: dict[str, int] = json.loads(done.stdout)
    print(kind, n, found)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_kept(kind: str, tmp_path: Path) -> None:
    n = N if LONG else CHANGES.get(kind, N)
    grown = growth(kind, n, tmp_path)
    assert grown["files"] <= FILES
    assert grown["threads"] <= THREADS
    assert grown["mappings"] <= MAPPINGS
    assert grown["objects"] < n / 2 + OBJECTS
    assert grown["bytes"] < PER_CALL * n + ONCE
    assert grown["resident"] < RESIDENT


def test_leaks_are_found(tmp_path: Path) -> None:
    n = min([*CHANGES.values(), N])
    grown = growth("leak", n, tmp_path)
    assert grown["files"] == n
    assert grown["objects"] > n / 2 + OBJECTS
    grown = growth("leak of memory", n, tmp_path)
    assert grown["bytes"] > PER_CALL * n + ONCE
    assert grown["objects"] > n / 2 + OBJECTS
