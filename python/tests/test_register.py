"""`register` and `types=`: classes of the user's own, their functions, and classes that changed."""

from __future__ import annotations

import collections
import dataclasses
import enum
import pickle
import subprocess
import sys
import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest

import entasis as en
from entasis import _register


class Money:
    def __init__(self, amount, currency="CHF"):
        self.amount, self.currency = amount, currency

    def __eq__(self, other):
        return type(other) is Money and (self.amount, self.currency) == (other.amount, other.currency)

    def __hash__(self):
        return hash((self.amount, self.currency))


class Graph:
    """A class that offers a stream, and holds other values."""

    def __init__(self, nodes, edges):
        self.nodes, self.edges = nodes, edges

    def __arrow_c_stream__(self, requested_schema=None):
        raise AssertionError("a registered class is not a table")


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: int = 0


class Pair(NamedTuple):
    a: int
    b: str


class Colour(enum.Enum):
    RED = 1


NAME = f"{__name__}.Money"


def register_money():
    return en.register(Money, encode=lambda m: (m.amount, m.currency), decode=lambda parts: Money(*parts))


def test_functions(path):
    assert register_money() is Money
    value = {"a": Money(1), Money(2, "EUR"): [Money(3)] * 2, "set": {Money(4)}}
    en.write(value, path, metadata=Money(5))
    back = en.read(path)
    assert back == value
    first, second = back[Money(2, "EUR")]
    assert first is second
    with en.open(path) as tree:
        assert tree["a"].read() == Money(1)
        assert tree.metadata == Money(5)
        assert pickle.loads(pickle.dumps(tree))["a"].read() == Money(1)
    # At the top too.
    en.write(Money(6), path)
    assert en.read(path) == Money(6)


def test_functions_of_large_values_and_of_each_other(path):
    register_money()
    en.register(Graph, encode=lambda graph: graph.__dict__, decode=lambda parts: Graph(**parts))
    graph = Graph([Money(i) for i in range(1_000)], pd.DataFrame({"a": [1, 2]}))
    en.write(graph, path)
    back = en.read(path)
    assert type(back) is Graph
    assert back.nodes == graph.nodes
    assert back.edges.equals(graph.edges)
    with en.open(path) as tree:
        assert tree["value"]["edges"].read(columns=["a"])["a"].tolist() == [1, 2]


def test_temporary_values_are_not_confused(path):
    """Each call of `encode` returns a new object, some of them at the address of one before."""
    en.register(Money, encode=lambda m: [m.amount, [m.currency]], decode=lambda parts: Money(parts[0], parts[1][0]))
    values = [Money(i, str(i % 7)) for i in range(20_000)]
    en.write(values, path)
    assert en.read(path) == values


@pytest.mark.parametrize("host", ["pandas", "polars"])
def test_cells_of_columns(path, host):
    register_money()
    cells = [Money(1), None, Money(2)]
    if host == "pandas":
        df = pd.DataFrame({"m": pd.Series(cells, dtype=object)})
        df.attrs = {"of": Money(3)}
    else:
        df = pl.DataFrame({"m": pl.Series(cells, dtype=pl.Object)})
    en.write(df, path)
    back = en.read(path)
    assert list(back["m"]) == cells
    if host == "pandas":
        assert back.attrs == df.attrs


def test_types_reach_the_cells_of_columns(path):
    df = pd.DataFrame({"p": pd.Series([Point(1), Point(2, 3)], dtype=object)})
    df.index = pd.Index([Pair(1, "a"), Pair(2, "b")], dtype=object, tupleize_cols=False)
    en.write({"df": df}, path)
    types = [Point, Pair]
    back = en.read(path, types=types)["df"]
    assert back["p"].tolist() == df["p"].tolist()
    assert [type(label) for label in back.index] == [Pair, Pair]
    with en.open(path, types=types) as tree:
        assert tree["df"].read(columns=["p"], rows=[1])["p"].tolist() == [Point(2, 3)]
        assert pickle.loads(pickle.dumps(tree))["df"].read()["p"].tolist() == df["p"].tolist()
    with en.open(path) as tree:
        # Classes of one read, too.
        assert tree.read(types=types)["df"]["p"].tolist() == df["p"].tolist()
        assert type(tree["df"].read()["p"].iloc[0]) is en.Record
    en.write(df, path)
    assert en.read(path, types=types)["p"].tolist() == df["p"].tolist()
    assert en.read(path.read_bytes(), types=types)["p"].tolist() == df["p"].tolist()
    assert type(en.read(path)["p"].iloc[0]) is en.Record


def test_classes_with_fields_need_no_functions(path):
    value = [Point(1, 2), Pair(1, "a"), Colour.RED]
    en.write(value, path)
    assert [type(item) for item in en.read(path)] == [en.Record] * 3
    for kind in (Point, Pair, Colour):
        en.register(kind)
    back = en.read(path)
    assert back == value
    assert [type(item) for item in back] == [Point, Pair, Colour]


