"""Filters on columns of each type: missing values, exact comparisons, and values that do not compare."""

from __future__ import annotations

import datetime
import decimal
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scan_frame import FLOATS
from scan_frame import frame as scan_frame

import entasis as en
from entasis import col


@pytest.fixture
def frame() -> pd.DataFrame:
    return scan_frame()


def test_missing_values_of_pandas_columns(file):
    """The table of docs/guides/pandas.md."""
    first = datetime.datetime(2026, 1, 1)
    columns = {
        "float64": (pd.Series([1.0, None, 2.0]), 1),
        "float32": (pd.Series([1.0, None, 2.0], dtype="float32"), 1),
        "str": (pd.Series(["a", None, "b"]), "a"),
        "object": (pd.Series(["a", None, "b"], dtype=object), "a"),
        "category": (pd.Series(["a", None, "b"], dtype="category"), "a"),
        "time": (pd.Series([first, None, first.replace(year=2027)]), first),
        "time span": (pd.to_timedelta(pd.Series([1, None, 2]), unit="D"), datetime.timedelta(1)),
        "Float64": (pd.Series([1.0, None, 2.0], dtype="Float64"), 1),
        "boolean": (pd.Series([True, None, False], dtype="boolean"), True),
        "Arrow": (pd.Series([1, None, 2], dtype="int64[pyarrow]"), 1),
    }
    f = file(pd.DataFrame({name: series for name, (series, _) in columns.items()}))
    for name, (_, value) in columns.items():
        kept = [1, 2] if name.startswith("float") else [2]
        for condition in (col(name) != value, ~(col(name) == value), ~col(name).is_in([value])):
            assert f.filter(condition).row_numbers().tolist() == kept, condition
        assert f.filter((name, "not in", [value])).row_numbers().tolist() == kept
        assert f.filter(col(name) == value).row_numbers().tolist() == [0]
        assert f.filter(col(name).is_missing()).row_numbers().tolist() == [1]
    nan = file(pd.DataFrame({"a": pd.arrays.ArrowExtensionArray(pa.array([1.0, float("nan"), None]))}))
    assert nan.filter(col("a").is_nan()).row_numbers().tolist() == [1]
    assert nan.filter(col("a").is_missing()).row_numbers().tolist() == [2]


def test_missing_values_are_unknown(file):
    df = pl.DataFrame(
        {
            "a": [1, None, 3, None],
            "t": ["x", None, "y", "z"],
            "f": [1.0, float("nan"), None, 2.0],
            "all": pl.Series([None] * 4, dtype=pl.Int32),
            "null": pl.Series([None] * 4, dtype=pl.Null),
        }
    )
    f = file(df)
    for condition, rows in [
        (col("a") != 1, [2]),
        (~(col("a") == 1), [2]),
        (col("a").is_missing(), [1, 3]),
        (~col("a").is_missing(), [0, 2]),
        (col("a").is_missing() | (col("a") > 1), [1, 2, 3]),
        (~(col("a").is_missing() & (col("t") == "z")), [0, 2]),
        (~col("t").is_in(["x"]), [2, 3]),
        (~col("t").contains("y"), [0, 3]),
        (col("f").is_missing(), [2]),
        (col("f").is_nan(), [1]),
        (~col("f").is_nan(), [0, 3]),
        (col("f") != 1, [1, 3]),
        (col("all") > 0, []),
        (col("all").is_missing(), [0, 1, 2, 3]),
        (col("null").is_missing(), [0, 1, 2, 3]),
        (~col("null").is_missing(), []),
    ]:
        assert f.filter(condition).row_numbers().tolist() == rows, condition


