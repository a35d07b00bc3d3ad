"""Bounds of files in a manifest: which files a condition rules out."""

from __future__ import annotations

import datetime
import operator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from folder_frames import frame
from polars.testing import assert_frame_equal
from tiers import by_tier

import entasis as en


def test_bounds_rule_out_files(tmp_path) -> None:
    days = pl.datetime_range(datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2), "1m", eager=True)[:1000]
    whole = pl.DataFrame(
        {
            "id": np.arange(1000),
            "x": np.where(np.arange(1000) == 950, np.nan, np.arange(1000) / 10),
            "t": [f"text {i:04}" for i in range(1000)],
            "when": days,
            "m": [None if i >= 900 else i for i in range(1000)],
        }
    )
    en.write_dataset(whole, tmp_path / "set", rows_per_file=100)
    scan = en.scan(tmp_path / "set")
    table = scan._query.table

    def opened(condition: Any) -> tuple[int, int]:
        before = table.n_opened
        return scan.filter(condition).count(), table.n_opened - before

    # The first file is open already.
    assert opened(en.col("id") == 555) == (1, 1)
    assert opened(en.col("id").between(250, 349)) == (100, 2)
    assert opened(en.col("id") < 50) == (50, 0)
    assert opened(en.col("id").is_in([5, 995])) == (2, 1)
    assert opened(en.col("t") == "text 0731") == (1, 1)
    assert opened(en.col("when") >= days[980]) == (20, 1)
    assert opened(en.col("m").is_missing()) == (100, 1)
    assert opened((en.col("id") == 1) | (en.col("id") == 999)) == (2, 1)
    assert opened(en.col("id") > 5000) == (0, 0)
    # NaN may be greater than all numbers.
    assert opened(en.col("x") > 5000)[1] <= 1
    assert opened(~(en.col("id") < 950))[0] == 50
    assert opened(en.col("x").is_nan())[0] == 1
    # No comparison matches a file whose values are all missing.
    assert opened(en.col("m") >= 850) == (50, 1)
    before = table.n_opened
    assert scan.lazy().filter(pl.col("id") == 555).collect().height == 1
    assert table.n_opened - before <= 1
    before = table.n_opened
    # NaN is greater than all numbers in Polars, and integers have none.
    assert scan.lazy().filter(pl.col("id") > 950).collect().height == 49
    assert table.n_opened - before <= 1
    before = table.n_opened
    assert scan.count() == 1000
    assert table.n_opened - before <= 1
    with pytest.raises(en.ArgumentError, match="t"):
        scan.filter(en.col("t") > 3).count()


