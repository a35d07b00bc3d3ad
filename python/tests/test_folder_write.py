"""Data sets: folders of files with a manifest, their commits, and what readers see of them."""

from __future__ import annotations

import datetime
import operator
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
import static_frame as sf
from polars.testing import assert_frame_equal
from tiers import by_tier

import entasis as en
from entasis._dataset import manifest as _manifest
from entasis._dataset import write as _write

KEYS = ["k", "c", "d"]


def frame(n: int = 3000, seed: int = 0) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    words = ["a", "b/c", None, "é", "", "A", "a=b", "01", "x y%"]
    days = [datetime.date(2024, 1, 1), datetime.date(2023, 12, 31), None]
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "k": random.integers(-2, 3, n),
            "c": [words[i] for i in random.integers(0, len(words), n)],
            "d": [days[i] for i in random.integers(0, 3, n)],
            "x": random.normal(size=n),
            "t": [f"text {i % 50}" for i in range(n)],
        },
        schema_overrides={"c": pl.String, "d": pl.Date},
    )


def in_order(found: pl.DataFrame) -> pl.DataFrame:
    return found.select(sorted(found.columns)).sort("id")


@pytest.mark.parametrize("host", ["polars", "pandas", "pyarrow"])
def test_partitioned_tables_come_back(tmp_path, host: str) -> None:
    whole = frame()
    value = {"polars": lambda: whole, "pandas": lambda: whole.to_pandas(), "pyarrow": lambda: whole.to_arrow()}[host]()
    if host == "pandas":
        value["d"] = pd.to_datetime(value["d"])
    en.write_dataset(value, tmp_path / "set", partition_by=KEYS)
    scan = en.scan(tmp_path / "set")
    assert scan.column_names == ["id", "x", "t", *KEYS]
    assert_frame_equal(in_order(scan.read(to="polars")), in_order(whole))
    assert scan.count() == whole.height
    for condition, mask in (
        (en.col("c") == "b/c", pl.col("c") == "b/c"),
        ((en.col("k") > 0) & (en.col("x") > 1), (pl.col("k") > 0) & (pl.col("x") > 1)),
        (en.col("d").is_missing(), pl.col("d").is_null()),
        (
            ~(en.col("c") == "a") & (en.col("d") < "2024-01-01"),
            (pl.col("c") != "a") & (pl.col("d") < datetime.date(2024, 1, 1)),
        ),
    ):
        assert_frame_equal(in_order(scan.filter(condition).read(to="polars")), in_order(whole.filter(mask)))


def test_arrays_and_frames_of_static_frame(tmp_path) -> None:
    arrays = {"k": np.array([1, 0, 1]), "x": np.array([1.5, 2.5, 3.5])}
    en.write_dataset(arrays, tmp_path / "arrays", partition_by="k")
    assert en.scan(tmp_path / "arrays").read()["x"].tolist() == [2.5, 1.5, 3.5]
    days = {"k": np.array(["2024-01-02", "NaT", "2024-01-02"], "M8[ns]"), "x": np.arange(3)}
    en.write_dataset(days, tmp_path / "days", partition_by="k")
    day = datetime.date(2024, 1, 2)
    assert en.scan(tmp_path / "days").read(to="pyarrow")["k"].to_pylist() == [day, day, None]
    for dtype in ("M8[ns]", "m8[s]"):
        with pytest.raises(en.UnsupportedTypeError, match=r"times of day|durations"):
            en.write_dataset({"k": np.array([1, 2], dtype), "x": np.arange(2)}, tmp_path / "times", partition_by="k")
    texts = {"k": np.array(["b", None, "b"], object), "x": np.arange(3)}
    en.write_dataset(texts, tmp_path / "texts", partition_by="k")
    assert en.scan(tmp_path / "texts").read(to="pyarrow")["k"].to_pylist() == [None, "b", "b"]
    en.write_dataset(sf.Frame.from_items(arrays.items()), tmp_path / "frames", partition_by="k")
    found = en.scan(tmp_path / "frames").read()
    assert isinstance(found, sf.Frame)
    assert found["x"].values.tolist() == [2.5, 1.5, 3.5]


