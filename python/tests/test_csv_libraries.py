"""Text files: the values of each library."""

from __future__ import annotations

import random

import pytest
from csv_texts import set_chunk_len

import entasis as en

pl = pytest.importorskip("polars")


@pytest.mark.parametrize("to", ["pandas", "polars", "pyarrow", "numpy", "static_frame"])
def test_each_library_gets_what_a_file_of_the_text_gives(to, tmp_path):
    pytest.importorskip(to)
    text = (
        b"i,u,f,b,d,t,z,s,n,g\n"
        b"1,18446744073709551615,1.5,true,2020-01-01,2020-01-01T00:00:01,2020-01-01T00:00:00Z,x,,7\n"
        b"-2,1,NaN,false,1969-12-31,2020-01-01T00:00:00.123456,2020-01-01T01:00:00+01:00,,,\n"
    )
    # NumPy and StaticFrame have no missing integers, StaticFrame no time zones.
    drop = {"numpy": ["g"], "static_frame": ["z", "g"]}.get(to, [])
    path = tmp_path / "t.entasis"
    en.write(en.read_csv(text, "polars", drop=drop), path)
    found, expected = en.read_csv(text, to, drop=drop), en.read(path, to=to)
    if to == "static_frame":
        assert found.equals(expected, compare_dtype=True, compare_class=True)
    elif to == "pandas":
        import pandas as pd

        pd.testing.assert_frame_equal(found, expected)
    elif to == "numpy":
        assert list(found) == list(expected)
        for name in found:
            assert found[name].dtype == expected[name].dtype
            assert str(found[name]) == str(expected[name])
    else:
        assert found.equals(expected) or to == "pyarrow"
        assert found.schema == expected.schema


def test_filters_do_not_change_types():
    text = b"a,b\n1,x\n2,y\n3.5,z\n"
    for to in ("polars", "pandas"):
        whole = en.read_csv(text, to)
        part = en.read_csv(text, to, filter=en.col("b") != "z")
        assert list(part["a"]) == [1.0, 2.0]
        assert part["a"].dtype == whole["a"].dtype


def test_row_labels_of_pandas():
    pd = pytest.importorskip("pandas")
    frame = en.read_csv(b"k,v\nx,1\ny,2\n", "pandas", index_col="k")
    pd.testing.assert_frame_equal(
        frame, pd.DataFrame({"v": [1, 2]}, index=pd.Index(["x", "y"], name="k", dtype=frame.index.dtype))
    )
    frame = en.read_csv(b"v,w\nx,1,3\ny,2,4\n", "pandas", index_col=0)
    assert list(frame.index) == ["x", "y"]
    assert frame.index.name is None
    assert list(frame.columns) == ["v", "w"]


class TestCategories:
    text = b"a,b,c,d,e\nx,1,q,,NA\ny,2,,,x\nx,z,q,,\n,,p,,y\n"

    @pytest.mark.parametrize("to", ["pandas", "polars", "pyarrow", "numpy", "static_frame"])
    @pytest.mark.parametrize("chunk_len", [None, 8])
    def test_each_library_gets_its_own_kind(self, to, chunk_len, monkeypatch, tmp_path):
        pytest.importorskip(to)
        set_chunk_len(monkeypatch, chunk_len, 8)
        path = tmp_path / "t.entasis"
        drop = ["d"] if to == "numpy" else []
        found = en.read_csv(self.text, to, strings="categorical", drop=drop)
        en.convert(self.text, path, strings="categorical", drop=drop)
        kept = en.read(path, to=to)
        if to == "pandas":
            import pandas as pd

            pd.testing.assert_frame_equal(found, kept)
            assert list(found["a"].cat.categories) == ["x", "y"]
            assert list(found["b"].cat.categories) == ["1", "2", "z"]
            assert list(found["a"].cat.codes) == [0, 1, 0, -1]
            assert list(found["e"].cat.categories) == ["NA", "x", "y"]
        elif to == "polars":
            assert found.equals(kept)
            assert found.schema == kept.schema
            assert found["a"].dtype == pl.Categorical
            assert found["b"].to_list() == ["1", "2", "z", None]
            assert found["d"].dtype == pl.Null
        elif to == "pyarrow":
            import pyarrow as pa

            assert found.equals(kept)
            assert found.schema.field("a").type == pa.dictionary(pa.int32(), pa.large_string())
            assert found["c"].combine_chunks().dictionary.to_pylist() == ["q", "p"]

    def test_one_column(self):
        frame = en.read_csv(self.text, "polars", dtypes={"b": "category", "c": "string"})
        assert [frame[name].dtype for name in "abc"] == [pl.String, pl.Categorical, pl.String]
        frame = en.read_csv(self.text, "polars", strings="categorical", dtypes={"a": "string"})
        assert [frame[name].dtype for name in "abc"] == [pl.String, pl.Categorical, pl.Categorical]
        for dtype in (pl.Categorical, __import__("pandas").CategoricalDtype()):
            assert en.read_csv(self.text, "polars", dtypes={"a": dtype})["a"].dtype == pl.Categorical
        with pytest.raises(en.errors.ArgumentError, match="'text'"):
            en.read_csv(self.text, strings="text")
        spec = '{"names": ["a", "b"], "types": ["categorical", "int64"]}'
        assert en.read_csv(b"a,b\nx,1\n", "polars", spec=spec)["a"].dtype == pl.Categorical

    @pytest.mark.parametrize("seed", range(10))
    def test_they_hold_the_strings(self, seed, monkeypatch, tmp_path):
        rng = random.Random(seed)
        n = rng.randrange(1, 300)
        words = [rng.choice(["", "a", "bc", "1", '"x,y"', "a long text of more than twelve bytes"]) for _ in range(n)]
        words += [str(i) for i in range(rng.randrange(3))]
        rng.shuffle(words)
        text = "a,b\n" + "".join(f"{word},{i}\n" for i, word in enumerate(words))
        options = {"sep": ",", "quote": '"', "comment": None, "skip": 0, "header": True}
        plain = en.read_csv(text.encode(), "polars", **options)
        set_chunk_len(monkeypatch, rng.choice([None, 1, 20]), rng.choice([1, 100]))
        found = en.read_csv(text.encode(), "polars", strings="categorical", **options)
        assert found.with_columns(pl.col(pl.Categorical).cast(pl.String)).equals(plain)
        path = tmp_path / "t.entasis"
        en.convert(text.encode(), path, strings="categorical", **options)
        assert en.verify(path)
        kept = en.read(path, to="pandas")
        frame = en.read_csv(text.encode(), "pandas", strings="categorical", **options)
        __import__("pandas").testing.assert_frame_equal(kept, frame)
