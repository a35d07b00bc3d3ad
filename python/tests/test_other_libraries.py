"""Columns without a type in the other library: objects, units, intervals; and those left out."""

from __future__ import annotations

import datetime
import decimal
import io
import zoneinfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import entasis as en

D = decimal.Decimal
NOW = datetime.datetime(2020, 1, 2, 3, 4, 5, 678)
OBJECTS = {
    "dates": [datetime.date(2020, 1, 1), None, datetime.date(1, 1, 1)],
    "times": [datetime.time(1, 2, 3, 4), None, datetime.time(0)],
    "datetimes": [NOW, pd.NaT, datetime.datetime(1, 1, 1)],
    "zoned": [NOW.replace(tzinfo=datetime.UTC), None, NOW.replace(tzinfo=datetime.UTC)],
    "timedeltas": [datetime.timedelta(1), None, datetime.timedelta(-2)],
    "decimals": [D("1.0"), D("-2.345"), None],
    "bytes": [b"a", None, b"\0"],
    "booleans": [True, None, False],
    "texts": ["a", None, "\xe9"],
    "integers": [1, pd.NA, 2**62],
    "floats": [0.1, None, -0.0],
    "arrays": [np.array([1, 2]), None, np.array([], "i8")],
    "arrays of floats": [np.array([0.5, np.nan], "f4"), np.array([-0.0], "f4"), np.array([], "f4")],
    "arrays of times": [np.array(["2020-01-01", "NaT"], "M8[us]"), None, None],
    "arrays of texts": [np.array(["a", None], object), np.array(["b"], object), None],
    "arrays of arrays": [np.array([np.array([1]), None, np.array([2, 3])], object), None, None],
}
MIXED = {
    "kinds": [1, "a"],
    "integer and float": [1, 2.5],
    "boolean and integer": [True, 1],
    "zones": [NOW, NOW.replace(tzinfo=datetime.UTC)],
    "two zones": [NOW.replace(tzinfo=zoneinfo.ZoneInfo(z)) for z in ("Europe/Oslo", "Asia/Tokyo")],
    "times of a zone": [datetime.time(1, tzinfo=datetime.UTC)],
    "large integers": [2**70],
    "Decimal NaN": [D("NaN"), D("1")],
    "lists": [[1], [2]],
    "arrays of two dtypes": [np.array([1]), np.array([0.5])],
    "arrays of objects": [np.array([1, "a"], object)],
    "arrays of two dimensions": [np.eye(2)],
    "arrays of complex numbers": [np.array([1j])],
}


def _objects(cells):
    return pd.DataFrame({"x": range(len(cells)), "o": pd.Series(cells, dtype=object)})


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_of_one_kind_are_what_parquet_has(name, path):
    frame = _objects(OBJECTS[name])
    en.write(frame, path)
    beside = io.BytesIO()
    frame.to_parquet(beside)
    wanted = pq.read_table(beside).column("o")
    found = en.read(path, to="pyarrow").column("o")
    assert found.type in (wanted.type, pa.large_string(), pa.list_(pa.large_string()))
    assert found.to_pylist() == wanted.to_pylist()
    f = en.open(path)
    assert pa.table(f).column("o").equals(found)
    assert pa.schema(f).field("o").type == found.type
    assert en.read(path, to="polars")["o"].to_list() == pl.from_arrow(found).to_list()
    # The type is that of the whole column, whatever rows are read.
    for rows in ([2, 1, 1], (1, 2), []):
        part = en.read(path, to="pyarrow", rows=rows).column("o")
        assert part.type == found.type
        assert part.to_pylist() == [found.to_pylist()[i] for i in (range(*rows) if rows == (1, 2) else rows)]


@pytest.mark.parametrize("name", MIXED)
def test_objects_of_several_kinds_are_refused_or_left_out(name, path):
    frame = _objects(MIXED[name])
    en.write(frame, path)
    with pytest.raises(en.UnsupportedTypeError, match=r"column 'o'.*no counterpart in Arrow"):
        en.read(path, to="pyarrow")
    with pytest.warns(UserWarning, match="left out: column 'o'"):
        found = en.read(path, to="pyarrow", on_unsupported="skip")
    assert found.column_names == ["x"]
    assert found.column("x").to_pylist() == frame["x"].tolist()
    assert en.read(path, to="polars")["o"].dtype == pl.Object
    with pytest.warns(UserWarning, match="left out: column 'o'"):
        assert pa.table(en.open(path)).column_names == ["x"]


@pytest.mark.filterwarnings("ignore:left out")
def test_duckdb_sees_the_other_columns(path):
    duckdb = pytest.importorskip("duckdb")
    en.write(_objects([1, "a"]), path)
    f = en.open(path)
    assert f.n_columns == 2
    assert duckdb.sql("select sum(x) from f").fetchall() == [(1,)]
    en.write({"d": np.array(["2020-02-29", "NaT"], "M8[D]")}, path)
    f = en.open(path)
    assert f.n_columns == 1
    assert duckdb.sql("select d from f").fetchall() == [(datetime.date(2020, 2, 29),), (None,)]


UNITS = {
    **dict.fromkeys(("M8[Y]", "M8[M]", "M8[W]", "M8[D]"), pa.date32()),
    **dict.fromkeys(("M8[h]", "M8[m]", "M8[s]"), pa.timestamp("s")),
    "M8[us]": pa.timestamp("us"),
    **dict.fromkeys(("m8[W]", "m8[D]", "m8[h]", "m8[m]"), pa.duration("s")),
}