def test_labels_of_rows_stay(tmp_path) -> None:
    value = pd.DataFrame({"k": [1, 0, 1], "x": [1, 2, 3]}, index=pd.Index(["a", "b", "c"], name="label"))
    en.write_dataset(value, tmp_path / "set", partition_by="k")
    expected = value.iloc[[1, 0, 2]][["x", "k"]]
    pd.testing.assert_frame_equal(en.scan(tmp_path / "set").read(), expected)
    en.write_dataset(value.reset_index(drop=True), tmp_path / "plain", partition_by="k", rows_per_file=1)
    found = en.scan(tmp_path / "plain").read()
    assert found.index.equals(pd.RangeIndex(3))
    assert found["x"].tolist() == [2, 1, 3]


@pytest.mark.parametrize(
    "value",
    [
        lambda whole, path: whole,
        lambda whole, path: [whole[:1000], whole[1000:]],
        lambda whole, path: (whole[i : i + 700] for i in range(0, 3000, 700)),
        lambda whole, path: en.open(path),
        lambda whole, path: en.open(path).filter(en.col("id") >= 0),
        lambda whole, path: en.scan([path]),
        lambda whole, path: whole.to_arrow().to_reader(500),
        lambda whole, path: ds.dataset(whole.to_arrow()),
    ],
)
def test_all_kinds_of_values(tmp_path, value) -> None:
    whole = frame()
    en.write(whole, tmp_path / "whole.entasis")
    en.write_dataset(value(whole, tmp_path / "whole.entasis"), tmp_path / "set", partition_by="k", rows_per_file=400)
    assert_frame_equal(in_order(en.scan(tmp_path / "set").read(to="polars")), in_order(whole), check_dtypes=True)
    assert max(len(en.open(path)) for path in en.scan(tmp_path / "set").paths) <= 400


def test_others_read_our_folders(tmp_path) -> None:
    whole = frame()
    en.write_dataset(whole, tmp_path / "set", partition_by=["k", "c"])
    # The folders have the names that pyarrow and DuckDB write.
    ds.write_dataset(
        whole.to_arrow(),
        tmp_path / "theirs",
        format="parquet",
        partitioning=ds.partitioning(pa.schema([("k", pa.int64()), ("c", pa.string())]), flavor="hive"),
    )
    ours = {str(path.parent.relative_to(tmp_path / "set")) for path in (tmp_path / "set").rglob("part-*")}
    theirs = {str(path.parent.relative_to(tmp_path / "theirs")) for path in (tmp_path / "theirs").rglob("part-*")}
    # pyarrow writes empty text as a missing value.
    assert {name for name in ours if not name.endswith("c=")} == {name for name in theirs if not name.endswith("c=")}
    connection = duckdb.connect()
    connection.register("s", en.scan(tmp_path / "set").to_dataset())
    expected = whole.group_by("k", "c").len().sort("k", "c").rows()
    assert connection.sql("select k, c, count(*) from s group by all order by k, c nulls first").fetchall() == expected
    assert en.scan(tmp_path / "set").lazy().group_by("k", "c").len().sort("k", "c").collect().rows() == expected


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


