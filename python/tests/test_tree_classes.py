"""Dataclasses, named tuples and Enums: as records, or as the classes that the reader gives."""

from __future__ import annotations

import dataclasses
import enum

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
    with pytest.raises(en.UnsupportedTypeError, match="differs from the"):
        en.read(path, types=[other])
    with pytest.raises(en.ArgumentError):
        en.read(path, types=["Point"])


Unhashable = enum.Enum("Unhashable", {"LIST": [1], "DICT": {"a": 1}}, module=__name__)


class Flags(enum.Flag):
    A = 1
    B = 2
    C = 4


class IntFlags(enum.IntFlag):
    X = 1
    Y = 2


@dataclasses.dataclass(eq=False)
class Same:
    parts: list


def test_keys_whose_parts_have_no_hash(round_trip, path):
    """Members of an Enum have a hash whatever their value, and so have objects without `__eq__`."""
    value = {Unhashable.LIST: 1, Unhashable.DICT: 2, (Unhashable.LIST, 1): {Unhashable.DICT}}
    back = round_trip(value)
    assert [type(key) for key in back][:2] == [en.Record] * 2
    first, second, third = back
    assert (first.fields["name"], first.value, back[first]) == ("LIST", [1], 1)
    assert (second.value, back[second]) == ({"a": 1}, 2)
    assert back[third] == {second}
    assert en.read(path, types=[Unhashable]) == value
    one, two = Same([1]), Same([2])
    back = round_trip({one: 1, two: 2})
    assert sorted((key.parts, value) for key, value in back.items()) == [([1], 1), ([2], 2)]
    assert {tuple(key.parts) for key in en.read(path, types=[Same])} == {(1,), (2,)}


def test_flags_together(round_trip, path):
    values = [Flags.A, Flags.A | Flags.C, Flags(0), ~Flags.B, IntFlags.X | IntFlags.Y, IntFlags(0), IntFlags(9)]
    assert [record.value for record in round_trip(values)] == [value.value for value in values]
    back = en.read(path, types=[Flags, IntFlags])
    assert back == values
    assert [type(value) for value in back] == [type(value) for value in values]
    other = enum.Flag("Flags", {"A": 1})
    other.__module__ = Flags.__module__
    with pytest.raises(en.UnsupportedTypeError, match="no member"):
        en.read(path, types=[other])
