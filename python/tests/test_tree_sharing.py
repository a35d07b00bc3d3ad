"""Shared objects stay shared; a value that contains itself is refused; metadata."""

from __future__ import annotations

import collections
import datetime
import gc
import weakref

import numpy as np
import pytest
from tree_panel import (
    same,
)

import entasis as en


def test_shared_values_stay_shared(round_trip, path):
    items, array = [1, 2], np.arange(3)
    back = round_trip({"a": items, "b": [items, (items,)], "c": array, "d": [array]})
    assert back["a"] is back["b"][0] is back["b"][1][0]
    assert back["c"] is back["d"][0]
    en.verify(path)
    empty = []
    back = round_trip([empty, {"a": empty}, (), ()])
    assert back[0] is back[1]["a"]
    # The second one is named before the first one is read.
    outer = [[], []]
    outer[0].append(outer[1])
    outer[1].append(7)
    back = round_trip(outer)
    assert back[0][0] is back[1]
    with en.open(path) as tree:
        assert tree[0][0].read() == [7]
        assert tree[0:1].read() == [[[7]]]


def test_sharing_does_not_multiply(round_trip, path):
    value = []
    for _ in range(60):
        value = [value, value]
    back = round_trip(value)
    assert path.stat().st_size < 10_000
    for _ in range(60):
        assert back[0] is back[1]
        back = back[0]


def test_deep_sharing(round_trip, path):
    """References don't count as depth."""

    def nest(value, n=900):
        for _ in range(n):
            value = [value]
        return value

    inner = [7]
    middle = [nest(inner)]
    back = round_trip([inner, middle, nest(middle)])
    en.verify(path)
    for _ in range(900):
        back[2] = back[2][0]
    assert back[2] is back[1]
    back = back[1][0]
    for _ in range(900):
        back = back[0]
    assert back == [7]


def cycles():
    one = []
    one.append(one)
    a, b = [1], {}
    a.append(b)
    b["a"] = a
    left, right = [], []
    left.append(right)
    right.append(left)
    deque = collections.deque()
    deque.append({"d": deque})
    array = np.empty(1, object)
    array[0] = [array]
    return {"list": one, "two": a, "neighbours": [left, right], "deque": deque, "array": array}


@pytest.mark.parametrize("name", ["list", "two", "neighbours", "deque", "array"])
def test_cycles_are_refused(name, path):
    path.write_bytes(b"old")
    with pytest.raises(en.UnsupportedTypeError, match=r"value.*contains itself"):
        en.write(cycles()[name], path)
    assert path.read_bytes() == b"old"
    assert len(list(path.parent.iterdir())) == 1


def test_metadata(path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1, 2]})
    kept = {"made": datetime.date(2020, 1, 1), "scores": [np.arange(3), (1, 2)], "frame": frame}
    for value in (frame, [1, frame], {"a": np.arange(3)}, 7):
        en.write(value, path, metadata=kept)
        en.verify(path)
        with en.open(path) as file:
            assert same(file.metadata, kept)
        assert same(en.info(path).metadata, kept)
        assert same(en.read(path), value)
    en.write(frame, path)
    assert en.open(path).metadata is None
    en.write(frame, path, metadata={"compression": 5}, compression={"a": 80})
    assert en.info(path).metadata == {"compression": 5}


def test_bytes_and_long_texts_stay_shared(round_trip, path):
    array, text, data = bytearray(b"a"), "long " * 100, b"long " * 100
    value = [array, text, data, {"x": [array, text, data], "y": bytearray(b"a")}, {text: 1}]
    back = round_trip(value)
    assert same(value, back)
    en.verify(path)
    assert back[0] is back[3]["x"][0]
    assert back[0] is not back[3]["y"]
    assert back[1] is back[3]["x"][1]
    assert back[2] is back[3]["x"][2]
    round_trip([text * 100] * 100)
    assert path.stat().st_size < 60_000
    with en.open(path) as tree:
        assert tree[99].read() == text * 100


def test_texts_named_from_elsewhere_are_in_rows(round_trip):
    """A text that a list of rows has too."""
    text = "".join(map(chr, range(32, 400)))
    rows = [{"i": i, "t": f"{i} {text}"} for i in range(20)]
    value = [rows, rows[3]["t"], [(i, rows[i]["t"]) for i in range(10)], rows]
    back = round_trip(value)
    assert same(value, back)
    assert back[0] is back[3]
    assert back[1] is back[2][3][1]


def test_shared_rows_stay_shared(round_trip):
    rows = [{"a": i, "b": str(i)} for i in range(20)]
    back = round_trip({"rows": rows, "one": rows[7], "again": rows[::-1]})
    assert back["one"] is back["rows"][7] is back["again"][12]
    back["one"]["a"] = "changed"
    assert back["rows"][7]["a"] == "changed"
    same_row = {"a": 1, "b": 2}
    back = round_trip([same_row] * 20)
    assert all(row is back[0] for row in back)


def test_values_and_metadata_share(path):
    array, items, text = np.random.default_rng(1).random(20_000), [1, 2], "text " * 100
    value = {"array": array, "items": items, "text": text, "bytes": bytearray(b"x")}
    en.write(value, path)
    size = path.stat().st_size
    metadata = {"about": items, "again": [items, array, text, value]}
    en.write(value, path, metadata=metadata)
    assert path.stat().st_size < size + 2000
    en.verify(path)
    assert same(en.read(path), value)
    back = en.open(path).metadata
    assert same(back, metadata)
    assert back["about"] is back["again"][0] is back["again"][3]["items"]
    assert back["again"][1] is back["again"][3]["array"]
    for odd in (value, [], 5, text):
        en.write(value, path, metadata=odd)
        en.verify(path)
        assert same(en.open(path).metadata, odd)


@pytest.mark.parametrize("fails", [False, True])
def test_nothing_is_held_after_writing(fails, path):
    """Values are let go when the call returns, without the collector, also when it was refused."""
    array = np.arange(10)
    held = weakref.ref(array)
    value = {"a": array, "b": [object()] if fails else [1], "c": {1, 2}}
    gc.collect()
    gc.disable()
    try:
        if fails:
            with pytest.raises(en.UnsupportedTypeError):
                en.write(value, path)
        else:
            en.write(value, path)
        del array, value
        assert held() is None or fails
        if fails:
            # The exception's frames held it. The collector must be able to free the rest.
            gc.collect()
            assert held() is None
    finally:
        gc.enable()
