"""Filters on files, against pandas evaluating the same condition in memory."""

from __future__ import annotations

import datetime
import decimal
import pickle
import uuid
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import entasis as en
from entasis import col

if TYPE_CHECKING:
    from pathlib import Path

FLOATS = [0.0, -0.0, 1.0, 0.1, 2.5, -3.0, float("inf"), float("-inf"), float("nan"), 5e-324, 1e300]
TEXTS = ["", "a", "ab", "b\0", "é", "x" * 14, "x" * 15, "x" * 15 + "a", "x" * 15 + "b", "\U0010ffff" * 5]


@pytest.fixture
def file(tmp_path):
    """Write a value, and open its file."""
    number = iter(range(1_000))

    def write(value: Any, **options: Any) -> en.File:
        path = tmp_path / f"{next(number)}.entasis"
        en.write(value, path, **options)
        return en.open(path)

    return write


@pytest.fixture
def frame():
    rng = np.random.default_rng(7)
    n = 65_537
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "price": np.round(rng.normal(100, 20, n), 2),
            "small": rng.integers(-5, 5, n).astype("int8"),
            "float": rng.choice(np.array(FLOATS), n),
            "single": rng.choice(np.array([0.1, 0.2, -0.0], "float32"), n),
            "text": pd.Series(rng.choice(np.array(TEXTS, object), n), dtype="str"),
            "city": pd.Categorical(rng.choice(["Bern", "Basel", "Chur"], n)),
            "size": pd.Categorical(rng.choice(["S", "M", "L"], n), ["S", "M", "L"], ordered=True),
            "time": pd.date_range("2024", periods=n, freq="min"),
            "zoned": pd.date_range("2024", periods=n, freq="min", tz="Europe/Zurich"),
            "flag": rng.random(n) < 0.5,
            "number": pd.array(rng.integers(0, 4, n), "Int64").astype("Int64"),
        },
        index=pd.Index(rng.permutation(n), name="key"),
    )


def masks(df):
    day = datetime.datetime(2024, 1, 20)
    zoned = pd.Timestamp("2024-01-20", tz="UTC")
    return [
        (col("id") >= 65_000, df.id >= 65_000),
        (col("id") == 2**70, df.id < 0),
        (col("id") > -(2**70), df.id >= 0),
        (col("small") > 2.5, df.small > 2.5),
        ((col("price") > 90) & (col("price") <= 110.5), (df.price > 90) & (df.price <= 110.5)),
        (col("price").between(90, 95) | (col("small") == -5), df.price.between(90, 95) | (df.small == -5)),
        (~(col("small") < 0), ~(df.small < 0)),
        (col("float") == 0, df.float == 0),
        (col("float") != 0, df.float != 0),
        (~(col("float") > 0), ~(df.float > 0)),
        (col("float") < np.inf, df.float < np.inf),
        (col("float").is_nan(), df.float.isna()),
        (col("float").is_missing(), df.float.isna()),
        (col("single") == 0.1, df.single == np.float32(0.1)),
        (col("single") >= 0, df.single >= 0),
        (col("text") == "x" * 15, df.text == "x" * 15),
        (col("text") > "x" * 15, df.text > "x" * 15),
        (col("text").starts_with("x" * 15), df.text.str.startswith("x" * 15)),
        (col("text").ends_with("b"), df.text.str.endswith("b")),
        (col("text").contains("\0"), df.text.str.contains("\0", regex=False)),
        (col("text").like("_b"), df.text == "ab"),
        (~col("text").is_in(["a", "é", "nowhere"]), ~df.text.isin(["a", "é"])),
        (col("city") == "Bern", df.city == "Bern"),
        (col("city") != "nowhere", df.city != "nowhere"),
        (col("city").is_in(["Bern", "nowhere"]), df.city == "Bern"),
        (col("city").starts_with("B"), df.city.isin(["Bern", "Basel"])),
        (col("size") > "S", df["size"] > "S"),
        (col("size") <= "M", df["size"] <= "M"),
        (col("time") < day, df.time < day),
        (col("time") == np.datetime64("2024-01-20"), df.time == day),
        (col("time") >= "2024-02-01", df.time >= "2024-02-01"),
        (col("time") > datetime.date(2024, 2, 1), df.time > "2024-02-01"),
        (col("zoned") < zoned, df.zoned < zoned),
        (col("flag") == True, df.flag),  # noqa: E712
        (col("flag"), df.flag),
        (~col("flag") & col("flag") | (col("id") == 1), df.id == 1),
        ((col("id") < 100) & col("flag"), (df.id < 100) & df.flag),
        (("small", "in", [1, 2]), df.small.isin([1, 2])),
        ([("small", ">", 1), ("id", "<", 100)], (df.small > 1) & (df.id < 100)),
        ([[("small", "=", 1)], [("id", "not in", range(65_000))]], (df.small == 1) | (df.id >= 65_000)),
        (col("key") < 100, df.index < 100),
    ]


