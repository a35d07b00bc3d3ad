"""Trees of values: what is written comes back, exactly; damage is survived."""

from __future__ import annotations

import contextlib
import datetime
import pathlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_panel import (
    ALL,
    Point,
    same,
)

import entasis as en


@pytest.mark.parametrize("name", ALL)
def test_comes_back(name, round_trip, path):
    value = ALL[name]
    for given_ in (value, [value], {"a": [value, value]}):
        back = round_trip(given_)
        assert same(given_, back), (given_, back)
        en.verify(path)


def test_all_at_once(round_trip, path):
    assert same(ALL, round_trip(ALL))
    for compression in (0, 80):
        en.write(ALL, path, compression=compression, threads=1)
        first = path.read_bytes()
        assert same(ALL, en.read(path))
        en.write(ALL, path, compression=compression, threads=4)
        assert path.read_bytes() == first


def test_tables_stay_tables(path):
    for arrays in ({}, {"a": np.arange(3)}, {"a": np.arange(3), "b": np.array(["x", "y", "z"])}):
        en.write(arrays, path)
        assert isinstance(en.open(path), en.File)
        assert same(arrays, en.read(path))


leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.complex_numbers(), st.text(), st.binary(),
    st.dates(), st.times(), st.datetimes(), st.timedeltas(), st.decimals(), st.fractions(), st.uuids(),
    st.datetimes(timezones=st.timezones(no_cache=False)),
)  # fmt: skip
keys = st.recursive(
    st.one_of(st.text(), st.integers(), st.none(), st.binary(), st.dates()),
    lambda x: st.lists(x, max_size=3).map(tuple),
)
trees = st.recursive(
    leaves,
    lambda x: st.one_of(
        st.lists(x, max_size=6),
        st.lists(x, max_size=4).map(tuple),
        st.dictionaries(keys, x, max_size=6),
        st.frozensets(keys, max_size=4),
        st.lists(st.integers(-100, 100), max_size=5).map(lambda v: np.array(v, "i2")),
    ),
    max_leaves=40,
)


@settings(max_examples=150, deadline=None)
@given(trees)
def test_random_trees(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("t") / "x.entasis"
    en.write(value, path)
    back = en.read(path)
    assert same(value, back)
    en.verify(path)
    if isinstance(value, list):
        f = en.open(path)
        for i in range(len(value)):
            assert same(value[i : i + 2], f[i : i + 2].read())


def test_damage_is_survived(path):
    """Any byte of the file changed: the value as it was, or an error of the package."""
    en.write({"a": [1, "x", (2.5, None)], "b": np.arange(4).reshape(2, 2), "c": {"k": {1, 2}}, "p": Point(1)}, path)
    whole = path.read_bytes()
    for at in range(0, len(whole), 3):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << (at % 8)
        path.write_bytes(damaged)
        with contextlib.suppress(en.EntasisError):
            assert same(en.read(path)["a"], [1, "x", (2.5, None)])
        with pytest.raises(en.EntasisError):
            en.verify(path)


@pytest.mark.parametrize("name", ["trees", "v0.3/trees"])
def test_golden(name):
    folder = pathlib.Path(__file__).parents[2] / "tests" / "golden" / name
    kinds = en.read(folder / "kinds.entasis")
    assert kinds[:4] == [None, False, True, ...]
    assert [type(value).__name__ for value in kinds[-6:]] == ["bytes", "bytearray", "int", "UUID", "str", "bytes_"]
    numbers = {type(value).__name__: value for value in kinds}
    assert (numbers["date"], numbers["timedelta"]) == (datetime.date(1970, 1, 8), datetime.timedelta(microseconds=10))
    assert (numbers["int8"], numbers["uint64"], numbers["float16"]) == (11, 18, -0.5)
    many = en.open(folder / "many.entasis")
    assert (len(many), many[5998].read(), many[7].read()) == (6000, (5998, 1499.5), (7, None))
    nested = en.open(folder / "nested.entasis")
    assert nested["tuple"].read() == ()
    assert nested["list"][1].read() == {"x": 2, "y": False}
    assert nested[None].read()[0] == {"x": 1, "y": True}
    assert nested[""].read().tolist() == [0, 10, 20]
    assert nested["b"].read().tolist() == [[30, 50], [40, 60]]
    assert nested.metadata == [0]
    assert en.open(folder / "table-and-metadata.entasis").metadata == [0]


def test_mapped_arrays_are_kept_by_their_values(round_trip, tmp_path_factory):
    folder = tmp_path_factory.mktemp("maps")
    mapped = np.memmap(folder / "values", dtype="f4", mode="w+", shape=(100, 10))
    mapped[:] = np.arange(1_000).reshape(100, 10)
    fields = np.memmap(folder / "fields", dtype=[("a", "i4"), ("b", "f8")], mode="w+", shape=5)
    for value in (mapped, mapped.T, mapped[3:7, ::2], fields):
        back, again = round_trip([value, value])
        assert back is again
        assert type(back) is np.ndarray
        assert same(back, np.asarray(value))
