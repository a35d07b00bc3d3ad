"""`entasis select --to entasis`: the file equals the rows that each library selects in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import forks
import numpy as np
import pandas as pd
import polars as pl
import polars.testing
import pyarrow as pa
import pytest
from tiers import by_tier

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path

# Rows for several parts.
N = 150_000


def select(file: Path, out: Path, *args: str) -> None:
    done = forks.command("select", file, "--to", "entasis", "--output", out, *args)
    assert done.returncode == 0, done.stderr.decode()


def frame(n: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    ids = np.arange(n)
    return pd.DataFrame(
        {
            "id": ids,
            "part": (ids // 1000) % 97,
            "value": np.where(ids % 11 == 0, np.nan, rng.normal(size=n)),
            "flag": ids % 3 == 0,
            "count": pd.array(np.where(ids % 5 == 0, None, ids), dtype="Int32"),
            "city": pd.Categorical.from_codes((ids % 4 - 1).astype("int8"), ["Bern", "Oslo", "Rome"], ordered=True),
            "text": pd.array(np.where(ids % 7 == 0, None, "t" + pd.Series(ids % 1000).astype(str)), dtype="string"),
            "time": pd.Timestamp("2024-01-01", tz="Europe/Zurich") + pd.to_timedelta(ids, "s"),
        }
    )


# Rows that pass: all, none, consecutive ones, ones with a gap in a late part, and scattered ones.
col = en.col
CONDITIONS: dict[str, tuple[Any, Any]] = {
    "id >= 0": (col("id") >= 0, lambda df: df["id"] >= 0),
    "id < 0": (col("id") < 0, lambda df: df["id"] < 0),
    "id between 1000 and 130000": (col("id").between(1000, 130_000), lambda df: df["id"].between(1000, 130_000)),
    "id <> 140000": (col("id") != 140_000, lambda df: df["id"] != 140_000),
    "part < 50 and value is not null": (
        (col("part") < 50) & ~col("value").is_missing(),
        lambda df: (df["part"] < 50) & df["value"].notna(),
    ),
    "part = 3": (col("part") == 3, lambda df: df["part"] == 3),
}


def assert_equal(found: pd.DataFrame, wanted: pd.DataFrame, where: str = "") -> None:
    """Compare frames; categories by their codes, which pandas compares slowly."""
    assert found["city"].dtype == wanted["city"].dtype, where
    assert np.array_equal(found["city"].cat.codes, wanted["city"].cat.codes), where
    others = [frame.drop(columns="city") for frame in (found, wanted)]
    pd.testing.assert_frame_equal(*others, check_index_type="exact", check_freq=False, obj=where)


INDEXES: dict[str, Any] = {
    "default": lambda n: pd.RangeIndex(n),
    "range": lambda n: pd.RangeIndex(7, 7 - 2 * n, -2, name="r"),
    "labels": lambda n: pd.Index(np.arange(n)[::-1] * 3, name="k"),
    "frequency": lambda n: pd.date_range("1990-01-01", periods=n, freq="min", name="t"),
    "levels": lambda n: pd.MultiIndex.from_arrays([np.arange(n) // 10, np.arange(n) % 10], names=["p", None]),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", INDEXES)
def test_pandas(tmp_path: Path, kind: str) -> None:
    df = frame()
    df.index = INDEXES[kind](N)
    df.attrs = {"source": "x"}
    file, out = tmp_path / "file.entasis", tmp_path / "out.entasis"
    en.write(df, file, metadata={"not": "copied"})
    for condition, (of_file, mask) in list(CONDITIONS.items())[:: by_tier(2, 1)]:
        select(file, out, "--where", condition)
        wanted = df[mask(df)]
        found = en.read(out)
        assert_equal(found, wanted, condition)
        scanned = en.open(file).filter(of_file).read()
        assert getattr(found.index, "freq", None) == getattr(scanned.index, "freq", None), condition
        assert type(found.index) is type(scanned.index), condition
        assert found.attrs == df.attrs
    select(file, out)
    assert_equal(en.read(out), df)
    select(file, out, "--where", "part < 50", "-n", "70000", "--columns", "city,id")
    found = en.read(out)
    assert list(found) == ["city", "id"]
    assert_equal(found, df[df["part"] < 50][["city", "id"]][:70_000])


def test_other_libraries(tmp_path: Path) -> None:
    df = frame()
    masks = {condition: mask(df).to_numpy() for condition, (_, mask) in CONDITIONS.items()}
    file, out = tmp_path / "file.entasis", tmp_path / "out.entasis"
    arrays = {"id": df["id"].to_numpy(), "part": df["part"].to_numpy(), "value": df["value"].to_numpy()}
    table = pa.Table.from_pandas(df).replace_schema_metadata({"k": "v"})
    typed = pl.DataFrame(df.drop(columns="time")).with_columns(pl.col("city").cast(pl.Enum(["Bern", "Oslo", "Rome"])))
    en.write(table, file)
    for condition, mask in masks.items():
        # Arrow has NaN, which is not missing.
        if "value" not in condition:
            select(file, out, "--where", condition)
            assert en.read(out).equals(table.filter(mask), check_metadata=True), condition
    en.write(typed, file)
    for condition, mask in masks.items():
        if "value" not in condition:
            select(file, out, "--where", condition)
            polars.testing.assert_frame_equal(en.read(out), typed.filter(mask))
    en.write(arrays, file)
    for condition, mask in masks.items():
        if "value" not in condition:
            select(file, out, "--where", condition)
            found = en.read(out)
            assert list(found) == list(arrays)
            for name, array in found.items():
                assert array.dtype == arrays[name].dtype
                assert np.array_equal(array, arrays[name][mask], equal_nan=True), condition


def test_a_small_copy_has_one_part(tmp_path: Path) -> None:
    file, out, wanted = (tmp_path / name for name in ("file.entasis", "out.entasis", "wanted.entasis"))
    df = frame(1000)
    en.write(df, file)
    select(file, out, "--where", "id < 300")
    en.write(df[:300], wanted)
    assert out.read_bytes() == wanted.read_bytes()
