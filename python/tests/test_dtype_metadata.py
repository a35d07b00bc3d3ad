"""`metadata` of NumPy's dtypes, as h5py uses them for strings and enumerations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import entasis as en
from entasis.errors import CorruptFileError, UnsupportedTypeError

sf = pytest.importorskip("static_frame")

STRINGS = np.dtype("O", metadata={"vlen": str})
COLOURS = np.dtype("i1", metadata={"enum": {"RED": 0, "GREEN": 1}})
UNITS = np.dtype("f8", metadata={"unit": "m/s", 3: ["m", ("s", -1)], "of": np.arange(3)})


def described(dtype: Any) -> Any:
    """A dtype and its metadata, which no comparison of dtypes looks at."""
    if dtype.metadata is None:
        return dtype, None
    return dtype, {key: part.tolist() if isinstance(part, np.ndarray) else part for key, part in dtype.metadata.items()}


def assert_same(found: Any, array: Any) -> None:
    assert type(found) is np.ndarray
    assert described(found.dtype) == described(array.dtype)
    assert found.shape == array.shape
    assert found.tolist() == array.tolist()


def arrays() -> dict[str, Any]:
    return {
        "text": np.array(["a", "bc", None], STRINGS),
        "colour": np.array([1, 0, 1], COLOURS),
        "plain": np.array([1, 2, 3], "i1"),
        "speed": np.array([0.5, np.pi, -1.0], UNITS),
        "big": np.array([1, 2, 3], np.dtype(">i4", metadata={"n": 1})),
        "time": np.array(["2020", "NaT", "2021"], "M8[25s]").view(np.dtype("M8[25s]", metadata={"n": 1})),
        "delta": np.array([1, 2, "NaT"], "m8[ns]").view(np.dtype("m8[ns]", metadata={})),
        "fixed": np.array([b"a", b"", b"bcd"], np.dtype("S3", metadata={"cset": "ascii"})),
        "wide": np.array(["\u00e9", "", "x"], np.dtype("U2", metadata={"n": None})),
        "flag": np.array([True, False, True], np.dtype("?", metadata={"on": True})),
        "long": np.array([1, 2, 3], np.dtype("G", metadata={"n": 1})),
    }


@pytest.mark.parametrize("name", arrays())
def test_arrays_of_trees(path, name):
    array = arrays()[name]
    cube = array.repeat(8).reshape(2, 3, 4)
    tree = {"one": array, "again": [array, array[:0]], "cube": cube, "turned": cube.T, "none": array[1:2].reshape(())}
    en.write(tree, path)
    found = en.read(path)
    for key in ("one", "cube", "turned", "none"):
        assert_same(found[key], tree[key])
    assert_same(found["again"][1], array[:0])
    assert found["again"][0] is found["one"]
    tree = en.open(path)
    assert_same(tree["one"].read(), array)
    part = tree["cube"]
    assert (part.shape, len(part)) == ((2, 3, 4), 2)
    assert_same(part[1:].read(), cube[1:])
    assert_same(part.read(rows=[1, 0, 1]), cube[[1, 0, 1]])
    assert_same(tree["again"][0][1:3].read(), array[1:3])
    if name != "text":
        assert_same(part.read(columns=[2, 0]), cube[:, [2, 0]])
    assert "2 x 3 x 4" in tree.tree()
    en.write(array, path)
    assert_same(en.read(path, rows=slice(1, 2)), array[1:2])


def test_dtypes_and_masked_arrays(path):
    masked = np.ma.MaskedArray(arrays()["speed"], [True, False, False])
    value = [UNITS, COLOURS, np.dtype("i4"), masked]
    en.write(value, path)
    found = en.read(path)
    assert [described(dtype) for dtype in found[:3]] == [described(dtype) for dtype in value[:3]]
    assert_same(found[3].data, masked.data)
    assert found[3].mask.tolist() == masked.mask.tolist()


def test_dict_of_arrays(path):
    value = arrays()
    en.write(value, path)
    found = en.read(path)
    assert list(found) == list(value)
    for name, array in value.items():
        assert_same(found[name], array)
    some = en.read(path, columns=["speed", "plain", "colour"], rows=slice(1, 3))
    assert list(some) == ["speed", "plain", "colour"]
    for name, array in some.items():
        assert_same(array, value[name][1:3])


@pytest.mark.parametrize("n_columns", [3, 100])
def test_pandas(path, n_columns):
    speed, plain = arrays()["speed"], np.array([1.0, 2.0, 3.0])
    columns = {f"c{i}": speed if i % 3 == 1 else plain for i in range(n_columns)}
    columns |= {name: arrays()[name] for name in ("text", "colour")}
    frame = pd.concat([pd.Series(array, name=name) for name, array in columns.items()], axis=1)
    wanted = {name: described(frame[name].dtype) for name in frame if isinstance(frame[name].dtype, np.dtype)}
    en.write(frame, path)
    found = en.read(path)
    pd.testing.assert_frame_equal(found, frame)
    assert {name: described(found[name].dtype) for name in wanted} == wanted
    some = en.read(path, columns=["colour", "c1", "c0"], rows=slice(0, 2))
    assert {name: described(some[name].dtype) for name in some} == {name: wanted[name] for name in some}
    pd.testing.assert_frame_equal(some, frame[["colour", "c1", "c0"]].iloc[:2])


def test_pandas_keeps_one_block(path):
    """Columns of one dtype stay one block; those with metadata are views of its rows."""
    frame = pd.DataFrame(np.arange(6.0).reshape(3, 2).astype(UNITS), columns=["a", "b"])
    assert described(frame["b"].dtype) == described(UNITS)
    en.write(frame, path)
    found = en.read(path)
    assert len(found._mgr.blocks) == 1
    assert [described(dtype) for dtype in found.dtypes] == [described(UNITS)] * 2
    pd.testing.assert_frame_equal(found, frame)


def test_pandas_series_and_labels(path):
    series = pd.Series(arrays()["speed"], index=pd.Index(arrays()["colour"], name="k"), name="s")
    categories = pd.Series(pd.Categorical.from_codes([0, 1, 1], pd.Index(np.array([5, 7], COLOURS))))
    levels = pd.MultiIndex([pd.Index(np.array([5, 7], COLOURS)), ["a"]], [[0, 1, 0], [0, 0, 0]])
    value = [series, categories, series.index, levels]
    en.write(value, path)
    found = en.read(path)
    pd.testing.assert_series_equal(found[0], series)
    assert described(found[0].dtype) == described(UNITS)
    assert described(found[0].index.dtype) == described(COLOURS)
    assert described(found[1].cat.categories.dtype) == described(COLOURS)
    assert described(found[2].dtype) == described(COLOURS)
    assert found[3].equals(levels)
    assert described(found[3].levels[0].dtype) == described(COLOURS)


@pytest.mark.parametrize("name", arrays())
def test_static_frame(path, name):
    array = arrays()[name]
    square = np.array([array, array[::-1], array], array.dtype).T
    columns = ["x", *(f"b{i}" for i in range(3)), "y"]
    frame = sf.Frame(
        sf.TypeBlocks.from_blocks([array, square, np.arange(3)]), index=np.arange(3), columns=columns, own_data=True
    )
    dtypes = [described(dtype) for dtype in frame.dtypes.values]
    assert (dtypes[0][1] is None) == (name == "plain")
    en.write(frame, path)
    found = en.read(path)
    assert found.equals(frame, compare_dtype=True, compare_class=True, compare_name=True)
    assert [described(dtype) for dtype in found.dtypes.values] == dtypes
    assert not any(block.flags.writeable for block in found._blocks._blocks)
    some = en.read(path, columns=["y", "b2", "b1", "x"], rows=slice(0, 2))
    assert [described(dtype) for dtype in some.dtypes.values] == [dtypes[i] for i in (4, 3, 2, 0)]
    assert_same(en.read(path, to="numpy")["b1"], frame["b1"].values)


def test_static_frame_labels(path):
    names = sf.Index(np.array(["a", "bc", "d"], STRINGS))
    colours = sf.Index(np.array([5, 7], COLOURS), name="c")
    indexers = np.array([[0, 1, 1], [0, 1, 2]])
    indexers.flags.writeable = False
    levels = sf.IndexHierarchy([colours, sf.Index(("p", "q", "r"))], indexers=indexers)
    frame = sf.Frame(np.arange(9).reshape(3, 3), index=levels, columns=names)
    series = sf.Series(arrays()["speed"], index=names, name="s")
    value = [frame, series, colours]
    wanted = [described(names.values.dtype), described(colours.values.dtype)]
    assert None not in (wanted[0][1], wanted[1][1])
    en.write(value, path)
    frame_found, series_found, colours_found = en.read(path)
    assert frame_found.equals(frame, compare_dtype=True, compare_class=True, compare_name=True)
    assert described(frame_found.columns.values.dtype) == wanted[0]
    assert described(frame_found.index._indices[0].values.dtype) == wanted[1]
    assert series_found.equals(series, compare_dtype=True, compare_class=True, compare_name=True)
    assert described(series_found.values.dtype) == described(series.values.dtype)
    assert described(series_found.index.values.dtype) == wanted[0]
    assert described(colours_found.values.dtype) == wanted[1]


def test_mapped(path):
    value = {name: arrays()[name] for name in ("colour", "plain", "speed")}
    en.write(value, path, compression=0)
    found = en.read(path, memory_map=True)
    for name, array in value.items():
        assert_same(found[name], array)
        assert not found[name].flags.writeable


@pytest.mark.parametrize(
    "dtype",
    [
        np.dtype("O"),
        STRINGS,
        pd.Int64Dtype(),
        pd.StringDtype(),
        pd.StringDtype("python", na_value=np.nan),
        pd.CategoricalDtype([3, 1], ordered=True),
        pd.DatetimeTZDtype("us", "Europe/Oslo"),
        pd.PeriodDtype("Q"),
        pd.IntervalDtype("int64", "left"),
        pd.SparseDtype("f8", 1.0),
    ],
    ids=str,
)
def test_dtypes_as_values(path, dtype):
    en.write([dtype, {"a": dtype}], path)
    one, two = en.read(path)
    assert (type(one), one, repr(one)) == (type(dtype), dtype, repr(dtype))
    assert two["a"] == dtype
    if isinstance(dtype, np.dtype):
        assert described(one) == described(dtype)


def test_dtypes_of_a_frame(path):
    frame = pd.DataFrame({"a": [1], "b": ["x"], "c": pd.Categorical(["q"]), "o": pd.Series([None], dtype=object)})
    en.write(frame.dtypes, path)
    pd.testing.assert_series_equal(en.read(path), frame.dtypes)


def test_classes(path):
    value = [str, bytes, {"a": int}, (list, dict)]
    en.write(value, path)
    assert en.read(path) == value
    with pytest.raises(UnsupportedTypeError, match=r"value\[0\]: a value of type type can't be kept"):
        en.write([Reference], path)


class Reference:
    """Metadata as of h5py's references: a class of a library."""