def test_modes(tmp_path) -> None:
    path = tmp_path / "set"
    en.write_dataset(pl.DataFrame({"a": [1]}), path)
    with pytest.raises(en.ExistingFileError, match="mode='append' adds rows"):
        en.write_dataset(pl.DataFrame({"a": [2]}), path)
    en.write_dataset(pl.DataFrame({"a": [2]}), path, mode="append")
    assert en.append(pl.DataFrame({"a": [3]}), path) == []
    assert en.read(path)["a"].to_list() == [1, 2, 3]
    for rows, said in (
        (pl.DataFrame({"b": [1]}), "no column 'b'"),
        (pl.DataFrame({"a": ["x"]}), "column 'a'"),
        (pl.DataFrame({"a": [1.5]}), "column 'a'"),
    ):
        with pytest.raises(en.EntasisError, match=said):
            en.append(rows, path)
    # Values that the type of the table holds exactly are taken.
    en.append(pd.DataFrame({"a": [4.0]}), path)
    assert en.read(path)["a"].to_list() == [1, 2, 3, 4]
    with pytest.raises(en.ArgumentError, match="keys of the table"):
        en.write_dataset(pl.DataFrame({"a": [1], "k": [1]}), path, mode="append", partition_by="k")
    with pytest.raises(en.ArgumentError, match="are for files"):
        en.append(pl.DataFrame({"a": [1]}), path, widen=True)
    assert sum(1 for _ in path.rglob("part-*")) == 4
    old = en.scan(path)
    en.write_dataset(pl.DataFrame({"z": ["new"]}), path, mode="overwrite")
    assert en.read(path)["z"].to_list() == ["new"]
    assert old.read()["a"].to_list() == [1, 2, 3, 4]
    (tmp_path / "other").mkdir()
    en.write(pl.DataFrame({"a": [1]}), tmp_path / "other" / "mine.entasis")
    for mode in ("error", "append", "overwrite"):
        with pytest.raises(en.ExistingFileError, match=r"mine.entasis"):
            en.write_dataset(pl.DataFrame({"a": [1]}), tmp_path / "other", mode=mode)
    with pytest.raises(en.MissingFileError, match="has no manifest"):
        en.append(pl.DataFrame({"a": [1]}), tmp_path / "other")


@pytest.mark.parametrize(
    ("value", "keys", "said"),
    [
        (pl.DataFrame({"k": [1.5], "x": [1]}), "k", "keys are integers, dates or text"),
        (pl.DataFrame({"k": [b"1"], "x": [1]}), "k", "keys are integers, dates or text"),
        (pl.DataFrame({"k": [True], "x": [1]}), "k", "keys are integers, dates or text"),
        (pl.DataFrame({"k": [[1]], "x": [1]}), "k", ""),
        (pl.DataFrame({"k": ["x" * 300], "x": [1]}), "k", "302 bytes"),
        (pl.DataFrame({"k": [2**63], "x": [1]}, schema_overrides={"k": pl.UInt64}), "k", "integers of 64 bits"),
        (pl.DataFrame({"k": [datetime.datetime(2024, 1, 1, 5)], "x": [1]}), "k", "times of day"),
        (pl.DataFrame({"k": [1]}), "k", "names all columns"),
        (pl.DataFrame({"k": [1], "x": [1]}), "z", "no column 'z'"),
        (pl.DataFrame({"k": [1], "x": [1]}), ["k", "k"], "named twice"),
        ([pl.DataFrame({"k": [1], "x": [1]}), pl.DataFrame({"k": [1], "x": ["a"]})], "k", "column 'x'"),
    ],
)
def test_what_is_refused_leaves_nothing(tmp_path, value, keys, said: str) -> None:
    with pytest.raises(Exception, match=said):
        en.write_dataset(value, tmp_path / "set", partition_by=keys)
    assert not (tmp_path / "set").exists()


def test_an_overwrite_does_not_lose_an_append(tmp_path, monkeypatch) -> None:
    path = tmp_path / "set"
    en.write_dataset(pl.DataFrame({"a": [1]}), path)
    commit = _write.commit

    def late(*args: Any) -> None:
        monkeypatch.setattr(_write, "commit", commit)
        en.append(pl.DataFrame({"a": [2]}), path)
        commit(*args)

    monkeypatch.setattr(_write, "commit", late)
    with pytest.raises(en.ConflictError, match="another job changed"):
        en.write_dataset(pl.DataFrame({"a": [9]}), path, mode="overwrite")
    assert en.read(path)["a"].to_list() == [1, 2]
    assert sum(1 for _ in path.rglob("part-*")) == 2
    # An append follows another.
    monkeypatch.setattr(_write, "commit", late)
    en.append(pl.DataFrame({"a": [3]}), path)
    assert en.read(path)["a"].to_list() == [1, 2, 2, 3]
    monkeypatch.setattr(_write, "commit", late)
    with pytest.raises(en.ConflictError):
        en.compact(path)
    assert en.read(path)["a"].to_list() == [1, 2, 2, 3, 2]


