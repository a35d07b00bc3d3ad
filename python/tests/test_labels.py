"""Labels of rows and columns come back as they were."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

import entasis as en

N = 6
INDEXES = {
    "range": pd.RangeIndex(N),
    "range with step": pd.RangeIndex(10, 10 - 3 * N, -3, name="r"),
    "int": pd.Index([3, 1, 4, 1, 5, 9], name="n"),
    "uint8": pd.Index(np.arange(N, dtype="u1")),
    "float": pd.Index([0.5, np.nan, 1, 2, 3, 4]),
    "bool": pd.Index([True, False] * 3),
    "str": pd.Index(list("abcdef"), name="s"),
    "str with missing": pd.Index(["a", None, "c", "d", "e", "f"]),
    "object": pd.Index(list("abcdef"), dtype=object),
    "object with kinds": pd.Index(["a", None, np.nan, "d", "e", "f"], dtype=object),
    "datetime": pd.to_datetime(["2020", "2022", None, "2019", "2020", "2020"]),
    "zoned with freq": pd.date_range("2020-03-28", periods=N, freq="D", tz="Europe/Berlin", name="t"),
    "freq": pd.date_range("2020", periods=N, freq="3h", unit="s"),
    "business days": pd.bdate_range("2020", periods=N),
    "timedelta": pd.timedelta_range("1h", periods=N, freq="15min"),
    "categorical": pd.CategoricalIndex(list("abcabc"), categories=list("cbax"), ordered=True, name="k"),
    "Int64": pd.Index([1, None, 3, 4, 5, 6], dtype="Int64"),
    "string[pyarrow]": pd.Index(list("abcdef"), dtype="string[pyarrow]"),
    "multi": pd.MultiIndex.from_product([["b", "a"], [3, 1, 2]], names=["x", None]),
    "multi with missing": pd.MultiIndex.from_arrays(
        [["a", None, "c", "a", "b", "c"], pd.to_datetime(["2020", "2021", None] * 2), [1.5, 2.5, np.nan] * 2]
    ),
    "multi with unused levels": pd.MultiIndex.from_product([["b", "a", "z"], [3, 1, 2]])[:N],
    "name is a tuple": pd.Index([3, 1, 4, 1, 5, 9], name=("a", 1, None)),
    "name is an int": pd.Index(list("abcdef"), name=7),
    "name is of bytes": pd.Index(list("abcdef"), name=b"x"),
    "name is a time": pd.Index(list("abcdef"), name=datetime.datetime(2020, 1, 2, 3, 4, 5, 6)),
}


@pytest.mark.parametrize("name", INDEXES)
def test_rows(name, round_trip, path):
    index = INDEXES[name]
    frame = pd.DataFrame({"a": np.arange(N)}, index=index)
    back = round_trip(frame)
    pd.testing.assert_frame_equal(frame, back, check_freq=True)
    assert type(back.index) is type(index)
    assert back.index.equals(index)
    if name.startswith("multi"):
        for a, b in zip(index.levels, back.index.levels, strict=True):
            pd.testing.assert_index_equal(a, b)
    if name == "object with kinds":
        assert back.index[1] is None
    for rows in [(1, 4), slice(None, None, 2), slice(4, 0, -2), slice(None, None, -1), 3, [2, 0, 2], (0, 0)]:
        if isinstance(rows, tuple):
            expected = frame.iloc[slice(*rows)]
        else:
            expected = frame.iloc[[rows] if isinstance(rows, int) else rows]
        got = en.read(path, rows=rows)
        check_freq = not isinstance(rows, int)
        pd.testing.assert_frame_equal(expected, got, check_freq=check_freq)


@pytest.mark.parametrize("name", INDEXES)
def test_columns(name, round_trip, path):
    labels = INDEXES[name]
    frame = pd.DataFrame(np.arange(3 * N).reshape(3, N), columns=labels)
    back = round_trip(frame)
    pd.testing.assert_frame_equal(frame, back)
    assert type(back.columns) is type(labels)
    positions = [4, 0]
    got = en.open(path).iloc[:, positions].read()
    pd.testing.assert_frame_equal(frame.iloc[:, positions], got, check_freq=False)
    got = en.read(path, columns=range(4, -1, -4))
    pd.testing.assert_frame_equal(frame.iloc[:, positions], got, check_freq=False)
    for label in labels:
        found = np.atleast_1d(np.arange(N)[labels.get_loc(label)])
        if len(found) == 1:
            got = en.read(path, columns=[label])
            pd.testing.assert_frame_equal(frame.iloc[:, found], got, check_freq=False)
        else:
            with pytest.raises(en.DuplicateColumnError, match=", ".join(map(str, found))):
                en.read(path, columns=[label])


def test_labels_are_not_their_text(path):
    frame = pd.DataFrame({0: [1], ("a", 1): [2], "x": [3]})
    frame.columns = pd.Index([0, 1, 2])
    en.write(frame, path)
    assert en.open(path).column_names == ["0", "1", "2"]
    pd.testing.assert_frame_equal(en.read(path, columns=[2, 0]), frame[[2, 0]])
    with pytest.raises(en.ColumnNotFoundError, match="no column '2'; close to it: 2; the labels are not text"):
        en.read(path, columns=["2", "0"])


@pytest.mark.parametrize(
    "index",
    [
        pd.Index([1, "a"], dtype=object),
        pd.Index([1, (2, "b")], dtype=object, tupleize_cols=False),
        pd.Index([1, 2], name=range(2)),
        pd.Index(["a", "b"], name=pd.Timestamp("2020", tz="UTC")),
        pd.MultiIndex.from_arrays([pd.Index([1, "a"], dtype=object), [1, 2]]),
        pd.MultiIndex.from_arrays([[1, 2], [1, 2]], names=[range(2), (1, (2, None))]),
    ],
)
def test_labels_of_any_kind(index, round_trip):
    for frame in (pd.DataFrame({"a": [1, 2]}, index=index), pd.DataFrame([[1, 2]], columns=index)):
        back = round_trip(frame)
        pd.testing.assert_frame_equal(frame, back)
        assert list(map(repr, frame.axes[0])) == list(map(repr, back.axes[0]))
        assert list(map(repr, frame.axes[1])) == list(map(repr, back.axes[1]))
        assert frame.index.names == back.index.names
        assert frame.columns.names == back.columns.names


@pytest.mark.parametrize("index", [pd.Index([1, len], dtype=object), pd.Index([1, 2], name=len)])
def test_what_is_refused(index, path):
    with pytest.raises(en.UnsupportedTypeError):
        en.write(pd.DataFrame({"a": [1, 2]}, index=index), path)
    with pytest.raises(en.UnsupportedTypeError):
        en.write(pd.DataFrame([[1, 2]], columns=index), path)
    assert not path.exists()


def test_duplicate_and_unicode_names(round_trip, path):
    frame = pd.DataFrame([[1, 2.5, "x", 4]], columns=["a", "a", "é\U0001f600", ""])
    pd.testing.assert_frame_equal(frame, round_trip(frame))
    pd.testing.assert_frame_equal(en.read(path, columns=[1, "é\U0001f600", ""]), frame.iloc[:, [1, 2, 3]])
    with pytest.raises(en.DuplicateColumnError, match=r"'a' stands for 2 columns.*\(0, 1\)"):
        en.read(path, columns="a")


def test_no_rows_no_columns(round_trip):
    for frame in (
        pd.DataFrame(),
        pd.DataFrame(index=pd.RangeIndex(6)),
        pd.DataFrame(index=pd.Index(list("abc"))),
        pd.DataFrame(columns=["a", "b"]),
        pd.DataFrame({"a": np.empty(0), "b": pd.array([], dtype="str"), "c": pd.Categorical([], categories=["x"])}),
    ):
        back = round_trip(frame)
        pd.testing.assert_frame_equal(frame, back)
        assert frame.shape == back.shape


MULTI = {
    "NaN in a level": pd.MultiIndex(levels=[[np.nan, 1.0], ["a", "b"]], codes=[[0, 1, -1, 0], [0, 1, 0, -1]]),
    "None in a level": pd.MultiIndex(
        levels=[pd.Index([None, "x"], dtype=object), [1, 2]], codes=[[0, 1, 1, -1], [1, 0, 1, 0]], names=["o", "n"]
    ),
    "NaT in a level": pd.MultiIndex(levels=[pd.DatetimeIndex([None, "2020"])], codes=[[0, 1, 0, -1]]),
    "levels out of order": pd.MultiIndex(levels=[[3, 1, 2]], codes=[[2, 0, 1, 0]]),
    "freq": pd.MultiIndex.from_product(
        [pd.date_range("2020", periods=2, freq="D", tz="UTC"), ["a", None]], names=["d", "k"]
    ),
    "range": pd.MultiIndex(levels=[pd.RangeIndex(5, 13, 2), ["a"]], codes=[[3, 1, -1, 0], [0] * 4]),
}


@pytest.mark.parametrize("name", MULTI)
def test_levels(name, round_trip, path):
    index = MULTI[name]
    for frame in (pd.DataFrame({"x": np.arange(4)}, index=index), pd.DataFrame([[1, 2, 3, 4]], columns=index)):
        back = round_trip(frame)
        pd.testing.assert_frame_equal(frame, back)
        labels = back.index if frame.index is index else back.columns
        for a, b, codes, got in zip(index.levels, labels.levels, index.codes, labels.codes, strict=True):
            pd.testing.assert_index_equal(a, b, exact=True)
            assert getattr(a, "freq", None) == getattr(b, "freq", None)
            assert codes.tolist() == got.tolist()
    en.write(pd.DataFrame({"x": np.arange(4)}, index=index), path)
    for rows in ([2, 0, 0], slice(None, None, -1), (1, 3)):
        expected = pd.DataFrame({"x": np.arange(4)}, index=index).iloc[slice(*rows) if type(rows) is tuple else rows]
        pd.testing.assert_frame_equal(expected, en.read(path, rows=rows))


@pytest.mark.parametrize(
    "categories",
    [
        pd.RangeIndex(3, 12, 4, name="r"),
        pd.RangeIndex(3),
        pd.Index(list("abc"), name=("n", 1)),
        pd.date_range("2020", periods=3, freq="3h", name="t"),
        pd.timedelta_range("1h", periods=3, freq="15min"),
        pd.Index([0.5, 1.5, 2.5]),
    ],
    ids=repr,
)
def test_categories(categories, round_trip):
    column = pd.Categorical.from_codes([2, 0, -1, 1], dtype=pd.CategoricalDtype(categories, ordered=True))
    frame = pd.DataFrame({"a": column, "b": 1}, index=pd.CategoricalIndex(column, name="i"))
    back = round_trip(frame)
    pd.testing.assert_frame_equal(frame, back)
    for found in (back["a"].cat.categories, back.index.categories):
        pd.testing.assert_index_equal(found, categories, exact=True)
        assert getattr(found, "freq", None) == getattr(categories, "freq", None)


def test_name_with_a_zero(round_trip, path):
    frame = pd.DataFrame({"a\0b": ["x", "y"], "c\0": [1, 2], "d": [3, 4]}, index=pd.Index(["p", "q"], name="\0"))
    pd.testing.assert_frame_equal(frame, round_trip(frame))
    for to in ("polars", "pyarrow"):
        with pytest.raises(en.UnsupportedTypeError, match="zero"):
            en.read(path, to=to)


def test_frequencies_of_categories_in_levels():
    times = pd.date_range("2012-01-01", periods=3, freq="h")
    index = pd.MultiIndex.from_product([["a", "b"], pd.Categorical(times)])
    frame = pd.DataFrame({"v": range(6)}, index=index)
    for found in (en.read(en.to_bytes(frame)), en.read(en.to_bytes(frame), rows=slice(0, 2))):
        assert found.index.levels[1].categories.freq == times.freq
    of_columns = en.read(en.to_bytes(frame.T)).columns
    assert of_columns.levels[1].categories.freq == times.freq


@pytest.mark.parametrize("labels", [pd.date_range("2020", periods=4, freq="D"), pd.timedelta_range(0, None, 4, "h")])
@pytest.mark.parametrize("positions", [[0, 1, 2, 3], [1, 2], [0, 2], [3, 1], [2]])
def test_frequencies_of_column_labels_that_are_chosen(labels, positions):
    frame = pd.DataFrame([range(4)], columns=labels)
    wanted, found = frame[list(labels[positions])], en.read(en.to_bytes(frame), columns=list(labels[positions]))
    pd.testing.assert_frame_equal(found, wanted, check_freq=True)
    assert found.columns.freq == wanted.columns.freq
