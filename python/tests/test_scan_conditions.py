"""Conditions as objects: printed, pickled, nested, and refused for values that are not frames."""

from __future__ import annotations

import decimal
import pickle
from typing import TYPE_CHECKING

import pandas as pd
import polars as pl
import pytest

import entasis as en
from entasis import col

if TYPE_CHECKING:
    from pathlib import Path


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


def test_deep_conditions(tmp_path: Path) -> None:
    en.write(pd.DataFrame({"a": [1, 2, 3]}), tmp_path / "f.entasis")
    f = en.open(tmp_path / "f.entasis")
    deep = col("a") > 1
    for i in range(199):
        deep = deep & (col("a") < 9) if i % 2 else deep | (col("a") < 2)
    # The deepest condition can be printed, pickled and tested.
    assert repr(deep).count("(") > 400
    for condition in (deep, pickle.loads(pickle.dumps(deep))):
        assert f.filter(condition).row_numbers().tolist() == [0, 1, 2]
        assert "rows" in f.filter(condition).explain()
    tuples = [[("a", ">", 1)], [("a", "<", 2)]]
    for deeper in (
        lambda: deep & (col("a") < 9),
        lambda: (col("a") < 9) & deep,
        lambda: ~deep,
        lambda: f.filter(deep).filter(col("a") < 9),
        lambda: en.Condition(("not", deep._tree)),
        lambda: f.filter(nested(1_000)),
    ):
        with pytest.raises(en.ArgumentError, match=r"nested deeper than 200: join more parts with one & or \|$"):
            deeper()
    assert f.count(tuples) == 3
    assert f.count(nested(90)) == 2


def nested(depth: int) -> pl.Expr:
    expression = pl.col("a") > 1
    for _ in range(depth):
        expression = (expression & (pl.col("a") < 9)) | (pl.col("a") > 2)
    return expression


def test_chains_are_not_deep(tmp_path: Path) -> None:
    en.write(pd.DataFrame({"a": [1, 2, 3]}), tmp_path / "f.entasis")
    f = en.open(tmp_path / "f.entasis")
    not_two = col("a") > 1
    for _ in range(3_001):
        not_two = ~not_two
    assert f.count(not_two) == 1
    left = right = col("a") == 1
    for _ in range(1_000):
        left, right = left | (col("a") == 3), (col("a") == 3) | right
    for chain in (left, right, left | right):
        assert f.filter(chain).row_numbers().tolist() == [0, 2]
        assert repr(chain).count("|") >= 1_000


def test_numbers_that_are_not_numbers_are_refused(tmp_path: Path) -> None:
    en.write(pd.DataFrame({"a": [1, 2, 3]}), tmp_path / "f.entasis")
    with pytest.raises(en.ArgumentError, match="nothing equals NaN"):
        en.open(tmp_path / "f.entasis").count(col("a") > decimal.Decimal("sNaN"))


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
