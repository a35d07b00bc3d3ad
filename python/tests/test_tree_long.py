"""Long lists and dicts come back unchanged, and have the same bytes for any number of threads."""

from __future__ import annotations

import gc
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path

# Several blocks of numbers.
N = 200_000
# Numbers of a block.
BLOCK = 65_536
# The first and last indices of the first run and of blocks, and some near the middle.
INDICES = (0, 1, 16_383, 16_384, 16_385, BLOCK - 1, BLOCK, 2 * BLOCK - 1, 2 * BLOCK, 100_000, N - 2, N - 1)


class Count(int):
    """An int of another type."""


def both(value: Any, tmp_path: Path) -> Any:
    """The value that comes back. Its file has the same bytes from one thread and from two."""
    for threads in (1, 2):
        en.write(value, tmp_path / str(threads), threads=threads)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    return en.read(tmp_path / "2")


def same(left: list[Any], right: list[Any]) -> bool:
    return left == right and list(map(type, left)) == list(map(type, right))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("make", [int, float], ids=["int", "float"])
@pytest.mark.parametrize("other", [None, True, 1 << 70, "text", [1], 0, 0.5], ids=repr)
def test_one_other_among_numbers(make: type, other: Any, tmp_path: Path) -> None:
    numbers: list[Any] = [make(i * i - 7) for i in range(N)]
    for index in INDICES:
        value = [*numbers[:index], other, *numbers[index + 1 :]]
        en.write(value, tmp_path / "a", threads=2)
        assert same(en.read(tmp_path / "a"), value)


def test_many_others_among_numbers(tmp_path: Path) -> None:
    for step in (2, 1000, 17_000, 90_000):
        value: list[Any] = [None if i % step == 1 else i - 5 for i in range(N)]
        assert same(both(value, tmp_path), value)