def test_other_types(file):
    ids = [uuid.UUID(int=i) for i in (1, 2, 1)]
    table = pa.table(
        {
            "decimal": pa.array([decimal.Decimal("1.10"), decimal.Decimal("2.50"), None], pa.decimal128(9, 2)),
            "wide": pa.array([decimal.Decimal("1e20"), decimal.Decimal(-1), None], pa.decimal128(30, 2)),
            "binary": pa.array([b"\xff", b"", b"a"], pa.binary()),
            "day": pa.array([datetime.date(2024, 1, i) for i in (1, 2, 3)]),
            "clock": pa.array([datetime.time(i) for i in (1, 2, 3)], pa.time64("us")),
            "span": pa.array([datetime.timedelta(hours=i) for i in (1, 2, 3)], pa.duration("ms")),
            "uuid": pa.array([i.bytes for i in ids], pa.uuid()),
            "big": pa.array([2**63, 2**64 - 1, 0], pa.uint64()),
            "list": pa.array([[1], None, []]),
            "struct": pa.array([{"a": 1}, None, {"a": None}]),
        }
    )
    f = file(table)
    for condition, rows in [
        (col("decimal") == 1.1, [0]),
        (col("decimal") >= decimal.Decimal("2.5"), [1]),
        (col("decimal") < 2, [0]),
        (col("wide") > 10**19, [0]),
        (col("wide") == -1, [1]),
        (col("binary") >= b"a", [0, 2]),
        (col("binary") == b"", [1]),
        (col("day") > "2024-01-01", [1, 2]),
        (col("day") == datetime.date(2024, 1, 2), [1]),
        (col("clock") <= datetime.time(2), [0, 1]),
        (col("clock") == "03:00", [2]),
        (col("span") > datetime.timedelta(minutes=90), [1, 2]),
        (col("span") == np.timedelta64(1, "h"), [0]),
        (col("uuid") == ids[0], [0, 2]),
        (col("big") > 2**63, [1]),
        (col("big") == float(2**63), [0]),
        (col("list").is_missing(), [1]),
        (col("struct").is_missing(), [1]),
    ]:
        assert f.filter(condition).row_numbers().tolist() == rows, condition


def test_what_does_not_compare_is_refused(file, frame):
    f = file(frame[:10])
    with pytest.raises(en.ColumnNotFoundError, match="nowhere"):
        f.count(col("nowhere") == 1)
    for condition, text in [
        (lambda: col("id") == "a", 'i64.*"a".*column "id"'),
        (lambda: col("text") == 1, "give a string"),
        (lambda: col("flag") == 1, "True or False"),
        (lambda: col("small") == True, "0 or 1"),  # noqa: E712
        (lambda: col("city") < "Bern", "no order"),
        (lambda: col("size") < "XL", "not one of its categories"),
        (lambda: col("time") < pd.Timestamp("2024", tz="UTC"), "without a time zone"),
        (lambda: col("zoned") < datetime.datetime(2024, 1, 1), "time zone"),
        (lambda: col("zoned") < "2024-01-01", "time zone"),
        (lambda: col("time") < "soon", "2024-01-31"),
        (lambda: col("id").starts_with("1"), "only strings"),
        (lambda: col("id").is_nan(), "NaN"),
        (lambda: col("id") == object(), "does not compare"),
        (lambda: col("id") == None, "is_missing"),  # noqa: E711
        (lambda: col("id") == float("nan"), "is_nan"),
        (lambda: col("id") == pd.NaT, "is_missing"),
        (lambda: col("id").is_in([1, None]), "is_missing"),
        (lambda: col("text").is_in("abc"), "list"),
        (lambda: col("id") == col("small"), "another column"),
        (lambda: col("id") == np.array([1, 2]), "is_in"),
        (lambda: (col("id") > 1) & True, "parentheses"),
        (lambda: [("id", "~", 1)], "operator"),
        (lambda: [("id", 1)], "tuples"),
        (lambda: [], "no condition"),
        (lambda: "id > 3", "en.col"),
        (lambda: frame["id"] > 3, "rows="),
    ]:
        with pytest.raises(en.ArgumentError, match=text):
            f.count(condition())
    with pytest.raises(TypeError, match="&"):
        (col("id") > 1) and (col("id") < 3)
    with pytest.raises(TypeError, match="compare"):
        bool(col("id"))
    with pytest.raises(AttributeError, match="is_missing"):
        col("id").isna()
    with pytest.raises(en.ArgumentError, match="limit"):
        f.scan(limit=-1)
    with pytest.raises(en.ArgumentError, match="range"):
        file(pd.DataFrame({"a": [1]}, index=pd.RangeIndex(1, name="i"))).count(col("i") == 0)


