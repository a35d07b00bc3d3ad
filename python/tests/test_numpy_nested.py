"""Lists and structs of Arrow and Polars in NumPy, row by row of docs/guides/other-libraries.md."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import entasis as en

FIXED = pa.list_(pa.int16(), 2)


def _read(array, path, **options):
    en.write(pa.table({"a": array}), path)
    return en.read(path, to="numpy", **options)["a"]


def _cells(found):
    return [None if cell is None else cell.tolist() for cell in found]


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (pa.array([[1, 2], [3, 4], [5, 6]], FIXED), "i2"),
        (pa.array([[0.5, None], [1, 2], [3, 4]], pa.list_(pa.float32(), 2))[1:], "f4"),
        (pa.array([[True, False], [True, True]], pa.list_(pa.bool_(), 2)), "?"),
        (pa.array([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], pa.list_(FIXED, 2)), "i2"),
        (pa.array([[1, 2], [3, 4]], pa.list_(pa.timestamp("us", "Asia/Tokyo"), 2)), "M8[us]"),
        (pa.array([[1, 2], [3, 4]], pa.list_(pa.time32("s"), 2)), "m8[s]"),
        (pa.array([], FIXED), "i2"),
    ],
)
def test_fixed_size_lists_are_axes(array, dtype, path):
    found = _read(array, path)
    assert found.dtype == dtype
    wanted = np.array([np.ravel(row) for row in array.to_pylist()]).reshape(found.shape)
    if found.dtype.kind == "M" or found.dtype.kind == "m":
        assert found.view("i8").tolist() == [[1, 2], [3, 4]]
    else:
        assert found.tolist() == wanted.tolist()
    assert found.shape[:2] == (len(array), 2)
    if len(array) > 1:
        assert _read(array, path, rows=[1, 0, 1]).tolist() == found[[1, 0, 1]].tolist()


@pytest.mark.parametrize(
    "array",
    [
        pa.array([[1, 2], None, [3, 4]], FIXED),
        pa.array([[1, None], [3, 4]], FIXED),
        pa.array([["a", "b"], ["c", None]], pa.list_(pa.string(), 2)),
        pa.array([[1], None, [], [2, 3]]),
        pa.array([[1], None, [2, None]]),
        pa.array([["a"], None, []], pa.large_list(pa.string_view())),
        pa.array([[1], None, [2, 3], [4]])[1:],
        pa.array([[b"a"], [None]], pa.list_view(pa.binary())),
        pa.array([[True, None], [False]]),
        pa.array([["a", "b"], ["a"]], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
    ],
    ids=str,
)
def test_lists_are_arrays_in_cells(array, path):
    found = _read(array, path)
    assert found.dtype == object
    assert found.shape == (len(array),)
    assert all(cell is None or type(cell) is np.ndarray for cell in found)
    assert _cells(found) == array.to_pylist()


def test_lists_of_lists_structs_and_floats(path):
    found = _read(pa.array([[[1, 2], [3]], None, []]), path)
    assert [None if cell is None else _cells(cell) for cell in found] == [[[1, 2], [3]], None, []]
    found = _read(pa.array([[0.5, None], [1.0]]), path)
    assert found[0][0] == 0.5
    assert np.isnan(found[0][1])
    found = _read(pa.array([[[1, 2]], [[3, 4], [5, 6]]], pa.list_(FIXED)), path)
    assert [cell.shape for cell in found] == [(1, 2), (2, 2)]
    found = _read(pa.array([[{"x": 1}], []]), path)
    assert found[0].tolist() == [(1,)]
    assert found[1].dtype.names == ("x",)


def test_structs_are_structured_arrays(path):
    day = datetime.date(2020, 2, 29)
    found = _read(pa.array([{"x": 1, "y": "a", "d": day, "f": 0.5}, {"x": 2, "y": None, "d": None, "f": None}]), path)
    assert found.dtype == [("x", "i8"), ("y", "O"), ("d", "M8[D]"), ("f", "f8")]
    assert found[0].tolist() == (1, "a", day, 0.5)
    assert np.isnat(found["d"][1])
    assert np.isnan(found["f"][1])
    assert found["y"][1] is None


@pytest.mark.parametrize(
    ("array", "why"),
    [
        (pa.array([{"x": 1}, None]), "missing values"),
        (pa.array([{"x": 1}, {"x": None}]), "missing values"),
        (pa.array([{"x": [1]}]), "nested fields"),
        (pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["x", "x"]), "different names"),
        (pa.array([[1]], pa.list_(pa.decimal128(5, 1))), "decimal128"),
        (pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())), "map"),
    ],
    ids=str,
)
def test_others_are_refused_by_name(array, why, path):
    en.write(pa.table({"a": array, "b": array.is_null()}), path)
    with pytest.raises(en.UnsupportedTypeError, match=rf"column 'a': .*{why}"):
        en.read(path, to="numpy")
    with pytest.warns(UserWarning, match="left out: column 'a'"):
        assert list(en.read(path, to="numpy", on_unsupported="skip")) == ["b"]


def test_polars_and_arrays_of_files(path):
    frame = pl.DataFrame(
        {"a": [[1, 2], [3, 4]], "l": [[1], None], "x": [1, 2]}, schema_overrides={"a": pl.Array(pl.Int8, 2)}
    )
    en.write(frame, path)
    found = en.read(path, to="numpy")
    assert list(found) == ["a", "l", "x"]
    assert found["a"].dtype == "i1"
    assert found["a"].tolist() == [[1, 2], [3, 4]]
    assert _cells(found["l"]) == [[1], None]
    assert found["x"].tolist() == [1, 2]
    f = en.open(path)
    assert np.asarray(f["a"]).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(TypeError, match="one dtype"):
        np.asarray(f[["a", "x"]])
