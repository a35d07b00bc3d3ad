"""Selections of random labels, rows and shapes, against pandas and NumPy."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import entasis as en

LONG = bool(os.environ.get("ENTASIS_TEST_LONG"))
thorough = settings(
    deadline=None,
    max_examples=10_000 if LONG else 100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
SCALARS = st.one_of(
    st.integers(-3, 6),
    st.sampled_from(["a", "b", "1", "2", "", "é"]),
    st.sampled_from([0.5, 1.0, 2.0, -0.0, float("nan")]),
    st.booleans(),
    st.none(),
    st.sampled_from([pd.Timestamp("2020"), pd.Timestamp("2021", tz="UTC"), ("a", 1), ("b",), pd.NaT]),
)


def flat(n):
    """Indexes of one level."""
    several = {"min_size": n, "max_size": n}
    return st.one_of(
        st.lists(st.sampled_from("abcdefgh"), **several).map(lambda labels: pd.Index(labels, dtype="str")),
        st.lists(st.integers(-3, 6), **several).map(lambda labels: pd.Index(labels, dtype="int64")),
        st.lists(st.sampled_from([0.5, 1.0, 2.0, np.nan, -1.0]), **several).map(
            lambda labels: pd.Index(labels, dtype="float64")
        ),
        st.lists(SCALARS, **several).map(lambda labels: pd.Index(labels, dtype=object, tupleize_cols=False)),
        st.lists(st.integers(0, 5), **several).map(lambda days: pd.to_datetime("2020") + pd.to_timedelta(days, "D")),
        st.lists(st.sampled_from("abc"), **several).map(pd.CategoricalIndex),
        st.integers(-5, 5).map(lambda start: pd.RangeIndex(start, start + 2 * n, 2)),
    )


def indexes(n):
    """Indexes of one or two levels."""
    pairs = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), min_size=n, max_size=n)
    levels = pairs.map(lambda labels: pd.MultiIndex.from_tuples(labels, names=["p", "q"]) if labels else pd.Index([]))
    return st.one_of(flat(n), levels)


@st.composite
def frames(draw):
    """Frames whose values encode their position."""
    n_rows, n_columns = draw(st.integers(0, 7)), draw(st.integers(1, 6))
    values = np.arange(n_rows * n_columns).reshape(n_rows, n_columns)
    return pd.DataFrame(values, index=draw(indexes(n_rows)), columns=draw(indexes(n_columns)))


def numbers(n):
    """Keys by position on an axis of length n; None is not a key."""
    ends = st.none() | st.integers(-n - 2, n + 2)
    steps = st.none() | st.sampled_from([-3, -2, -1, 1, 2, 5])
    keys = [st.builds(slice, ends, ends, steps), st.lists(st.booleans(), min_size=n, max_size=n)]
    if n:
        within = st.integers(-n, n - 1)
        keys += [within, st.lists(within, max_size=8), st.lists(within, min_size=1, max_size=8).map(np.array)]
        keys += [st.builds(range, st.integers(0, n), st.integers(0, n), st.sampled_from([1, 2]))]
    return st.one_of(keys)


def equal(found, wanted):
    """Values and labels; frequencies and types of empty indexes aside."""
    assert found.shape == wanted.shape
    assert found.to_numpy().tolist() == wanted.to_numpy().tolist()
    for axis in (0, 1):
        assert list(map(repr, found.axes[axis].tolist())) == list(map(repr, wanted.axes[axis].tolist()))


def written(frame):
    """The frame in a file that is gone from the directory when its last view is."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.entasis"
        en.write(frame, path, compression=0)
        return en.open(path)


def whole(key):
    """A key with which pandas keeps both axes."""
    return [key] if isinstance(key, (int, np.integer)) else list(key) if isinstance(key, range) else key


@thorough
@given(frames(), st.data())
def test_positions(frame, data):
    f = written(frame)
    rows, columns = data.draw(numbers(len(frame))), data.draw(numbers(frame.shape[1]))
    wanted = frame.iloc[whole(rows)].iloc[:, whole(columns)]
    equal(f.iloc[rows, columns].read(), wanted)
    equal(f.iloc[:, columns].iloc[rows].read(), wanted)
    array = frame.to_numpy()
    if not isinstance(rows, (int, np.integer)) and not isinstance(columns, (int, np.integer)):
        assert f.iloc[rows, columns].read().to_numpy().tolist() == array[whole(rows)][:, whole(columns)].tolist()
    again = data.draw(numbers(len(wanted)))
    equal(f.iloc[rows, columns].iloc[again].read(), wanted.iloc[whole(again)])
    if isinstance(columns, (slice, range)):
        equal(f.read(rows=rows, columns=columns), wanted)
        equal(f[rows, columns].read(), wanted)
    if isinstance(rows, (slice, range)) or (isinstance(rows, list) and rows and isinstance(rows[0], bool)):
        equal(f[rows].read(), frame.iloc[whole(rows)])