def test_a_commit_whose_answer_is_lost_counts_once(tmp_path, monkeypatch) -> None:
    path = tmp_path / "set"
    en.write_dataset(pl.DataFrame({"a": [1]}), path)
    store = _manifest.store

    def lost(*args: Any) -> None:
        store(*args)
        monkeypatch.setattr(_manifest, "store", store)
        store(*args)

    monkeypatch.setattr(_manifest, "store", lost)
    en.append(pl.DataFrame({"a": [2]}), path)
    assert en.read(path)["a"].to_list() == [1, 2]
    assert _manifest.newest_number(str(path)) == 1


@pytest.mark.parametrize("fails", ["_manifest.store", "Job.finish", "Job.add", "facts"])
def test_failures_leave_the_table(tmp_path, monkeypatch, fails: str) -> None:
    path = tmp_path / "set"
    en.write_dataset(pl.DataFrame({"a": [1], "k": [1]}), path, partition_by="k")
    before = sorted(path.rglob("*"))

    def failing(*args: Any, **options: Any) -> None:
        raise OSError("the disk is gone")

    if fails == "facts":
        monkeypatch.setattr("entasis._dataset.files_of_job.facts", failing)
    else:
        place, name = fails.split(".")
        monkeypatch.setattr(getattr(_write, place), name, failing)
    for mode in ("append", "overwrite"):
        with pytest.raises(OSError, match="disk is gone"):
            en.write_dataset(
                pl.DataFrame({"a": [2], "k": [2]}),
                path,
                mode=mode,
                **({"partition_by": "k"} if mode == "overwrite" else {}),
            )
    monkeypatch.undo()
    assert sorted(path.rglob("*")) == before
    assert en.read(path)["a"].to_list() == [1]


APPENDS = """
import sys, entasis as en, polars as pl
for i in range(int(sys.argv[3])):
    en.append(pl.DataFrame({"w": [int(sys.argv[2])] * 3, "i": [i] * 3}), sys.argv[1], wait=60)
"""


def test_processes_append_at_once(tmp_path) -> None:
    path = tmp_path / "set"
    en.write_dataset(pl.DataFrame({"w": [-1], "i": [-1]}), path)
    run = [subprocess.Popen([sys.executable, "-c", APPENDS, str(path), str(i), "8"]) for i in range(3)]
    while any(process.poll() is None for process in run):
        # Readers see whole states.
        found = en.read(path)
        assert found.height % 3 == 1
    assert [process.wait() for process in run] == [0, 0, 0]
    counts = en.read(path).filter(pl.col("w") >= 0).group_by("w", "i").len()
    assert counts.height == 24
    assert counts["len"].unique().to_list() == [3]
    assert len(en.scan(path).paths) == 25


def test_killed_jobs_leave_whole_tables(tmp_path) -> None:
    path = tmp_path / "set"
    en.write_dataset(pl.DataFrame({"w": [-1], "i": [-1]}), path)
    for seconds in (0.4, 0.5, 0.6, 0.7):
        process = subprocess.Popen([sys.executable, "-c", APPENDS, str(path), "5", "1000"])
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert en.read(path).height % 3 == 1
        en.verify(path)
    before = en.read(path)
    en.clean(path, older_than="0s")
    assert_frame_equal(en.read(path), before)
    named = {os.path.relpath(name, path) for name in en.scan(path).paths}
    assert {str(name.relative_to(path)) for name in path.rglob("part-*")} == named
    assert len(list((path / "_entasis").glob("*.entasis"))) == 1


def test_compact_and_clean(tmp_path) -> None:
    path = tmp_path / "set"
    whole = frame(900)
    for start in range(0, 900, 300):
        en.write_dataset(whole[start : start + 300], path, mode="append" if start else "error", partition_by="k")
    before = in_order(en.read(path))
    n_files = len(en.scan(path).paths)
    old = en.scan(path)
    en.compact(path)
    assert len(en.scan(path).paths) == whole["k"].n_unique() < n_files
    assert_frame_equal(in_order(en.read(path)), before)
    assert_frame_equal(in_order(old.read()), before)
    number = _manifest.newest_number(str(path))
    en.compact(path)
    assert _manifest.newest_number(str(path)) == number
    assert en.clean(path) == []
    removed = en.clean(path, older_than=datetime.timedelta(0))
    assert sum(name.endswith(".entasis") and "part-" in name for name in removed) == n_files
    assert_frame_equal(in_order(en.read(path)), before)
    for duration in ("7", "d", "-1d", 7, datetime.timedelta(-1)):
        with pytest.raises(en.ArgumentError, match="older_than"):
            en.clean(path, older_than=duration)


