"""Expressions of Polars as filters on files, against Polars evaluating them in memory."""

from __future__ import annotations

import datetime
import decimal
import pickle
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scan_frame import FLOATS, TEXTS

import entasis as en
from entasis import col

if TYPE_CHECKING:
    from pathlib import Path


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
    # Expressions of Polars see null in place of NaN.
    assert f.filter(pl.col("f") > 1).row_numbers().tolist() == [2]
    assert f.count(pl.col("f").is_null()) == f.count(col("f").is_missing()) == 1
    assert f.count(pl.col("f").is_nan()) == 0
    assert len(f.read(filter=pl.col("f") > 1, nan_to_null=False)) == 2
    assert "(col('f') > 1) | col('f').is_nan()" in repr(f.filter(pl.col("f") > 1))


def test_typed_floats_of_polars_are_refused(tmp_path: Path) -> None:
    """Polars converts a column to the type of such a literal, and a filter does not."""
    en.write(pl.DataFrame({"x": [0.1, 0.5], "f": pl.Series([0.1, 0.5], dtype=pl.Float32)}), tmp_path / "f.entasis")
    f = en.open(tmp_path / "f.entasis")
    for condition in (pl.col("x") < pl.lit(0.1, pl.Float32), pl.col("f") == pl.lit(0.1, pl.Float64)):
        with pytest.raises(en.ArgumentError, match="without a type"):
            f.count(condition)
        assert f.lazy().filter(condition).collect().equals(f.to_polars().filter(condition))
    assert f.count(pl.col("x") < 0.2) == 1


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
