"""Levels of the index among the columns that are dropped and renamed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import static_frame as sf

import entasis as en

SIZES = [2, 9_000, 200_000]


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "rows.entasis")


def frame(n: int, index: Any) -> pd.DataFrame:
    found = pd.DataFrame({"a": np.arange(n) / 2, "b": [f"b{i % 9}" for i in range(n)]}, index=index)
    found.attrs = {"unit": "m"}
    return found


def patients(n: int) -> Any:
    return pd.Index([f"alice {i % 5}" for i in range(n)], name="patient")


def levels(n: int) -> Any:
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n) % 7, "D")
    return pd.MultiIndex.from_arrays([patients(n), days, np.arange(n)], names=["patient", "day", None])


def bytes_of(path: str) -> bytes:
    return Path(path).read_bytes()


@pytest.mark.core
@pytest.mark.parametrize("n", SIZES)
def test_a_level_is_dropped(path: str, n: int) -> None:
    old = frame(n, patients(n))
    for labels in ("patient", ["patient"], {"patient"}, ["a", "patient"], np.array(["patient", "a"])):
        en.write(old, path, compression=0)
        en.append(old, path)
        en.drop_columns(path, labels)
        whole = pd.concat([old, old]).reset_index(drop=True)
        wanted = whole.drop(columns="a") if len(labels) == 2 else whole
        found = en.read(path)
        pd.testing.assert_frame_equal(found, wanted, check_index_type="exact")
        assert found.attrs == {"unit": "m"}
        assert "patient" not in en.open(path)
        assert "patient" not in pa.table(en.open(path)).column_names
        en.verify(path)
        en.compact(path)
        assert b"alice" not in bytes_of(path)
        pd.testing.assert_frame_equal(en.read(path), wanted, check_index_type="exact")
    en.write(old, path)
    en.drop_columns(path, "patient", compact=True)
    assert b"alice" not in bytes_of(path)
    en.append(wanted_rows(old), path)
    assert isinstance(en.read(path).index, pd.RangeIndex)
    assert len(en.read(path)) == n + 2


def wanted_rows(old: pd.DataFrame) -> pd.DataFrame:
    return old.reset_index(drop=True)[:2]


@pytest.mark.core
@pytest.mark.parametrize("n", SIZES)
def test_an_index_gets_another_name(path: str, n: int) -> None:
    for index in (
        patients(n),
        pd.RangeIndex(5, 5 + n, name="patient"),
        pd.date_range("2024", periods=n, freq="min", name="patient"),
    ):
        old = frame(n, index)
        en.write(old, path)
        en.rename_columns(path, {"patient": "id", "a": "c"})
        found = en.read(path)
        pd.testing.assert_frame_equal(found, old.rename_axis("id").rename(columns={"a": "c"}), check_index_type="exact")
        assert found.attrs == {"unit": "m"}
        file = en.open(path)
        if not isinstance(index, pd.RangeIndex):
            assert file.filter(en.col("id") == old.index[1]).count() == (old.index == old.index[1]).sum()
            assert en.read(path, columns=["id"], to="polars").columns == ["id"]
        with pytest.raises(en.ColumnNotFoundError):
            file.select("patient")
        en.append(found[:1], path)
        assert en.read(path).index.name == "id"


@pytest.mark.core
@pytest.mark.parametrize("n", SIZES[:2])
def test_levels_of_a_multi_index(path: str, n: int) -> None:
    old = frame(n, levels(n))
    en.write(old, path)
    en.rename_columns(path, {"day": "date", "b": "c", "level_2": "number"})
    renamed = old.rename(columns={"b": "c"}).rename_axis(["patient", "date", "number"])
    pd.testing.assert_frame_equal(en.read(path), renamed)
    assert {"patient", "date", "number"} <= set(pa.table(en.open(path)).column_names)
    en.drop_columns(path, ["patient", "a"])
    two = renamed.droplevel("patient").drop(columns="a")
    pd.testing.assert_frame_equal(en.read(path), two)
    assert en.read(path).attrs == {"unit": "m"}
    en.compact(path)
    assert b"alice" not in bytes_of(path)
    en.drop_columns(path, "number")
    pd.testing.assert_frame_equal(en.read(path), two.droplevel("number"))
    en.drop_columns(path, ["date", "c"])
    pd.testing.assert_index_equal(en.read(path).index, pd.RangeIndex(n), exact=True)
    en.write(old, path)
    en.drop_columns(path, ["patient", "day", "level_2"])
    pd.testing.assert_frame_equal(en.read(path), old.reset_index(drop=True), check_index_type="exact")


@pytest.mark.core
@pytest.mark.parametrize("n", SIZES[:2])
def test_levels_of_static_frame(path: str, n: int) -> None:
    arrays = [("a", np.arange(n)), ("b", np.arange(n) / 2)]
    labels = [f"alice {i}" for i in range(n)]
    old = sf.Frame.from_items(arrays, index=sf.Index(labels, name="patient"))
    en.write(old, path)
    en.rename_columns(path, {"patient": "id", "a": "c"})
    found = en.read(path)
    assert (found.index.name, list(found.columns), list(found.index)) == ("id", ["c", "b"], labels)
    en.drop_columns(path, ["id", "c"], compact=True)
    found = en.read(path)
    assert (found.index.name, list(found.columns), list(found.index)) == (None, ["b"], list(range(n)))
    assert b"alice" not in bytes_of(path)
    rows = zip(labels, range(n), strict=True)
    both = sf.IndexHierarchy.from_labels(rows, name=("patient", "k"))
    en.write(sf.Frame.from_items(arrays, index=both), path)
    en.rename_columns(path, {"k": "number"})
    assert en.read(path).index.name == ("patient", "number")
    en.drop_columns(path, "patient", compact=True)
    found = en.read(path)
    assert (found.index.name, list(found.index), found["a"].values.tolist()) == (
        "number",
        list(range(n)),
        list(range(n)),
    )
    assert b"alice" not in bytes_of(path)
    en.write(
        sf.Frame.from_items(
            [("a", np.arange(2))], index=sf.IndexHierarchy.from_labels([("x", 1), ("x", 2)], name=("p", "q"))
        ),
        path,
    )
    with pytest.raises(en.ArgumentError, match="not unique"):
        en.drop_columns(path, "q")


@pytest.mark.core
def test_changes_that_would_do_nothing_or_too_much(path: str) -> None:
    old = frame(3, pd.Index(["x", "y", "z"], name="k"))
    en.write(old, path)
    before = bytes_of(path)
    for names in ({"k": "a"}, {"a": "b"}, {"no": "such"}, {"a": "c", "b": "c"}, {"k": "a", "a": "c", "b": "a"}):
        with pytest.raises((en.ArgumentError, en.ColumnNotFoundError)):
            en.rename_columns(path, names)
    for labels in ("no", ["a", "no"], [["a"]], 1.5):
        with pytest.raises((en.ArgumentError, en.ColumnNotFoundError)):
            en.drop_columns(path, labels)
    with pytest.raises(en.ColumnNotFoundError, match="'k' is a level of the index, which can't be replaced"):
        en.replace_columns({"k": [1, 2, 3]}, path)
    for names in ("upper", 3, ["a"], None):
        with pytest.raises(en.ArgumentError, match="neither a dict of new labels by old ones nor a function"):
            en.rename_columns(path, names)  # type: ignore[arg-type]
    assert bytes_of(path) == before
    en.rename_columns(path, {0: "first", en.col("b"): "second"})
    assert en.read(path).columns.tolist() == ["first", "second"]
    en.rename_columns(path, str.upper)
    assert en.read(path).columns.tolist() == ["FIRST", "SECOND"]
    assert en.read(path).index.name == "k"
    en.write(pa.table({"s": [{"x": 1}], "a": [1]}), path)
    with pytest.raises(en.ArgumentError, match="is a field of a struct"):
        en.drop_columns(path, en.field("s", "x"))
    # A column comes before a level of the same name.
    en.write(pd.DataFrame({"k": [1], "a": [2]}, index=pd.Index(["x"], name="k")), path)
    en.drop_columns(path, "k")
    pd.testing.assert_frame_equal(en.read(path), pd.DataFrame({"a": [2]}, index=pd.Index(["x"], name="k")))


@pytest.mark.core
def test_labels_that_are_tuples_get_other_names(path: str) -> None:
    columns = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "z")], names=["k", "l"])
    old = pd.DataFrame([[1, 2, 3]], columns=columns)
    en.write(old, path)
    en.rename_columns(path, {("a", "x"): ("c", "w")})
    assert en.read(path).columns.tolist() == [("c", "w"), ("a", "y"), ("b", "z")]
    assert list(en.read(path).columns.names) == ["k", "l"]
    en.rename_columns(path, {"b": "d"})
    assert en.read(path).columns.tolist() == [("c", "w"), ("a", "y"), ("d", "z")]
