"""Rows and columns of every kind, against the library's own indexing."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from frames_same import assert_frame_equal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import entasis as en

N = 150_001


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    i = np.arange(N)
    return pd.DataFrame(
        {
            "i": i,
            "f": rng.random(N),
            "b": rng.random(N) < 0.1,
            "s": pd.array(np.where(i % 11 == 0, None, np.char.add("s", (i % 5000).astype(str))), dtype="str"),
            "c": pd.Categorical(np.char.add("c", (i % 300).astype(str))),
            "m": pd.arrays.IntegerArray(rng.integers(0, 9, N), i % 7 == 0),
            "t": pd.date_range("2020", periods=N, freq="s", tz="UTC").array,
        }
    )


@pytest.fixture(scope="module")
def file(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("select") / "frame.entasis"
    en.write(frame, path)
    return path


MASK = np.arange(N) % 1000 == 3
ROWS = {
    "slice": slice(1000, 2000),
    "open slice": slice(None),
    "from the end": slice(-5, None),
    "beyond the end": slice(N - 3, N + 100),
    "step": slice(5, 100_000, 977),
    "back": slice(None, None, -1001),
    "empty": slice(7, 3),
    "across blocks": slice(65_000, 66_000),
    "integers": [5, 3, 3, -1, 70_000, 0],
    "no integers": [],
    "array": np.random.default_rng(0).integers(-N, N, 5000),
    "uint8": np.array([9, 1], "u1"),
    "mask": MASK,
    "list of bools": MASK.tolist(),
    "no mask": np.zeros(N, bool),
    "pandas mask": pd.Series(MASK),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows(name, frame, file):
    rows = ROWS[name]
    expected = frame.iloc[rows.to_numpy() if isinstance(rows, pd.Series) else rows]
    assert_frame_equal(expected, en.read(file, rows=rows))
    some = ["c", "i"]
    assert_frame_equal(expected[some], en.read(file, rows=rows, columns=some))
    assert_frame_equal(expected, en.open(file)[rows].to_pandas())


def test_rows_of_other_forms(frame, file):
    assert_frame_equal(frame.iloc[10:20], en.read(file, rows=(10, 20)))
    assert_frame_equal(frame.iloc[:20], en.read(file, rows=(None, 20)))
    assert_frame_equal(frame.iloc[[7]], en.read(file, rows=7))
    assert_frame_equal(frame.iloc[[-1]], en.read(file, rows=np.int64(-1)))
    assert_frame_equal(frame.iloc[10:0:-3], en.read(file, rows=range(10, 0, -3)))
    picked = pl.Series([3, 1, 2])
    assert_frame_equal(frame.iloc[[3, 1, 2]], en.read(file, rows=picked))


@pytest.mark.parametrize(
    "rows",
    [
        (0, N + 1),
        (-1, 5),
        (5, 3),
        N,
        -N - 1,
        [0, N],
        [-N - 1],
        np.array([2**63], "u8"),
        np.ones(3, bool),
        range(N + 1),
    ],
    ids=str,
)
def test_rows_out_of_range(rows, file):
    with pytest.raises(en.RowsOutOfRangeError, match=f"{N} rows"):
        en.read(file, rows=rows)
    assert issubclass(en.RowsOutOfRangeError, IndexError)


@pytest.mark.parametrize("rows", [True, 1.5, "a", [1.5], (1, 2, 3), (1, "a"), [[1]], ["a"]])
def test_rows_that_make_no_sense(rows, file):
    with pytest.raises(en.ArgumentError):
        en.read(file, rows=rows)


def test_columns(frame, file):
    for columns in (["s"], ["t", "i", "b"], ["i", "i"], []):
        assert_frame_equal(frame[columns], en.read(file, columns=columns))
    assert_frame_equal(frame[["f"]], en.read(file, columns="f"))
    assert_frame_equal(frame.iloc[:, [-1, 0]], en.read(file, columns=[-1, 0]))
    assert_frame_equal(frame[["f", "c"]], en.read(file, columns=iter(("f", "c"))))


def test_no_such_column(file):
    with pytest.raises(en.ColumnNotFoundError) as caught:
        en.read(file, columns=["i", "nope"])
    assert str(caught.value).startswith("there is no column 'nope'")
    assert isinstance(caught.value, KeyError)
    with pytest.raises(en.ColumnNotFoundError, match="position 7"):
        en.read(file, columns=7)
    with pytest.raises(en.ArgumentError, match="not by float"):
        en.read(file, columns=[1.0])


ints = st.integers(-N, N - 1)
rows = st.one_of(
    st.builds(slice, st.none() | ints, st.none() | ints, st.none() | st.sampled_from([-9999, -500, 1, 2, 777])),
    st.lists(ints, max_size=20),
    st.builds(lambda a, b: slice(min(a, b), max(a, b)), st.integers(0, N), st.integers(0, N)),
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=rows, columns=st.lists(st.sampled_from("ifbscmt"), min_size=1, max_size=4))
def test_any(first, columns, frame, file):
    assert_frame_equal(frame[columns].iloc[first], en.read(file, rows=first, columns=columns))


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=rows, second=st.slices(50))
def test_views_of_views(first, second, frame, file):
    expected = frame.iloc[first].iloc[second]
    assert_frame_equal(expected[["s", "i"]], en.open(file)[first][["i", "s"]][second][["s", "i"]].read())


def test_columns_of_every_kind(frame, file):
    f = en.open(file)
    for columns, wanted in (
        (np.int64(1), ["f"]),
        (np.array([1, -1]), ["f", "t"]),
        (np.array(["s", "i"]), ["s", "i"]),
        (slice(1, 3), ["f", "b"]),
        (slice(None, None, -3), ["t", "s", "i"]),
        (slice(9, 20), []),
        ({"b": 1}, ["b"]),
        ((name for name in "bi"), ["b", "i"]),
        (["b", "b"], ["b", "b"]),
    ):
        back = en.read(file, columns=columns, rows=(0, 9))
        assert_frame_equal(frame[wanted].iloc[:9], back, check_column_type=False)
    assert f[:, ["s", "f", "b"]][:, np.int8(-2)].column_names == ["f"]
    assert f[:, ["s", "f", "b"]][:, ::-1].column_names == ["b", "f", "s"]
    assert f[:, ["s", "f", "b"]][:, 5:].column_names == []


@pytest.mark.parametrize(
    "columns",
    [True, [True, False], [0, True], 5.5, None.__class__, object(), b"if", [b"i"], [None], slice("i"), slice(0, 2, 0)],
    ids=lambda value: re.sub(" at 0x[0-9a-f]+", "", repr(value)),
)
def test_columns_that_make_no_sense(columns, file):
    """A mask of booleans is not a list of positions."""
    f = en.open(file)
    for read in (
        lambda: en.read(file, columns=columns),
        lambda: f[:5, columns],
        lambda: f[:, ["s", "f", "b"]][:, columns],
        lambda: f.read(columns=columns, rows=(0, 5)),
    ):
        with pytest.raises(en.ArgumentError):
            read()


def test_rows_of_views_that_make_no_sense(file):
    f = en.open(file)
    for rows in (slice(None, None, 0), slice("a"), slice(1.0), True, 1.0, "a", {1}, [None]):
        for part in (f, f[::2], f[[5, 1, 3]]):
            with pytest.raises(en.ArgumentError):
                part.read(rows=rows)
    with pytest.raises(en.RowsOutOfRangeError):
        f.read(rows=range(10**30))
    assert f.read(rows=range(10**30, 0), columns="i").empty
