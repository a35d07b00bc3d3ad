"""Conditions as objects: printed, pickled, nested, and refused for values that are not frames."""

from __future__ import annotations

import decimal
import pickle
from typing import TYPE_CHECKING

import pandas as pd
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
