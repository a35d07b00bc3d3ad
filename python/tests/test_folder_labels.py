"""Labels of rows and columns in folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
import static_frame as sf

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path


def test_labels_of_rows_stay(tmp_path) -> None:
    value = pd.DataFrame({"k": [1, 0, 1], "x": [1, 2, 3]}, index=pd.Index(["a", "b", "c"], name="label"))
    en.write_dataset(value, tmp_path / "set", partition_by="k")
    expected = value.iloc[[1, 0, 2]][["x", "k"]]
    pd.testing.assert_frame_equal(en.scan(tmp_path / "set").read(), expected)
    en.write_dataset(value.reset_index(drop=True), tmp_path / "plain", partition_by="k", rows_per_file=1)
    found = en.scan(tmp_path / "plain").read()
    assert found.index.equals(pd.RangeIndex(3))
    assert found["x"].tolist() == [2, 1, 3]


def test_labels_that_are_not_text(tmp_path) -> None:
    value = pd.DataFrame({0: [1, 2, 3], 1: ["a", "b", "c"]})
    en.write_dataset(value, tmp_path / "set", rows_per_file=2)
    pd.testing.assert_frame_equal(en.read(tmp_path / "set"), value)
    assert en.scan(tmp_path / "set").filter(en.col(0) > 2).read()[1].tolist() == ["c"]


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