@pytest.mark.parametrize("dtype", UNITS)
def test_units_of_numpy(dtype, path):
    array = np.array([0, 1, -5, "NaT", 7], dtype)
    en.write({"a": array}, path)
    found = en.read(path, to="pyarrow").column("a")
    assert found.type == UNITS[dtype]
    finer = np.asarray(found.combine_chunks().to_numpy(zero_copy_only=False))
    np.testing.assert_array_equal(finer.astype(dtype), array)
    assert found.null_count == 1
    assert en.read(path, to="polars")["a"].null_count() == 1
    assert en.read(path, to="pyarrow", rows=[4, 0]).column("a").to_pylist() == [found.to_pylist()[i] for i in (4, 0)]


def test_units_that_are_finer_or_too_long(path):
    en.write({"a": np.array([5000, "NaT"], "M8[ps]"), "b": np.array([1, 2], "i4")}, path)
    assert en.read(path, to="pyarrow").column("a").type == pa.timestamp("ns")
    for array in (np.array([5], "M8[ps]"), np.array([2**40], "M8[D]"), np.array([1], "m8[M]"), np.array([1], "m8")):
        en.write({"a": array, "b": np.array([1], "i4")}, path)
        with pytest.raises(en.UnsupportedTypeError, match="column 'a'"):
            en.read(path, to="pyarrow")
        with pytest.warns(UserWarning, match="left out: column 'a'"):
            assert en.read(path, to="polars", on_unsupported="skip").columns == ["b"]


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Oslo"])
@pytest.mark.parametrize("closed", ["left", "both"])
def test_intervals_are_structs(zone, closed, path):
    breaks = pd.date_range("2020", periods=4, tz=zone)
    frame = pd.DataFrame(
        {
            "t": pd.arrays.IntervalArray.from_breaks(breaks, closed=closed),
            "f": pd.arrays.IntervalArray.from_tuples([(0, 1.5), None, (2, 3)], closed=closed),
            "i": pd.interval_range(0, 3, closed=closed),
        }
    )
    en.write(frame, path)
    found = en.read(path, to="pyarrow")
    assert found.schema.field("f").metadata == {b"closed": closed.encode()}
    assert found.column("f").to_pylist() == [{"left": 0.0, "right": 1.5}, None, {"left": 2.0, "right": 3.0}]
    assert found.column("i").to_pylist() == [{"left": i, "right": i + 1} for i in range(3)]
    left = [value["left"] for value in found.column("t").to_pylist()]
    assert left == breaks[:3].to_pydatetime().tolist()
    assert found.schema.field("t").type.field("left").type == pa.timestamp("us", zone)
    assert en.read(path, to="polars")["f"].to_list()[2] == {"left": 2.0, "right": 3.0}
    arrays = en.read(path, to="numpy")
    assert arrays["i"].dtype.names == ("left", "right")
    assert arrays["i"]["right"].tolist() == [1, 2, 3]
    assert np.isnan(arrays["f"]["left"][1])


def test_left_out_when_reading(path):
    maps = pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64()))
    table = pa.table({"l": maps, "n": pa.array([1, None]), "x": [1, 2]})
    en.write(table, path)
    with pytest.warns(UserWarning, match=r"left out: column 'l'.*; column 'n'"):
        found = en.read(path, to="numpy", on_unsupported="skip")
    assert list(found) == ["x"]
    with pytest.warns(UserWarning, match="left out: column 'l'"):
        assert en.open(path)[["n", "l", "x"]].read(to="numpy", rows=[0], on_unsupported="skip").keys() == {"n", "x"}
    with pytest.raises(en.ArgumentError, match="on_unsupported='ignore'"):
        en.read(path, on_unsupported="ignore")


def test_schema_and_data_leave_out_the_same_columns(path):
    days = np.array(["2020-01-01", "2020-01-02"], "M8[D]")
    far = np.array([2**40, 0], "M8[D]")
    en.write({"near": days, "far": far, "x": np.arange(2)}, path)
    f = en.open(path)
    for view, names in [(f, ["near", "x"]), (f[1:], ["near", "far", "x"]), (f[["far", "x"]], ["x"])]:
        if "far" in names:
            assert pa.schema(view).names == pa.table(view).column_names == names
            continue
        with pytest.warns(UserWarning, match="left out: column 'far'"):
            schema = pa.schema(view)
        with pytest.warns(UserWarning, match="left out: column 'far'"):
            table = pa.table(view)
        assert schema.names == names
        assert table.schema.equals(schema)


def test_interval_categories_are_structs(path):
    cut = pd.cut([1.0, 5.0, np.nan, 2.0], [0, 2, 4, 6])
    times = pd.interval_range(pd.Timestamp("2020", tz="UTC"), periods=2)
    frame = pd.DataFrame({"c": cut, "t": pd.Categorical.from_codes([1, 0, 1, -1], times), "x": range(4)})
    en.write(frame, path)
    found = en.read(path, to="pyarrow")
    pairs = [None if i < 0 else {"left": 2 * i, "right": 2 * i + 2} for i in cut.codes.tolist()]
    assert found.column("c").to_pylist() == pairs
    assert found.schema.field("c").metadata == {b"closed": b"right"}
    assert [t and pd.Timestamp(t["left"]) for t in found.column("t").to_pylist()] == [
        times[1].left,
        times[0].left,
        times[1].left,
        None,
    ]
    assert pa.schema(en.open(path)).equals(found.schema)
    assert en.read(path, to="polars")["c"].to_list() == pairs
    assert en.read(path, to="pyarrow", rows=[3, 2]).column("c").to_pylist() == [pairs[3], None]
    # The index of groups.
    en.write(frame.groupby("c", observed=False)["x"].sum().to_frame(), path)
    assert en.read(path, to="pyarrow").column("c").to_pylist()[0] == {"left": 0, "right": 2}
