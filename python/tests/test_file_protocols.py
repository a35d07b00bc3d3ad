"""How open files behave for Python, notebooks and other libraries."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import entasis as en

FRAME = pd.DataFrame(
    {"s": ["x", "y", "z"], "i": [1, 2, 3], "j": [4, 5, 6], "f": [0.5, 1.5, np.nan]},
    index=pd.Index(list("abc"), name="k"),
)


@pytest.fixture
def f(path):
    en.write(FRAME, path)
    return en.open(path)


def test_files_are_not_iterable(f):
    assert len(f) == 3
    for take in (iter, list, tuple, dict, sum):
        with pytest.raises(TypeError):
            take(f)
    with pytest.raises(ValueError, match="not properly called"):
        pd.DataFrame(f)
    assert not isinstance(pd.Series(f["s"]).iloc[0], str)


def test_arrays(f, path):
    assert np.asarray(f["i"]).tolist() == [1, 2, 3]
    assert np.asarray(f["s"]).tolist() == ["x", "y", "z"]
    found = np.asarray(f[["i", "j"]][::-1])
    assert (found.dtype, found.tolist()) == (np.dtype("int64"), [[3, 6], [2, 5], [1, 4]])
    assert np.asarray(f[["i", "j"]], dtype="f4").dtype == np.float32
    assert np.asarray(f[["i", "i"]]).tolist() == [[1, 1], [2, 2], [3, 3]]
    assert np.asarray(f[0:0]["i"]).shape == (0,)
    assert np.asarray(f["k"]).tolist() == ["a", "b", "c"]
    for columns in (["i", "f"], ["s", "i"], []):
        with pytest.raises(TypeError, match="a File"):
            np.asarray(f[:, columns])
    with pytest.raises(TypeError, match="float64, int64, object"):
        np.asarray(f)
    with pytest.raises(ValueError, match="copy"):
        f["i"].__array__(copy=False)
    # Strings of fixed width are as wide as the column was, also without rows.
    en.write({"a": np.array(["x", "yy"]), "b": np.array(["xxxx", "y"])}, path)
    with pytest.raises(TypeError, match="<U2, <U4"):
        np.asarray(en.open(path))
    en.write(pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}), path)
    with pytest.raises(en.UnsupportedTypeError):
        np.asarray(en.open(path))


def test_arrow(f):
    duckdb = pytest.importorskip("duckdb")
    wanted = {"k": ["a", "b", "c"], "s": ["x", "y", "z"], "i": [1, 2, 3], "j": [4, 5, 6]}
    view = f[["k", "s", "i", "j"]]
    assert pa.table(view).to_pydict() == wanted
    assert pl.DataFrame(view).to_dict(as_series=False) == wanted
    assert pl.from_arrow(view).struct.unnest().to_dict(as_series=False) == wanted
    assert pa.RecordBatchReader.from_stream(view).read_all().to_pydict() == wanted
    if hasattr(pd.DataFrame, "from_arrow"):
        assert pd.DataFrame.from_arrow(view).to_dict("list") == wanted
    if duckdb:
        assert duckdb.sql("select sum(i), max(k) from view").fetchall() == [(6, "c")]
        assert duckdb.sql("select count(*) from f").fetchall() == [(3,)]


def test_comparisons_say_how(f):
    for other in ("x", 1, 1.5, np.int64(1), np.array([1]), pd.Series([1]), pd.Timestamp("2020"), [1], b"x", True):
        with pytest.raises(TypeError, match="read the column"):
            f["s"] == other  # noqa: B015
        with pytest.raises(TypeError, match="read the column"):
            f["s"] != other  # noqa: B015
    with pytest.raises(TypeError, match="read the column"):
        f[f["s"] == "x"]
    with pytest.raises(en.ArgumentError, match="File is not compared"):
        f[False]
    g = f["s"]
    assert g == g
    assert g != f
    assert f in [g, None, f]
    assert g not in [f, None]
    assert len({f, g, f}) == 2
    assert {f: 1}[f] == 1
    assert f != None  # noqa: E711


def test_membership(f, path):
    assert "i" in f
    assert "k" not in f
    assert 0 not in f
    assert [] not in f
    assert "i" not in f[["s"]]
    en.write(pd.DataFrame([[1, 2]], columns=[2020, None]), path)
    g = en.open(path)
    assert 2020 in g
    assert "2020" not in g


def test_labels_and_types(f, path):
    assert f.columns.equals(FRAME.columns)
    assert f[["j", "i"]].columns.tolist() == ["j", "i"]
    pd.testing.assert_series_equal(f.dtypes, FRAME.dtypes)
    pd.testing.assert_series_equal(f[["j", "s"]].dtypes, FRAME[["j", "s"]].dtypes)
    frame = pl.DataFrame({"a": [1], "b": ["x"]})
    en.write(frame, path)
    assert en.open(path).columns == ["a", "b"]
    assert en.open(path).dtypes == frame.dtypes
    en.write(frame.to_arrow(), path)
    assert en.open(path).dtypes == frame.to_arrow().schema.types
    en.write({"a": np.array([1], "i2")}, path)
    assert en.open(path).dtypes == {"a": np.dtype("i2")}
    en.write(FRAME["i"], path)
    assert en.open(path).dtypes.tolist() == [np.dtype("int64")]


def test_first_and_last_rows(f):
    for n in (0, 1, 2, 5, -1, -5):
        pd.testing.assert_frame_equal(f.head(n), FRAME.head(n))
        pd.testing.assert_frame_equal(f.tail(n), FRAME.tail(n))
    pd.testing.assert_frame_equal(f[1:]["i"].head(1), FRAME[["i"]].iloc[1:2])
    found = f.sample(2, seed=3)
    pd.testing.assert_frame_equal(found, f.sample(2, seed=3))
    pd.testing.assert_frame_equal(found, FRAME.loc[found.index])
    assert found.index.is_unique
    assert sorted(f.sample(3).index) == ["a", "b", "c"]
    for call in (
        lambda: f.sample(4),
        lambda: f.sample(-1),
        lambda: f.head(1.0),
        lambda: f.tail("x"),
        lambda: f.head(True),
    ):
        with pytest.raises(en.ArgumentError):
            call()


def test_close(f, path):
    view, array = f["i"], np.asarray(f["i"])
    with f as same:
        assert same is f
        assert not f.closed
    assert f.closed
    f.close()
    for use in (
        lambda: f.read(),
        lambda: f["i"],
        lambda: f.n_rows,
        lambda: len(f),
        lambda: f.schema,
        lambda: f.loc["a"],
        lambda: f.iloc[0],
        lambda: f.metadata,
        lambda: f.head(),
        lambda: pa.table(f),
        lambda: np.asarray(f),
        lambda: pickle.dumps(f),
    ):
        with pytest.raises(en.ClosedFileError, match="closed: open it again"):
            use()
    assert repr(f) == f"<entasis.File '{path}', closed>"
    assert "closed" in f._repr_html_()
    assert view.read()["i"].tolist() == array.tolist() == [1, 2, 3]
    assert issubclass(en.ClosedFileError, ValueError)


def test_close_of_trees_and_maps(path):
    en.write({"a": [1, 2], "f": FRAME}, path)
    with en.open(path) as t:
        part, frame = t["a"], t["f"]
    assert t.closed
    for use in (lambda: t["a"], lambda: t.read(), lambda: t.metadata, lambda: t.keys()):
        with pytest.raises(en.ClosedFileError):
            use()
    assert repr(t) == f"<entasis.Tree '{path}', closed>"
    assert part.read() == [1, 2]
    assert frame.read().equals(FRAME)
    en.write(FRAME[["i", "j"]], path, compression=0)
    with en.open(path, memory_map=True) as f:
        array = f.to_numpy()["i"]
    assert array.tolist() == [1, 2, 3]


def number_of(view):
    return view["i"].read()["i"].tolist()


def test_pickles(f, path):
    for view in (f, f[1:], f[["i", "s"]], f[[2, 0]][["s", "k"]], f.loc["b":, ["i"]]):
        found = pickle.loads(pickle.dumps(view))
        assert (found.column_names, found.shape, found.path) == (view.column_names, view.shape, str(path))
        pd.testing.assert_frame_equal(found.read(), view.read())
        for other in (copy.copy(view), copy.deepcopy(view)):
            pd.testing.assert_frame_equal(other.read(), view.read())
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(number_of, [f, f[1:]])) == [[1, 2, 3], [2, 3]]


def test_pickles_refuse_another_file(f, path):
    pickled, copied = pickle.dumps(f["i"]), copy.deepcopy(f["i"])
    en.write(FRAME[["j", "i"]], path)
    with pytest.raises(en.FileError, match="replaced since"):
        pickle.loads(pickled)
    assert copied.read()["i"].tolist() == [1, 2, 3]
    path.unlink()
    with pytest.raises(en.MissingFileError):
        pickle.loads(pickled)


def test_pickles_of_parts(path):
    rows = [{"a": i, "b": str(i)} for i in range(100)]
    value = {"l": [[i] for i in range(10)], "f": FRAME, "rows": rows, "m": np.arange(12).reshape(3, 4)}
    en.write(value, path)
    t = en.open(path)
    for part in (t, t["l"], t["l"][2:5], t["l"][3], t["rows"][7], t["rows"][7]["b"], t["rows"][3:5], t["m"][1:]):
        for found in (pickle.loads(pickle.dumps(part)), copy.deepcopy(part), copy.copy(part)):
            assert isinstance(found, en.Tree)
            assert (found.kind, found.shape) == (part.kind, part.shape)
            assert repr(found.read()) == repr(part.read())
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(t["f"][1:][["s"]])).read(), FRAME[["s"]].iloc[1:])


def test_pickles_with_options(path):
    en.write(FRAME[["i", "j"]], path, compression=0)
    mapped = pickle.loads(pickle.dumps(en.open(path, memory_map=True)["i"]))
    assert mapped.to_numpy()["i"].flags.writeable is False
    assert mapped.to_numpy()["i"].tolist() == [1, 2, 3]
    en.write({"p": [en.Info, 1][1]}, path)
    content = path.read_bytes()
    assert pickle.loads(pickle.dumps(en.open(content)["p"])).read() == 1
    en.write(FRAME, path)
    assert pickle.loads(pickle.dumps(en.open(path.read_bytes())[["i"]])).read().equals(FRAME[["i"]])
    en.write({"f": FRAME}, path)
    assert pickle.loads(pickle.dumps(en.open(path.read_bytes())["f"])).read().equals(FRAME)


def test_pickles_of_bytes_have_a_limit(monkeypatch, path):
    from entasis._view import reopen as _reopen

    en.write(FRAME, path)
    monkeypatch.setattr(_reopen, "_MOST_BYTES", 100)
    with pytest.raises(en.ArgumentError, match="write them to a file"):
        pickle.dumps(en.open(path.read_bytes()))


def test_completion(f, path):
    assert f._ipython_key_completions_() == ["s", "i", "j", "f"]
    assert f[["j"]]._ipython_key_completions_() == ["j"]
    assert f.schema._ipython_key_completions_() == ["s", "i", "j", "f"]
    en.write({"a": [1], 2: 3, "b": {"c": 1}}, path)
    t = en.open(path)
    assert t._ipython_key_completions_() == ["a", "b"]
    assert t["a"]._ipython_key_completions_() == []
    en.write(pd.DataFrame([[1]], columns=[2020]), path)
    assert en.open(path)._ipython_key_completions_() == []


def test_notebooks_show_rows(f, path):
    html = f._repr_html_()
    for part in ("<th>s</th>", "<td>utf8</td>", "<td>x</td>", "<td>0.5</td>", "<td>z</td>", "3 rows x 4 columns"):
        assert part in html
    assert "<td>a</td>" in f["k"]._repr_html_()
    levels = pd.MultiIndex.from_tuples([("u", 7.25), ("v", 8.25)], names=["p", "q"])
    en.write(pd.DataFrame({"a": [1, 2]}, index=levels), path)
    assert "<td>7.25</td><td>1</td>" in en.open(path)[["q", "a"]]._repr_html_()
    times = pd.date_range("2020-01-01", periods=2, tz="Asia/Tokyo", name="t")
    en.write(pd.DataFrame({"a": times}, index=times), path)
    for view in (en.open(path), en.open(path)["t"]):
        assert "<td>2020-01-01 00:00:00+09:00</td>" in view._repr_html_()
    n = 100
    wide = {f"c{i}": np.arange(n) * 1000 + i for i in range(50)}
    for value in (wide, pd.DataFrame(wide), pl.DataFrame(wide), pa.table(wide)):
        en.write(value, path)
        html = en.open(path)._repr_html_()
        for shown in ("<td>0</td>", "<td>4000</td>", "<td>95000</td>", "<td>99049</td>", "<th>c9</th>", "<th>c40</th>"):
            assert shown in html
        for hidden in ("<td>5000</td>", "<td>94000</td>", "<th>c10</th>", "<th>c39</th>"):
            assert hidden not in html
    en.write(pd.DataFrame({"<a>": ["<b>" * 100]}), path)
    html = en.open(path)._repr_html_()
    assert "&lt;a&gt;" in html
    assert "<b>" not in html.removeprefix("<div><b>")
    assert "&lt;b&gt;..." in html or len(html) < 2000


def test_notebooks_show_damage(path):
    noise = np.random.default_rng(0).random(10)
    en.write(pd.DataFrame({"a": noise}), path, compression=0)
    damaged = bytearray(path.read_bytes())
    damaged[damaged.find(noise.tobytes())] ^= 1
    path.write_bytes(damaged)
    html = en.open(path)._repr_html_()
    assert "<th>a</th>" in html
    assert "damaged" in html


def test_notebooks_show_trees_and_descriptions(path):
    en.write({"a": ["<x>", 2]}, path)
    assert "&lt;x&gt;" in en.open(path)._repr_html_()
    assert "<x>" not in en.open(path)._repr_html_()
    en.write(FRAME, path)
    html = en.info(path)._repr_html_()
    assert "<th>columns</th>" in html
    assert "<td>utf8</td>" in html or "<td>s</td>" in html
    sf = pytest.importorskip("static_frame")
    en.write(sf.Frame.from_dict({"a": (1, 2), "b": ("p", "q")}), path)
    assert "<td>q</td>" in en.open(path)._repr_html_()
    series = sf.Series((1, 2, 3), index=("a", "b", "c"), name="s")
    en.write(series, path)
    f = en.open(path)
    assert "<td>3</td>" in f._repr_html_()
    assert list(f.columns.values) == ["s"]
    assert f.dtypes == series.dtype
    assert f.loc["b"].read().values.tolist() == [2]


def test_bytes_are_no_path(path):
    with pytest.raises(en.EntasisError) as caught:
        en.read(b"PK\x03\x04" + bytes(1 << 20))
    assert len(str(caught.value)) < 400
    name = path.with_name("a\x1b[31m\n.entasis")
    with pytest.raises(en.MissingFileError) as missing:
        en.open(name)
    assert str(missing.value).isprintable()


def test_a_label_gives_one_axis_and_a_list_two(f, path):
    assert np.asarray(f["i"]).shape == (3,)
    again = pickle.loads(pickle.dumps(f["i"]))
    for view in (f["i"][::-1], f[::-1, "i"], f.select("i"), f.loc[:, "i"], f.iloc[:, 0], again):
        assert np.asarray(view).shape == (3,), view
    for view in (f[["i"]], f[["i"]][::-1], f.select(["i"]), f.loc[:, ["i"]], f.iloc[:, :1], f[:, ["i"]], f["i"][["i"]]):
        assert np.asarray(view).shape == (3, 1), view
    en.write(pd.DataFrame({"a": [1, 2]}), path)
    assert np.asarray(en.open(path)).shape == (2, 1)
    en.write(pd.Series([1, 2]), path)
    assert np.asarray(en.open(path)).shape == (2,)


def test_take_splits_rows_as_scikit_learn_does(f):
    """`train_test_split` calls `take` of objects with `iloc`, and estimators ask for arrays."""
    assert f.take([2, 0])["i"].read()["i"].tolist() == [3, 1]
    assert f.take(np.array([-1]), axis=0).shape == (1, f.n_columns)
    assert f.take([1, 0], axis=1).column_names == f.column_names[1::-1]
    assert np.asarray(f["i"].take([1])).tolist() == [2]
    assert np.asarray(f[["i"]].take([1])).tolist() == [[2]]
    with pytest.raises(en.ArgumentError, match="axis=2"):
        f.take([0], axis=2)
    with pytest.raises(en.RowsOutOfRangeError):
        f.take([3])