@thorough
@given(frames(), st.data())
def test_labels_of_columns(frame, data):
    """One label finds the column that pandas finds; none or several are an error."""
    f = written(frame)
    labels = frame.columns
    asked = data.draw(st.lists(st.sampled_from(labels.tolist()) | SCALARS, min_size=1, max_size=4))
    are_text = all(isinstance(label, str) for label in labels)
    positions = []
    for label in asked:
        if are_text and type(label) is int:
            positions.append([label] if -len(labels) <= label < len(labels) else [])
            continue
        try:
            positions.append(np.atleast_1d(np.arange(len(labels))[labels.get_loc(label)]).tolist())
        except (KeyError, TypeError, pd.errors.InvalidIndexError):
            positions.append([])
    level_names = [name for name in frame.index.names if name is not None]
    named = [label for label, found in zip(asked, positions, strict=True) if not found and label in level_names]
    if all(len(found) == 1 for found in positions):
        wanted = frame.iloc[:, [found[0] for found in positions]]
        equal(f.read(columns=asked), wanted)
        equal(f[:, asked].read(), wanted)
        equal(f.select(asked).iloc[:, ::-1].read(), wanted.iloc[:, ::-1])
        assert all(label in f for label in asked if not (are_text and type(label) is int))
    elif not named:
        # "index", "level_0" are names of levels without one.
        with pytest.raises((en.ColumnNotFoundError, en.DuplicateColumnError, en.ArgumentError)):
            f.read(columns=asked)


def keys_of(labels):
    """Keys of `loc` for an axis with these labels."""
    one = st.sampled_from(labels.tolist()) if len(labels) else st.just("a")
    mask = st.lists(st.booleans(), min_size=len(labels), max_size=len(labels))
    return st.one_of(one, st.lists(one, max_size=4), st.builds(slice, st.none() | one, st.none() | one), mask)


@thorough
@given(frames(), st.data())
def test_labels_on_both_axes(frame, data):
    f = written(frame)
    rows, columns = data.draw(keys_of(frame.index)), data.draw(keys_of(frame.columns))
    try:
        # Each axis by itself, with the positions of what pandas finds.
        at_rows = _positions(frame.index, rows)
        at_columns = _positions(frame.columns, columns)
    except (KeyError, TypeError, ValueError, IndexError, pd.errors.InvalidIndexError, pd.errors.IndexingError):
        with pytest.raises((en.RowNotFoundError, en.ColumnNotFoundError, en.ArgumentError, en.RowsOutOfRangeError)):
            f.loc[rows, columns]
        return
    wanted = frame.iloc[at_rows, at_columns]
    equal(f.loc[rows, columns].read(), wanted)
    equal(f.loc[:, columns].loc[rows].read() if not isinstance(rows, tuple) else f.loc[rows, columns].read(), wanted)
    if frame.index.nlevels == 1 and isinstance(rows, (list, slice)) and frame.columns.nlevels == 1:
        # As a frame of pandas finds them itself.
        equal(f.loc[rows].read(), frame.loc[rows])


def _positions(labels, key):
    """Where pandas finds a key."""
    positions = pd.Series(np.arange(len(labels)), index=labels)
    if isinstance(key, tuple) and labels.nlevels == 1:
        return np.atleast_1d(np.arange(len(labels))[labels.get_loc(key)])
    return np.atleast_1d(np.asarray(positions.loc[key], dtype=int))


@thorough
@given(st.integers(0, 30), st.data())
def test_rows_as_numpy_has_them(n, data):
    values = np.arange(n) * 10
    f = written(pd.DataFrame({"a": values}))
    view, expected = f, values
    for _ in range(data.draw(st.integers(1, 3))):
        key = data.draw(numbers(len(expected)))
        plain = np.array(key, dtype=int) if isinstance(key, list) and not key else whole(key)
        if isinstance(key, list) and key and isinstance(key[0], bool):
            key = data.draw(st.sampled_from([key, tuple(key), np.array(key)]))
        view = view.iloc[key, :]
        expected = expected[plain]
        assert view.read()["a"].tolist() == expected.tolist()
        assert np.asarray(view["a"]).tolist() == expected.tolist()
        assert len(view) == len(expected)