def test_info_and_verify(tmp_path) -> None:
    path = tmp_path / "set"
    en.write_dataset(frame(), path, partition_by="k")
    found = en.info(path)
    assert (found.n_rows, found.n_files, found.manifest) == (3000, 5, 0)
    assert [key["name"] for key in found.keys] == ["k"]
    assert en.verify(path).n_values > 3000 * 4
    (name, *_) = en.scan(path).paths
    content = Path(name).read_bytes()
    Path(name).write_bytes(content[:200] + bytes([content[200] ^ 1]) + content[201:])
    with pytest.raises(en.CorruptFileError, match=r"1 of 6 files of .* are damaged: .*part-"):
        en.verify(path)
    os.remove(name)
    with pytest.raises(en.CorruptFileError, match="which does not exist"):
        en.verify(path)
    with pytest.raises(en.MissingFileError, match="which does not exist"):
        en.scan(path).read()


def test_a_file_that_changes_alone(tmp_path) -> None:
    path = tmp_path / "set"
    big = pl.DataFrame({"a": np.arange(400_000) * 7919 % 1_000_003})
    en.write_dataset(big, path)
    (name,) = en.scan(path).paths
    en.append(pl.DataFrame({"a": [7]}), name)
    assert en.scan(path).count() == 400_000
    assert_frame_equal(en.read(path), big)
    with pytest.warns(UserWarning, match="1 files were changed after the manifest named them"):
        en.verify(path)
    assert en.scan(path, manifest=False).count() == 400_001
    with pytest.raises(en.ArgumentError, match="is a data set"):
        en.scan(str(path / "*.entasis"))
    with pytest.raises(en.ArgumentError, match="is a data set"):
        en.scan([name])
    en.write(pl.DataFrame({"a": [1]}), name)
    with pytest.raises(en.CorruptFileError, match="was changed after the manifest"):
        en.scan(path)


def forged(path: Path, name: str) -> None:
    """Replace the path of the file in a manifest."""
    number = _manifest.newest_number(str(path))
    assert number is not None
    where = Path(_manifest.path_of(str(path), number))
    file = en.open(where)
    table, metadata = file.read(to="pyarrow"), file.metadata
    paths = pa.array([name] * len(table), pa.large_string())
    en.write(table.set_column(0, "path", paths), where, metadata=metadata)


@pytest.mark.parametrize(
    "name",
    [
        "../out.entasis",
        "/etc/passwd",
        "a/../../out.entasis",
        "./x",
        "a//b",
        "",
        "C:/x",
        "a\\b",
        "s3://x",
        "NUL",
        "con.entasis",
        "a/..",
        "a\0b",
    ],
)
def test_manifests_do_not_lead_out_of_their_folder(tmp_path, name: str) -> None:
    path = tmp_path / "set"
    en.write_dataset(pl.DataFrame({"a": [1]}), path)
    en.write(pl.DataFrame({"a": [2]}), tmp_path / "out.entasis")
    forged(path, name)
    with pytest.raises(en.CorruptFileError, match="a path out of its folder"):
        en.scan(path)


def test_links_do_not_lead_out_of_the_folder(tmp_path) -> None:
    path = tmp_path / "set"
    en.write_dataset(pl.DataFrame({"a": [1]}), path)
    en.write(pl.DataFrame({"a": [2]}), tmp_path / "out.entasis")
    (path / "link.entasis").symlink_to(tmp_path / "out.entasis")
    (path / "folder").symlink_to(tmp_path)
    for name in ("link.entasis", "folder/out.entasis"):
        forged(path, name)
        with pytest.raises(en.CorruptFileError, match=r"a link leads from .* out of its folder"):
            en.scan(path)