def test_without_registration(path):
    """Elsewhere the values are records, and nothing is imported."""
    register_money()
    en.write([Money(7)], path)
    code = f"import entasis as en; r = en.read({str(path)!r})[0]; print(r.kind, r.name, r.value)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == f"registered {NAME} (7, 'CHF')\n"
    # The record is written as it was, and comes back as the class where that is registered.
    _register._functions.clear()
    _register._classes.clear()
    record = en.read(path)
    en.write(record, path)
    register_money()
    assert en.read(path) == [Money(7)]


def test_functions_that_fail(path):
    def fails(value):
        raise ValueError("no wallet")

    en.register(Money, encode=fails, decode=fails)
    with pytest.raises(en.UnsupportedTypeError, match=rf"value\[0\]: encode= of {NAME} raised ValueError: no w") as e:
        en.write([Money(1)], path)
    assert not path.exists()
    en.write([Money(1)], path, on_unsupported=lambda value, where: value.amount)
    assert en.read(path) == [1]
    register_money()
    en.write([Money(1)], path)
    en.register(Money, encode=fails, decode=fails)
    with pytest.raises(en.UnsupportedTypeError, match=f"decode= of {NAME} raised ValueError: no w") as e:
        en.read(path)
    assert isinstance(e.value.__cause__, ValueError)
    # A reader that has the class, and not its functions.
    _register._functions.clear()
    _register._classes.clear()
    with pytest.raises(en.UnsupportedTypeError, match="was written by functions of"):
        en.read(path, types=[Money])


def test_a_value_that_encodes_to_itself(path):
    en.register(Money, encode=lambda m: m, decode=lambda m: m)
    with pytest.raises(en.UnsupportedTypeError, match="contains itself"):
        en.write(Money(1), path)


@pytest.mark.parametrize("kind", [int, np.ndarray, pd.DataFrame, pl.Series, np.float64, en.Record])
def test_classes_that_entasis_keeps(kind):
    with pytest.raises(en.ArgumentError, match="by its own rules"):
        en.register(kind, encode=str, decode=str)


@pytest.mark.parametrize(
    ("cls", "options", "message"),
    [
        (Money(1), {}, "takes a class"),
        (Money, {}, "pass encode= and decode="),
        (Money, {"encode": str}, "pass both"),
        (Money, {"encode": 1, "decode": str}, "a function"),
    ],
)
def test_arguments(cls, options, message):
    with pytest.raises(en.ArgumentError, match=message):
        en.register(cls, **options)


def changed(name, fields, bases=()):
    """A dataclass with the name of `Point`."""
    found = dataclasses.make_dataclass(name, fields, bases=bases)
    found.__module__ = __name__
    return found


def test_fields_that_a_class_gained(path):
    en.write([Point(1, 2)], path)
    wider = changed(
        "Point", [("y", int), ("x", int), ("z", int, 9), ("tags", list, dataclasses.field(default_factory=list))]
    )
    (one,), (two,) = en.read(path, types=[wider]), en.read(path, types=[wider])
    assert one == wider(2, 1, 9, [])
    assert one.tags is not two.tags
    with pytest.raises(en.UnsupportedTypeError, match="fields x, y: no default for z"):
        en.read(path, types=[changed("Point", ["x", "y", "z"])])
    with pytest.raises(en.UnsupportedTypeError, match="fields x, y: the class has no y"):
        en.read(path, types=[changed("Point", ["x"])])
    fails = [("x", int), ("y", int), ("z", int, dataclasses.field(default_factory=lambda: int("none")))]
    with pytest.raises(en.UnsupportedTypeError, match=r"default_factory= of .*Point\.z raised ValueError"):
        en.read(path, types=[changed("Point", fails)])
    en.write([Pair(1, "a")], path)
    longer = collections.namedtuple("Pair", ["b", "a", "c"], defaults=[3], module=__name__)
    assert en.read(path, types=[longer]) == [longer("a", 1, 3)]
    with pytest.raises(en.UnsupportedTypeError, match="was written as a namedtuple"):
        en.read(path, types={f"{__name__}.Pair": Point})


def test_classes_that_moved(path):
    elsewhere = dataclasses.make_dataclass("Point", ["x", "y"])
    elsewhere.__module__ = "__main__"
    en.write([elsewhere(1, 2)], path)
    with pytest.warns(UserWarning, match=r"values of __main__\.Point, which is not .*pass types=.'__main__.Point': P"):
        back = en.read(path, types=[Point])
    assert type(back[0]) is en.Record
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        types = {"__main__.Point": Point}
        assert en.read(path, types=types) == [Point(1, 2)]
        with en.open(path, types=types) as tree:
            assert pickle.loads(pickle.dumps(tree))[0].read() == Point(1, 2)
            assert tree[0].read(types=types) == Point(1, 2)
        # Classes of other names say nothing.
        assert type(en.read(path, types=[Pair])[0]) is en.Record
    en.register(Point)
    with pytest.warns(UserWarning, match="which is not"):
        en.read(path)
    for types in ({1: Point}, {"a": 1}, [1]):
        with pytest.raises(en.ArgumentError):
            en.read(path, types=types)
