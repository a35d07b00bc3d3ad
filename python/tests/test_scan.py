"""Filters on files, against pandas evaluating the same condition in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scan_frame import frame as scan_frame
from scan_frame import masks

import entasis as en
from entasis import col

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def frame() -> pd.DataFrame:
    return scan_frame()


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


def test_empty_selections(file):
    f = file(pd.DataFrame({"a": range(10)}))
    for view in (f[5:3], f[0:0], f[[]], f[3:5:-1]):
        assert view.filter(col("a") >= 0).count() == 0
        assert view.filter(col("a") >= 0).read().shape == (0, 1)
    assert f.scan().count() == 10
    assert f.scan(limit=3).count() == 3
    assert f.scan(limit=3).row_numbers().tolist() == [0, 1, 2]


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


@pytest.mark.parametrize("threads", [1, 2, None])
def test_rows_of_a_long_table_are_those_of_pyarrow(tmp_path: Path, threads: int | None) -> None:
    """Filters that most rows pass read all rows, and pyarrow drops the others column by column."""
    n = 300_000
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 100, n)
    table = pa.table(
        {
            "k": pa.array(keys, mask=keys == 7),
            "b": pa.array(keys % 3 == 0, mask=keys % 5 == 0),
            "s": pa.array([f"text {key}" for key in keys]),
            "c": pa.array([f"code {key % 4}" for key in keys]).dictionary_encode(),
            "l": pa.array([[key, 1] if key % 9 else None for key in keys.tolist()]),
        },
        metadata={"about": "rows"},
    )
    path = tmp_path / "long.entasis"
    en.write(table, path)
    found = en.read(path, filter=col("k") < 90, threads=threads)
    wanted = table.filter(pa.compute.less(table["k"], 90))
    assert found.equals(wanted, check_metadata=True)
    one = en.read(path, filter=col("k") < 90, columns=["b"], threads=threads)
    assert one.equals(wanted.select(["b"]))