def test_damaged_manifests(tmp_path) -> None:
    path = tmp_path / "set"
    en.write_dataset(pl.DataFrame({"a": [1]}), path)
    where = Path(_manifest.path_of(str(path), 0))
    content = where.read_bytes()
    for damaged in (b"", content[:-5], content[:40] + b"\xff" + content[41:]):
        where.write_bytes(damaged)
        with pytest.raises(en.EntasisError):
            en.scan(path).read()
    en.write({"a": np.arange(3)}, where)
    with pytest.raises(en.CorruptFileError, match="is not a manifest"):
        en.scan(path)


def test_threads_and_many_open_files(tmp_path) -> None:
    n = 700
    whole = pl.DataFrame({"id": np.arange(2 * n), "k": np.arange(2 * n) % n})
    en.write_dataset(iter([whole[:n], whole[n:]]), tmp_path / "set", partition_by="k")
    scan = en.scan(tmp_path / "set")
    assert_frame_equal(in_order(scan.read()), in_order(whole))
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(scan.filter(en.col("k") < 350).count())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [700] * 4


def test_progress(tmp_path) -> None:
    calls: list[tuple[int, int | None, str]] = []

    def show(done: int, total: int | None, unit: str) -> None:
        calls.append((done, total, unit))

    whole = frame(300)
    en.write_dataset(whole, tmp_path / "set", partition_by="k", progress=show)
    assert calls == [(300, 300, "rows")]
    calls.clear()
    en.append((whole[start : start + 100] for start in range(0, 300, 100)), tmp_path / "set", progress=show)
    assert calls == [(100, None, "rows"), (200, None, "rows"), (300, None, "rows")]
    calls.clear()
    en.verify(tmp_path / "set", progress=show)
    assert calls[0][0] == 0
    assert calls[-1] == (len(calls) - 1, len(calls) - 1, "files")

    def stop(done: int, total: int | None, unit: str) -> None:
        raise KeyboardInterrupt

    before = sorted((tmp_path / "set").rglob("*"))
    with pytest.raises(KeyboardInterrupt):
        en.append(whole, tmp_path / "set", progress=stop)
    assert sorted((tmp_path / "set").rglob("*")) == before


def test_files_stay_for_a_while_after_they_left_the_table(tmp_path) -> None:
    path = tmp_path / "set"
    for value in (1, 2, 3):
        en.write_dataset(pl.DataFrame({"a": [value]}), path, mode="overwrite")
    month = time.time() - 30 * 86_400
    # All files are old. The second table was replaced a moment ago, and the first one long before.
    for name in [*path.rglob("part-*"), *(path / "_entasis").glob("*0[01].entasis")]:
        os.utime(name, (month, month))
    reader = en.scan(path)
    removed = en.clean(path, older_than="7d")
    assert len(removed) == 2
    assert [int(name.stem) for name in sorted((path / "_entasis").iterdir())] == [1, 2]
    kept = [en.read(path / _manifest.opened(str(path), number).column("path")[0])["a"].to_list() for number in (1, 2)]
    assert kept == [[2], [3]]
    assert reader.read()["a"].to_list() == [3]


def test_conditions_that_no_file_can_match(tmp_path) -> None:
    en.write_dataset(pl.DataFrame({"a": [1, 2], "b": [3, 4]}), tmp_path / "set")
    scan = en.scan(tmp_path / "set")
    none = en.col("a").is_in([])
    for condition in (none, none & (en.col("b") > 1), (en.col("b") > 1) & none, ~(~none | (en.col("b") > 9))):
        assert scan.filter(condition).count() == 0
    assert scan.filter(none | (en.col("b") > 3)).count() == 1


def test_labels_that_are_not_text(tmp_path) -> None:
    value = pd.DataFrame({0: [1, 2, 3], 1: ["a", "b", "c"]})
    en.write_dataset(value, tmp_path / "set", rows_per_file=2)
    pd.testing.assert_frame_equal(en.read(tmp_path / "set"), value)
    assert en.scan(tmp_path / "set").filter(en.col(0) > 2).read()[1].tolist() == ["c"]