def test_refused_by_path(path):
    dtype = np.dtype("i4", metadata={"ref": Reference})
    array = np.arange(2).astype(dtype)
    with pytest.raises(
        UnsupportedTypeError, match=r"the metadata of the dtype of 'x'\[0\]\['ref'\]: .* type can't be kept"
    ):
        en.write({"x": array}, path)
    with pytest.raises(UnsupportedTypeError, match=r"the metadata of the dtype of 'x'\[0\]\['ref'\]"):
        en.write(pd.Series(array, name="x").to_frame(), path)
    with pytest.raises(UnsupportedTypeError, match=r"the index: the metadata of its dtype\['ref'\]"):
        en.write(sf.Index(array), path)
    with pytest.raises(UnsupportedTypeError, match=r"value\['a'\]\[0\].*: .* type can't be kept"):
        en.write({"a": [array]}, path)


def test_durations_of_pandas(path):
    dtype = np.dtype("m8[ns]", metadata={"of": "sleep"})
    series = pd.Series(np.array([1, 2], dtype), name="t")
    assert described(series.dtype) == described(dtype)
    for value in (series, series.to_frame(), pd.concat([series.to_frame()] * 70, axis=1)):
        en.write(value, path)
        found = en.read(path)
        found = found if value is series else found.iloc[:, -1]
        assert described(found.dtype) == described(dtype)
        assert found.tolist() == series.tolist()