def test_filters_find_the_rows_of_pandas(file, frame):
    f = file(frame)
    for condition, mask in masks(frame):
        wanted = np.flatnonzero(mask)
        assert f.count(condition) == len(wanted), condition
        assert np.array_equal(f.filter(condition).row_numbers(), wanted), condition
        # Comparing all frames would take most of the time.
        if len(wanted) < 5_000:
            pd.testing.assert_frame_equal(f.read(filter=condition), frame[mask])


def test_a_filter_applies_after_rows_and_before_a_limit(file, frame):
    f = file(frame)
    some = frame[1000:3000]
    condition = col("small") > 0
    wanted = some[some.small > 0]
    pd.testing.assert_frame_equal(f[1000:3000].filter(condition).read(), wanted)
    pd.testing.assert_frame_equal(en.read(f.path, rows=(1000, 3000), filter=condition), wanted)
    pd.testing.assert_frame_equal(f.scan(None, condition, (1000, 3000), 5).read(), wanted[:5])
    pd.testing.assert_frame_equal(f[1000:3000].filter(condition).head(3), wanted[:3])
    assert f.scan(filter=condition, rows=(1000, 3000), limit=5).count() == 5
    backwards = frame[::-7]
    pd.testing.assert_frame_equal(f[::-7].filter(condition).read(), backwards[backwards.small > 0])
    assert f[::-7].filter(condition).count() == (backwards.small > 0).sum()
    picked = frame.iloc[[5, 3, 3, 60_000]]
    pd.testing.assert_frame_equal(f[[5, 3, 3, 60_000]].filter(col("id") != 5).read(), picked[picked.id != 5])
    chained = f.filter(condition).filter(col("id") < 500).select("price")
    pd.testing.assert_frame_equal(chained.read(), frame[(frame.small > 0) & (frame.id < 500)][["price"]])
    pd.testing.assert_frame_equal(f.scan(limit=2).read(), frame[:2])
    with pytest.raises(en.ArgumentError, match="filter first"):
        f.scan(limit=2).filter(condition)