def test_a_first_append_with_other_keys(tmp_path, monkeypatch) -> None:
    path = tmp_path / "set"
    commit = _write.commit

    def late(*args: Any) -> None:
        monkeypatch.setattr(_write, "commit", commit)
        en.write_dataset(pl.DataFrame({"k": [1], "a": [1]}), path, mode="append", partition_by="k")
        commit(*args)

    monkeypatch.setattr(_write, "commit", late)
    with pytest.raises(en.ArgumentError, match="another job changed the"):
        en.write_dataset(pl.DataFrame({"c": ["x"], "a": [2]}), path, mode="append", partition_by="c")
    assert en.read(path)["a"].to_list() == [1]


def test_data_sets_are_pickled(tmp_path) -> None:
    en.write_dataset(frame(), tmp_path / "set", partition_by="k")
    dataset = en.scan(tmp_path / "set").to_dataset()
    assert dataset.count_rows() == 3000
    assert pickle.loads(pickle.dumps(dataset)).to_table().num_rows == 3000


def test_options_of_files_are_refused(tmp_path) -> None:
    en.write_dataset(frame(), tmp_path / "set")
    for options in ({"nan_to_null": False}, {"on_unsupported": "skip"}):
        with pytest.raises(en.ArgumentError, match="are for files"):
            en.read(tmp_path / "set", **options)


@pytest.mark.parametrize(
    ("first", "value", "kind"),
    [
        (pl.Series([None, None], dtype=pl.Null), 7, "int64"),
        (pl.Series([None, None], dtype=pl.Int32), 7, "int64"),
        (pl.Series([None, None], dtype=pl.String), datetime.date(2024, 1, 2), "date"),
        (pl.Series([None, None], dtype=pl.Int64), "text", "string"),
    ],
)
def test_a_key_takes_the_type_of_its_first_value(tmp_path, first: pl.Series, value: Any, kind: str) -> None:
    path = tmp_path / "set"
    en.write_dataset(pl.DataFrame({"a": [1, 2], "k": first}), path, partition_by="k")
    assert [dict(key) for key in en.info(path).keys] == [{"name": "k", "type": "string"}]
    en.append(pl.DataFrame({"a": [3], "k": pl.Series([None], dtype=pl.Null)}), path)
    en.append(pl.DataFrame({"a": [4, 5], "k": [None, value]}), path)
    assert [dict(key) for key in en.info(path).keys] == [{"name": "k", "type": kind}]
    found = en.read(path)
    assert found.sort("a")["k"].to_list() == [None, None, None, None, value]
    assert en.scan(path).filter(en.col("k") == value).read()["a"].to_list() == [5]
    # From now on the key has this type.
    other = "text" if kind != "string" else 7
    with pytest.raises(en.EntasisError, match="'k'"):
        en.append(pl.DataFrame({"a": [6], "k": [other]}), path)
    en.append(pl.DataFrame({"a": [6], "k": [value]}), path)
    assert en.scan(path).filter(en.col("k") == value).count() == 2
    en.compact(path)
    assert [dict(key) for key in en.info(path).keys] == [{"name": "k", "type": kind}]
    with pytest.raises(en.EntasisError, match="'k'"):
        en.append(pl.DataFrame({"a": [6]}), path)


@pytest.mark.parametrize("host", ["polars", "pandas", "pyarrow", "numpy"])
def test_a_key_without_values_in_the_first_frame(tmp_path, host: str) -> None:
    frames = [
        pl.DataFrame({"k": pl.Series([None, None], dtype=pl.Int64), "a": [1, 2]}),
        pl.DataFrame({"k": [5], "a": [3]}),
    ]
    parts: list[Any] = list(frames)
    if host == "pandas":
        parts = [part.to_pandas() for part in frames]
    elif host == "pyarrow":
        parts = [part.to_arrow() for part in frames]
    elif host == "numpy":
        parts = [{"k": np.array([None, None], object), "a": np.array([1, 2])}, {"k": np.array([5]), "a": np.array([3])}]
    en.write_dataset(iter(parts), tmp_path / "set", partition_by="k")
    found = en.scan(tmp_path / "set").read(to="polars").sort("a")
    assert found["k"].to_list() == [None, None, 5]
    assert [dict(key) for key in en.info(tmp_path / "set").keys] == [{"name": "k", "type": "int64"}]


