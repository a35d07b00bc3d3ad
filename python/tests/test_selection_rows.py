"""Rows by position, mask and label."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import entasis as en


@pytest.fixture
def states(path):
    frame = pd.DataFrame(
        {"state": ["Texas", "Ohio", "Texas", "Utah"], "cases": [1, 2, 3, 4], "deaths": [5, 6, 7, 8]},
        index=pd.Index([2020, 2021, 2022, 2023], name="year"),
    )
    en.write(frame, path)
    return frame


MASK = [True, False, True, False]
MASKS = {
    "tuple": tuple(MASK),
    "list": MASK,
    "array": np.array(MASK),
    "NumPy's booleans": [np.bool_(part) for part in MASK],
    "objects": np.array([True, None, True, None], object),
    "None": [True, None, True, None],
    "NaN": [True, np.nan, True, False],
    "NA": [True, pd.NA, True, False],
    "nullable": pd.array([True, None, True, False], dtype="boolean"),
    "Series nullable": pd.Series([True, None, True, False], dtype="boolean"),
    "Series of objects": pd.Series([True, None, True, False], dtype=object),
    "Arrow in pandas": pd.Series([True, None, True, False], dtype="bool[pyarrow]"),
    "Index": pd.Index(MASK),
    "Polars": pl.Series([True, None, True, False]),
    "pyarrow": pa.array([True, None, True, False]),
    "chunks": pa.chunked_array([[True, None], [True, False]]),
    "masked": np.ma.array([True, True, True, True], mask=[0, 1, 0, 1]),
}


@pytest.mark.parametrize("name", MASKS)
def test_masks(name, states, path):
    wanted = states.iloc[[0, 2]]
    pd.testing.assert_frame_equal(en.read(path, rows=MASKS[name]), wanted)
    if name == "tuple":
        # In brackets a tuple is rows and columns.
        pd.testing.assert_frame_equal(en.open(path).iloc[MASKS[name], :].read(), wanted)
        pd.testing.assert_frame_equal(en.open(path).loc[MASKS[name], :].read(), wanted)
        return
    pd.testing.assert_frame_equal(en.open(path).iloc[MASKS[name]].read(), wanted)
    pd.testing.assert_frame_equal(en.open(path).loc[MASKS[name]].read(), wanted)
    pd.testing.assert_frame_equal(en.open(path)[MASKS[name]].read(), wanted)


@pytest.mark.parametrize(
    "mask",
    [pd.array([None] * 4, dtype="boolean"), pl.Series([None] * 4, dtype=pl.Boolean), pa.array([None] * 4, pa.bool_())],
)
def test_masks_of_missing_cells_alone(mask, states, path):
    assert len(en.read(path, rows=mask)) == 0


def test_masks_have_the_index_of_the_file(states, path):
    f = en.open(path)
    mask = states["state"] == "Texas"
    for given in (mask, mask.reset_index(drop=True), mask.to_numpy(), mask.set_axis(np.arange(4.0))):
        pd.testing.assert_frame_equal(f[given].read(), states[states["state"] == "Texas"])
    for other in (mask.iloc[::-1], mask.set_axis(list("abcd")), mask.set_axis([3, 2, 1, 0])):
        with pytest.raises(en.ArgumentError, match=r"\.to_numpy\(\)"):
            f[other]
        with pytest.raises(en.ArgumentError, match=r"\.to_numpy\(\)"):
            en.read(path, rows=other)
    # Of a view it is the index of the view.
    view = f[1:]
    pd.testing.assert_frame_equal(view[mask.iloc[1:]].read(), states.iloc[[2]])
    with pytest.raises((en.ArgumentError, en.RowsOutOfRangeError)):
        view[mask]
    # Integers are positions whatever their index.
    assert f[pd.Series([3, 0], index=["x", "y"])].read()["cases"].tolist() == [4, 1]
    with pytest.raises(en.RowsOutOfRangeError, match="mask has 3 values: the table has 4 rows"):
        f[[True, False, True]]


def test_masks_of_static_frame(path):
    sf = pytest.importorskip("static_frame")
    given = sf.Frame.from_dict({"a": (1, 2, 3)}, index=("p", "q", "r"))
    en.write(given, path)
    f = en.open(path)
    mask = given["a"] > 1
    assert f[mask].read()["a"].values.tolist() == [2, 3]
    assert f[mask.values].read()["a"].values.tolist() == [2, 3]
    assert f[sf.Series((2, 0))].read()["a"].values.tolist() == [3, 1]
    with pytest.raises(en.ArgumentError, match=r"\.to_numpy\(\)"):
        f[mask.iloc[[2, 1, 0]]]


def test_negative_numbers_count_from_the_end(states, path):
    for rows, wanted in (
        ((-2, None), [3, 4]),
        ((None, -1), [1, 2, 3]),
        ((-3, -1), [2, 3]),
        ((1, -1), [2, 3]),
        (range(-2, 0), [3, 4]),
        (range(-1, -5, -2), [4, 2]),
        (range(-1, 2), [4, 1, 2]),
        (range(1, -3, -1), [2, 1, 4, 3]),
        (-1, [4]),
        ([-1, 0], [4, 1]),
        (np.array([-4, -1]), [1, 4]),
        (slice(-3, -1), [2, 3]),
        ((), []),
        (range(5, 5), []),
        (pd.Index([2, -1]), [3, 4]),
        (pd.array([2, 1], dtype="Int64"), [3, 2]),
        (np.array([2, 1], object), [3, 2]),
    ):
        assert en.read(path, rows=rows)["cases"].tolist() == wanted, rows
        view = en.open(path)[::-1]
        assert (
            view.read(rows=rows)["cases"].tolist() == states["cases"].iloc[::-1].iloc[[i - 1 for i in wanted]].tolist()
        ), rows
    for rows in ((-5, None), (None, -5), (0, -5), range(-5, 0), range(-1, 5), [-5], -5):
        with pytest.raises(en.RowsOutOfRangeError, match="the table has 4 rows"):
            en.read(path, rows=rows)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({1, 2}, "can't be a set: they are a slice, a range"),
        ((i for i in [1]), "can't be a generator: they are a slice, a range"),
        ("1:3", "can't be '1:3': they are a slice, .*labels are for f.loc"),
        (2.0, "can't be 2.0: they are a slice"),
        (np.array(2.0), "can't be an array of 0 dimensions"),
        (np.array(True), "can't be an array of 0 dimensions"),
        ({0: 1}, "can't be a dict"),
        (b"ab", "can't be b'ab'"),
        (["a"], "labels are for f.loc"),
        ([1, True], "booleans and values of type int"),
        ([True, 0.0], "booleans and numbers"),
        (np.array([None, None]), "not None"),
        (np.array([1, "a"], object), "not 'a'"),
        (True, "File is not compared"),
        ((1, 2, 3), "a tuple are .start, stop."),
        ((1, True), "can.t mix booleans and values of type int"),
        ([[1], [1, 2]], "one-dimensional"),
        (np.zeros((2, 2), int), "one-dimensional"),
        ("x" * 10**6, "xxx\\.\\.\\.: they are"),
    ],
    ids=lambda part: repr(part)[:20],
)
def test_rows_that_are_none(rows, said, states, path):
    for read in (lambda: en.read(path, rows=rows), lambda: en.open(path).read(rows=rows)):
        with pytest.raises(en.ArgumentError, match=said) as caught:
            read()
        assert len(str(caught.value)) < 400


def test_iloc(states, path):
    f = en.open(path)
    for rows in (0, -1, [3, 0], slice(None, None, -1), [True, False, True, False], range(2), []):
        for columns in (1, -1, [2, 0], slice(1, None), [True, False, True], np.array([0, 0]), range(1, 3), []):
            wanted = states.iloc[[rows] if isinstance(rows, int) else rows]
            wanted = wanted.iloc[:, [columns] if isinstance(columns, int) else columns]
            pd.testing.assert_frame_equal(f.iloc[rows, columns].read(), wanted)
            pd.testing.assert_frame_equal(f.iloc[::-1, ::-1].iloc[::-1, ::-1].iloc[rows, columns].read(), wanted)
    assert f.iloc[1:, 1:].iloc[0, 0].read().to_numpy().tolist() == [[2]]
    for key in (4, -5, [0, 4], (0, 3), (0, -4), (slice(None), [0, 3])):
        with pytest.raises(IndexError):
            f.iloc[key]
    for key in (("a", 0), (0, "a"), (0, 0, 0), ((0, 1), 0), (None, 0), ([1.5], 0), (0, [1.5]), (True, 0), (0, True)):
        with pytest.raises(en.ArgumentError):
            f.iloc[key]
    assert issubclass(en.ColumnsOutOfRangeError, IndexError)
    assert issubclass(en.ColumnsOutOfRangeError, KeyError)


def test_loc(path):
    frame = pd.DataFrame(
        np.arange(20).reshape(5, 4), index=list("abcbe"), columns=pd.Index(["x", "y", "z", "y"], name="c")
    )
    en.write(frame, path)
    f = en.open(path)
    for rows in ("a", "b", ["e", "a"], ["b"], slice("a", "c"), slice(None), slice("c", None), [True] * 2 + [False] * 3):
        for columns in (
            "x",
            "y",
            ["z", "x"],
            ["y"],
            slice("x", "z") if False else slice(None),
            [False, True, True, False],
        ):
            row_list = [rows] if isinstance(rows, str) else rows
            column_list = [columns] if isinstance(columns, str) else columns
            pd.testing.assert_frame_equal(f.loc[rows, columns].read(), frame.loc[row_list, column_list])
    pd.testing.assert_frame_equal(f.loc["b"].read(), frame.loc["b"])
    pd.testing.assert_frame_equal(f[1:4].loc["b"].read(), frame.iloc[1:4].loc["b"])
    pd.testing.assert_frame_equal(f[["z", "x"]].loc["a":"a", "x"].read(), frame.loc[["a"], ["x"]])
    for error, key in (
        (en.RowNotFoundError, "q"),
        (en.RowNotFoundError, (["a", "q"], "x")),
        (en.ColumnNotFoundError, ("a", "q")),
        (en.ColumnNotFoundError, ("a", ["x", "q"])),
        (en.ArgumentError, lambda labels: labels),
        (en.ArgumentError, (1, 2, 3)),
    ):
        with pytest.raises(error):
            f.loc[key]
    with pytest.raises(en.RowNotFoundError, match="label 'q'"):
        f.loc["q"]
    assert issubclass(en.RowNotFoundError, KeyError)


def test_loc_of_other_labels(path):
    days = pd.date_range("2020-01-30", periods=5, name="day")
    frame = pd.DataFrame({2019: range(5), 2020: range(5, 10)}, index=days)
    en.write(frame, path)
    f = en.open(path)
    pd.testing.assert_frame_equal(f.loc["2020-02"].read(), frame.loc["2020-02"], check_freq=False)
    pd.testing.assert_frame_equal(f.loc[days[1] : days[2], 2020].read(), frame.loc[days[1] : days[2], [2020]])
    pd.testing.assert_frame_equal(
        f.loc[days[3], [2020, 2019]].read(), frame.loc[[days[3]], [2020, 2019]], check_freq=False
    )
    with pytest.raises(en.ColumnNotFoundError, match=r"name of the index: f\.select"):
        f.loc[:, "day"]
    index = pd.MultiIndex.from_product([["a", "b"], [1, 2]], names=["x", "y"])
    frame = pd.DataFrame({"v": range(4)}, index=index)
    en.write(frame, path)
    f = en.open(path)
    assert f.loc[("b", 1), :].read()["v"].tolist() == [2]
    assert f.loc[["b"]].read()["v"].tolist() == [2, 3]
    assert f.loc["b", "v"].read()["v"].tolist() == [2, 3]
    for value in (pl.DataFrame({"v": [1, 2, 3]}), pa.table({"v": [1, 2, 3]}), {"v": np.arange(1, 4)}):
        en.write(value, path)
        assert en.open(path).loc[1:2, "v"].to_numpy()["v"].tolist() == [2, 3]
        with pytest.raises(en.RowNotFoundError):
            en.open(path).loc[3]


def test_loc_reads_labels_alone(path):
    noise = np.random.default_rng(0).random(200_000)
    index = pd.Index(np.arange(200_000) * 3, name="k")
    en.write(pd.DataFrame({"a": noise, "b": noise[::-1].copy()}, index=index), path, compression=0)
    damaged = bytearray(path.read_bytes())
    damaged[damaged.find(noise[100_000:100_002].tobytes())] ^= 1
    path.write_bytes(damaged)
    f = en.open(path)
    view = f.loc[[30, 3]]
    assert len(view) == 2
    assert view.read().index.tolist() == [30, 3]
    assert view["a"].read()["a"].tolist() == noise[[10, 1]].tolist()
    with pytest.raises(en.CorruptFileError):
        f.loc[300_000].read()


def test_booleans_of_numpy_are_labels(path):
    """`for label in df.index.to_numpy(): f.loc[label]`, also where Python's own bool is refused."""
    for index in (pd.Index([False, True, True]), pd.array([False, True, None], "boolean"), [True, "x", False]):
        frame = pd.DataFrame({"a": [1, 2, 3]}, index=pd.Index(index))
        en.write(frame, path)
        found = en.open(path).loc[np.True_].read()
        assert found["a"].tolist() == np.atleast_1d(frame.loc[np.True_, "a"]).tolist()
    en.write(pd.DataFrame({"a": [1, 2]}), path)
    with pytest.raises(en.RowNotFoundError, match="label True"):
        en.open(path).loc[np.True_]
