"""The lazy handle."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import entasis as en

FRAME = pd.DataFrame(
    {
        "day": pd.date_range("2020", periods=100, tz="Europe/Berlin").array,
        "price": np.random.default_rng(0).random(100),
        "kind": pd.Categorical(["a", "b"] * 50, ordered=True),
        "a longer name": pd.array(["x"] * 100, dtype="str"),
    }
)


@pytest.fixture
def file(path):
    en.write(FRAME, path)
    return en.open(path)


def test_what_it_says(file):
    assert (file.n_rows, file.n_columns, len(file), file.shape) == (100, 4, 100, (100, 4))
    assert file.column_names == list(file.columns) == list(FRAME.columns)
    assert "price" in file
    assert file.written_by == "pandas"
    assert file.schema["price"] == "f64"
    assert file.schema["kind"] == "categorical (ordered)"
    assert repr(file.schema).splitlines()[1] == "price          f64"


def test_schema_of_a_view(file):
    assert list(file[["kind", "price"]].schema.items()) == [("kind", "categorical (ordered)"), ("price", "f64")]
    assert list(file.schema) == file.column_names
    assert len(file.schema) == 4


def test_schema_of_many_columns(path):
    # Names in any order, one twice, and types of every kind: equal to those of each column alone.
    frame = pa.table(
        [pa.array([1], pa.int8()) if i % 3 else pa.array(["x"]) for i in range(100)]
        + [pa.array([[1]]), pa.array([{"a": 1.5}]), pa.array([0], pa.timestamp("ns", "UTC"))]
        + [pa.array([0], pa.timestamp("ns", "Europe/Berlin")), pa.array([0], pa.timestamp("ns", "UTC"))],
        [f"c{99 - i}" for i in range(100)] + ["list", "struct", "utc", "berlin", "c50"],
    )
    en.write(frame, path)
    file = en.open(path)
    alone = [(info.name, info.type_name) for info in file._handle.columns(None)]
    assert file.schema.pairs == alone
    assert [name for name, _ in alone] == file.column_names == frame.column_names
    assert file.schema["berlin"] == "timestamp[ns, Europe/Berlin]"
    assert file.schema["list"] == "list[i64]"
    # Of two columns with one name the first is found, at its position.
    assert file.schema["c50"] == "i8"
    assert len(file.schema) == 104
    assert list(file.schema) == frame.column_names[:-1]
    some = list(range(104, 20, -1))
    assert file[:, some].schema.pairs == [alone[i] for i in some]
    assert file[:, some].column_names == [alone[i][0] for i in some]


def test_repr(file, path):
    text = repr(file)
    assert text.splitlines()[0] == f"<entasis.File '{path}': 100 rows x 4 columns, written by pandas>"
    assert "  day            timestamp[us, Europe/Berlin]" in text
    html = file[["price"]]._repr_html_()
    assert "100 rows x 1 columns" in html
    assert "<th>price</th></tr><tr><td>type</td><td>f64</td>" in html


def test_repr_of_a_wide_file(path):
    en.write(pd.DataFrame({f"<c{i}>": [i] for i in range(1000)}), path)
    file = en.open(path)
    assert len(repr(file).splitlines()) == 42
    assert "... 960 more" in repr(file)
    assert "<c1>" not in file._repr_html_()
    assert "&lt;c1&gt;" in file._repr_html_()


def test_views(file):
    assert file["price"].shape == (100, 1)
    assert file[["kind", "price"]].column_names == ["kind", "price"]
    assert file[10:20].n_rows == 10
    assert file[10:20][-3:][0].to_pandas().equals(FRAME.iloc[[17]])
    pd.testing.assert_frame_equal(file[5:8, ["price"]].read(), FRAME.iloc[5:8][["price"]])
    pd.testing.assert_frame_equal(file[:, 1:3].read(), FRAME.iloc[:, 1:3])
    pd.testing.assert_frame_equal(file[["kind", "price"]].read(columns=[0]), FRAME[["kind"]])
    pd.testing.assert_frame_equal(file[50:].read(rows=(0, 5), columns="price"), FRAME.iloc[50:55][["price"]])
    with pytest.raises(en.ColumnNotFoundError):
        file[["kind"]]["price"]
    with pytest.raises(en.ColumnNotFoundError):
        file["Price"]
    with pytest.raises(en.RowsOutOfRangeError, match="the table has 10 rows"):
        file[:10][10]
    with pytest.raises(en.ArgumentError):
        file[1, 2, 3]


def test_targets(file):
    assert isinstance(file.to_pandas(), pd.DataFrame)
    assert isinstance(file.to_polars(), pl.DataFrame)
    assert isinstance(file.to_pyarrow(), pa.Table)
    assert isinstance(file.to_numpy(), dict)


def test_arrow_streams(file):
    view = file[10:20][["price", "kind"]]
    assert pa.table(view).num_rows == 10
    assert pa.schema(view).names == ["price", "kind"]
    assert pl.DataFrame(view).shape == (10, 2)


def test_context_and_replacement(path):
    en.write(FRAME, path)
    with en.open(path) as file:
        en.write(FRAME.head(3), path)
        pd.testing.assert_frame_equal(file.read(), FRAME)
    pd.testing.assert_frame_equal(en.read(path), FRAME.head(3))


def test_info_and_verify(file, path):
    info = en.info(path)
    assert info.n_rows == 100
    assert [c["name"] for c in info.columns][:4] == list(FRAME.columns)
    assert "n_rows: 100" in repr(info)
    assert info.to_dict()["n_columns"] == 4
    with pytest.raises(AttributeError, match="there is no 'nope'"):
        _ = info.nope
    report = en.verify(path)
    assert report.checked_len > 0
    assert report.n_columns >= 4


def test_wide(path):
    rows = np.arange(100)
    kinds = [
        rows,
        rows / 7,
        rows % 3 == 0,
        rows.astype("M8[s]"),
        rows.astype("f4"),
        pd.array(rows, dtype="Int16"),
    ]
    columns = {f"c{i}": kinds[i % len(kinds)] for i in range(9000)}
    columns |= {f"s{i}": pd.array([f"{i}.{row}" for row in rows], dtype="str") for i in range(1000)}
    frame = pd.DataFrame(columns)
    en.write(frame, path)
    back = en.read(path)
    pd.testing.assert_frame_equal(frame, back)
    assert len(back._mgr.blocks) == 5 + 1500 + 1000
    pd.testing.assert_frame_equal(frame.iloc[3:50], en.read(path, rows=(3, 50)))
    some = ["s999", "c17", "c3", "s0"]
    pd.testing.assert_frame_equal(frame[some], en.read(path, columns=some))
    mine = en.read(path, to="polars", columns=some)
    assert mine["s999"].to_list() == frame["s999"].tolist()
    assert en.read(path, to="pyarrow")["s5"].to_pylist() == frame["s5"].tolist()
    assert en.read(path, to="numpy", columns=["c0", "c2"])["c2"].tolist() == frame["c2"].tolist()


def test_command_line_tells_no_missing_values_of_objects(path):
    """Object columns are null by themselves: what they hold is in a tree."""
    pd_frame = pd.DataFrame({"o": pd.Series([1, "a", None], dtype=object), "s": ["x", None, "z"]})
    en.write(pd_frame, path)

    def said(*words):
        command = [sys.executable, "-m", "entasis", *words, str(path)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    assert said("head", "--json").splitlines()[1] == '{"o":"a","s":null}'
    assert "null" not in said("head", "--columns", "o")
    assert [line.split()[-1] for line in said("schema").splitlines()[1:3]] == ["-", "1"]
    assert '"n_missing":null' in said("schema", "--json")
