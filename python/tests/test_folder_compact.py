"""`compact` of data sets into files of some rows, and progress of reading and compacting folders."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import static_frame as sf
from polars.testing import assert_frame_equal

import entasis as en
from entasis._dataset import manifest as _manifest
from entasis._dataset import table as _table
from entasis._dataset.maintain import _runs
from entasis._dataset.part import facts


def lengths(path: Path) -> list[int]:
    return [len(en.open(name)) for name in en.scan(path).paths]


def of_lengths(path: Path, parts: list[int]) -> pl.DataFrame:
    """A data set with files of these rows."""
    whole = pl.DataFrame({"i": np.arange(sum(parts)), "t": [f"text {i}" for i in range(sum(parts))]})
    start = 0
    for n in parts:
        # A part without rows has no file.
        en.write_dataset(whole[start : start + n], path, mode="append")
        start += n
    return whole


@pytest.mark.parametrize(
    ("parts", "most", "expected"),
    [
        ([3, 3, 3], None, [9]),
        ([9], None, [9]),
        ([3, 3, 3], 100, [9]),
        ([3, 3, 3], 3, [3, 3, 3]),
        ([3, 3, 3], 2, [2, 2, 2, 2, 1]),
        ([9], 4, [4, 4, 1]),
        ([4, 4, 1, 1, 1], 4, [4, 4, 3]),
        ([1, 4, 4], 4, [4, 4, 1]),
        ([2, 2, 4, 8, 3], 4, [4, 4, 4, 4, 3]),
        ([5], 1, [1, 1, 1, 1, 1]),
    ],
)
def test_rows_per_file(tmp_path: Path, parts: list[int], most: int | None, expected: list[int]) -> None:
    path = tmp_path / "set"
    whole = of_lengths(path, parts)
    old, before = en.scan(path), set(en.scan(path).paths)
    en.compact(path, rows_per_file=most)
    assert lengths(path) == expected
    assert_frame_equal(en.read(path), whole)
    assert_frame_equal(old.read(), whole)
    en.verify(path)
    # Another call finds nothing to do.
    number = _manifest.newest_number(str(path))
    en.compact(path, rows_per_file=most)
    assert _manifest.newest_number(str(path)) == number
    if parts == expected:
        assert set(en.scan(path).paths) == before
    if parts == [4, 4, 1, 1, 1]:
        # Whole files stay.
        assert len(before & set(en.scan(path).paths)) == 2


def test_runs_of_random_files_have_all_rows() -> None:
    random = np.random.default_rng(0)
    for _ in range(300):
        of_file = random.integers(0, 9, random.integers(1, 12)).tolist()
        most = int(random.integers(1, 9))
        numbers = list(range(len(of_file)))
        runs = _runs(numbers, of_file, most)
        assert all(run == list(range(run[0], run[-1] + 1)) for run in runs)
        kept = sorted(set(numbers) - {number for run in runs for number in run})
        assert all(of_file[number] <= most for number in kept)
        found: list[int] = []
        for number in numbers:
            if number in kept:
                found.append(of_file[number])
            for run in runs:
                if run[0] == number:
                    n = sum(of_file[each] for each in run)
                    found += [min(most, n - start) for start in range(0, n, most)]
        assert sum(found) == sum(of_file)
        # All but the last one are full, except for files without rows.
        full = [n for n in found if n]
        assert full[:-1] == [most] * len(full[:-1])


def test_keys_and_order(tmp_path: Path) -> None:
    path = tmp_path / "set"
    random = np.random.default_rng(1)
    whole = pl.DataFrame({"i": np.arange(1000), "k": random.integers(0, 3, 1000)})
    for start in range(0, 1000, 100):
        en.write_dataset(
            whole[start : start + 100], path, mode="append" if start else "error", partition_by="k", rows_per_file=20
        )
    en.compact(path, rows_per_file=150)
    for k in range(3):
        found = en.scan(path).filter(en.col("k") == k).read()["i"].to_list()
        assert found == whole.filter(pl.col("k") == k)["i"].to_list()
    assert max(lengths(path)) == 150
    assert all(f"k={k}" in name for name in en.scan(path).paths for k in [int(name.split("k=")[1][0])])
    removed = en.clean(path, older_than="0s")
    assert removed
    assert en.scan(path).count() == 1000


def values(host: str) -> Any:
    n = 10
    if host == "pandas":
        return pd.DataFrame(
            {"i": np.arange(n), "c": pd.Categorical(list("abcabcabcd"))}, index=pd.RangeIndex(n, name="row")
        )
    if host == "labels":
        return pd.DataFrame({"i": np.arange(n)}, index=[f"label {i}" for i in range(n)])
    if host == "numbers":
        return pd.DataFrame([[i, str(i)] for i in range(n)])
    if host == "static_frame":
        return sf.Frame.from_items([("i", np.arange(n)), ("t", np.array(list("abcdefghij")))])
    if host == "numpy":
        return {"i": np.arange(n), "x": np.arange(n) / 4}
    if host == "pyarrow":
        return pa.table({"i": np.arange(n), "c": pa.array(list("abcabcabcd")).dictionary_encode()})
    return pl.DataFrame({"i": np.arange(n), "l": [[i] * (i % 3) for i in range(n)]})


@pytest.mark.parametrize("host", ["pandas", "labels", "numbers", "static_frame", "numpy", "pyarrow", "polars"])
def test_values_stay_for_each_library(tmp_path: Path, host: str) -> None:
    path, value = tmp_path / "set", values(host)
    en.write_dataset(value, path)
    before, some = en.read(path), en.scan(path).filter(en.col(0 if host == "numbers" else "i") > 4).read()
    for most, expected in ((3, [3, 3, 3, 1]), (4, [4, 4, 2]), (None, [10])):
        en.compact(path, rows_per_file=most)
        assert lengths(path) == expected
        for found, wanted in (
            (en.read(path), before),
            (en.scan(path).filter(en.col(0 if host == "numbers" else "i") > 4).read(), some),
        ):
            if isinstance(wanted, pd.DataFrame):
                pd.testing.assert_frame_equal(found, wanted)
            elif host == "polars":
                assert_frame_equal(found, wanted)
            elif host == "numpy":
                assert all(np.array_equal(found[name], wanted[name]) for name in wanted)
            elif host == "static_frame":
                assert found.equals(wanted, compare_name=True, compare_dtype=True, compare_class=True)
            else:
                assert found.to_pydict() == wanted.to_pydict()
                assert found.schema.equals(wanted.schema)


def test_options(tmp_path: Path) -> None:
    en.write_dataset(pl.DataFrame({"a": [1]}), tmp_path / "set")
    for rows in (0, -1, 1.5, "1"):
        with pytest.raises(en.ArgumentError, match="rows_per_file"):
            en.compact(tmp_path / "set", rows_per_file=rows)  # type: ignore[arg-type]
    en.write(pl.DataFrame({"a": [1]}), tmp_path / "file.entasis")
    with pytest.raises(en.ArgumentError, match="is for folders"):
        en.compact(tmp_path / "file.entasis", rows_per_file=1)


def test_files_are_opened_for_rows_that_they_have(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "set"
    of_lengths(path, [10] * 30)
    opened: list[str] = []
    pinned = _table.Table._pinned

    def counted(table: Any, number: int) -> Any:
        opened.append(table.files.paths[number])
        return pinned(table, number)

    monkeypatch.setattr(_table.Table, "_pinned", counted)
    en.compact(path, rows_per_file=15)
    assert lengths(path) == [15] * 20
    # Each new file has rows of two files at most, and the first one of a table is opened too.
    assert len(opened) < 100


def follow(calls: list[tuple[int, int | None, str]]) -> Any:
    return lambda done, total, unit: calls.append((done, total, unit))


def check(calls: list[tuple[int, int | None, str]], total: int, unit: str) -> None:
    assert {call[1:] for call in calls} == {(total, unit)}
    done = [call[0] for call in calls]
    assert done == sorted(done)
    assert done[-1] == total


@pytest.mark.parametrize("most", [None, 40_000])
def test_progress_of_compact(tmp_path: Path, most: int | None) -> None:
    path, calls = tmp_path / "set", []
    of_lengths(path, [30_000] * 4)
    en.compact(path, rows_per_file=most, progress=follow(calls))
    check(calls, 120_000, "rows")
    assert len(calls) >= 2
    before = sorted(path.rglob("*"))

    def stop(done: int, total: int | None, unit: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        en.compact(path, rows_per_file=17, progress=stop)
    assert sorted(path.rglob("*")) == before
    calls.clear()
    en.compact(path, rows_per_file=most, progress=follow(calls))
    assert not calls


@pytest.mark.parametrize("has_manifest", [True, False])
def test_progress_of_reads(tmp_path: Path, has_manifest: bool) -> None:
    path, calls = tmp_path / "set", []
    whole = of_lengths(path, [300_000] * 4)
    scan = en.scan(path, manifest=has_manifest)
    assert_frame_equal(scan.read(progress=follow(calls)).sort("i"), whole)
    check(calls, 2_400_000, "values")
    calls.clear()
    # The manifest rules out two files.
    assert scan.filter(en.col("i") >= 700_000).read(columns="i", progress=follow(calls)).height == 500_000
    check(calls, 1_200_000 if has_manifest else 2_400_000, "values")
    calls.clear()
    assert scan.limit(10).read(progress=follow(calls)).height == 10
    check(calls, 20, "values")

    def stop(done: int, total: int | None, unit: str) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        scan.read(progress=stop)
    with pytest.raises(en.ArgumentError, match="progress="):
        scan.read(progress=3)  # type: ignore[arg-type]


def test_progress_of_read_of_a_folder(tmp_path: Path) -> None:
    path, calls = tmp_path / "set", []
    en.write_dataset(pl.DataFrame({"i": np.arange(1000), "k": np.arange(1000) % 3}), path, partition_by="k")
    en.read(path, progress=follow(calls))
    check(calls, 1000, "values")
    calls.clear()
    assert en.read(path, columns="k", progress=follow(calls)).height == 1000
    check(calls, 0, "values")


def test_folders_of_r_are_compacted_there(tmp_path: Path) -> None:
    golden = Path(__file__).parents[2] / "tests" / "golden" / "r" / "frame.entasis"
    found = []
    for number in range(2):
        name = f"part-0123456789abcdef-{number:05}.entasis"
        shutil.copy(golden, tmp_path / name)
        found.append(facts(str(tmp_path), name, ()))
    names, types = en.open(golden)._view.schema()
    _manifest.store(str(tmp_path), 0, "job", names, types, [], found, None, "error")
    assert en.scan(tmp_path).count() == 2 * len(en.open(golden))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(en.ArgumentError, match="were written from R: compact them from there"):
        en.compact(tmp_path)
    assert sorted(tmp_path.rglob("*")) == before
