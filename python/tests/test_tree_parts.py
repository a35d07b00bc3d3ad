"""Parts of a tree are read without the rest."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from tree_panel import (
    Point,
    same,
)

import entasis as en


def test_parts(path):
    pd = pytest.importorskip("pandas")
    matrix = np.arange(1_000_000).reshape(-1, 10)
    frame = pd.DataFrame({"a": range(100), "b": "x"})
    value = {
        "models": {"a": 1, "b": matrix, "f": np.asfortranarray(matrix[:50])},
        "list": [[i] for i in range(5000)],
        "objects": np.array([[i, [i]] for i in range(100)], dtype=object),
        "frame": frame,
        7: (1, "x"),
    }
    en.write(value, path)
    f = en.open(path)
    assert isinstance(f, en.Tree)
    assert (f.kind, len(f), f.keys(), list(f)) == ("dict", 5, list(value), list(value))
    assert "models" in f
    assert "x" not in f
    assert same(f["models"]["b"].read(), matrix)
    for rows in (slice(0, 100), slice(99, 20, -7), slice(5, 5), 3, [5, 1, 5], np.array([True] + [False] * 99_999)):
        wanted = matrix[rows]
        assert np.array_equal(f["models"]["b"][rows].read(), wanted)
        assert f["models"]["b"][rows].shape == wanted.shape
    assert np.array_equal(f["models"]["b"][100:200][10:20].read(), matrix[110:120])
    assert np.array_equal(np.asarray(f["models"]["b"][:5]), matrix[:5])
    assert same(f["models"]["f"][2:4].read(), value["models"]["f"][2:4])
    assert f["list"][4000:4003].read() == value["list"][4000:4003]
    assert f["list"][::-2000].read() == value["list"][::-2000]
    assert f["list"][-1].read() == [4999]
    assert f["list"].read(rows=(1, 3)) == [[1], [2]]
    assert f["objects"][3:5].read().tolist() == [[3, [3]], [4, [4]]]
    assert f["objects"][[9, 2]].read().tolist() == [[9, [9]], [2, [2]]]
    assert isinstance(f["frame"], en.File)
    assert not isinstance(f["frame"], en.Tree)
    pd.testing.assert_frame_equal(f["frame"][10:20].read(columns="a"), frame[["a"]][10:20])
    assert f["frame"].to_numpy()["b"][0] == "x"
    assert f[7][1].read() == "x"
    assert f["models"]["a"].read() == 1
    with pytest.raises(KeyError, match="no key 'x'"):
        f["x"]
    with pytest.raises(IndexError):
        f["list"][5000]
    with pytest.raises(en.ArgumentError, match="no parts"):
        f["models"]["a"][0]
    with pytest.raises(en.ArgumentError, match="tree"):
        en.read(path, columns="a")
    en.write(matrix, path)
    assert np.array_equal(en.read(path, rows=(5, 7)), matrix[5:7])


def test_trees_are_files_without_what_frames_have(path):
    en.write({"a": [1, 2], "n": 3}, path)
    f = en.open(path)
    assert isinstance(f, en.File)
    for part, kind in ((f, "a dict"), (f["a"], "a list"), (f["n"], "an int")):
        assert isinstance(part, en.Tree)
        for name in ("n_rows", "schema", "column_names", "to_pandas", "to_polars", "__arrow_c_stream__"):
            assert not hasattr(part, name)
            with pytest.raises(en.NotAFrameError, match=f"is {kind}, and {name} is for frames"):
                getattr(part, name)
    with pytest.raises(en.ArgumentError, match="value is a dict: to= is for frames"):
        f.read(to="pandas")
    assert issubclass(en.NotAFrameError, AttributeError)


def test_a_part_is_read_without_the_rest(path):
    noise = np.random.default_rng(1)
    value = {"a": [noise.random(1000) for _ in range(2000)], "b": noise.random(3), "c": list(range(50_000))}
    en.write(value, path, compression=0)
    damaged = bytearray(path.read_bytes())
    # One array somewhere in the middle of the columns of all of them.
    at = damaged.find(value["a"][1000].tobytes())
    damaged[at] ^= 1
    path.write_bytes(damaged)
    f = en.open(path)
    assert f["b"].read().tolist() == value["b"].tolist()
    assert f["c"][40_000:40_002].read() == [40_000, 40_001]
    assert same(f["a"][0:3].read(), value["a"][0:3])
    assert same(f["a"][1990:].read(), value["a"][1990:])
    with pytest.raises(en.CorruptFileError):
        f["a"][999:1001].read()
    with pytest.raises(en.CorruptFileError):
        f.read()


def test_outline(path):
    en.write({"a": [1, "x"], "m": {"w": np.zeros((2, 3))}, "p": Point(1)}, path)
    f = en.open(path)
    text = f.tree()
    for line in ("value: dict, 3", "  'a': list, 2", "    [1]: str = 'x'", "array of f64, 2 x 3", "    'x': int = 1"):
        assert line in text.splitlines() or line in text
    assert repr(f).startswith("<entasis.Tree ")
    assert len(en.open(path).tree(depth=1).splitlines()) == 4
    pd = pytest.importorskip("pandas")
    shown = subprocess.run(
        [sys.executable, "-m", "entasis", "tree", os.fspath(path)], capture_output=True, text=True, check=True
    ).stdout
    assert "dict" in shown
    en.write(pd.DataFrame({"a": [1.5]}), path)
    assert en.open(path).tree().splitlines() == ["value: frame, 1 x 1, pandas", "  a: f64"]
    assert "2 x 3" in shown


RECORD_ROWS = [{"id": i, "name": f"n{i % 7}", "x": None if i % 5 == 0 else i / 4} for i in range(10_000)]
TUPLE_ROWS = [(i, str(i), i / 2) for i in range(500)]


def test_rows_of_lists_of_rows(path):
    en.write({"records": RECORD_ROWS, "tuples": TUPLE_ROWS}, path)
    f = en.open(path)
    for name, rows in (("records", RECORD_ROWS), ("tuples", TUPLE_ROWS)):
        assert (f[name].kind, len(f[name]), f[name].shape) == ("list", len(rows), (len(rows),))
        assert same(f[name][77].read(), rows[77])
        assert same(f[name][-1].read(), rows[-1])
        for part in (slice(50, 60), slice(None, None, -99), slice(5, 5), [7, 3, 7]):
            wanted = rows[part] if isinstance(part, slice) else [rows[i] for i in part]
            assert same(f[name][part].read(), wanted)
        assert same(f[name].read(rows=(1, 3)), rows[1:3])
        with pytest.raises(IndexError):
            f[name][len(rows)]
    row = f["records"][123]
    assert (row.kind, len(row), row.keys(), list(row)) == ("dict", 3, ["id", "name", "x"], ["id", "name", "x"])
    assert "name" in row
    assert row["name"].read() == "n4"
    with pytest.raises(KeyError, match="no key 'y'"):
        row["y"]
    row = f["tuples"][9]
    assert (row.kind, len(row), row[1].read(), row[1:].read()) == ("tuple", 3, "9", ("9", 4.5))
    assert "    [1]: dict, 3\n      'id': int = 1" in f.tree()


def test_rows_are_columns(path):
    """A list of records takes about as much as its columns alone, and their records."""
    en.write(RECORD_ROWS, path)
    size = path.stat().st_size
    en.write({key: [row[key] for row in RECORD_ROWS] for key in RECORD_ROWS[0]}, path)
    assert abs(size - path.stat().st_size) < 1000


def test_some_rows_are_read_without_the_rest(path):
    noise = np.random.default_rng(1).random(60_000)
    rows = [{"a": x, "b": -x} for x in noise.tolist()]
    en.write(rows, path, compression=0)
    damaged = bytearray(path.read_bytes())
    at = damaged.find(noise[30_000:30_002].tobytes())
    damaged[at] ^= 1
    path.write_bytes(damaged)
    f = en.open(path)
    assert f[10:13].read() == rows[10:13]
    assert f[59_999]["b"].read() == rows[59_999]["b"]
    with pytest.raises(en.CorruptFileError):
        f[29_999:30_001].read()


@pytest.mark.parametrize("keys", ["texts", "numbers"])
def test_keys_of_large_dicts_are_found_without_the_others(keys, path):
    n = 200_000
    value = {(f"key {i * i % 999_983} {i}" if keys == "texts" else i * i): i for i in range(n)}
    en.write({"d": value}, path)
    en.verify(path)
    f = en.open(path)["d"]
    for key in list(value)[:: n // 50]:
        assert key in f
        assert f[key].read() == value[key]
    for other in ("x", -1, 2, "key"):
        assert other not in f
    with pytest.raises(KeyError, match="no key 'y'"):
        f["y"]
    # None of these look-ups reads the list of keys. A look-up by an equal key of another type does.
    assert f._keys is None
    assert (4.0 in f) == (True in f) == (keys == "numbers")
    assert f.keys() == list(value)


def test_columns_of_arrays(path):
    matrix = np.arange(60_000.0).reshape(2000, 30)
    value = {"c": matrix, "f": np.asfortranarray(matrix), "three": matrix.reshape(200, 30, 10), "one": matrix[:, 0]}
    en.write(value, path)
    f = en.open(path)
    for columns in (slice(2, 5), [7, 0, 7], 29, slice(None, None, -4), slice(3, 3), np.arange(30) % 7 == 0):
        wanted = matrix[:, columns] if not isinstance(columns, int) else matrix[:, columns : columns + 1]
        for name in ("c", "f"):
            assert np.array_equal(f[name].read(columns=columns), wanted)
            assert np.array_equal(f[name].read(rows=(10, 20), columns=columns), wanted[10:20])
            assert np.array_equal(f[name][100:300][[5, 1]].read(columns=columns), wanted[[105, 101]])
    assert np.array_equal(f["three"].read(columns=[4, 2]), value["three"][:, [4, 2]])
    for name in ("one", None):
        with pytest.raises(en.ArgumentError, match="only frames and arrays with two or more axes have columns"):
            (f if name is None else f[name]).read(columns=[0])
    with pytest.raises(IndexError):
        f["c"].read(columns=[30])


def base_len(array):
    """Bytes that an array keeps in memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.nbytes


