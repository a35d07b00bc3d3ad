"""Dicts of arrays come back equal."""

from __future__ import annotations

import numpy as np
import pytest

import entasis as en

UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]


def arrays():
    rng = np.random.default_rng(2)
    n = 2000
    numbers = rng.integers(0, 100, n)
    out = {
        dtype: numbers.astype(dtype)
        for dtype in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "?"]
    }
    for unit in UNITS:
        for letter in "Mm":
            times = numbers.copy()
            times[::7] = np.iinfo("i8").min
            out[f"{letter}8[{unit}]"] = times.view(f"{letter}8[{unit}]")
    out["m8"] = numbers.view("m8")
    out["U"] = np.array(["", "é\U0001f600", "abc"] * 700)[:n]
    out["U20"] = out["U"].astype("U20")
    out["S"] = np.array([b"", b"\xff\x00a", b"abc"] * 700)[:n]
    out["object"] = out["U"].astype(object)
    out["kinds"] = out["object"].copy()
    out["kinds"][:2] = [None, np.nan]
    out["strided"] = np.arange(3 * n)[::-3]
    return out


ARRAYS = arrays()


def same(left, right):
    assert list(left) == list(right)
    for name, array in left.items():
        assert array.dtype == right[name].dtype, name
        if array.dtype == object:
            assert list(map(repr, array)) == list(map(repr, right[name]))
        else:
            np.testing.assert_array_equal(array, right[name], err_msg=name)


@pytest.mark.parametrize("name", ARRAYS)
def test_column(name, round_trip):
    same({name: ARRAYS[name]}, round_trip({name: ARRAYS[name]}))


def test_all_together(round_trip, path):
    back = round_trip(ARRAYS)
    same(ARRAYS, back)
    assert back["kinds"][0] is None
    assert np.isnan(back["kinds"][1])
    rows = [3, -1, 0]
    same({k: v[rows] for k, v in ARRAYS.items()}, en.read(path, rows=rows))
    same({"kinds": ARRAYS["kinds"][:1], "i1": ARRAYS["i1"][:1]}, en.read(path, rows=0, columns=["kinds", "i1"]))


def test_shapes(round_trip):
    assert round_trip({}) == {}
    same({"a": np.empty(0), "U": np.empty(0, "U3")}, round_trip({"a": np.empty(0), "U": np.empty(0, "U3")}))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(2, ">f8"), "column 'x': dtype >f8"),
        (np.zeros(2, "longdouble"), "column 'x': dtype"),
        (np.zeros(2, "i4,f4"), "column 'x': dtype"),
        (np.zeros((2, 2)), "column 'x': arrays of 2 dimensions"),
        (np.zeros(2, "M8[25s]"), "column 'x': dtype"),
        (np.array([1, "a"], dtype=object), "column 'x': object cells of type int"),
        (np.ma.array([1, 2]), "column 'x': MaskedArray"),
        ([1, 2], "column 'x': list"),
    ],
)
def test_what_is_refused(array, message, path):
    with pytest.raises(en.UnsupportedTypeError, match=message):
        en.write({"x": array}, path)
    assert not path.exists()


def test_lengths_and_names(path):
    with pytest.raises(en.ArgumentError, match="column 'b' has 2 values, column 'a' 1"):
        en.write({"a": np.zeros(1), "b": np.zeros(2)}, path)
    with pytest.raises(en.UnsupportedTypeError, match="name of type int"):
        en.write({1: np.zeros(1)}, path)
