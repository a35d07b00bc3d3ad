"""Values of one library as those of another."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import entasis as en

FRAME = pd.DataFrame(
    {
        "i": np.arange(3),
        "n": pd.array([1, None, 3], dtype="Int64"),
        "f": [1.5, np.nan, -0.0],
        "b": [True, False, True],
        "s": pd.array(["x", None, "é"], dtype="str"),
        "o": pd.Series(["x", None, np.nan], dtype=object),
        "c": pd.Categorical(["u", None, "v"]),
        "t": pd.to_datetime(["2020", None, "2021"]).tz_localize("UTC"),
        "d": pd.to_timedelta([1, None, 2], unit="s"),
    }
)


@pytest.fixture
def file(path):
    en.write(FRAME, path)
    return path


def test_pandas_to_polars(file):
    got = en.read(file, to="polars")
    assert got["n"].to_list() == [1, None, 3]
    assert got["s"].to_list() == ["x", None, "é"]
    assert got["o"].to_list() == ["x", None, None]
    assert got["c"].cast(pl.String).to_list() == ["u", None, "v"]
    assert got["t"].null_count() == got["d"].null_count() == 1
    assert got["f"].to_list() == [1.5, None, -0.0]
    kept = en.read(file, to="polars", nan_to_null=False)["f"]
    assert kept.is_nan().to_list() == [False, True, False]
    assert got.columns == list(FRAME.columns)


def test_pandas_to_pyarrow(file):
    got = en.read(file, to="pyarrow")
    assert got["n"].to_pylist() == [1, None, 3]
    assert got["c"].to_pylist() == ["u", None, "v"]
    assert got.schema.field("t").type == pa.timestamp("us", "UTC")
    got.validate(full=True)


def test_pandas_to_numpy(file):
    columns = ["i", "f", "b", "s", "c", "t", "d"]
    got = en.read(file, to="numpy", columns=columns)
    assert list(got) == columns
    assert got["s"].tolist() == [*got["s"].tolist()[:1], None, "é"]
    assert got["c"].tolist() == ["u", None, "v"]
    assert np.isnat(got["t"]).tolist() == [False, True, False]
    with pytest.raises(en.UnsupportedTypeError, match="column 'n'"):
        en.read(file, to="numpy", columns=["n"])
    assert en.read(file, to="numpy", columns=["n"], rows=[0, 2])["n"].tolist() == [1, 3]


def test_labels_of_rows_become_columns(path):
    multi = pd.MultiIndex.from_tuples([("a", 1), ("b", 2), ("a", 3)], names=["x", None])
    en.write(FRAME[["i"]].set_axis(multi), path)
    expected = {"x": ["a", "b", "a"], "level_1": [1, 2, 3], "i": [0, 1, 2]}
    assert en.read(path, to="pyarrow").to_pydict() == expected
    assert {k: v.tolist() for k, v in en.read(path, to="numpy").items()} == expected
    en.write(FRAME[["i"]].set_axis(pd.Index([5, 6, 7])), path)
    assert en.read(path, to="polars").to_dict(as_series=False) == {"index": [5, 6, 7], "i": [0, 1, 2]}


def test_polars_to_others(path):
    from datetime import date, time

    frame = pl.DataFrame(
        {
            "i": [1, None, 3],
            "j": [1, 2, 3],
            "f": [1.5, None, float("nan")],
            "b": [True, None, False],
            "s": ["x", None, "a string that is long"],
            "y": [b"x", None, b"\xff"],
            "d": [date(2020, 1, 1), None, date(1960, 1, 1)],
            "t": [time(1), None, time(2)],
            "c": pl.Series(["u", None, "v"], dtype=pl.Categorical),
            "e": pl.Series(["lo", None, "hi"], dtype=pl.Enum(["lo", "hi"])),
            "z": pl.Series([None] * 3, dtype=pl.Null),
        }
    )
    en.write(frame, path)
    got = en.read(path, to="pandas")
    assert got.dtypes.astype(str).to_dict() == {
        "i": "Int64",
        "j": "int64",
        "f": "float64",
        "b": "boolean",
        "s": "str",
        "y": "object",
        "d": "datetime64[s]",
        "t": "time64[ns][pyarrow]",
        "c": "category",
        "e": "category",
        "z": "object",
    }
    assert got["e"].cat.ordered
    assert got["e"].tolist()[::2] == ["lo", "hi"]
    assert got["d"].isna().tolist() == [False, True, False]
    table = en.read(path, to="pyarrow")
    assert table.drop_columns(["f"]).to_pylist() == frame.drop("f").to_arrow().to_pylist()
    arrays = en.read(path, to="numpy", columns=["j", "f", "s", "y", "d", "t", "c", "z"])
    assert arrays["y"].tolist() == [b"x", None, b"\xff"]
    assert str(arrays["d"].dtype) == "datetime64[D]"


def test_numpy_to_others(path):
    arrays = {
        "x": np.arange(3.0),
        "d": np.array(["2020-01-01", "NaT", "1960-01-01"], "M8[D]"),
        "u": np.array(["a", "bc", ""]),
        "z": np.array([1j, 2, 3]),
    }
    en.write(arrays, path)
    got = en.read(path, to="pandas")
    assert got.dtypes.astype(str).tolist() == ["float64", "datetime64[s]", "str", "complex128"]
    assert got["d"].isna().tolist() == [False, True, False]
    assert en.read(path, to="polars", columns=["x", "u"]).to_dict(as_series=False) == {
        "x": [0, 1, 2],
        "u": ["a", "bc", ""],
    }
    days = en.read(path, to="pyarrow", columns=["d"]).column("d")
    assert days.type == pa.date32()
    assert days.to_pylist() == arrays["d"].tolist()
    with pytest.raises(en.UnsupportedTypeError, match="column 'z'"):
        en.read(path, to="pyarrow", columns=["z"])
    en.write({"x": np.array([1, 2], "M8[ps]")}, path)
    with pytest.raises(en.UnsupportedTypeError, match="column 'x'"):
        en.read(path, to="pandas")


def test_arrow_to_others(path):
    table = pa.table(
        {
            "u8": pa.array(list(range(256)), pa.uint8())
            .dictionary_encode()
            .cast(pa.dictionary(pa.uint8(), pa.uint8())),
            "v": pa.array(["a", "bb" * 20, None] * 85 + ["x"], pa.string_view()),
        }
    )
    en.write(table, path)
    got = en.read(path, to="pandas")
    assert got["u8"].tolist() == list(range(256))
    assert got["v"].tolist()[1] == "bb" * 20
    assert en.read(path, to="polars")["v"].to_list() == table["v"].to_pylist()


def test_unknown_target(file):
    with pytest.raises(en.ArgumentError, match="to='excel' is not known"):
        en.read(file, to="excel")


def test_missing_library(file, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(en.MissingLibraryError, match="pip install polars"):
        en.read(file, to="polars")


def test_what_arrow_has_and_pandas_not(path):
    """Dictionaries of values without a hash, and invalid zones, are refused with their column."""
    for n in (2, 2000):
        for values in (
            pa.array([[i] for i in range(n)]),
            pa.array([{"a": i} for i in range(n)]),
            pa.ExtensionArray.from_storage(
                pa.fixed_shape_tensor(pa.int8(), [2]), pa.array([[i % 9, 1] for i in range(n)], pa.list_(pa.int8(), 2))
            ),
        ):
            codes = pa.array([0, 1, None, 1], pa.int16())
            table = pa.table({"x": [1, 2, 3, 4], "of values": pa.DictionaryArray.from_arrays(codes, values)})
            en.write(table, path)
            assert en.read(path) == table
            for to in ("pandas", "numpy", "static_frame"):
                with pytest.raises(en.UnsupportedTypeError, match="'of values'"):
                    en.read(path, to=to)
            assert en.read(path, to="pandas", columns="x")["x"].tolist() == [1, 2, 3, 4]
    for values in (
        pa.array([1.5, 2.5], pa.float16()),
        pa.array([1, 2], pa.timestamp("s", "Nowhere/X")),
    ):
        table = pa.table({"of values": pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), values)})
        en.write(table, path)
        assert en.read(path) == table
        with pytest.raises(en.UnsupportedTypeError, match="'of values'"):
            en.read(path, to="pandas")
    for zone in ("Nowhere/X", "Europe", "../x", "+26:00", "x" * 300, "\u00e9"):
        table = pa.table({"at": pa.array([1, None], pa.timestamp("s", zone)), "x": [1, 2]})
        en.write(table, path)
        assert en.read(path) == table
        with pytest.raises(en.UnsupportedTypeError, match="at"):
            en.read(path, to="pandas")
        assert en.read(path, to="pandas", columns="x")["x"].tolist() == [1, 2]
