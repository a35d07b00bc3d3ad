"""Forged manifests and folders: what readers and writers refuse, and what `verify` finds."""

from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import entasis as en
from entasis._dataset import manifest as _manifest
from entasis._dataset import paths as _paths


def newest(path: Path) -> Path:
    number = _manifest.newest_number(str(path))
    assert number is not None
    return Path(_manifest.path_of(str(path), number))


def forge(folder: Path, /, metadata: dict[str, Any] | None = None, **columns: list[Any]) -> None:
    """Replace columns of the newest manifest, `min_a` for `min/a`, and entries of its metadata."""
    where = newest(folder)
    file = en.open(where)
    table, entries = file.read(to="pyarrow"), {**file.metadata, **(metadata or {})}
    for number, field in enumerate(table.schema):
        values = columns.pop(field.name.replace("/", "_"), None)
        if values is not None:
            table = table.set_column(number, field, pa.array(values, field.type))
    assert not columns, "these columns are not in the manifest"
    en.write(table, where, metadata=entries)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "set"
    en.write_dataset(pl.DataFrame({"a": [1, 2], "k": [1, 2]}), path, partition_by="k")
    return path


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"path": ["_entasis/00000000000000000000.entasis"] * 2}, "no file of a table begins with _ or ."),
        ({"path": [".hidden.entasis"] * 2}, "no file of a table begins with _ or ."),
        ({"path": [None, None]}, "None as path of a file"),
        ({"n_rows": [-1, 1]}, "-1 as n_rows of a file"),
        ({"n_rows": [None, 1]}, "None as n_rows of a file"),
        ({"length": [None, 1]}, "None as length of a file"),
        ({"end": [None, b""]}, "None as end of a file"),
        ({"generation": [1, None]}, "None as generation of a file"),
        ({"key_k": ["a", "1"]}, "key 'k' of type 'int64' with 'a'"),
        ({"key_k": ["01", "1"]}, "key 'k' of type 'int64' with '01'"),
        ({"key_k": ["1", str(1 << 63)]}, "key 'k' of type 'int64' with '9223372036854775808'"),
        ({"key_k": ["1", "\u0661"]}, "key 'k' of type 'int64'"),
        ({"metadata": {"keys": [["k", "date"]]}}, "key 'k' of type 'date' with '1'"),
        ({"metadata": {"keys": [["k", "float"]]}}, "key 'k' of type 'float'"),
        ({"metadata": {"keys": [["z", "int64"]]}}, "is not a manifest"),
        ({"metadata": {"names": ["b"]}}, "is not a manifest"),
        ({"metadata": {"names": ["a", "b"]}}, "is not a manifest"),
        ({"metadata": {"names": None}}, "is not a manifest"),
        ({"metadata": {"manifest": "1"}}, "is not a manifest"),
    ],
)
def test_manifests_that_make_no_sense(folder: Path, columns: dict[str, Any], said: str) -> None:
    forge(folder, **columns)
    for call in (en.scan, en.read, en.info, en.verify, en.compact):
        with pytest.raises(en.CorruptFileError) as caught:
            call(folder)
        assert said in str(caught.value)
        assert caught.value.file == str(newest(folder))


def test_dates_of_keys(tmp_path: Path) -> None:
    days = pl.Series(["2024-02-29"]).str.to_date()
    en.write_dataset(pl.DataFrame({"a": [1], "d": days}), tmp_path / "set", partition_by="d")
    for text in ("2023-02-29", "20240229", "2024-W09-4", "0000-01-01"):
        forge(tmp_path / "set", key_d=[text])
        with pytest.raises(en.CorruptFileError, match="key 'd' of type 'date'"):
            en.read(tmp_path / "set")


def test_later_versions_are_named(folder: Path) -> None:
    forge(folder, {"manifest": 2})
    with pytest.raises(en.NewerVersionError, match="is of version 2: update Entasis"):
        en.read(folder)


