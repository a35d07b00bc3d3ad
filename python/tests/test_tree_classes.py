"""Dataclasses, named tuples and Enums: as records, or as the classes that the reader gives."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tree_panel import (
    RECORDS,
    Colour,
    Model,
    Pair,
    Point,
    same,
)

import entasis as en


def test_records(round_trip, path):
    for value in RECORDS:
        back = round_trip(value)
        assert same(round_trip(back), back) or isinstance(value, Model)
    back = round_trip(RECORDS)
    assert [type(item) for item in back[:4]] == [en.Record] * 4
    point, model, pair, colour, _ = back
    assert (point.x, point.y, point.kind) == (1, [2], "dataclass")
    assert point.name.endswith("tree_panel.Point")
    assert same(model.weights, {"w": np.arange(3)})
    assert (pair.kind, pair.fields) == ("namedtuple", {"a": 1, "b": "b"})
    assert (colour.kind, colour.fields["name"], colour.value) == ("enum", "BLUE", ("b", 2))
    with pytest.raises(AttributeError, match="no 'z'"):
        _ = point.z
    back = en.read(path, types=[Point, Model, Pair, Colour])
    assert (back[0], back[2], back[4]) == (RECORDS[0], RECORDS[2], RECORDS[4])
    assert type(back[1]) is Model
    assert same(back[1].weights, RECORDS[1].weights)
    assert back[3] is Colour.BLUE
    with en.open(path, types=[Point]) as tree:
        assert tree[0].read() == Point(1, [2])
        assert tree[1]["weights"]["w"][1:].read().tolist() == [1, 2]


def test_classes_that_changed(path):
    en.write([Point(1)], path)
    other = dataclasses.make_dataclass("Point", ["x", "z"])
    other.__module__ = Point.__module__
    with pytest.raises(en.UnsupportedTypeError, match="another class"):
        en.read(path, types=[other])
    with pytest.raises(en.ArgumentError):
        en.read(path, types=["Point"])