@pytest.mark.parametrize("n", [10, 70_000])
@pytest.mark.parametrize("host", ["polars", "pandas", "pyarrow", "numpy"])
def test_files_whose_values_are_all_missing_are_ruled_out(tmp_path, host: str, n: int) -> None:
    """Of short columns by their values, and of long ones by statistics."""
    path, nan = tmp_path / "set", float("nan")
    columns = {
        "id": np.arange(3 * n),
        # All missing in the second file, which is NaN in pandas and NumPy.
        "x": np.where(np.arange(3 * n) // n == 1, nan, np.arange(3 * n)),
    }
    whole: Any = columns if host == "numpy" else pd.DataFrame(columns)
    if host == "pandas":
        whole["t"] = [None if i // n == 1 else f"text {i:06}" for i in range(3 * n)]
        whole["d"] = [pd.NaT if i // n == 1 else pd.Timestamp(2024, 1, 1) for i in range(3 * n)]
    elif host != "numpy":
        whole = pa.Table.from_pandas(whole, preserve_index=False)
        whole = pl.from_arrow(whole) if host == "polars" else whole
    en.write_dataset(whole, path, rows_per_file=n)
    en.verify(path)
    scan = en.scan(path)
    table = scan._query.table

    def opened(condition: Any) -> tuple[int, int]:
        before = table.n_opened
        # The first file is open already.
        return scan.filter(condition).count(), table.n_opened - before

    x, last = en.col("x"), 3 * n - 1
    assert opened(x >= 0) == (2 * n, 1)
    assert opened(x == last) == (1, 1)
    # NaN differs from all values.
    n_other, n_opened = (n, 2) if host in ("pandas", "numpy") else (0, 1)
    assert opened(x != 0) == (2 * n - 1 + n_other, n_opened)
    assert opened(~(x == 0)) == (2 * n - 1 + n_other, n_opened)
    assert opened(~(x < 0)) == (2 * n + n_other, n_opened)
    assert opened(~x.is_in([0, last])) == (2 * n - 2 + n_other, n_opened)
    assert opened(~x.is_in([])) == (2 * n + n_other, n_opened)
    assert opened(~x.is_missing()) == (3 * n if host == "numpy" else 2 * n, n_opened)
    assert opened(x.is_missing())[0] == (0 if host == "numpy" else n)
    if host == "pandas":
        assert opened(x.is_nan())[0] == n
        t, d = en.col("t"), en.col("d")
        assert opened(t > "") == (2 * n, 1)
        assert opened(t.contains("text")) == (2 * n, 1)
        assert opened(t.is_missing()) == (n, 1)
        assert opened(d == datetime.datetime(2024, 1, 1)) == (2 * n, 1)
        assert opened(d.is_missing()) == (n, 1)
    if host != "numpy":
        before = table.n_opened
        assert scan.lazy().filter(pl.col("x") > 2 * n - 1).collect().height == n
        assert scan.to_dataset().count_rows(filter=pc.field("x") > 2 * n - 1) == n
        # For Polars NaN is greater than all numbers, where it is not missing.
        assert table.n_opened - before <= (3 if host == "pandas" else 2)


def test_random_conditions_with_bounds(tmp_path) -> None:
    random = np.random.default_rng(3)
    whole = frame(2000).with_columns(
        # Missing in whole files.
        t=pl.when(pl.col("k") == 1).then(None).otherwise(pl.col("t")),
        x=pl.when(pl.col("k") == 2)
        .then(None)
        .when(pl.col("id") % 7 == 0)
        .then(float("nan"))
        .when(pl.col("id") % 11 == 0)
        .then(None)
        .otherwise(pl.col("x")),
    )
    en.write(whole, tmp_path / "whole.entasis")
    file = en.open(tmp_path / "whole.entasis")
    en.write_dataset(whole, tmp_path / "set", partition_by=["k", "c"], rows_per_file=90)
    scan = en.scan(tmp_path / "set")

    def leaf() -> en.Condition:
        name = str(random.choice(["id", "x", "t", "k", "c", "d"]))
        column = en.col(name)
        kind = random.integers(0, 7)
        value: Any = {
            "id": int(random.integers(-5, 2005)),
            "x": float(random.normal()),
            "t": f"text {random.integers(0, 60)}",
            "k": int(random.integers(-3, 4)),
            "c": str(random.choice(["a", "b/c", "é", "zz", ""])),
            "d": datetime.date(2023, 12, int(random.integers(28, 32))),
        }[name]
        if kind == 0:
            return column.is_missing()
        if kind == 1:
            return column.is_in([value])
        return [column == value, column != value, column < value, column >= value, column > value][kind - 2]

    def condition(depth: int) -> en.Condition:
        if depth == 0 or random.random() < 0.3:
            return leaf()
        kind = random.integers(0, 3)
        if kind == 0:
            return ~condition(depth - 1)
        one, other = condition(depth - 1), condition(depth - 1)
        return one & other if kind == 1 else one | other

    for _ in range(by_tier(50, 150)):
        test = condition(3)
        expected = file.filter(test).read(to="polars")["id"].to_list()
        assert sorted(scan.filter(test).read(to="polars")["id"].to_list()) == expected, test
        assert scan.filter(test).count() == len(expected)


@pytest.mark.parametrize("host", ["pandas", "polars"])
def test_random_conditions_of_engines_with_bounds(tmp_path, host: str) -> None:
    random = np.random.default_rng(4)
    # Some files have NaN alone, missing values alone, or both.
    part = np.arange(600) // 100
    x = np.where((part == 1) | ((part == 3) & (np.arange(600) % 3 == 0)), np.nan, random.normal(size=600))
    value = pd.DataFrame({"id": np.arange(600), "x": x, "t": [f"text {i // 7:02}" for i in range(600)]})
    value["i"] = pd.array(
        [None if part[i] in (2, 4) and i % 2 >= (part[i] == 4) else i % 50 for i in range(600)], "Int64"
    )
    value["t"] = value["t"].where(part != 5)
    frame: Any = value
    if host == "polars":
        frame = pl.from_pandas(value, nan_to_null=False).with_columns(x=pl.when(part == 2).then(None).otherwise("x"))
    en.write_dataset(frame, tmp_path / "set", rows_per_file=100)
    scan = en.scan(tmp_path / "set")
    whole, table = scan.read(to="polars"), scan.read(to="pyarrow")
    dataset, lazy = scan.to_dataset(), scan.lazy()

    def leaf() -> tuple[pl.Expr, pc.Expression]:
        name = str(random.choice(["id", "x", "t", "i"]))
        value: Any = {
            "id": int(random.integers(-5, 605)),
            "x": float(random.normal() * 3),
            "t": f"text {random.integers(0, 90):02}",
            "i": int(random.integers(-2, 52)),
        }[name]
        of_polars, of_arrow = pl.col(name), pc.field(name)
        kind = int(random.integers(0, 8))
        if kind == 6:
            return of_polars.is_null(), of_arrow.is_null()
        if kind == 7:
            return of_polars.is_in([value]), of_arrow.isin([value])
        test = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge][kind]
        return test(of_polars, value), test(of_arrow, value)

    def condition(depth: int) -> tuple[pl.Expr, pc.Expression]:
        if depth == 0 or random.random() < 0.3:
            return leaf()
        kind = int(random.integers(0, 3))
        (one, first), (other, second) = condition(depth - 1), condition(depth - 1)
        return [(~one, ~first), (one & other, first & second), (one | other, first | second)][kind]

    for _ in range(by_tier(50, 150)):
        of_polars, of_arrow = condition(3)
        assert_frame_equal(lazy.filter(of_polars).collect(), whole.filter(of_polars))
        expected = ds.dataset(table).to_table(filter=of_arrow)["id"].to_pylist()
        assert dataset.to_table(filter=of_arrow)["id"].to_pylist() == expected, of_arrow
        assert dataset.count_rows(filter=of_arrow) == len(expected)


def test_conditions_that_no_file_can_match(tmp_path) -> None:
    en.write_dataset(pl.DataFrame({"a": [1, 2], "b": [3, 4]}), tmp_path / "set")
    scan = en.scan(tmp_path / "set")
    none = en.col("a").is_in([])
    for condition in (none, none & (en.col("b") > 1), (en.col("b") > 1) & none, ~(~none | (en.col("b") > 9))):
        assert scan.filter(condition).count() == 0
    assert scan.filter(none | (en.col("b") > 3)).count() == 1