def test_numbers_at_their_limits(tmp_path: Path) -> None:
    ends = [-(1 << 63), (1 << 63) - 1, 0, -1, 1 << 30, -(1 << 30), 1 << 60]
    value = ends * (N // len(ends))
    assert same(both(value, tmp_path), value)
    floats = [float("inf"), -0.0, 5e-324, 1.5] * (N // 4)
    assert list(map(float.hex, both(floats, tmp_path))) == list(map(float.hex, floats))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", [BLOCK, BLOCK + 1, 3 * BLOCK, 3 * BLOCK + 1, 34 * BLOCK])
@pytest.mark.parametrize("before", [0, 1, 2 * BLOCK])
def test_blocks_begin_with_numbers_before(n: int, before: int, tmp_path: Path) -> None:
    """Numbers without neighbours of their type are collected first, also more than a block of them."""
    value = [[i, None][j] for i in range(before) for j in (0, 1)] + list(range(-5, n - 5))
    lists = [value, [i / 4 for i in range(n)], {"a": list(range(n))}]
    assert both(lists, tmp_path) == lists
    en.verify(tmp_path / "2")


@pytest.mark.parametrize("compression", [0, 50, 54, 55])
def test_numbers_of_each_compression(compression: int, tmp_path: Path) -> None:
    value = [i * 7919 % 1000 for i in range(N)]
    en.write(value, tmp_path / "a", compression=compression)
    assert same(en.read(tmp_path / "a"), value)
    assert same(en.open(tmp_path / "a")[BLOCK - 3 : BLOCK + 3].read(), value[BLOCK - 3 : BLOCK + 3])


@pytest.mark.parametrize("n", [63, 64, 65, 128, 1500])
def test_rows_are_made_together(n: int, tmp_path: Path) -> None:
    rows: list[Any] = [{"a": i, "b": None if i % 3 else "x", "c": str(i % 5)} for i in range(n)]
    for value in (rows, [tuple(row.values()) for row in rows]):
        assert both(value, tmp_path) == value


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
@pytest.mark.parametrize("milliseconds", [1, 5, 9, 13, 20])
def test_a_list_that_a_signal_clears(milliseconds: int, tmp_path: Path) -> None:
    value = list(range(5_000_000))
    before = signal.signal(signal.SIGALRM, lambda *_: value.clear())
    try:
        signal.setitimer(signal.ITIMER_REAL, milliseconds / 1000)
        en.write(value, tmp_path / "a")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    back = en.read(tmp_path / "a")
    assert back == list(range(len(back)))


def test_nothing_is_held(tmp_path: Path) -> None:
    value = [10**6 + i for i in range(N)]
    counts = [sys.getrefcount(number) for number in value]
    en.write(value, tmp_path / "a", threads=2)
    assert [sys.getrefcount(number) for number in value] == counts


@pytest.mark.parametrize("index", [0, 255, 256, 257, 30_000, 49_999])
def test_dicts_with_one_other_value_or_key(index: int, tmp_path: Path) -> None:
    def pairs(key: Any, value: Any) -> dict[Any, Any]:
        all = [(f"key {i}", i / 8) for i in range(50_000)]
        all[index] = (key(index), value)
        return dict(all)

    for other in (None, "text", [1, 2], 1 << 70):
        value = pairs(lambda i: f"key {i}", other)
        assert list(both(value, tmp_path).items()) == list(value.items())
        assert en.open(tmp_path / "2")["key 49000"].read() == value["key 49000"]
        with pytest.raises(KeyError):
            en.open(tmp_path / "2")["no key"]
    for key in (lambda i: i, lambda i: (i, "x"), lambda i: "\udc80", lambda i: "x" * 400, lambda i: b"bytes"):
        value = pairs(key, 1.5)
        assert list(both(value, tmp_path).items()) == list(value.items())


def test_many_dicts_have_their_indexes(tmp_path: Path) -> None:
    value = {
        "a": {i: str(i) for i in range(40_000)},
        "b": {f"k{i}": i for i in range(40_000)},
        "c": {f"{'long ' * (i % 9)}k{i}": i for i in range(5000)},
        # Numbers that are encoded at once, after keys that are numbers.
        "d": list(range(200_000)),
    }
    assert both(value, tmp_path) == value
    tree = en.open(tmp_path / "2")
    assert tree["a"][39_999].read() == "39999"
    assert tree["b"]["k39999"].read() == 39_999
    assert tree["c"]["long " * 4 + "k4999"].read() == 4999
    with pytest.raises(KeyError):
        tree["c"]["k4999"]
    with pytest.raises(KeyError):
        tree["b"]["k40000"]
    en.verify(tmp_path / "2")


@pytest.mark.parametrize("is_enabled", [True, False])
def test_the_collector_comes_as_before(is_enabled: bool, tmp_path: Path) -> None:
    """The collector is off while rows are made. Afterwards it is as before, and tracks the rows."""
    value = [{"a": i, "b": str(i)} for i in range(20_000)]
    en.write(value, tmp_path / "a")
    seen: list[str] = []

    def callback(phase: str, info: dict[str, int]) -> None:
        seen.append(phase)

    was_enabled = gc.isenabled()
    gc.collect()
    (gc.enable if is_enabled else gc.disable)()
    gc.callbacks.append(callback)
    try:
        back = en.read(tmp_path / "a")
        assert gc.isenabled() == is_enabled
    finally:
        gc.callbacks.remove(callback)
        (gc.enable if was_enabled else gc.disable)()
    assert back == value
    assert gc.is_tracked(back)
    assert bool(seen) == is_enabled


@pytest.mark.sampled(3)
@pytest.mark.parametrize("make", [int, float], ids=["int", "float"])
@pytest.mark.parametrize("other", [None, 0, 0.5, [1], "text"], ids=repr)
def test_one_other_among_values_of_a_dict(make: type, other: Any, tmp_path: Path) -> None:
    # The other one is a value, a key, or the last item.
    names: dict[Any, Any] = {f"key {i}": make(i * i - 7) for i in range(50_000)}
    indices = (0, 1, 255, 256, 257, 40_000, len(names) - 1)
    for index in indices:
        value = {key: other if i == index else known for i, (key, known) in enumerate(names.items())}
        assert same(list(both(value, tmp_path).items()), list(value.items()))
        key = index if other is None else b"key" if other == "text" else (index, "of two")
        value = {key if i == index else name: known for i, (name, known) in enumerate(names.items())}
        assert same(list(both(value, tmp_path).items()), list(value.items()))
        value[f"key {index} "] = other
        assert same(list(both(value, tmp_path).items()), list(value.items()))


def test_a_dict_with_gaps(tmp_path: Path) -> None:
    value: dict[str, float | None] = {f"key {i}": i / 4 for i in range(90_000)}
    for i in range(0, len(value), 3):
        del value[f"key {i}"]
    assert list(both(value, tmp_path).items()) == list(value.items())
    value["key 70000"] = None
    assert list(both(value, tmp_path).items()) == list(value.items())
    assert en.open(tmp_path / "2")["key 70001"].read() == 70_001 / 4


TEXTS = {
    "ascii": lambda i: f"name {i * 7919}",
    "short": lambda i: "abcdefgh"[: i % 4] + str(i % 3),
    "one by one": lambda i: chr(i % 128),
    "latin": lambda i: f"n\xe4me {i}",
    "now and then": lambda i: f"name {i}" if i % 3000 else f"\u540d {i} \U0001f600",
    "long": lambda i: f"{i} " * (i % 40),
    "nul": lambda i: f"\0{i}\0",
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("n", [1, 7, 8, 600, 1024 + 512 + 1, 20_000])
def test_texts(name: str, n: int, tmp_path: Path) -> None:
    texts = [TEXTS[name](i) for i in range(n)]
    assert same(both(texts, tmp_path), texts)
    keys = {text: float(i) for i, text in enumerate(texts)}
    back = both(keys, tmp_path)
    assert same(list(back.items()), list(keys.items()))
    assert all(back[key] == value for key, value in keys.items())
    assert same(
        both([[text, i] for i, text in enumerate(texts)], tmp_path), [[text, i] for i, text in enumerate(texts)]
    )


def test_large_dicts_of_other_keys(tmp_path: Path) -> None:
    n = 90_000
    for value in (
        {i: str(i) for i in range(n)},
        {i if i % 2 else str(i): i / 2 for i in range(n)},
        {f"key {i}": i if i % 2 else None for i in range(n)},
    ):
        assert same(list(both(value, tmp_path).items()), list(value.items()))