def test_numbers_of_manifests(folder: Path) -> None:
    content = newest(folder).read_bytes()
    for number in (10**20 - 1, 1 << 63):
        path = folder / "_entasis" / f"{number:020}.entasis"
        path.write_bytes(content)
        for call in (en.read, en.info, en.verify, en.clean, lambda path: en.append(pl.DataFrame({"a": [1]}), path)):
            with pytest.raises(en.CorruptFileError, match="is greater than 9223372036854775807"):
                call(folder)
        path.unlink()
    (folder / "_entasis" / f"{(1 << 63) - 1:020}.entasis").write_bytes(content)
    before = sorted(folder.rglob("*"))
    with pytest.raises(en.ArgumentError, match="has no number for another manifest"):
        en.append(pl.DataFrame({"a": [3], "k": [3]}), folder)
    assert sorted(folder.rglob("*")) == before
    assert en.scan(folder).count() == 2


def test_a_file_named_twice(folder: Path) -> None:
    facts = en.open(newest(folder)).read(to="pyarrow").to_pydict()
    forge(folder, **{name: [facts[name][0]] * 2 for name in ("path", "length", "end")})
    with pytest.raises(en.CorruptFileError, match="twice"):
        en.scan(folder)


def test_numbers_of_rows_that_are_wrong(folder: Path) -> None:
    forge(folder, n_rows=[1, 1 << 60])
    # The first file is as the manifest says, and the other one is not opened.
    scan = en.scan(folder)
    assert scan.count() == 1 + (1 << 60)
    assert scan.filter(en.col("k") == 1).read()["a"].to_list() == [1]
    for call in (
        scan.read,
        lambda: scan.filter(en.col("a") > 0).count(),
        lambda: en.scan(folder, rows=(1, 3)).read(),
        scan.splits,
        lambda: scan.to_dataset().to_table(),
    ):
        with pytest.raises(en.CorruptFileError, match="has 1 rows, and the manifest says 1152921504606846976"):
            call()
    with pytest.raises(en.CorruptFileError, match=r"1 of 3 files .* says 1152921504606846976"):
        en.verify(folder)


def test_a_replaced_file_of_the_same_length(tmp_path: Path) -> None:
    """Length and generation alone do not tell a file from another one."""
    path = tmp_path / "set"
    en.write_dataset(pl.DataFrame({"a": [1, 2, 3]}), path, compression=0)
    (name,) = en.scan(path).paths
    length, generation = os.path.getsize(name), en.open(name)._view.handle.generation
    os.remove(name)
    with en.writer(name, compression=0) as writer:
        writer.write(pl.DataFrame({"a": [7, 8, 9]}))
    assert (os.path.getsize(name), en.open(name)._view.handle.generation) == (length, generation)
    with pytest.raises(en.CorruptFileError, match="was changed after the manifest"):
        en.read(path)
    with pytest.raises(en.CorruptFileError, match=r"1 of 2 files of .* its earlier state is gone"):
        en.verify(path)


def test_an_earlier_state_of_another_file(tmp_path: Path) -> None:
    path = tmp_path / "set"
    rows = pl.DataFrame({"a": np.arange(400_000) * 7919 % 1_000_003})
    en.write_dataset(rows, path, compression=0)
    (name,) = en.scan(path).paths
    os.remove(name)
    with en.writer(name, compression=0) as writer:
        writer.write(rows.with_columns(pl.col("a") + 1))
    en.append(rows[:1], name)
    with pytest.raises(en.CorruptFileError, match="was changed after the manifest"):
        en.read(path)


@pytest.mark.parametrize("attempt", ["file", "folder", "nothing"])
def test_linked_manifests(tmp_path: Path, attempt: str) -> None:
    path, other = tmp_path / "set", tmp_path / "other"
    for each in (path, other):
        en.write_dataset(pl.DataFrame({"a": [1]}), each)
        en.append(pl.DataFrame({"a": [2]}), each)
    if attempt == "file":
        newest(path).unlink()
        newest(path).with_name(f"{1:020}.entasis").symlink_to(newest(other))
    else:
        shutil.rmtree(path / "_entasis")
        (path / "_entasis").symlink_to(other / "_entasis" if attempt == "folder" else tmp_path / "nothing")
    before = sorted(tmp_path.rglob("*"))
    calls = [lambda: en.write_dataset(pl.DataFrame({"a": [3]}), path, mode="append")]
    if attempt != "nothing":
        calls += [lambda: en.read(path), lambda: en.verify(path), lambda: en.clean(path, older_than="0s")]
        calls += [lambda: en.compact(path), lambda: en.info(path)]
    for call in calls:
        with pytest.raises(en.CorruptFileError, match=r"a link leads from .* out of its folder"):
            call()
    assert sorted(tmp_path.rglob("*")) == before
    assert en.read(other)["a"].to_list() == [1, 2]