def test_of_static_frame_into_others(path):
    """Metadata of a dtype stay with the library that wrote them."""
    names = sf.Index(np.array(["x", "y"]).view(np.dtype("U1", metadata={"n": 1})))
    for index in (names, sf.Index(np.array(["x", "y"], STRINGS)), sf.Index(np.array([4, 7], COLOURS))):
        assert described(index.values.dtype)[1] is not None
        en.write(sf.Frame(np.arange(4).reshape(2, 2), index=index, columns=index), path)
        found = en.read(path, to="pandas")
        assert found.index.tolist() == found.columns.tolist() == index.values.tolist()
        assert getattr(found.index.dtype, "metadata", None) is None
        assert en.read(path, to="polars").shape[0] == 2


def test_positions_as_labels(path):
    """Labels that are their positions, by StaticFrame's `loc_is_iloc`."""
    index = sf.Index(np.arange(3).view(np.dtype("i8", metadata={"n": 1})), loc_is_iloc=True)
    en.write(sf.Series((1, 2, 3), index=index), path)
    found = en.read(path)
    assert described(found.index.values.dtype) == described(index.values.dtype)
    assert found.index.values.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "value",
    [
        np.dtype(("i4", (2,)), metadata={"n": 1}),
        pd.arrays.SparseArray(np.array([0.0, 1.0]).view(np.dtype("f8", metadata={"n": 1}))),
    ],
    ids=["shape", "sparse"],
)
def test_refused_metadata(path, value):
    with pytest.raises(UnsupportedTypeError, match=r"metadata|not supported"):
        en.write([value], path)


