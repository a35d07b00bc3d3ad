"""StaticFrame values as those of other libraries, and the other way round."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
import static_frame as sf
from bench.fidelity.cases.static_frame import (
    DATES,
    FIVE,
    INDEXES,
    KINDS,
    LABELS,
    OBJECTS,
    SERIES,
    WIDE,
    frame,
    times,
)
from bench.fidelity.same import check

import entasis as en


def test_to_pandas(path):
    pd = pytest.importorskip("pandas")
    given = frame(WIDE[:, :2], OBJECTS, index=sf.IndexDate(DATES, name="d"), columns=["u", "v", "w"])
    en.write(given, path)
    got = en.read(path, to="pandas")
    assert got.columns.tolist() == ["u", "v", "w"]
    assert got.index.equals(pd.Index(DATES.astype("M8[s]")))
    assert got.index.name == "d"
    assert got["w"].isna().tolist() == [False, True, False, False, False]
    en.write(LABELS["hierarchy with names"], path)
    got = en.read(path, to="pandas")
    assert got.index.names == ["x", "y"]
    assert got.index.tolist() == [("a", 1), ("b", 2)]
    assert got.columns.tolist() == [(1, 2), (3, 4)]
    en.write(LABELS["auto labels with names"], path)
    got = en.read(path, to="pandas")
    assert type(got.index) is type(got.columns) is pd.RangeIndex
    assert (got.index.name, got.columns.name) == ("i", "c")
    en.write(SERIES["named"], path)
    assert en.read(path, to="pandas").to_dict() == {"('n', 1)": {"x": "a", "y": "bb", "z": ""}}
    en.write(frame(FIVE, index=FIVE.astype("f2")), path)
    with pytest.raises(en.UnsupportedTypeError, match="float16"):
        en.read(path, to="pandas")
    en.write(frame(times("ps")), path)
    with pytest.raises(en.UnsupportedTypeError, match="pandas has no"):
        en.read(path, to="pandas")


def test_to_arrow(path):
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    given = frame(FIVE, OBJECTS, index=sf.IndexSecond(times("s")[[0, 2, 3, 4, 1]], name="t"), columns=["1", "w"])
    en.write(given, path)
    table = en.read(path, to="pyarrow")
    assert table.column_names == ["t", "1", "w"]
    assert table.schema.field("t").type == pa.timestamp("s")
    assert table["w"].to_pylist() == OBJECTS.tolist()
    assert en.read(path, to="polars", columns=["1"])["1"].to_list() == list(range(5))
    en.write(INDEXES["hierarchy"], path)
    assert en.read(path, to="polars").cast({"x": pl.String}).to_dict(as_series=False) == {"x": ["a", "b"], "y": [1, 2]}
    en.write(frame(FIVE * 1j), path)
    with pytest.raises(en.UnsupportedTypeError, match="no counterpart in Arrow"):
        en.read(path, to="pyarrow")


def test_to_numpy(path):
    en.write(frame(FIVE, np.array(["a"] * 5, "U9"), KINDS, index=list("abcde"), columns=["x", "y", "z"]), path)
    got = en.read(path, to="numpy")
    assert list(got) == ["index", "x", "y", "z"]
    assert got["y"].dtype == "U9"
    assert [repr(cell) for cell in got["z"]] == [repr(cell) for cell in KINDS]


def test_from_pandas(path):
    pd = pytest.importorskip("pandas")
    given = pd.DataFrame(
        {
            "i": np.arange(3),
            "f": [1.5, np.nan, -0.0],
            "g": [1.0, 2, 3],
            "n": pd.array([1, 2, 3], dtype="Int64"),
            "s": ["x", None, "é"],
            "c": pd.Categorical(["u", None, "v"]),
            "t": pd.to_datetime(["2020", None, "2021"]),
        },
        index=pd.Index([5, 6, 7], name="k"),
    )
    en.write(given, path)
    got = en.read(path, to="static_frame")
    assert type(got) is sf.Frame
    assert got.dtypes.values.tolist() == [np.dtype(t) for t in ("i8", "f8", "f8", "i8", "O", "O", given["t"].dtype)]
    assert got["s"].values.tolist() == ["x", None, "é"]
    assert got["c"].values.tolist() == ["u", None, "v"]
    assert (got.index.values.tolist(), got.index.name) == ([5, 6, 7], "k")
    assert got.columns.values.dtype.kind == "U"
    assert [block.shape for block in got._blocks._blocks][:2] == [(3,), (3, 2)]
    assert got.equals(en.read(path, to="static_frame", rows=slice(None)))
    assert en.read(path, to="static_frame", rows=[2, 0], columns=["g", "i"]).to_pairs() == (
        ("g", ((7, 3.0), (5, 1.0))),
        ("i", ((7, 2), (5, 0))),
    )
    multi = pd.MultiIndex.from_arrays([["a", "b", "a"], pd.to_datetime(["2020", "2021", "2022"])], names=["x", "y"])
    en.write(given[["i"]].set_axis(multi), path)
    got = en.read(path, to="static_frame")
    assert got.index.index_types.values.tolist() == [sf.Index, getattr(sf, _unit_class(multi.levels[1].dtype))]
    assert got.index.name == ("x", "y")
    en.write(given[["i", "f"]].set_axis([0, 1], axis=1).reset_index(drop=True), path)
    got = en.read(path, to="static_frame")
    assert got.columns.values.tolist() == [0, 1]
    assert got.index._map is None
    for index, message in [
        (pd.Index([1, 1, 2]), "repeat"),
        (pd.date_range("2020", periods=3, tz="UTC"), "no time zones"),
        (pd.Index([1, None, 2], dtype="Int64"), "missing values"),
    ]:
        en.write(given[["i"]].set_axis(index), path)
        with pytest.raises(en.UnsupportedTypeError, match=message):
            en.read(path, to="static_frame")
    en.write(given[["i"]].assign(z=pd.array([1, None, 3], dtype="Int64")), path)
    with pytest.raises(en.UnsupportedTypeError, match="column 'z'"):
        en.read(path, to="static_frame")
    en.write(given[["i", "i"]], path)
    with pytest.raises(en.DuplicateColumnError, match="different names"):
        en.read(path, to="static_frame")
    assert en.read(path, to="static_frame", columns=[1]).shape == (3, 1)


def _unit_class(dtype: Any) -> str:
    units = {"s": "Second", "ms": "Millisecond", "us": "Microsecond", "ns": "Nanosecond"}
    return f"Index{units[np.datetime_data(dtype)[0]]}"


def test_from_arrow_and_numpy(path):
    pl = pytest.importorskip("polars")
    given = pl.DataFrame(
        {
            "d": [datetime.date(2020, 1, 1), None],
            "s": ["a", "b\0"],
            "f": [1.5, None],
            "b": [True, False],
            "z": pl.Series([None, None], dtype=pl.Null),
            "y": [b"x", None],
        }
    )
    en.write(given, path)
    got = en.read(path, to="static_frame")
    assert [str(d) for d in got.dtypes.values] == ["datetime64[D]", "object", "float64", "bool", "object", "object"]
    assert got["s"].values.tolist() == ["a", "b\0"]
    arrays = {"a": FIVE, "b": FIVE + 1, "u": np.array(["x"] * 5, "U3"), "k": KINDS, "m": np.arange(5).view("m8")}
    en.write(arrays, path)
    got = en.read(path, to="static_frame")
    assert [block.shape for block in got._blocks._blocks] == [(5, 2), (5,), (5,), (5,)]
    for name, array in arrays.items():
        check(array, got[name].values)
    assert en.read(path, to="static_frame", columns=[]).shape == (5, 0)
    en.write({}, path)
    assert en.read(path, to="static_frame").shape == (0, 0)


def test_labels_without_a_hash(path):
    """pandas allows them, StaticFrame does not. The file is sound."""
    en.write(pd.DataFrame({"a": [1, 2]}, index=pd.Index([[1], [2]], dtype=object)), path)
    with pytest.raises(en.UnsupportedTypeError, match=r"the labels of rows: .*unhashable"):
        en.read(path, to="static_frame")
