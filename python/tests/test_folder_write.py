"""Data sets: folders of files with a manifest, and what readers see of them."""

from __future__ import annotations

import datetime
import os
import pickle
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
import static_frame as sf
from folder_frames import KEYS, frame, in_order
from polars.testing import assert_frame_equal

import entasis as en
from entasis._dataset import manifest as _manifest


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