def test_arrays_that_are_read_together_keep_little_memory(path):
    rng = np.random.default_rng(3)
    shapes = [(100, 100), (1024, 100), (131_072,), (8192,), (8191,), (3,), (90, 100), (2, 5000), (1, 1)]
    arrays = [rng.standard_normal(shapes[i % len(shapes)]) for i in range(200)]
    arrays += [rng.integers(0, 1 << 40, 20_000) for _ in range(100)]
    arrays[4] = np.asfortranarray(arrays[0])
    arrays[50] = arrays[1]
    arrays[60] = np.full((5, 3000), np.nan)
    en.write({"all": arrays, "last": arrays[-1]}, path)
    back = en.read(path)["all"]
    same(back, arrays)
    assert back[50] is back[1]
    assert sum(array.nbytes for array in arrays) > 60 << 20
    large = [array for array in back if array.nbytes >= 64 << 10]
    # Up to 2 MiB of it are the way to the first huge page, which nobody touches.
    assert all(base_len(array) <= 10 << 20 for array in large)
    assert len({id(array) for array in large}) == len(large) - 1
    # They are changed apart, though they share memory.
    before = [array.copy() for array in back]
    for i, array in enumerate(back):
        if i != 50:
            array += i
    for i, (array, old) in enumerate(zip(back, before, strict=True)):
        added = 1 if i == 50 else i
        assert np.array_equal(array, old + added, equal_nan=array.dtype.kind == "f")
    f = en.open(path)
    same(f["all"][2:20].read(), arrays[2:20])
    same(f["all"][250:].read(), arrays[250:])
    same(f["last"].read(), arrays[-1])


