"""Columns by labels of every type, levels of the index, and what brackets mean."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import entasis as en

LABELS = {
    "integers": pd.Index([2, 0, 1]),
    "years": pd.Index([2019, 2020, 2021]),
    "floats": pd.Index([0.5, np.nan, 2.0]),
    "booleans and text": pd.Index([True, "a", None], dtype=object),
    "mixed": pd.Index(["1", 1, 2.5], dtype=object),
    "None and NaN": pd.Index(["a", None, np.nan], dtype=object),
    "timestamps": pd.to_datetime(["2020", "2021", "2022"]),
    "zones": pd.date_range("2020", periods=3, tz="Europe/Oslo"),
    "tuples": pd.Index([("a", 1), ("b", 2), ("a", 3)], tupleize_cols=False),
    "levels": pd.MultiIndex.from_tuples([("a", "x"), ("b", "y"), ("a", "z")]),
    "range": pd.RangeIndex(3),
    "range with a step": pd.RangeIndex(10, 4, -2),
    "categories": pd.CategoricalIndex(["b", "a", "c"]),
    "periods": pd.period_range("2020", periods=3, freq="Y"),
    "Int64": pd.Index([3, 1, 2], dtype="Int64"),
}


@pytest.fixture
def states(path):
    frame = pd.DataFrame(
        {"state": ["Texas", "Ohio", "Texas", "Utah"], "cases": [1, 2, 3, 4], "deaths": [5, 6, 7, 8]},
        index=pd.Index([2020, 2021, 2022, 2023], name="year"),
    )
    en.write(frame, path)
    return frame


@pytest.mark.parametrize("name", LABELS)
def test_labels_of_every_type(name, path):
    labels = LABELS[name]
    frame = pd.DataFrame(np.arange(6).reshape(2, 3), columns=labels)
    en.write(frame, path)
    f = en.open(path)
    for position, label in enumerate(labels.tolist()):
        wanted = frame.iloc[:, [position]]
        pd.testing.assert_frame_equal(en.read(path, columns=[label]), wanted, check_freq=False)
        pd.testing.assert_frame_equal(f[:, [label]].read(), wanted, check_freq=False)
        assert label in f
        if label is not None:
            pd.testing.assert_frame_equal(f.select(label).read(), wanted, check_freq=False)
    some = labels[[2, 0]]
    for given in (some, some.to_series() if name != "levels" else some, some.tolist()):
        pd.testing.assert_frame_equal(en.read(path, columns=given), frame.iloc[:, [2, 0]], check_freq=False)
    view = f.select(some)
    assert view.columns.equals(some)
    pd.testing.assert_frame_equal(view[:, [some[1]]].read(), frame.iloc[:, [0]], check_freq=False)
    for positions in (slice(1, None), range(1, 3), range(-2, 0)):
        pd.testing.assert_frame_equal(en.read(path, columns=positions), frame.iloc[:, 1:], check_freq=False)
    with pytest.raises(en.ColumnNotFoundError):
        en.read(path, columns=["no such label"])


def test_integers_are_positions_where_all_labels_are_text(path):
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "c"])
    for value in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), {c: frame[c].to_numpy() for c in frame}):
        en.write(value, path)
        assert en.open(path).select([-1, 0]).column_names == ["c", "a"]
        assert en.open(path).select(np.int8(1)).column_names == ["b"]
    # Also where they are in another index than the usual one.
    for labels in (pd.CategoricalIndex(["a", "b", "c"]), pd.Index(["a", "b", "c"], dtype="string")):
        en.write(frame.set_axis(labels, axis=1), path)
        assert en.open(path).select([-1, 0]).column_names == ["c", "a"]
    en.write(frame.set_axis(["a", "b", 0], axis=1), path)
    assert en.read(path, columns=[0]).iloc[0, 0] == 3
    with pytest.raises(en.ColumnNotFoundError, match=r"positions are f\.iloc"):
        en.read(path, columns=[1])


def test_labels_compare_as_pandas_compares_them(path):
    frame = pd.DataFrame([[1, 2, 3]], columns=pd.Index([1, "1", 2.0], dtype=object))
    en.write(frame, path)
    for label, value in ((1, 1), (1.0, 1), (True, 1), ("1", 2), (2, 3), (2.0, 3), (np.float64(2), 3)):
        assert en.read(path, columns=[label]).iloc[0].tolist() == [value] == [frame[label].iloc[0]]
    en.write(frame.set_axis(pd.Index([1, "x", 1.0], dtype=object), axis=1), path)
    with pytest.raises(en.DuplicateColumnError, match=r"True stands for 2 columns: .*\(0, 2\)"):
        en.read(path, columns=[True])
    # A boolean is neither an integer label nor a position.
    en.write(frame.set_axis([0, 1, 2], axis=1), path)
    with pytest.raises(en.ColumnNotFoundError):
        en.read(path, columns=[True])
    en.write(pd.DataFrame([[1, 2, 3]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])), path)
    with pytest.raises(en.DuplicateColumnError, match=r"\(0, 1\)"):
        en.read(path, columns=["a"])
    assert en.read(path, columns=["b"]).iloc[0, 0] == 3


def test_tuples_are_labels_where_there_are_some(path):
    frame = pd.DataFrame([[1, 2, 3]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("b", "y"), ("b", "z")]))
    en.write(frame, path)
    assert en.read(path, columns=("b", "z")).iloc[0].tolist() == [3]
    assert en.open(path).select(("b", "z"), ("a", "x")).read().iloc[0].tolist() == [3, 1]
    en.write(frame.set_axis(["a", "b", "c"], axis=1), path)
    assert en.read(path, columns=("c", "a")).iloc[0].tolist() == [3, 1]
    assert en.open(path).select("c", "a").read().iloc[0].tolist() == [3, 1]


def test_sets_have_no_order(path):
    en.write(pd.DataFrame({"a": [1], "b": [2]}), path)
    for columns in ({"a", "b"}, frozenset("a")):
        with pytest.raises(en.ArgumentError, match="a set has none"):
            en.read(path, columns=columns)


def test_labels_of_static_frame(path):
    sf = pytest.importorskip("static_frame")
    for columns in (
        sf.IndexDate(["2020-01-01", "2021-01-01", "2022-01-01"]),
        sf.IndexYear(["2020", "2021", "2022"]),
        sf.Index([3, "3", None], dtype=object),
        sf.Index([3, 1, 2]),
        sf.IndexHierarchy.from_labels([("a", 1), ("a", 2), ("b", 1)]),
        sf.Index(["a", "b", "c"]),
        sf.Index(range(3), loc_is_iloc=True),
    ):
        given = sf.Frame(np.arange(6).reshape(2, 3), columns=columns)
        en.write(given, path)
        f = en.open(path)
        for position, label in enumerate(columns):
            label = tuple(label) if columns.depth > 1 else label
            assert en.read(path, columns=[label]).equals(given.iloc[:, [position]], compare_dtype=True)
            assert label in f
        assert en.read(path, columns=columns.iloc[[2, 0]]).equals(given.iloc[:, [2, 0]])
        assert f.columns.equals(columns)
        assert f.iloc[:, 1:].columns.equals(columns.iloc[1:])
        with pytest.raises(en.ColumnNotFoundError):
            en.read(path, columns=["2019"])
    import datetime

    en.write(
        sf.Frame(np.arange(6).reshape(2, 3), columns=sf.IndexDate(["2020-01-01", "2021-01-01", "2022-01-01"])), path
    )
    assert en.read(path, columns=[datetime.date(2021, 1, 1)]).values.tolist() == [[1], [4]]
    assert en.read(path, columns=[np.datetime64("2021-01-01T00:00", "ns")]).values.tolist() == [[1], [4]]
    with pytest.raises(en.ColumnNotFoundError):
        en.read(path, columns=[np.datetime64("2021-01-01T01:00")])


def test_levels_of_the_index_are_columns_elsewhere(states, path):
    pd.testing.assert_frame_equal(en.read(path, columns=["year", "cases"]), states[["cases"]])
    pd.testing.assert_frame_equal(en.read(path, columns="year"), states[[]])
    wanted = {"cases": [1, 2, 3, 4], "year": [2020, 2021, 2022, 2023]}
    assert en.read(path, columns=["cases", "year"], to="polars").to_dict(as_series=False) == wanted
    assert en.read(path, columns=["cases", "year"], to="pyarrow").to_pydict() == wanted
    found = en.read(path, columns=["cases", "year"], to="numpy")
    assert {name: array.tolist() for name, array in found.items()} == wanted
    view = en.open(path)[1:3][["cases", "year"]]
    assert (view.column_names, view.shape, list(view.schema)) == (["cases", "year"], (2, 2), ["cases", "year"])
    assert pa.table(view).to_pydict() == {"cases": [2, 3], "year": [2021, 2022]}
    assert list(view.columns) == ["cases"]
    # Without `columns` the index comes first. With it, only the requested columns are there.
    assert en.read(path, to="polars").columns == ["year", "state", "cases", "deaths"]
    assert en.read(path, columns=["cases"], to="polars").columns == ["cases"]
    assert en.open(path)["year"].read(to="static_frame").index.values.tolist() == wanted["year"]
    # A column with the same name wins.
    en.write(states.assign(year=0), path)
    assert en.read(path, columns=["year"], to="polars")["year"].to_list() == [0] * 4
    assert en.read(path, columns=["year"]).columns.tolist() == ["year"]
    assert en.read(path, columns=["year_index"], to="polars")["year_index"].to_list() == wanted["year"]


def test_levels_of_a_range(path):
    frame = pd.DataFrame({"a": [1, 2, 3]}, index=pd.RangeIndex(10, 40, 10, name="k"))
    en.write(frame, path)
    pd.testing.assert_frame_equal(en.read(path, columns=["k", "a"]), frame)
    wanted = {"k": [10, 30], "a": [1, 3]}
    view = en.open(path)[[0, 2]][["k", "a"]]
    assert view.to_polars().to_dict(as_series=False) == wanted
    assert view.to_pyarrow().to_pydict() == wanted
    assert {name: array.tolist() for name, array in view.to_numpy().items()} == wanted
    assert pa.table(view).to_pydict() == pl.DataFrame(view).to_dict(as_series=False) == wanted
    assert pa.schema(view).names == ["k", "a"]
    assert np.asarray(view).tolist() == [[10, 1], [30, 3]]
    assert en.read(path, columns="k", to="polars").to_dict(as_series=False) == {"k": [10, 20, 30]}
    assert en.read(path, columns="k", to="pyarrow").to_pydict() == {"k": [10, 20, 30]}


def test_levels_of_several(path):
    index = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["x", ("y", 1)])
    en.write(pd.DataFrame({"v": [1.5, 2.5]}, index=index), path)
    assert en.read(path, columns=["v", ("y", 1)], to="pyarrow").column_names == ["v", "('y', 1)"]
    assert en.read(path, columns=["('y', 1)"], to="polars").to_series().to_list() == [1, 2]
    with pytest.raises(en.ColumnNotFoundError, match="close to it: 'x'"):
        en.read(path, columns=["xx"])


@pytest.mark.parametrize(
    ("index", "names"),
    [
        (pd.Index([30, 70], name="a"), ["a_index"]),
        (pd.MultiIndex.from_tuples([(1, 2), (3, 4)], names=["a", "a"]), ["a_index", "a_index_2"]),
        (pd.MultiIndex.from_tuples([(1, 2), (3, 4)], names=["k", "k"]), ["k", "k_index"]),
        (pd.MultiIndex.from_tuples([(1, 2), (3, 4)], names=["c", "b"]), ["c", "b_index_2"]),
        (pd.Index([30, 70]), ["index"]),
    ],
    ids=str,
)
@pytest.mark.parametrize("compression", [0, 50])
def test_levels_with_the_name_of_a_column(index, names, compression, path):
    en.write(pd.DataFrame({"a": [1, 2], "b": [3, 4], "b_index": [5, 6]}, index=index), path, compression=compression)
    wanted = [*names, "a", "b", "b_index"]
    f = en.open(path)
    assert f.to_polars().columns == f.to_pyarrow().column_names == list(f.to_numpy()) == wanted
    assert pa.table(f).column_names == pl.DataFrame(f).columns == pa.schema(f).names == wanted
    for position, name in enumerate(names):
        values = index.get_level_values(position).tolist()
        assert f.to_polars()[name].to_list() == f.to_numpy()[name].tolist() == values
        assert en.read(path, columns=[name], to="pyarrow")[name].to_pylist() == values
    assert en.read(path, columns=["a"], to="polars").to_dict(as_series=False) == {"a": [1, 2]}
    if compression == 0 and index.nlevels == 1:
        assert en.read(path, memory_map=True, to="pyarrow").column_names == wanted


def test_an_index_of_the_name_index(path):
    en.write(pd.DataFrame({"index": [1, 2]}, index=["x", "y"]), path)
    assert en.read(path, to="polars").columns == ["index_index", "index"]


def test_without_the_index(states, path):
    pd.testing.assert_frame_equal(en.read(path, index=False), states.reset_index(drop=True))
    pd.testing.assert_frame_equal(en.read(path, index=False, rows=[3, 1]), states.iloc[[3, 1]].reset_index(drop=True))
    assert en.read(path, index=False, to="polars").columns == list(states)
    assert en.read(path, index=False, to="pyarrow").column_names == list(states)
    assert list(en.read(path, index=False, to="numpy")) == list(states)
    found = en.read(path, index=False, to="static_frame", rows=[3, 1])
    assert found.index.values.tolist() == [0, 1]
    with pytest.raises(en.ArgumentError, match="names the index"):
        en.read(path, index=False, columns=["year"])
    for kept in (states, states["cases"]):
        en.write(kept, path, index=False)
        wanted = kept.reset_index(drop=True)
        assert type(en.read(path)) is type(wanted)
        assert en.read(path).equals(wanted)
        assert type(en.read(path).index) is pd.RangeIndex
    assert states.index.name == "year"
    attrs = states.copy()
    attrs.attrs["a"] = 1
    en.write(attrs, path, index=False)
    assert en.read(path).attrs == {"a": 1}
    for value in ([1], {"a": [1]}, states.index):
        with pytest.raises(en.ArgumentError, match="index=False is for frames"):
            en.write(value, path, index=False)
    en.write(pl.DataFrame({"a": [1]}), path, index=False)
    assert en.read(path, index=False).equals(pl.DataFrame({"a": [1]}))
    en.write({"a": [1]}, path)
    with pytest.raises(en.ArgumentError, match="index=False is for frames"):
        en.read(path, index=False)
    en.write(states.index, path)
    with pytest.raises(en.ArgumentError, match="the value is an index"):
        en.read(path, index=False)


def test_without_the_index_of_static_frame(path):
    sf = pytest.importorskip("static_frame")
    given = sf.FrameHE.from_dict({"a": (1, 2, 3), "b": ("x", "y", "z")}, index=("p", "q", "r"), name="n")
    wanted = given.relabel(sf.IndexAutoFactory)
    en.write(given, path)
    for rows in (None, [2, 2], slice(1, 3)):
        found = en.read(path, index=False, rows=rows)
        assert type(found) is sf.FrameHE
        key = slice(None) if rows is None else rows
        assert found.values.tolist() == given.values[key].tolist()
        assert found.index.values.tolist() == list(range(len(found)))
    en.write(given, path, index=False)
    assert en.read(path).equals(wanted, compare_name=True, compare_class=True, compare_dtype=True)
    en.write(given["a"], path, index=False)
    assert en.read(path).equals(wanted["a"], compare_class=True)


def test_brackets(states, path):
    f = en.open(path)
    assert f["cases"].column_names == ["cases"]
    for texts in (
        ["deaths", "cases"],
        states.columns[[2, 1]],
        np.array(["deaths", "cases"]),
        pl.Series(["deaths", "cases"]),
    ):
        assert f[texts].column_names == ["deaths", "cases"]
    assert f[1].read()["cases"].tolist() == [2]
    assert f[np.array([1, -1])].read()["cases"].tolist() == [2, 4]
    assert f[1:3, "cases"].read().equals(states[["cases"]].iloc[1:3])
    assert f[-1, ["cases"]].read().equals(states[["cases"]].iloc[[-1]])
    assert f[(1, 3), "cases"].read().equals(states[["cases"]].iloc[1:3])
    assert f[:, 1:].column_names == ["cases", "deaths"]
    with pytest.raises(
        en.ArgumentError, match=r"f\['cases', 'deaths'\] means rows and columns.*f\[\['cases', 'deaths'\]\]"
    ):
        f["cases", "deaths"]
    with pytest.raises(en.ArgumentError, match=r"labels are for f\.loc"):
        f["cases":"deaths"]
    with pytest.raises(en.ArgumentError, match="not 3 axes"):
        f[0, 1, 2]


def test_brackets_where_labels_are_not_text(path):
    frame = pd.DataFrame(np.arange(9).reshape(3, 3), columns=[2019, 2020, 2021])
    en.write(frame, path)
    f = en.open(path)
    with pytest.raises(en.ArgumentError, match=r"f\[2020\].*f\.select\(2020\), rows f\.iloc\[2020\]"):
        f[2020]
    for key in ([0, 1], np.array([0, 1]), frame.columns, pd.Timestamp("2020"), [("a", "x")]):
        with pytest.raises(en.ArgumentError, match=r"f\.select\("):
            f[key]
    assert f[0, 2020].read().equals(frame.loc[[0], [2020]])
    assert f[1:].read().equals(frame.iloc[1:])
    assert f[[True, False, True]].read().equals(frame.iloc[[0, 2]])
    assert f[range(2)].read().equals(frame.iloc[:2])
    with pytest.raises(en.ColumnNotFoundError, match="close to it: 2020, 2021; the labels are not text"):
        f["2020"]


def test_no_pandas_for_files_without_it(tmp_path):
    import subprocess
    import sys

    path = tmp_path / "a.entasis"
    en.write(pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]}), path)
    matrix = tmp_path / "b.entasis"
    en.write(pd.DataFrame(np.arange(6).reshape(2, 3)), matrix)
    code = f"""
import sys
import entasis as en
f = en.open({str(path)!r})
assert f[[2, 0]][["b"]].select("b").iloc[::-1, 0].to_numpy()["b"].tolist() == ["x", "z"]
assert f.read(rows=(-2, None), columns=("b", "a"), to="numpy")["a"].tolist() == [2, 3]
assert f[[True, None, False]].head(1).height == 1
assert f["a"].__array__().tolist() == [1, 2, 3]
f = en.open({str(matrix)!r})
assert f.select(2, 0.0).to_numpy()["2"].tolist() == [2, 5]
assert "pandas" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