def test_values_are_taken_exactly(file):
    f = file({"f": np.array([1e50, np.inf, 1.0])})
    assert f.filter(col("f") > 10**40).row_numbers().tolist() == [0, 1]
    assert f.filter(col("f") == 10**400).row_numbers().tolist() == [1]
    times = pd.DataFrame({"t": np.array([1704067200123456789, 1704067200123456790], "M8[ns]")})
    f = file(times)
    assert f.count(col("t") == "2024-01-01T00:00:00.123456789") == 1
    assert f.count(col("t").is_in(times.t.to_numpy())) == 2
    assert f.count(col("t").is_in(times.t)) == 2
    f = file(pa.table({"d": pa.array([10**23, 1], pa.decimal128(38, 0))}))
    assert f.count(col("d") == 1e23) == 1
    for value in (np.float32("nan"), decimal.Decimal("NaN"), np.datetime64("NaT")):
        with pytest.raises(en.ArgumentError, match="nothing equals"):
            f.count(col("d") == value)
    with pytest.raises(en.ArgumentError, match="time zone"):
        file(pa.table({"t": [datetime.time(1)]})).count(col("t") == datetime.time(1, tzinfo=datetime.UTC))


def test_many_categories_and_missing_ones(file):
    labels = [f"{'a' if i < 100 else 'b'}{i:03}" for i in range(120)]
    codes = np.arange(120, dtype="int8")
    column = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(labels))
    f = file(pa.table({"c": column}))
    assert f.filter(col("c").starts_with("b")).row_numbers().tolist() == list(range(100, 120))
    assert f.count(~col("c").starts_with("b")) == 100
    # Codes that the type of the codes does not have.
    long = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(labels + [f"b{i}" for i in range(500, 900)]))
    f = file(pa.table({"c": long}))
    assert f.filter(col("c").starts_with("b")).row_numbers().tolist() == list(range(100, 120))
    missing = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2], pa.int8()), pa.array(["a", None, "c"]))
    f = file(pa.table({"c": missing}))
    for condition, rows in [
        (col("c") != "a", [3]),
        (~(col("c") == "a"), [3]),
        (~col("c").starts_with("a"), [3]),
        (~col("c").is_in(["c"]), [0]),
        (col("c").is_missing(), [1, 2]),
        (~col("c").is_missing(), [0, 3]),
    ]:
        assert f.filter(condition).row_numbers().tolist() == rows, condition


def test_levels_are_compared_by_label(file):
    index = pd.MultiIndex.from_product([[1999, 2001, 2003], ["b", "a"]], names=["year", "letter"])
    df = pd.DataFrame({"x": range(6)}, index=index)
    f = file(df)
    year, letter = index.get_level_values("year"), index.get_level_values("letter")
    pd.testing.assert_frame_equal(f.read(filter=col("year") > 2000), df[year > 2000])
    pd.testing.assert_frame_equal(f.read(filter=col("letter") <= "a"), df[letter <= "a"])


def test_columns_without_markers_of_missing_values(file):
    f = file(pd.DataFrame({"h": np.array([1, np.nan], "float16"), "c": np.array([1j, np.nan])}))
    for label in "hc":
        with pytest.raises(en.UnsupportedTypeError, match=label):
            f.count(col(label).is_missing())


scalars = st.one_of(st.sampled_from(FLOATS[:8]), st.integers(-3, 3), st.integers(-(2**70), 2**70))


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.sampled_from(FLOATS), max_size=50),
    literal=scalars,
    sign=st.sampled_from(["eq", "ne", "lt", "le", "gt", "ge"]),
    is_single=st.booleans(),
    negated=st.booleans(),
)
def test_floats_compare_as_in_numpy(tmp_path_factory, values, literal, sign, is_single, negated):
    array = np.array(values, "float32" if is_single else "float64")
    path = tmp_path_factory.mktemp("floats") / "a.entasis"
    en.write({"a": array}, path)
    condition = getattr(col("a"), f"__{sign}__")(literal)
    with np.errstate(over="ignore"):
        wanted = getattr(array, f"__{sign}__")(array.dtype.type(float(literal)))
    if negated:
        condition, wanted = ~condition, ~wanted
    assert en.open(path).filter(condition).row_numbers().tolist() == np.flatnonzero(wanted).tolist()