def test_rows_of_what_the_kind_says(round_trip):
    """Such values with others of the same kind, and with other kinds."""
    for others in ((None, True, False), (None, ..., True), (..., False, 7, "text", None), (None,), (...,)):
        rows = [{"a": others[i % len(others)], "b": others[i // 7 % len(others)], "c": i} for i in range(300)]
        assert round_trip(rows) == rows


def test_rows_are_dicts_as_any(round_trip):
    """Rows that share their keys in memory are changed apart, and take other keys."""
    rows = [{"id": i, "x": i / 2, "s": str(i)} for i in range(5000)]
    back = round_trip(rows)
    assert all(type(row) is dict for row in back)
    back[7]["new"] = 1
    back[8]["x"] = "other"
    del back[9]["id"]
    back[10].clear()
    assert back[7] == rows[7] | {"new": 1}
    assert back[8] == rows[8] | {"x": "other"}
    assert list(back[9].items()) == [("x", 4.5), ("s", "9")]
    assert back[10] == {}
    assert back[6] == rows[6]
    assert back[11:] == rows[11:]
    assert [list(row) for row in back[11:20]] == [["id", "x", "s"]] * 9

    class Same:
        """An object with attributes of these names."""

    objects = [Same() for _ in range(50)]
    for other, row in zip(objects, rows, strict=False):
        vars(other).update(row)
    # No room is reserved for keys that they lack.
    assert sys.getsizeof(back[6]) <= sys.getsizeof(vars(objects[-1]))
    # Names that no attribute can have, and too many.
    for names in (
        ["__class__", "a"],
        ["__dict__"],
        ["__weakref__", "b"],
        ["", "a b", "é\0"],
        list(map(str, range(40))),
    ):
        round_trip([dict.fromkeys(names, (i, None)[i % 2]) for i in range(2000)])


def test_parts_by_arrays(path):
    """An array of numbers or booleans selects several items, also with a length of 1 or 0."""
    objects = np.array([[1, "a", None], [2.5, (), "b"], [3, "c", [4]]], dtype=object)
    value = {
        "list": list(range(0, 100, 10)),
        "tuple": tuple("abcdefghij"),
        "rows": [{"k": i, "v": str(i)} for i in range(10)],
        "objects": objects,
        "narrow": np.empty((10, 0), object),
        "numbers": np.arange(30).reshape(10, 3),
        "fortran": np.asfortranarray(np.arange(30).reshape(10, 3)),
    }
    en.write(value, path)
    f = en.open(path)
    odd = np.arange(10) % 2 == 1
    for rows in (np.array([1, 2]), np.array([7]), np.array([], np.int64), [], odd, ~odd & odd, np.array([2, 2], "u1")):
        positions = np.flatnonzero(rows) if str(getattr(rows, "dtype", None)) == "bool" else list(map(int, rows))
        for name in ("list", "tuple", "rows"):
            wanted = type(value[name])(value[name][i] for i in positions)
            assert f[name][rows].read() == f[name].read(rows=rows) == wanted
            assert len(f[name][rows]) == len(positions)
        for name in ("narrow", "numbers", "fortran"):
            assert same(f[name][rows].read(), value[name][positions])
            assert same(f[name].read(rows=rows), value[name][positions])
    for i in (3, np.int8(3), np.uint64(3), np.array(3)):
        assert f["list"][i].read() == 30
        assert f["rows"][i].read() == {"k": 3, "v": "3"}
    for rows in (
        [],
        np.array([], np.int64),
        slice(2, 1),
        [2, 0],
        slice(None, None, -2),
        np.array([False, True, False]),
    ):
        assert same(f["objects"][rows].read(), objects[rows])
        assert same(f["objects"].read(rows=rows), objects[rows])


def test_what_has_no_rows(path):
    value = {"point": np.array(5), "bytes": b"abc", "int": 7, "objects": np.array(None, dtype=object)}
    en.write(value, path)
    f = en.open(path)
    for name, inner in value.items():
        assert f[name].shape == ()
        assert same(f[name].read(), inner)
        for rows in (0, [0], slice(2), (0, 1)):
            with pytest.raises(en.ArgumentError, match=name):
                f[name].read(rows=rows)
            refused = en.RowsOutOfRangeError if isinstance(inner, np.ndarray) else en.ArgumentError
            with pytest.raises(refused, match=name):
                f[name][rows]
        with pytest.raises(TypeError, match="no length"):
            len(f[name])


def test_rows_of_a_dict_are_refused_as_such(path):
    en.write({"a": np.zeros((50, 2)), "b": np.arange(50.0), "c": np.arange(50)}, path)
    for rows in [(0, 5), (0, 2), [1], 40, slice(2, 3)]:
        with pytest.raises(en.ArgumentError, match="value is a dict: only arrays and lists have rows"):
            en.read(path, rows=rows)
