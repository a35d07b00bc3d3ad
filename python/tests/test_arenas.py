"""Arenas on huge pages: each read restores Python's allocator, and leaves other allocators alone."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import pytest

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are no huge pages to ask for")

MANY = 200_000


class Allocator(ctypes.Structure):
    """`PyObjectArenaAllocator`."""

    _fields_: ClassVar = [("context", ctypes.c_void_p), ("alloc", ctypes.c_void_p), ("free", ctypes.c_void_p)]


def allocator() -> tuple[int | None, int | None, int | None]:
    """The functions that allocate Python's arenas."""
    found = Allocator()
    ctypes.pythonapi.PyObject_GetArenaAllocator(ctypes.byref(found))
    return found.context, found.alloc, found.free


class Witness(NamedTuple):
    """A value that calls `on_make` when it is made."""

    n: int


on_make: list[Callable[[], None]] = []


@classmethod  # type: ignore[misc]
def _make(cls: type[Witness], values: list[int]) -> Witness:
    on_make[0]()
    return tuple.__new__(cls, values)


Witness._make = _make  # type: ignore[assignment, method-assign]


def read_with(action: Callable[[], None], path: Path, n: int) -> None:
    """Reads a witness and then `n` integers. The witness calls `action` when it is made."""
    en.write([Witness(1), list(range(n))], path)
    on_make[:] = [action]
    value = en.read(path, types=[Witness])
    assert value == [Witness(1), list(range(n))]


def witnesses(path: Path, n: int) -> list[tuple[int | None, int | None, int | None]]:
    """The allocators that are set while `n` integers are read."""
    seen: list[tuple[int | None, int | None, int | None]] = []
    read_with(lambda: seen.append(allocator()), path, n)
    return seen


def test_many_objects_have_arenas_of_their_own_meanwhile(tmp_path: Path) -> None:
    before = allocator()
    (seen,) = witnesses(tmp_path / "many", MANY)
    assert seen[1] != before[1]
    # Python's own function frees arenas, as they outlive the read.
    assert (seen[0], seen[2]) == (before[0], before[2])
    assert allocator() == before


def test_few_objects_change_nothing(tmp_path: Path) -> None:
    before = allocator()
    assert witnesses(tmp_path / "few", 100) == [before]


def test_a_reading_that_fails_leaves_the_allocator(tmp_path: Path) -> None:
    def fail() -> None:
        assert allocator() != before
        raise ZeroDivisionError

    before = allocator()
    with pytest.raises((ZeroDivisionError, en.errors.EntasisError)):
        read_with(fail, tmp_path / "a", MANY)
    assert allocator() == before


def test_readings_by_several_threads(tmp_path: Path) -> None:
    value = {f"k{i}": [i, i / 2, str(i)] for i in range(MANY // 4)}
    en.write(value, tmp_path / "a")
    before, equal = allocator(), []

    def read() -> None:
        for _ in range(3):
            equal.append(en.read(tmp_path / "a") == value)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert equal == [True] * 12
    assert allocator() == before


OTHER = """
import ctypes, sys
sys.path[:0] = sys.argv[2:]
import entasis as en
from test_arenas import Allocator, allocator, witnesses
from pathlib import Path

found = Allocator()
ctypes.pythonapi.PyObject_GetArenaAllocator(ctypes.byref(found))
if sys.argv[3:]:
    en.write(list(range(200_000)), sys.argv[1])
    en.read(sys.argv[1])
# An allocator of somebody else. Its functions ignore the context, so that any will do.
found.context = 1
ctypes.pythonapi.PyObject_SetArenaAllocator(ctypes.byref(found))
before = allocator()
assert before[0] == 1
assert witnesses(Path(sys.argv[1]), 200_000) == [before]
assert allocator() == before
"""


@pytest.mark.parametrize("after_a_reading", [[], ["yes"]])
def test_the_allocator_of_somebody_else_is_left_alone(tmp_path: Path, after_a_reading: list[str]) -> None:
    arguments = [str(tmp_path / "a"), str(Path(__file__).parent), *after_a_reading]
    subprocess.run([sys.executable, "-c", OTHER, *arguments], check=True)


OFF = """
import sys
sys.path[:0] = sys.argv[2:]
import entasis as en
from test_arenas import allocator, witnesses
from pathlib import Path

assert witnesses(Path(sys.argv[1]), 200_000) == [allocator()]
"""


def test_the_allocator_stays_when_switched_off(tmp_path: Path) -> None:
    arguments = [str(tmp_path / "a"), str(Path(__file__).parent)]
    environment = os.environ | {"ENTASIS_ARENAS": "0"}
    subprocess.run([sys.executable, "-c", OFF, *arguments], check=True, env=environment)


MEMORY = """
import sys
from pathlib import Path
import numpy as np
import entasis as en

def memory(name):
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) << 10

before = memory("AnonHugePages")
trial = np.empty(32 << 20, np.uint8)
trial.fill(1)
if memory("AnonHugePages") - before < 16 << 20:
    sys.exit("no huge pages")
del trial
n = 2_000_000
en.write(list(range(1000, 1000 + n)), sys.argv[1])
huge, resident = memory("AnonHugePages"), memory("Rss")
value = en.read(sys.argv[1])
assert memory("AnonHugePages") - huge > 16 * n, "objects are not on huge pages"
taken = memory("Rss") - resident
assert sum(value) == sum(range(1000, 1000 + n))
del value
assert memory("Rss") - resident < taken // 2, "memory is not given back"
"""


def test_the_memory_is_on_huge_pages_and_is_given_back(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(tmp_path / "a")], check=False, capture_output=True, text=True
    )
    if "no huge pages" in done.stderr:
        pytest.skip("the system has no huge pages now")
    assert done.returncode == 0, done.stderr
