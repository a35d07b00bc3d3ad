"""Frames, series, indexes and arrays of libraries inside of trees; columns of objects."""

from __future__ import annotations

import datetime
import math
import pickle
import uuid
from decimal import Decimal

import numpy as np
import pytest
import static_frame as sf
from io_counts import bytes_read
from tree_panel import (
    LIBRARIES,
    Point,
    pandas_values,
    same,
)

import entasis as en


@pytest.mark.parametrize("library", LIBRARIES)
def test_values_of_libraries(library, round_trip, path):
    values = LIBRARIES[library]()
    for name, value in values.items():
        for given_ in (value, {"x": [value, 1]}):
            back = round_trip(given_)
            assert same(given_, back), (name, given_, back)
            en.verify(path)
    assert same(values, round_trip(values))


def test_frames_with_nested_columns(path):
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    table = pa.table({
        "n": pa.array([1, 2, 3]),
        "l": pa.array([[1, 2], None, []]),
        "s": pa.array([{"a": 1, "b": ["x"]}, None, {"a": None, "b": []}]),
        "d": pa.array([["a"], ["b"], ["a"]], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
    })  # fmt: skip
    frame = pl.DataFrame({"a": [[1, 2], [3]], "c": pl.Series(["u", "v"], dtype=pl.Categorical)})
    en.write([table, frame, {"again": table}], path)
    got = en.read(path)
    assert got[0].equals(table)
    assert got[1].equals(frame)
    assert got[2]["again"] is got[0]
    en.write([frame, table.slice(1)], path)
    part = en.open(path)[1]
    assert part.read().equals(table.slice(1))
    assert part.read(columns=["s", "l"], rows=(1, 2)).equals(table.select(["s", "l"]).slice(2, 1))
    en.verify(path)


def test_names_and_state_of_pandas(round_trip, path):
    pd = pytest.importorskip("pandas")
    for name, value in pandas_values().items():
        back = round_trip(value)
        if isinstance(value, pd.Series):
            pd.testing.assert_series_equal(value, back)
            assert (type(value.name), value.attrs) == (type(back.name), back.attrs), name
        if isinstance(value, pd.Index):
            pd.testing.assert_index_equal(value, back, exact=True)
            assert getattr(value, "freq", None) == getattr(back, "freq", None), name
    series = pandas_values()["series"]
    en.write(series, path)
    pd.testing.assert_series_equal(en.read(path, rows=(1, 3)), series[1:3])
    pd.testing.assert_frame_equal(en.read(path, to="pyarrow").to_pandas()[["a"]], series.reset_index()[["a"]])


def test_a_lazy_frame_is_collected(round_trip):
    pl = pytest.importorskip("polars")
    assert round_trip({"a": pl.LazyFrame({"x": [1]})})["a"].equals(pl.DataFrame({"x": [1]}))


@pytest.mark.parametrize("form", ["matrix", "array"])
@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_sparse(layout, form, round_trip):
    sparse = pytest.importorskip("scipy.sparse")
    value = getattr(sparse, f"{layout}_{form}")(np.array([[1, 0, 2.5], [0, 0, 3]]))
    back = round_trip([value])[0]
    assert type(back) is type(value)
    assert (back.dtype, back.shape) == (value.dtype, value.shape)
    assert same(back.toarray(), value.toarray())


CELLS = [
    "a", None, math.nan, b"x", 1, 2**80, True, 1.5, Decimal("1.50"), uuid.UUID(int=1), datetime.date(2020, 1, 1),
    datetime.time(1), [1, [2]], (3,), {4}, {"k": 5}, np.arange(3), Point(1), "\ud800",
]  # fmt: skip


def test_columns_of_objects(round_trip, path):
    pd = pytest.importorskip("pandas")
    cells = [*CELLS[:-2], pd.NA, pd.NaT, pd.DataFrame({"q": [1]}), pd.Timestamp("2020"), "\ud800"]
    column = pd.Series(cells, dtype=object)
    frame = pd.DataFrame({"o": column, "i": range(len(cells)), "p": column[::-1].to_numpy()})
    back = round_trip(frame)
    en.verify(path)
    assert same(back["o"].tolist(), cells)
    assert same(back["p"].tolist(), cells[::-1])
    assert back.dtypes.tolist() == frame.dtypes.tolist()
    for rows in ((3, 7), slice(9, 2, -3), [5, 0, 5], 4, (2, 2)):
        wanted = range(*rows) if isinstance(rows, tuple) else rows
        wanted = [wanted] if isinstance(wanted, int) else np.arange(len(cells))[wanted]
        assert same(en.read(path, rows=rows, columns=["o"])["o"].tolist(), [cells[i] for i in wanted])
    assert same(en.read(path, to="numpy")["o"].tolist(), cells)
    assert dict(en.open(path).schema)["o"] == "object"
    with pytest.raises(en.UnsupportedTypeError, match="column 'o': object"):
        en.read(path, to="pyarrow")
    assert same(en.read(path, to="polars")["o"].to_list(), cells)
    assert en.read(path, to="polars", columns=["i"]).height == len(cells)


def test_arrays_of_objects(round_trip, path):
    array = np.empty(len(CELLS), object)
    array[:] = CELLS
    back = round_trip({"o": array, "n": np.arange(len(CELLS))})
    assert same(back["o"].tolist()[:-2], CELLS[:-2])
    assert back["o"][-1] == "\ud800"
    assert same(en.read(path, rows=(2, 5), columns=["o"])["o"].tolist(), CELLS[2:5])


@pytest.mark.parametrize(
    "index",
    [
        sf.Index(["first", "second"]),
        sf.Index([7, 3]),
        sf.Index(["text", None]),
        sf.IndexDate(["2020-01-01", "2020-01-02"]),
        sf.IndexHierarchy.from_labels([("a", 1), ("b", 2)]),
    ],
    ids=["text", "numbers", "objects", "days", "hierarchy"],
)
def test_frames_of_a_bus_are_read_one_by_one(path, index):
    long = np.random.default_rng(0).random((200_000, 3))
    frames = (sf.Frame(np.arange(6).reshape(3, 2), columns=("a", "b")), sf.Frame(long, name="second"))
    bus = sf.Bus(frames, index=index)
    en.write({"bus": bus}, path)
    tree = en.open(path)["bus"]
    keys = tree.keys()
    assert (tree.kind, len(tree), list(tree)) == ("Bus", 2, keys)
    assert keys == [label if index.depth == 1 else tuple(label) for label in index]
    assert keys[0] in tree
    assert "missing" not in tree
    for key, frame in zip(keys, frames, strict=True):
        assert tree[key].read().equals(frame, compare_name=True, compare_dtype=True, compare_class=True)
    assert tree[keys[1]].n_rows == 200_000
    assert pickle.loads(pickle.dumps(tree))[keys[0]].read().equals(frames[0])
    assert tree.read().equals(bus, compare_class=True)
    with pytest.raises(en.ColumnNotFoundError, match="has no key"):
        tree["missing"]
    before = bytes_read()
    tree[keys[0]].read()
    assert bytes_read() - before < 100_000
    assert f"{keys[0]!r}: frame, 3 x 2" in en.open(path).tree()
