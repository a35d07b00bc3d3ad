"""Large dicts, lists and tuples behave like all others, and Python's allocators are as before."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

# The most keys for which CPython reserves room.
MOST = (1 << 18) // 3
# A large dict, and the sizes at which the table of a dict grows.
TABLE = 1 << 15
STEPS = [step + i for step in (TABLE, (1 << 17) // 3, MOST, (1 << 19) // 3) for i in (-1, 0, 1)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", [15, 16, 17, 300, 4097, *STEPS, 100_000, 200_000])
@pytest.mark.parametrize("parts", [False, True])
def test_dicts(n: int, parts: bool, round_trip: Any) -> None:
    value: dict[str, Any] = {f"key {i} \u00e9"[: 20 - i % 3]: [i] if parts and i % 7 == 0 else i / 8 for i in range(n)}
    back = round_trip(value)
    assert type(back) is dict
    assert list(back.items()) == list(value.items())
    # Nobody else refers to it, and it can be changed.
    assert sys.getrefcount(back) == sys.getrefcount(value)
    assert gc.is_tracked(back) == gc.is_tracked(value)
    back["one more"] = 1
    del back["key 0 \u00e9"], value["key 0 \u00e9"]
    assert back == value | {"one more": 1}
    assert sys.getsizeof(dict(back)) == sys.getsizeof(dict(value | {"one more": 1}))


def check(value: dict[Any, Any]) -> None:
    """Lets a debug build of CPython check a dict. It ends the process if something is wrong."""
    find = getattr(ctypes.pythonapi, "_PyDict_CheckConsistency", None)
    if find is not None:
        assert find(ctypes.py_object(value), 1) == 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", STEPS)
def test_large_dicts_are_as_others(n: int, round_trip: Any) -> None:
    kinds: list[Any] = [None, True, 5, 1 << 40, 2.5, "text", ""]
    value = {f"{i}": kinds[i % 7] for i in range(n)}
    back = round_trip(value)
    check(back)
    assert sys.getsizeof(back) == sys.getsizeof(value)
    assert not gc.is_tracked(back)
    assert all(back[key] is back.get(key) and back[key] == item for key, item in value.items())
    assert list(map(type, back.values())) == list(map(type, value.values()))
    assert "absent" not in back
    copy = back.copy()
    check(copy)
    assert back.popitem() == value.popitem()
    for key in [*value][::3]:
        del back[key], value[key]
    # Keys of other types, and more than there was room for.
    for i in range(n):
        back[i] = value[i] = [i]
    check(back)
    assert list(back.items()) == list(value.items())
    assert len(copy) == n
    back.clear()
    assert back == {}


def test_large_dicts_share_what_is_shared(round_trip: Any) -> None:
    """Keys that are values too, and the same object twice."""
    keys = [f"a key that is long enough {i}" for i in range(TABLE)]
    value = dict(zip(keys, keys[::-1], strict=True))
    back = round_trip([value, value])
    check(back[0])
    assert back[0] is back[1]
    assert list(back[0].items()) == list(value.items())


def test_dicts_whose_keys_are_not_all_strings(round_trip: Any) -> None:
    for other in (5, None, (1, 2), b"bytes", 2.5):
        for values in (1, [1]):
            value: dict[Any, Any] = {f"k{i}": values for i in range(200)} | {other: values, "last": [3]}
            back = round_trip(value)
            assert list(back.items()) == list(value.items())


def test_dicts_in_a_list(round_trip: Any) -> None:
    """Those with the same keys, and each with its own."""
    for n in (16, 40, 300):
        keys = [f"k{i}" for i in range(n)]
        alike: list[Any] = [{key: [i] for key in keys} for i in range(20)]
        own: list[Any] = [{f"{key}.{i}": i for key in keys} for i in range(20)]
        assert round_trip([alike, own]) == [alike, own]


def test_strings_of_odd_kinds_as_keys(round_trip: Any) -> None:
    """Long keys, empty keys, keys that are values as well, and lone surrogates."""
    long = "x" * 1000
    keys = ["", long, "\udc80", "\U0001f600", "a\0b", *(f"k{i}" for i in range(50))]
    back = round_trip({key: key for key in keys})
    assert list(back.items()) == [(key, key) for key in keys]


class Allocator(ctypes.Structure):
    """`PyMemAllocatorEx`."""

    _fields_: ClassVar = [(name, ctypes.c_void_p) for name in ("context", "malloc", "calloc", "realloc", "free")]


def allocators() -> list[tuple[int | None, ...]]:
    """The functions that allocate Python's memory, in all three domains."""
    found = Allocator()
    all_: list[tuple[int | None, ...]] = []
    for domain in range(3):
        ctypes.pythonapi.PyMem_GetAllocator(domain, ctypes.byref(found))
        all_.append(tuple(getattr(found, name) for name, _ in Allocator._fields_))
    return all_


LARGE: list[Any] = [
    {f"k{i}": i / 8 for i in range(100_000)},
    list(range(200_000)),
    tuple(range(200_000)),
    [{"a": i, "b": str(i)} for i in range(50_000)],
]


@pytest.mark.parametrize("value", LARGE, ids=lambda value: type(value).__name__)
def test_the_allocators_are_as_before(value: Any, round_trip: Any) -> None:
    before = allocators()
    assert round_trip(value) == value
    assert allocators() == before


OTHERS = """
import sys, tracemalloc
sys.path[:0] = [sys.argv[2]]
import entasis as en
from test_large import LARGE, allocators

if "later" in sys.argv:
    en.write(LARGE, sys.argv[1])
    assert en.read(sys.argv[1]) == LARGE
tracemalloc.start()
before = allocators()
en.write(LARGE, sys.argv[1])
assert en.read(sys.argv[1]) == LARGE
assert allocators() == before
tracemalloc.stop()
assert en.read(sys.argv[1]) == LARGE
"""


@pytest.mark.parametrize("options", [[], ["-X", "dev"]])
@pytest.mark.parametrize("when", ["first", "later"])
def test_the_allocators_of_others_are_left_alone(tmp_path: Path, options: list[str], when: str) -> None:
    arguments = [str(tmp_path / "a"), str(Path(__file__).parent), when]
    subprocess.run([sys.executable, *options, "-c", OTHERS, *arguments], check=True)