@pytest.mark.parametrize("n", [0, 1, 65_535, 65_536, 65_537, 131_073])
def test_lengths_around_a_block(file, n):
    df = pd.DataFrame({"a": np.arange(n, dtype="int32") % 1000, "b": np.arange(n) // 1000})
    f = file(df)
    pd.testing.assert_frame_equal(f.read(filter=col("a") == 7), df[df.a == 7])
    pd.testing.assert_frame_equal(f.read(filter=(col("a") == 7) | (col("b") == 65)), df[(df.a == 7) | (df.b == 65)])
    pd.testing.assert_frame_equal(f.read(filter=col("b") >= 0), df)


def test_every_library(file, frame):
    small = frame[["id", "price", "text", "number"]].reset_index(drop=True)[:1000]
    condition, mask = (col("price") > 100) & (col("number") != 2), (small.price > 100) & (small.number != 2)
    wanted = small[mask]
    polars = pl.from_pandas(small)
    assert file(polars).read(filter=condition).equals(pl.from_pandas(wanted))
    table = pa.Table.from_pandas(small, preserve_index=False)
    found = file(table).read(filter=condition)
    assert found.to_pydict() == pa.Table.from_pandas(wanted, preserve_index=False).to_pydict()
    arrays = {"id": small.id.to_numpy(), "price": small.price.to_numpy()}
    found = file(arrays).read(filter=col("price") > 100)
    np.testing.assert_array_equal(found["id"], small.id[small.price > 100])
    scan = file(small).filter(condition)
    assert scan.to_polars().equals(pl.from_pandas(wanted))
    assert pa.table(scan).num_rows == len(wanted)
    assert pl.DataFrame(scan).height == len(wanted)


def polars_frame(n=70_000):
    rng = np.random.default_rng(11)
    missing = rng.random(n) < 0.1
    return pl.DataFrame(
        {
            "i": rng.integers(-5, 5, n),
            "u": rng.integers(0, 5, n).astype("uint64"),
            "f": rng.choice(np.array(FLOATS), n),
            "s": rng.choice(np.array([0.1, np.nan, np.inf], "float32"), n),
            "t": rng.choice(np.array(TEXTS, object), n).tolist(),
            "b": rng.random(n) < 0.5,
            "d": pl.Series(rng.integers(19_000, 19_100, n).astype("int32")).cast(pl.Date),
            "when": pl.Series(rng.integers(10**18, 10**18 + 99, n)).cast(pl.Datetime("ns")),
            "zoned": pl.Series(rng.integers(0, 10**6, n)).cast(pl.Datetime("us")).dt.replace_time_zone("UTC"),
            "span": pl.Series(rng.integers(-9, 9, n)).cast(pl.Duration("ms")),
            "clock": pl.Series(rng.integers(0, 9, n) * 10**9).cast(pl.Time),
            "dec": pl.Series(rng.integers(-9, 9, n)).cast(pl.Decimal(10, 2)),
            "cat": pl.Series(rng.choice(["x", "y"], n).tolist(), dtype=pl.Categorical),
            "enum": pl.Series(rng.choice(["low", "high"], n).tolist(), dtype=pl.Enum(["low", "high"])),
            "bin": rng.choice(np.array([b"", b"a", b"\xff"], object), n).tolist(),
        }
    ).with_columns(pl.when(pl.lit(pl.Series(missing))).then(None).otherwise(pl.all()).name.keep())


def polars_expressions():
    c, utc = pl.col, datetime.UTC
    return [
        c("i") > 2,
        pl.lit(2) > c("i"),
        c("i") >= 1.5,
        c("i") != 2,
        ~(c("i") == 2),
        c("i").is_between(-2, 2, closed="left"),
        ~c("i").is_between(-2, 2),
        c("i").is_in([1, 3]),
        ~c("i").is_in([1, None]),
        c("i").is_in([1, None], nulls_equal=True),
        ~c("i").is_in([1, None], nulls_equal=True),
        ~c("i").is_in([1], nulls_equal=True),
        c("i").is_in([]),
        c("i").is_null(),
        c("i").is_not_null() & c("f").is_null(),
        c("u") == 2**63,
        c("u") <= 3,
        c("f") > 1,
        ~(c("f") > 1),
        c("f") >= 1,
        c("f") < 1,
        ~(c("f") <= 1),
        c("f") == 0.0,
        c("f") != 0.1,
        c("f").is_nan(),
        c("f").is_not_nan(),
        c("f").is_between(0, 3),
        c("f").is_in([0.0, 2.5]),
        c("f").is_in(pl.Series([2.5, float("nan")])),
        ~c("f").is_in(pl.Series([2.5, float("nan")])),
        c("s") == 0.1,
        c("s") > 0.1,
        c("t") == "ab",
        c("t") > "x" * 15,
        c("t").is_in(["a", "é"]),
        c("t").str.starts_with("x"),
        c("t").str.ends_with("b"),
        ~c("t").str.contains("x", literal=True),
        c("b"),
        ~c("b"),
        c("b") & (c("i") > 0) | (c("t") == "a"),
        (c("i") > 0) ^ c("b"),
        c("b") == False,  # noqa: E712
        c("d") > datetime.date(2022, 2, 1),
        c("d").is_in([datetime.date(2022, 2, 1)]),
        c("when") <= pl.lit(10**18 + 5, dtype=pl.Datetime("ns")),
        c("when").is_in(pl.Series([10**18 + 5]).cast(pl.Datetime("ns"))),
        c("zoned") > datetime.datetime(1970, 1, 1, 0, 0, 0, 500_000, tzinfo=utc),
        c("span") < datetime.timedelta(milliseconds=2),
        c("clock") >= datetime.time(0, 0, 3),
        c("dec") == decimal.Decimal("2"),
        c("dec").is_between(decimal.Decimal("-1.5"), decimal.Decimal("1.5")),
        c("cat") == "x",
        c("cat").is_in(["x", "z"]),
        c("enum") > "low",
        c("bin") == b"a",
        c("bin") >= b"a",
    ]


def test_expressions_of_polars_find_the_rows_of_polars(file):
    df = polars_frame()
    f = file(df)
    for expression in polars_expressions():
        assert f.read(filter=expression).equals(df.filter(expression), null_equal=True), expression


def test_parts_of_expressions_without_counterpart_are_refused(file):
    f = file(polars_frame(10))
    c = pl.col
    for expression, text in [
        (c("i") + 1 > 2, "Plus"),
        (c("i") > c("u"), "Column"),
        (c("^i$") > 1, "i"),
        (c("f") == float("nan"), "infinity"),
        (c("f") < float("inf"), "infinity"),
        (c("i") == None, "is_null"),  # noqa: E711
        (c("t").str.contains("x"), "literal=True"),
        (c("i").is_in(c("u")), "IsIn"),
        (c("i").eq_missing(1), "EqValidity"),
        (c("d").dt.year() == 2022, "Year"),
        (pl.lit(True), "Literal"),
        (c("when") <= pl.lit(10**18).cast(pl.Datetime("ns")), "Cast"),
    ]:
        with pytest.raises(en.ArgumentError, match=text):
            f.count(expression)
    with pytest.raises(en.ColumnNotFoundError, match="nowhere"):
        f.count(c("nowhere") == 1)


def test_pandas_files_take_expressions_of_polars(file):
    f = file(pd.DataFrame({"f": [1.0, np.nan, 3.0]}))
    assert f.filter(pl.col("f") > 1).row_numbers().tolist() == [1, 2]
    assert f.count(pl.col("f").is_null()) == 0
    assert f.count(col("f").is_missing()) == 1
    assert "(col('f') > 1) | col('f').is_nan()" in repr(f.filter(pl.col("f") > 1))


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


def test_batches_have_the_rows_that_pass(file, frame):
    f = file(frame)
    condition, mask = col("small") == 3, frame.small == 3
    parts = list(f.filter(condition).batches(10_000))
    assert len(parts) == 7
    pd.testing.assert_frame_equal(pd.concat(parts), frame[mask])
    limited = list(f.scan(["price"], condition, limit=1000).batches(5_000))
    pd.testing.assert_frame_equal(pd.concat(limited), frame[mask][["price"]][:1000])
    assert list(f.filter(col("small") == 99).batches()) == []
    assert sum(len(part) for part in f.scan().batches()) == len(frame)
    with pytest.raises(en.ArgumentError, match="n=0"):
        next(f.scan().batches(0))


def test_scans_are_written(file, frame, tmp_path):
    f = file(frame)
    condition, mask = (col("small") > -3) & (col("city") != "Bern"), (frame.small > -3) & (frame.city != "Bern")
    en.write(f.filter(condition), tmp_path / "b.entasis")
    pd.testing.assert_frame_equal(en.read(tmp_path / "b.entasis"), frame[mask])
    en.write(f.scan(["id"], condition, limit=3), tmp_path / "b.entasis", index=False)
    pd.testing.assert_frame_equal(en.read(tmp_path / "b.entasis"), frame[mask][["id"]][:3].reset_index(drop=True))
    assert en.read(en.to_bytes(f.scan(["id"], condition))).equals(frame[mask][["id"]])
    en.write(frame[mask][:0], tmp_path / "c.entasis")
    en.append(f.filter(condition).read(), tmp_path / "c.entasis")
    assert len(en.open(tmp_path / "c.entasis")) == mask.sum()
    numbers = pl.DataFrame({"a": np.arange(1_500_000), "b": np.arange(1_500_000) * 0.5})
    en.write(file(numbers).filter(col("a") >= 10), tmp_path / "d.entasis")
    assert en.read(tmp_path / "d.entasis").equals(numbers[10:])


def test_samples_keep_the_order_of_the_file(file, frame):
    frame = frame[:5_000]
    f = file(frame)
    for by in ("rows", "blocks"):
        for n in (0, 1, 1000, 1025, len(frame)):
            found = f.sample(n, seed=5, by=by)
            assert len(found) == n
            assert found.id.is_monotonic_increasing
            assert found.id.is_unique
            pd.testing.assert_frame_equal(found, frame[frame.id.isin(found.id)])
            pd.testing.assert_frame_equal(found, f.sample(n, seed=5, by=by))
    assert len(f.sample(fraction=0.25, seed=1)) == round(len(frame) / 4)
    assert len(f[:100].sample(fraction=1.0)) == 100
    for wrong in ({}, {"n": 1, "fraction": 0.5}, {"fraction": 1.5}, {"n": 1, "by": "pages"}, {"n": -1}):
        with pytest.raises(en.ArgumentError):
            f.sample(**wrong)


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


def test_empty_selections(file):
    f = file(pd.DataFrame({"a": range(10)}))
    for view in (f[5:3], f[0:0], f[[]], f[3:5:-1]):
        assert view.filter(col("a") >= 0).count() == 0
        assert view.filter(col("a") >= 0).read().shape == (0, 1)
    assert f.scan().count() == 10
    assert f.scan(limit=3).count() == 3
    assert f.scan(limit=3).row_numbers().tolist() == [0, 1, 2]


def test_values_that_are_not_frames_have_no_filters(file):
    tree = file({"x": [1, 2]})
    for name in ("filter", "scan", "count", "search", "stats"):
        assert not hasattr(tree, name)
        assert not hasattr(tree["x"], name)
    with pytest.raises(en.ArgumentError, match="frames"):
        tree.read(filter=col("x") == 1)
    with pytest.raises(en.ArgumentError, match="frames"):
        en.read(tree.path, filter=col("x") == 1)


def test_objects_have_no_filters(file):
    f = file(pd.DataFrame({"a": pd.Series([1, "a", None], dtype=object)}))
    with pytest.raises(en.UnsupportedTypeError, match="a"):
        f.count(col("a") == 1)


def test_conditions_and_scans_are_printed_and_pickled(file):
    condition = ~(col("a") > 1) & col("b").is_in(["x"]) | col(3).is_missing()
    text = "(~(col('a') > 1) & col('b').is_in(['x'])) | col(3).is_missing()"
    assert repr(condition) == text
    assert repr(pickle.loads(pickle.dumps(condition))) == text
    f = file(pd.DataFrame({"a": [1, 2, 3]}))
    scan = pickle.loads(pickle.dumps(f.filter(col("a") > 1)))
    assert scan.read().a.tolist() == [2, 3]
    assert "col('a') > 1" in repr(scan)
    assert "2 tested" in f[1:].filter(col("a") != 2).explain()


def test_statistics_decide(file):
    n = 10 * 65_536
    df = pd.DataFrame({"id": np.arange(n), "text": pd.Series(["a", "b"] * (n // 2), dtype="str")})
    f = file(df)
    explained = f.filter(col("id") < 65_536).explain()
    assert f"{n} rows: {n - 65_536} pruned, 65536 passed by statistics, 0 tested" in explained
    assert "65536 tested" in f.filter(col("id") < 70_000).explain()
    assert f.count(col("text") > "b") == 0
    assert "0 tested" in f.filter(col("text") > "b").explain()


def test_damage_is_reported_where_it_is_read(tmp_path):
    n = 4 * 65_536
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"id": np.arange(n), "value": rng.random(n)})
    path = tmp_path / "a.entasis"
    en.write(df, path)
    data = bytearray(path.read_bytes())
    # The values fill most of the file: a byte of the last quarter of it is one of the last block.
    data[len(data) * 7 // 8] ^= 1
    path.write_bytes(data)
    f = en.open(path)
    first = (col("id") < 1000) & (col("value") < 0.5)
    pd.testing.assert_frame_equal(f.read(filter=first), df[(df.id < 1000) & (df.value < 0.5)])
    with pytest.raises(en.CorruptFileError, match="value"):
        f.count(col("value") < 0.5)
    with pytest.warns(en.DamageWarning):
        found = f.read(filter=col("id") >= 3 * 65_536, on_damage="missing")
    assert len(found) == 65_536
    assert found.value.isna().any()


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


def nested() -> pl.DataFrame:
    """A frame with structs and lists, some of them missing."""
    points = [{"x": 1, "y": {"z": "a"}}, None, {"x": None, "y": {"z": "b"}}, {"x": 3, "y": None}]
    points += [{"x": 0, "y": {"z": None}}, {"x": 5, "y": {"z": "c"}}]
    schema = {
        "p": pl.Struct({"x": pl.Int64, "y": pl.Struct({"z": pl.String})}),
        "l": pl.List(pl.Int8),
    }
    return pl.DataFrame({"p": points, "l": [[1], None, [], [1, 2, 3], [4, 5], [6]]}, schema=schema)


_X, _Z = pl.col("p").struct.field("x"), pl.col("p").struct.field("y").struct.field("z")
_N = pl.col("l").list.len()
_EX, _EZ = en.col("p").field("x"), en.col("p").field("y").field("z")
_EN = en.col("l").list_len()


@pytest.mark.parametrize(
    ("expression", "condition"),
    [
        (_X > 0, _EX > 0),
        (~(_X > 0), ~(_EX > 0)),
        (_X.is_in([1, 3]), _EX.is_in([1, 3])),
        (_Z == "a", _EZ == "a"),
        (~(_Z == "a"), ~(_EZ == "a")),
        (_Z.is_null(), _EZ.is_missing()),
        (_Z.is_not_null(), ~_EZ.is_missing()),
        (_Z.str.starts_with("b"), _EZ.starts_with("b")),
        ((_X > 0) & (_Z == "a"), (_EX > 0) & (_EZ == "a")),
        (_N > 1, _EN > 1),
        (~(_N > 1), ~(_EN > 1)),
        (_N == 0, _EN == 0),
        (_N.is_between(1, 2), _EN.between(1, 2)),
        (pl.lit(2) > _N, _EN < 2),
    ],
)
def test_fields_and_lengths(tmp_path: Path, expression: pl.Expr, condition: en.Condition) -> None:
    frame = pl.concat([nested()] * 300)
    en.write(frame, tmp_path / "nested.entasis")
    f = en.open(tmp_path / "nested.entasis")
    expected = frame.filter(expression)
    assert 0 < len(expected) < len(frame)
    for found in (expression, condition, pickle.loads(pickle.dumps(condition))):
        assert f.read(filter=found).equals(expected)
        assert f.count(found) == len(expected)


def test_fields_and_lengths_that_are_not_there(tmp_path: Path) -> None:
    en.write(nested().with_row_index("i"), tmp_path / "nested.entasis")
    f = en.open(tmp_path / "nested.entasis")
    assert repr(_EZ.is_missing() & (_EN > 2)) == (
        "col('p').field('y').field('z').is_missing() & (col('l').list_len() > 2)"
    )
    with pytest.raises(en.EntasisError, match=r'no field "q": its fields are "x", "y"'):
        f.count(en.col("p").field("q") > 1)
    with pytest.raises(en.EntasisError, match="only structs have fields"):
        f.count(en.col("l").field("q") > 1)
    with pytest.raises(en.EntasisError, match="only lists and maps have a length"):
        f.count(en.col("i").list_len() > 1)
    with pytest.raises(en.EntasisError, match="compared with an integer"):
        f.count(_EN > 1.5)
    with pytest.raises(TypeError, match="no truth value"):
        bool(_EN)


def test_typed_floats_of_polars_are_refused(tmp_path: Path) -> None:
    """Polars converts a column to the type of such a literal, and a filter does not."""
    en.write(pl.DataFrame({"x": [0.1, 0.5], "f": pl.Series([0.1, 0.5], dtype=pl.Float32)}), tmp_path / "f.entasis")
    f = en.open(tmp_path / "f.entasis")
    for condition in (pl.col("x") < pl.lit(0.1, pl.Float32), pl.col("f") == pl.lit(0.1, pl.Float64)):
        with pytest.raises(en.ArgumentError, match="without a type"):
            f.count(condition)
        assert f.lazy().filter(condition).collect().equals(f.to_polars().filter(condition))
    assert f.count(pl.col("x") < 0.2) == 1


def test_deep_conditions_and_odd_decimals(tmp_path: Path) -> None:
    en.write(pd.DataFrame({"a": [1, 2, 3]}), tmp_path / "f.entasis")
    f = en.open(tmp_path / "f.entasis")
    condition = col("a") > 1
    for _ in range(3_001):
        condition = ~condition
    assert f.count(condition) == 1
    for i in range(500):
        condition = condition & (col("a") < 9) if i % 2 else condition | (col("a") < 2)
    with pytest.raises(en.ArgumentError, match="nested deeper than 200"):
        f.count(condition)
    with pytest.raises(en.ArgumentError, match="nothing equals NaN"):
        f.count(col("a") > decimal.Decimal("sNaN"))


def test_numbers_of_rows_select_them(tmp_path: Path) -> None:
    whole = pd.DataFrame({"a": np.arange(1000) % 7, "s": [f"s{i}" for i in range(1000)]})
    en.write(whole, tmp_path / "f.entasis")
    f = en.open(tmp_path / "f.entasis")
    rows = f.filter(col("a") == 3).row_numbers()
    assert not rows.flags.writeable
    for some in (rows, rows[::-1], rows[1:], rows[::2], rows[:0], rows + 0, rows.astype("i4"), rows.view("u8")):
        assert f[some].read().equals(whole.iloc[some])
    del f
    assert rows.tolist() == np.flatnonzero(whole["a"] == 3).tolist()
