"""Types of the keys of a folder, and writers whose keys differ."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import polars as pl
import pytest

import entasis as en
from entasis._dataset import write as _write


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
