"""Trees with valid checksums and impossible cells: an error of the package, or a value."""

from __future__ import annotations

import contextlib
import random
from typing import Any

import numpy as np
import pytest
from forge import Forge
from tiers import by_tier

import entasis as en

MOST = by_tier(6, 12, 200)  # numbers of a column of cells
CELLS = ("first", "end", "count", "keys", "pool", "at", "len", "shape")
INDEX = ("indexed", "buckets", "places")
EDGES = (
    0,
    1,
    2,
    3,
    7,
    255,
    4096,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
)
LIST, MAP, REFERENCE, RECORDS = 64, 68, 29, 78


def value() -> dict[str, Any]:
    """A value of all that cells have: parents, shared ones, rows, arrays."""
    shared = [1, "two", [3.5]]
    return {
        "shared": shared,
        "again": [shared, (shared,)],
        "rows": [{"id": i, "x": i / 2, "s": f"s{i}"} for i in range(20)],
        "tuples": [(i, None, i % 2 == 0) for i in range(20)],
        "array": np.arange(24.0).reshape(2, 3, 4),
        "small": [np.arange(i, i + 5) for i in range(4)],
        "cells": np.array([[1, "a"], [None, 2.5]], dtype=object),
        "set": {1, 2, 3},
        "complex": [1 + 2j, range(1, 9, 2), slice(None, 3)],
        "bytes": [b"x" * 10, bytearray(b"y"), 1 << 100],
        "keys": {f"key{i}": i for i in range(300)},
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("forge") / "whole.entasis"
    en.write(value(), path, compression=0, metadata=["m"])
    return path.read_bytes()


def look(path: Any) -> list[BaseException]:
    """Reads a file in all ways. Exceptions must be of the package."""
    errors: list[BaseException] = []

    def attempt(action: Any) -> None:
        try:
            action()
        except en.EntasisError as error:
            errors.append(error)

    attempt(lambda: en.read(path))
    attempt(lambda: en.open(path).tree())
    attempt(lambda: en.open(path)["rows"][3:7].read())
    attempt(lambda: en.open(path)["tuples"][2].read())
    attempt(lambda: en.open(path)["keys"]["key217"].read())
    attempt(lambda: en.open(path)["keys"].keys())
    attempt(lambda: en.open(path)["array"][1:].read())
    attempt(lambda: en.open(path)["again"][1].read())
    attempt(lambda: en.open(path).metadata)
    attempt(lambda: en.verify(path))
    return errors


def test_forge_finds_the_columns_and_changes_nothing(whole, path):
    forge = Forge(whole)
    assert {*CELLS, "kinds", "ranks", "ints", "floats"} <= set(forge.columns)
    assert forge.repaired() == whole
    path.write_bytes(whole)
    assert look(path) == []
    # A number that may be another one: it is what comes back.
    index = next(i for i, number in enumerate(forge.values("ints")) if number == 217)
    forge.put("ints", index, 77)
    path.write_bytes(forge.repaired())
    assert en.open(path)["keys"]["key217"].read() == 77
    en.verify(path)


@pytest.mark.parametrize("name", CELLS)
def test_every_number_takes_every_edge(name, whole, path):
    forge = Forge(whole)
    n = forge.columns[name].n
    chosen = range(n) if n <= MOST else sorted(random.Random(name).sample(range(n), MOST))
    for i in chosen:
        now = forge.get(name, i)
        for edge in {*EDGES, now + 1, now - 1, 2 * now} - {now}:
            forge.put(name, i, edge)
            path.write_bytes(forge.repaired())
            look(path)
        forge.put(name, i, now)


def test_every_kind_takes_every_kind(whole, path):
    forge = Forge(whole)
    kinds = forge.values("kinds")
    step = by_tier(3, 1)
    # One cell of each kind that there is.
    for kind in sorted(set(kinds)):
        i = kinds.index(kind)
        others = (*range(8), 16, 17, 19, 29, 30, 32, 40, 41, 48, 50, 51, 52, *range(64, 80), 96, 97, 98, 255)
        for other in others[i % step :: step]:
            if other != kind:
                forge.put("kinds", i, other)
                path.write_bytes(forge.repaired())
                look(path)
        forge.put("kinds", i, kind)


def test_ranks(whole, path):
    forge = Forge(whole)
    for i in range(0, forge.columns["ranks"].n):
        now = forge.get("ranks", i)
        for edge in (0, 1, now + 1, 1 << 63):
            if edge != now:
                forge.put("ranks", i, edge)
                path.write_bytes(forge.repaired())
                assert look(path), "ranks that are wrong are an error of verify at least"
        forge.put("ranks", i, now)


def refused(forge: Forge, path: Any, word: str | None) -> None:
    """A file that can neither be read nor verified."""
    path.write_bytes(forge.repaired())
    with pytest.raises(en.CorruptFileError, match=word) as caught:
        en.read(path)
    assert caught.value.file == str(path)
    with pytest.raises(en.CorruptFileError):
        en.verify(path)


def cells(value: Any, path: Any) -> Forge:
    en.write(value, path, compression=0)
    return Forge(path.read_bytes())


def find(forge: Forge, kind: int, which: int = 0) -> tuple[int, int]:
    """The number of a cell of this kind, and its index among the values of its class."""
    kinds = forge.values("kinds")
    number = [i for i, found in enumerate(kinds) if found == kind][which]
    lowest, highest = (16, 32) if kind < 32 else (64, 96)
    return number, sum(lowest <= found < highest for found in kinds[:number])


@pytest.mark.parametrize("target", ["itself", "behind", "outside", "negative", "a number"])
def test_references_that_lead_elsewhere(target, path):
    shared = [1, 2, 3]
    forge = cells({"a": shared, "b": [shared], "c": [7, [8]]}, path)
    number, at = find(forge, REFERENCE)
    one = forge.values("kinds").index(16)
    goal = {"itself": number, "behind": number + 1, "outside": 1 << 40, "negative": -1, "a number": one}[target]
    forge.put("ints", at, goal)
    refused(forge, path, "reference|cell")


def test_references_to_what_contains_them(path):
    shared = [1, 2, 3]
    forge = cells({"a": shared, "b": [[shared]]}, path)
    number, at = find(forge, REFERENCE)
    sound = forge.get("ints", at)
    lists = [i for i, kind in enumerate(forge.values("kinds")) if kind == LIST]
    above = {0, *lists} - {sound}
    assert len(above) == 3
    assert max(above) < number
    for wrong in above:
        forge.put("ints", at, wrong)
        refused(forge, path, "itself|reference")


def test_references_that_contain_each_other(path):
    """Two lists, each with a reference: each is made to name the list of the other."""
    x, y = [1], [2]
    forge = cells([x, y, [x, y], [x, y]], path)
    (first, at_first), (last, at_last) = find(forge, REFERENCE, 1), find(forge, REFERENCE, 3)
    lists = [i for i, kind in enumerate(forge.values("kinds")) if kind == LIST]
    outer = [number for number in lists[1:] if number not in (forge.get("ints", at_first), forge.get("ints", at_last))]
    assert first < last
    assert len(outer) >= 2
    # The second list of references names the first, which names the second: a cycle.
    forge.put("ints", at_first, outer[-1])
    forge.put("ints", at_last, outer[-2])
    path.write_bytes(forge.repaired())
    with pytest.raises(en.CorruptFileError):
        en.read(path)
    with pytest.raises(en.CorruptFileError):
        en.verify(path)


def test_index_of_keys_that_is_wrong(path):
    """A look-up finds the key or reports it missing, never another key's value."""
    keys = {f"key{i}": i for i in range(5000)}
    sound = cells(keys, path)
    rng = random.Random(5)
    for name in INDEX:
        for i in sorted(rng.sample(range(sound.columns[name].n), min(20, sound.columns[name].n))):
            for wrong in (0, 1, sound.get(name, i) ^ 1, 4999, 5000, (1 << 32) - 1):
                forge = Forge(bytes(sound.bytes))
                if forge.get(name, i) == wrong:
                    continue
                forge.put(name, i, wrong)
                path.write_bytes(forge.repaired())
                with pytest.raises(en.CorruptFileError):
                    en.verify(path)
                assert en.read(path) == keys
                for k in (0, 17, 4999, *rng.sample(range(5000), 5)):
                    with contextlib.suppress(en.CorruptFileError, en.ColumnNotFoundError):
                        assert en.open(path)[f"key{k}"].read() == k


def test_equal_keys(path):
    """Keys of a map and members of a set are not equal."""
    for tree in (dict.fromkeys(range(300)), {5, 6, 7}, frozenset((5, 6, 7)), [{1: 2, 3: 4}]):
        forge = cells(tree, path)
        n = forge.columns["ints"].n
        if type(tree) is list:
            forge.put("ints", n - 1, forge.get("ints", n - 2))
        else:
            forge.put("ints", 1, forge.get("ints", 0))
        path.write_bytes(forge.repaired())
        with pytest.raises(en.CorruptFileError, match="equal"):
            en.read(path)


@pytest.mark.parametrize("other", [0, 217, 219, -1])
@pytest.mark.parametrize(("n", "values"), [(300, 1), (300, [2]), (50_000, 1)])
def test_equal_keys_that_are_strings(n, values, other, path):
    """Dicts with keys up to the room that Python reserves at once, and above."""
    forge = cells({f"a key {i:05}": values for i in range(n)}, path)
    at = forge.bytes.index(b"a key %05d" % (other % n))
    forge.bytes[at : at + 11] = b"a key 00218"
    path.write_bytes(forge.repaired())
    with pytest.raises(en.CorruptFileError, match="equal"):
        en.read(path)


def test_rows_that_are_none(path):
    rows = [{"a": i, "b": i / 2} for i in range(50)]
    forge = cells(rows, path)
    number, at = find(forge, RECORDS)
    for name, wrong in (
        ("count", 1),
        ("count", 3),
        ("count", 1 << 62),
        ("keys", 0),
        ("keys", 1 << 50),
        ("first", number),
    ):
        now = forge.get(name, at)
        forge.put(name, at, wrong)
        refused(forge, path, None)
        forge.put(name, at, now)
    # Lists of another length than the others.
    forge.put("count", at + 1, 49)
    refused(forge, path, None)


def test_trees_that_promise_more(path):
    """A kilobyte that promises 2^40 values takes no memory for them."""
    forge = cells([[1, 2], [3, 4], ("a", "b")], path)
    for at in range(forge.columns["count"].n):
        for name, wrong in (("count", 1 << 40), ("end", 1 << 40), ("count", (1 << 64) - 1)):
            now = forge.get(name, at)
            forge.put(name, at, wrong)
            path.write_bytes(forge.repaired())
            with pytest.raises((en.CorruptFileError, en.LimitError)):
                en.read(path)
            forge.put(name, at, now)


def test_flipped_bits_under_repaired_checksums(whole, path):
    rng = random.Random(11)
    sound = Forge(whole)
    # Half of the flips are in the columns of cells.
    columns = [column for name, column in sound.columns.items() if name in CELLS or name in ("kinds", "ranks", "ints")]
    for turn in range(by_tier(80, 150, 4000)):
        forge = Forge(whole)
        column = rng.choice(columns)
        inside = rng.randrange(column.at, column.at + column.n * column.width)
        at = inside if turn % 2 else rng.randrange(256, len(whole) - 64)
        forge.bytes[at] ^= 1 << rng.randrange(8)
        path.write_bytes(forge.repaired())
        look(path)
