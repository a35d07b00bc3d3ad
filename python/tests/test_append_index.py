"""Indexes of rows to append follow the rules of columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import static_frame as sf

import entasis as en

UTC = pd.date_range("2024", periods=3, freq="min", tz="UTC", unit="us")


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "rows.entasis")


def frame(index: Any) -> pd.DataFrame:
    return pd.DataFrame({"a": np.arange(float(len(index)))}, index=index)


MAKES = [frame, lambda index: frame(index)["a"], pd.Index]

OTHERS = [
    (UTC, pd.date_range("2025", periods=1)),
    (UTC, pd.date_range("2025", periods=1, tz="Europe/Oslo")),
    (UTC.tz_localize(None), UTC),
    (UTC, ["2025-01-01"]),
    (UTC, [1]),
    (pd.RangeIndex(3), ["a"]),
    (pd.Index([1, 2]), ["a"]),
    (pd.Index([1, 2]), pd.Index([1.5])),
    (pd.Index([1.5]), pd.Index([(1 << 53) + 1])),
    (pd.Index(["a"]), [1]),
    (pd.Index(["a"]), UTC),
    (pd.period_range("2024", periods=1, freq="M"), pd.period_range("2024", periods=1, freq="D")),
    (pd.CategoricalIndex(["a"]), pd.CategoricalIndex([1])),
    (pd.CategoricalIndex(["a"], ["a", "b"], ordered=True), pd.CategoricalIndex(["a"], ["b", "a"], ordered=True)),
    (pd.interval_range(0, 2), pd.interval_range(0.5, 2)),
]


@pytest.mark.core
@pytest.mark.parametrize(("old", "new"), OTHERS)
def test_labels_of_another_type_are_refused(path: str, old: Any, new: Any) -> None:
    for make in MAKES:
        en.write(make(pd.Index(old)), path)
        before = Path(path).read_bytes()
        with pytest.raises(en.ArgumentError, match=r"the .*index.* in the file and .* in the rows"):
            en.append(make(pd.Index(new)), path)
        assert Path(path).read_bytes() == before
        if make is not pd.Index:
            with pytest.raises(en.ArgumentError, match="index"), en.writer(path, append=True) as writer:
                writer.write(make(pd.Index(new)))
            assert Path(path).read_bytes() == before


@pytest.mark.core
def test_levels_of_another_type_are_refused(path: str) -> None:
    old = pd.MultiIndex.from_arrays([["x", "y"], UTC[:2]], names=["k", "t"])
    en.write(frame(old), path)
    for levels in ([["z"], UTC[:1].tz_localize(None)], [["z"], [1]], [[1], UTC[:1]]):
        new = pd.MultiIndex.from_arrays(levels, names=["k", "t"])
        with pytest.raises(en.ArgumentError, match=r"the level '[kt]' of the index is .* in the file and"):
            en.append(frame(new), path)
    more = pd.MultiIndex.from_arrays([["z"], UTC[2:]], names=["k", "t"])
    en.append(frame(more), path)
    pd.testing.assert_frame_equal(en.read(path), pd.concat([frame(old), frame(more)]))


NARROWER = [
    (UTC, UTC.as_unit("s")),
    (UTC.tz_localize(None), UTC.tz_localize(None).as_unit("s")),
    (pd.to_timedelta([1, 2], "h").as_unit("us"), pd.to_timedelta([3], "h").as_unit("s")),
    (pd.Index([1, 2]), pd.Index([3], dtype="int32")),
    (pd.Index([1.5, 2]), pd.Index([3], dtype="float32")),
    (pd.Index([1.5, 2]), pd.Index([3])),
    (pd.Index([1, 2]), pd.Index([3.0])),
    (pd.Index([1, 2]), pd.RangeIndex(3)),
    (pd.CategoricalIndex(["a", "b"]), pd.Index(["b"])),
    (pd.Index([1, 2], dtype="Int64"), pd.Index([3], dtype="Int8")),
    (UTC, pd.Index([None])),
    (pd.Index(["a"]), pd.Index([None], dtype=object)),
]


@pytest.mark.core
@pytest.mark.parametrize(("old", "new"), NARROWER)
@pytest.mark.parametrize("n", [1, 9_000, 70_000])
def test_labels_that_the_type_holds_stay_in_place(path: str, old: Any, new: Any, n: int) -> None:
    for make in MAKES:
        first = make(old.repeat(n))
        en.write(first, path)
        assert en.append(make(new), path) == []
        whole = en.read(path)
        labels = whole if make is pd.Index else whole.index
        assert labels.dtype == old.dtype
        assert [label for label in labels[len(first) :] if not pd.isna(label)] == [
            label for label in new if not pd.isna(label)
        ]
        pd.testing.assert_index_equal(labels[: len(first)], old.repeat(n), exact=True)
        if make is not pd.Index:
            with en.writer(path, append=True) as writer:
                writer.write(make(new))
            assert en.read(path).index.dtype == old.dtype
            assert [g.operation for g in en.generations(path)][-2:] == ["append", "append"]


@pytest.mark.core
def test_wider_labels_make_the_index_wider(path: str) -> None:
    for old, new in [
        (UTC.as_unit("s"), UTC + pd.Timedelta(1, "us")),
        (pd.Index([1, 2], dtype="int32"), pd.Index([1 << 40])),
    ]:
        for make in MAKES:
            en.write(make(old), path)
            with pytest.raises(en.ArgumentError, match=r"the index is .* in row 0; widen=True makes it"):
                en.append(make(new), path)
            en.append(make(old[:0]), path)
            before = en.generations(path)
            assert en.append(make(new), path, widen=True) == [None]
            assert [g.number for g in en.generations(path)][:-1] == [g.number for g in before]
            whole = en.read(path)
            labels = whole if make is pd.Index else whole.index
            assert labels.dtype == new.dtype
            assert labels.tolist() == old.tolist() + new.tolist()
            if make is not pd.Index:
                en.write(make(old), path)
                with (
                    pytest.raises(en.ArgumentError, match=r"the index is .*widen=True"),
                    en.writer(path, append=True) as writer,
                ):
                    writer.write(make(new))
                assert en.read(path).index.dtype == old.dtype
                with en.writer(path, append=True, widen=True) as writer:
                    writer.write(make(old))
                    writer.write(make(new))
                assert en.read(path).index.tolist() == [*old, *old, *new]


@pytest.mark.core
def test_categories_of_an_index_are_united(path: str) -> None:
    old, new = pd.CategoricalIndex(["b", "a"], ["b", "a"]), pd.CategoricalIndex(["a", "c"], ["c", "a"])
    for n in (1, 9_000):
        for make in MAKES:
            en.write(make(old.repeat(n)), path)
            assert en.append(make(new), path) == []
            whole = en.read(path)
            labels = whole if make is pd.Index else whole.index
            assert labels.categories.tolist() == ["b", "a", "c"]
            assert labels.tolist() == [*old.repeat(n), *new]


@pytest.mark.core
def test_objects_hold_labels_of_all_types(path: str) -> None:
    old = pd.Index([1, "a"], dtype=object)
    for new in (pd.Index([2.5]), pd.Index(["b"]), UTC):
        en.write(frame(old), path)
        en.append(frame(new), path)
        assert en.read(path).index.tolist() == old.tolist() + new.tolist()


@pytest.mark.core
def test_no_rows_leave_the_index(path: str) -> None:
    en.write(frame(UTC), path)
    en.append(frame(pd.Index([], dtype=object)), path)
    assert en.read(path).index.dtype == UTC.dtype


def test_indexes_of_static_frame(path: str) -> None:
    def rows(index: Any) -> Any:
        return sf.Frame.from_items([("a", np.arange(float(len(index))))], index=index)

    days = sf.IndexDate(["2024-01-01", "2024-01-02"])
    en.write(rows(days), path)
    for index in (sf.Index(["x"]), sf.Index([1.5])):
        with pytest.raises(en.ArgumentError, match="the index is datetime64"):
            en.append(rows(index), path)
    en.append(rows(sf.IndexDate(["2024-01-03"])), path)
    assert len(en.read(path)) == 3
    levels = sf.IndexHierarchy.from_labels([("x", 1), ("x", 2)])
    en.write(rows(levels), path)
    with pytest.raises(en.ArgumentError, match="level 1 of the index"):
        en.append(rows(sf.IndexHierarchy.from_labels([("x", "y")])), path)
    with pytest.raises(en.ArgumentError, match="the index has 2 levels in the file and 1"):
        en.append(rows(sf.Index(["x"])), path)