def test_two_jobs_give_a_key_different_types(tmp_path, monkeypatch) -> None:
    path = tmp_path / "set"
    en.write_dataset(pl.DataFrame({"a": [1], "k": pl.Series([None], dtype=pl.String)}), path, partition_by="k")
    commit = _write.commit

    def late(*args: Any) -> None:
        monkeypatch.setattr(_write, "commit", commit)
        en.append(pl.DataFrame({"a": [2], "k": [7]}), path)
        commit(*args)

    monkeypatch.setattr(_write, "commit", late)
    with pytest.raises(en.ArgumentError, match="another job changed the keys"):
        en.append(pl.DataFrame({"a": [3], "k": ["x"]}), path)
    assert en.read(path).sort("a")["k"].to_list() == [None, 7]
    monkeypatch.setattr(_write, "commit", late)
    en.append(pl.DataFrame({"a": [3], "k": [8]}), path)
    assert en.read(path).sort("a")["k"].to_list() == [None, 7, 7, 8]


ROWS = pd.DataFrame({"a": np.arange(9)})


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "parts",
    [
        [ROWS[0:3], ROWS[3:6], ROWS[6:9]],
        [ROWS[0:2], ROWS[2:7], ROWS[7:9]],
        [ROWS.set_axis(pd.RangeIndex(9, name="row"))],
        # Labels that are stored after labels that count rows.
        [ROWS[0:3], ROWS[3:5], ROWS[5:6].set_axis([7]), ROWS[6:8], ROWS[0:1]],
        [ROWS[0:3], ROWS[5:6].set_axis([7]), ROWS[0:2].set_axis([3, 4])],
        # Labels from another number on.
        [ROWS[3:6], ROWS[6:9], ROWS[0:2]],
        [ROWS[3:6].set_axis(list("xyz")), ROWS[0:2].set_axis(["u", "v"])],
    ],
)
@pytest.mark.parametrize("rows", [None, 1, 2, 3])
def test_labels_are_those_of_appended_rows(tmp_path, parts: list[pd.DataFrame], rows: int | None) -> None:
    en.write(parts[0], tmp_path / "whole.entasis")
    for part in parts[1:]:
        en.append(part, tmp_path / "whole.entasis")
    expected = en.read(tmp_path / "whole.entasis")

    def check(folder: Path) -> None:
        pd.testing.assert_frame_equal(en.read(folder), expected)
        for value in range(9):
            found = en.scan(folder).filter(en.col("a") == value).read()
            assert found.index.tolist() == expected.index[expected["a"] == value].tolist()
        en.verify(folder)

    en.write_dataset(iter(parts), tmp_path / "job", rows_per_file=rows)
    check(tmp_path / "job")
    for part in parts:
        en.write_dataset(part, tmp_path / "jobs", mode="append", rows_per_file=rows)
    check(tmp_path / "jobs")
    for size in (3, 2, None):
        en.compact(tmp_path / "jobs", rows_per_file=size)
        check(tmp_path / "jobs")


def test_labels_of_frames_of_static_frame(tmp_path) -> None:
    value = sf.Frame.from_items([("a", np.arange(6)), ("k", np.array([1, 0] * 3))])
    en.write_dataset([value.iloc[:3], value.iloc[3:]], tmp_path / "counted", rows_per_file=2)
    assert en.read(tmp_path / "counted").index.values.tolist() == list(range(6))
    found = en.scan(tmp_path / "counted").filter(en.col("a") > 2).read()
    assert found.index.values.tolist() == [3, 4, 5]
    en.write_dataset(value.relabel(list("uvwxyz")), tmp_path / "labels", partition_by="k")
    assert en.read(tmp_path / "labels").index.values.tolist() == ["v", "x", "z", "u", "w", "y"]


def test_columns_with_one_name(tmp_path) -> None:
    value = pd.DataFrame([[1, 20], [2, 10]], columns=["a", "a"])
    en.write_dataset(value, tmp_path / "set")
    pd.testing.assert_frame_equal(en.read(tmp_path / "set"), value)
    en.verify(tmp_path / "set")
    with pytest.raises(en.DuplicateColumnError):
        en.scan(tmp_path / "set").filter(en.col("a") > 15).count()