def test_no_file_is_written_through_a_link(tmp_path: Path) -> None:
    path, out = tmp_path / "set", tmp_path / "out"
    out.mkdir()
    en.write_dataset(pl.DataFrame({"a": [1], "k": ["x"]}), path, partition_by="k")
    (path / "k=y").symlink_to(out)
    with pytest.raises(en.CorruptFileError, match="out of its folder"):
        en.append(pl.DataFrame({"a": [2, 3], "k": ["y", "z"]}), path)
    assert not list(out.iterdir())
    assert en.read(path)["a"].to_list() == [1]
    # A link may lead to the whole folder.
    (tmp_path / "link").symlink_to(path)
    en.append(pl.DataFrame({"a": [2], "k": ["x"]}), tmp_path / "link")
    assert en.read(path)["a"].to_list() == [1, 2]


def test_clean_follows_no_links(tmp_path: Path) -> None:
    path, other = tmp_path / "set", tmp_path / "other"
    for each in (path, other):
        for value in (1, 2):
            en.write_dataset(pl.DataFrame({"a": [value], "k": ["x"]}), each, partition_by="k", mode="overwrite")
    (path / "other").symlink_to(other)
    (path / "again").symlink_to(path / "k=x")
    assert len(en.clean(path, older_than="0s")) == 2
    assert en.read(path)["a"].to_list() == en.read(other)["a"].to_list() == [2]
    assert sum(1 for _ in other.rglob("part-*")) == 2


WHOLE = pd.DataFrame(
    {
        "i": np.arange(300, dtype=np.int32),
        "f": np.where(np.arange(300) % 7 == 0, np.nan, np.arange(300) / 4),
        "t": [f"text {n:04} with a long end that statistics cut" for n in range(300)],
        "d": pd.date_range("2024-01-01", periods=300, freq="D"),
        "m": pd.array([None if n >= 200 else n for n in range(300)], "Int64"),
    }
)