def test_many_dtypes_of_one_content(path):
    """A dtype of each column, as h5py makes them, is kept once; columns that are read share one."""
    value = {f"c{i}": np.arange(3).view(np.dtype("i8", metadata={"unit": "m"})) for i in range(200)}
    en.write(value, path)
    found = en.read(path)
    assert {id(array.dtype) for array in found.values()} == {id(found["c0"].dtype)}
    for name, array in value.items():
        assert_same(found[name], array)
    alike = [1, True, 1.0, 0.0, -0.0, (1,), (True,), frozenset([1]), frozenset([1.0]), "1", b"1", None, str, bytes]
    en.write({str(i): np.arange(3).view(np.dtype("i8", metadata={"n": part})) for i, part in enumerate(alike)}, path)
    assert repr([array.dtype.metadata["n"] for array in en.read(path).values()]) == repr(alike)


def test_many_blocks_of_one_column(path):
    frame = pd.concat(
        [pd.Series(np.arange(2.0)) for _ in range(99)] + [pd.Series(np.arange(2.0).astype(UNITS))], axis=1
    )
    wanted = [described(dtype) for dtype in frame.dtypes]
    en.write(frame, path)
    found = en.read(path)
    assert [described(dtype) for dtype in found.dtypes] == wanted
    pd.testing.assert_frame_equal(found, frame)


@pytest.mark.parametrize(
    "kept",
    [
        3,
        [3],
        {},
        {"maps": 3, "columns": 3},
        {"maps": [{}], "columns": [[0]]},
        {"maps": None, "columns": [[[0]]]},
        {"columns": [[0]]},
    ],
    ids=str,
)
def test_senseless(path, monkeypatch, kept):
    from entasis._columns import dtype_metadata as _dtype_metadata

    monkeypatch.setattr(_dtype_metadata.Collector, "encode", lambda *_: {"dtype_metadata": kept})
    en.write({"x": np.arange(3)}, path)
    with pytest.raises(CorruptFileError, match="the host map of the file is invalid"):
        en.read(path)