@pytest.mark.parametrize("n", [300, 100_000])
@pytest.mark.parametrize("host", ["pandas", "polars", "pyarrow"])
def test_sound_bounds_are_verified(tmp_path: Path, host: str, n: int) -> None:
    """Of short columns by their values, and of long ones by statistics."""
    whole = pd.concat([WHOLE] * (n // 300), ignore_index=True)
    if host == "polars":
        whole = pl.from_pandas(whole).with_columns(pl.col("f").fill_null(float("nan")))
    elif host == "pyarrow":
        whole = pa.Table.from_pandas(whole)
    en.write_dataset(whole, tmp_path / "set", rows_per_file=n // 3)
    assert en.verify(tmp_path / "set").n_values > 0


@pytest.mark.parametrize("n", [300, 100_000])
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("min_i", 1),
        ("max_i", 298),
        ("min_f", 0.5),
        ("max_f", 70.0),
        ("nan_f", False),
        ("min_t", "text 0001"),
        ("max_t", "text 0298"),
        ("min_d", pd.Timestamp("2024-01-02")),
        ("max_d", pd.Timestamp("2024-02-02")),
        ("missing_m", 0),
        ("values_m", False),
        ("max_m", 150),
    ],
)
def test_bounds_that_hide_rows_are_found(tmp_path: Path, column: str, value: Any, n: int) -> None:
    en.write_dataset(pd.concat([WHOLE] * (n // 300), ignore_index=True), tmp_path / "set")
    forge(tmp_path / "set", **{column: [value]})
    with pytest.raises(en.CorruptFileError, match=f"filters on column '{column[-1]}' miss rows"):
        en.verify(tmp_path / "set")


def test_bounds_that_are_wider_or_unknown_are_sound(tmp_path: Path) -> None:
    for n, columns in enumerate(
        (
            {"min_i": [-5], "max_i": [1000], "max_t": ["z"], "values_f": [True], "nan_f": [True]},
            {"min_i": [None], "missing_m": [None], "values_m": [None], "nan_f": [None], "max_t": [None]},
        )
    ):
        en.write_dataset(WHOLE, tmp_path / str(n))
        forge(tmp_path / str(n), **columns)
        assert en.verify(tmp_path / str(n)).n_values > 0
        assert en.scan(tmp_path / str(n)).filter(en.col("i") == 299).count() == 1
        assert en.scan(tmp_path / str(n)).filter(en.col("f").is_missing()).count() == 43


def test_bounds_of_other_types_are_found(tmp_path: Path) -> None:
    en.write_dataset(WHOLE, tmp_path / "set")
    metadata = en.open(newest(tmp_path / "set")).metadata
    types = ["i64" if kind == "i32" else kind for kind in metadata["types"]]
    forge(tmp_path / "set", {"types": types})
    with pytest.raises(en.CorruptFileError, match="filters on column 'i' miss rows"):
        en.verify(tmp_path / "set")


def test_bounds_of_impossible_values_are_found(tmp_path: Path) -> None:
    en.write_dataset(WHOLE, tmp_path / "set")
    where = newest(tmp_path / "set")
    file = en.open(where)
    sound = file.read(to="pyarrow")
    for name, values in (("min/i", pa.array(["a"])), ("max/t", pa.array([1])), ("min/f", pa.array([float("nan")]))):
        table = sound.set_column(sound.column_names.index(name), name, values)
        en.write(table, where, metadata=file.metadata)
        with pytest.raises(en.CorruptFileError, match=f"filters on column '{name[-1]}' miss rows"):
            en.verify(tmp_path / "set")
        # A filter gives rows that pass it, or an error.
        assert en.scan(tmp_path / "set").filter(en.col(name[-1]).is_missing()).count() == (43 if "f" in name else 0)


def test_columns_that_other_writers_leave_out(tmp_path: Path) -> None:
    """R writes neither whether labels count rows nor whether columns have values."""
    path = tmp_path / "set"
    whole = pd.DataFrame({"a": range(8), "x": [np.nan] * 4 + [1.0] * 4})
    en.write_dataset(whole, path, rows_per_file=4)
    file = en.open(newest(path))
    table = file.read(to="pyarrow")
    left = [name for name in table.column_names if name != "is_counted" and not name.startswith("values/")]
    assert len(left) == table.num_columns - 3
    en.write(table.select(left), newest(path), metadata=file.metadata)

    def check(rows: pd.DataFrame) -> None:
        pd.testing.assert_frame_equal(en.read(path), rows)
        for condition, expected in (
            (en.col("x") == 1, rows["x"] == 1),
            (~(en.col("x") == 1), rows["x"] != 1),
            (en.col("x").is_missing(), rows["x"].isna()),
            (en.col("a") > 2, rows["a"] > 2),
        ):
            pd.testing.assert_frame_equal(en.scan(path).filter(condition).read(), rows[expected])
        en.verify(path)

    check(whole)
    # Later manifests have some of these facts.
    en.append(whole[:2], path)
    check(pd.concat([whole, whole[:2]], ignore_index=True))
    en.compact(path, rows_per_file=5)
    check(pd.concat([whole, whole[:2]], ignore_index=True))


@pytest.mark.core
def test_one_look_at_all_names_finds_what_a_look_at_each_finds() -> None:
    parts = [
        "a",
        "k=1",
        "",
        ".",
        "..",
        "_a",
        ".a",
        "a_",
        "NUL",
        "nul.txt",
        "com1 ",
        "COM0",
        "LPT9.x",
        "console",
        "é",
        "a:b",
    ]
    parts += ["a\\b", "a\0b", "aux\t", "prn.", " con", "a."]
    names = [*parts, *("/".join(pair) for pair in itertools.product(parts, repeat=2)), "a/b/NUL/c", "a//b", "/", "\n/a"]
    for name in names:
        try:
            _paths._refuse([name], "m")
            is_plain = True
        except en.CorruptFileError:
            is_plain = False
        assert _paths._are_plain([name]) == is_plain, name
        assert _paths._are_plain(["first", name, "z/last"]) == is_plain, name
    assert not _paths._are_plain(["a", "b", "a"])
