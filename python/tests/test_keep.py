"""How many generations a file keeps, and how long it becomes by small changes."""

from __future__ import annotations

import os
import pickle
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

import entasis as en
from entasis._grow import dead, writer
from entasis.errors import ArgumentError, FileError

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.core


def frame(n: int, seed: int = 0) -> pd.DataFrame:
    r = np.random.default_rng(seed)
    return pd.DataFrame({"price": r.random(n), "city": r.choice(["Oslo", "Rome"], n), "n": np.arange(n)})


def numbers(path: Path) -> list[int]:
    return [generation.number for generation in en.generations(path)]


def test_the_first_change_keeps_the_first_generation(tmp_path: Path) -> None:
    path = tmp_path / "a.entasis"
    en.write(frame(3), path)
    assert en.append(frame(2, 1), path) == []
    assert numbers(path) == [1, 2]
    pd.testing.assert_frame_equal(en.open(path, generation=1).read(), frame(3))
    pd.testing.assert_frame_equal(en.read(path), pd.concat([frame(3), frame(2, 1)], ignore_index=True))


def test_open_readers_and_pickled_handles_across_a_replacement(tmp_path: Path) -> None:
    path = tmp_path / "a.entasis"
    en.write(frame(3), path)
    rows = [frame(3)]
    en.append(frame(1, 1), path)
    rows.append(frame(1, 1))
    early = en.open(path)
    handle = pickle.dumps(en.open(path))
    before, n_shorter = os.path.getsize(path), 0
    for i in range(700):
        part = frame(1, i + 2)
        en.append(part, path, durable=False)
        rows.append(part)
        n_shorter += os.path.getsize(path) < before
        before = os.path.getsize(path)
    whole = pd.concat(rows, ignore_index=True)
    assert n_shorter > 0
    assert before < 3 << 20
    pd.testing.assert_frame_equal(en.read(path), whole)
    pd.testing.assert_frame_equal(early.read(), whole[:4])
    # A pickled handle stands for the state that it had, or for none.
    with pytest.raises(FileError, match="was replaced since"):
        pickle.loads(handle)
    en.verify(path)


def test_maps_across_a_replacement(tmp_path: Path) -> None:
    path = tmp_path / "a.entasis"
    en.write({"n": np.arange(10_000), "x": np.arange(10_000) / 7}, path, compression=0)
    mapped = en.read(path, memory_map=True)
    n_shorter, before = 0, 0
    for i in range(1200):
        en.append({"n": np.array([i]), "x": np.array([i / 3])}, path, durable=False)
        n_shorter += os.path.getsize(path) < before
        before = os.path.getsize(path)
    assert n_shorter > 0
    np.testing.assert_array_equal(mapped["n"], np.arange(10_000))
    np.testing.assert_array_equal(mapped["x"], np.arange(10_000) / 7)
    np.testing.assert_array_equal(en.read(path)["n"], np.r_[np.arange(10_000), np.arange(1200)])


def test_objects_keep_what_the_newest_generation_lacks(tmp_path: Path) -> None:
    path = tmp_path / "a.entasis"
    first = pd.DataFrame({"a": [1, 2], "b": pd.Series([{1}, "x"], dtype=object)})
    en.write(first, path)
    en.drop_columns(path, "a")
    en.append(pd.DataFrame({"b": pd.Series([(3,)], dtype=object)}), path)
    assert en.generations(path)[0].operation == "write"
    pd.testing.assert_frame_equal(en.open(path, generation=1).read(), first)
    assert en.read(path)["b"].tolist() == [{1}, "x", (3,)]


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5, "7d", timedelta(0), timedelta(-1)])
def test_wrong_wishes(tmp_path: Path, wrong: object) -> None:
    path = tmp_path / "a.entasis"
    en.write(frame(3), path)
    before = path.read_bytes()
    with pytest.raises(ArgumentError, match="keep="):
        en.keep(path, wrong)  # type: ignore[arg-type]
    assert path.read_bytes() == before


def test_a_wish_holds_for_later_changes(tmp_path: Path) -> None:
    path = tmp_path / "a.entasis"
    en.write(frame(3), path)
    en.keep(path, 2)
    n_shorter, before = 0, os.path.getsize(path)
    for i in range(700):
        en.append(frame(1, i), path, durable=False)
        if os.path.getsize(path) < before:
            n_shorter += 1
            last = i + 3
            assert numbers(path) == [last - 3, last - 2, last - 1, last]
        before = os.path.getsize(path)
    assert n_shorter > 0
    en.keep(path, timedelta(days=1))
    en.keep(path, None)


def test_long_files_are_reported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dead, "_LONG", 1)
    asked: list[str] = []

    class Handle:
        def __init__(self, path: str, *options: object) -> None:
            asked.append(path)

        def is_worth_compacting(self) -> bool:
            return len(asked) > 1

    monkeypatch.setattr(dead._entasis, "Handle", Handle)
    path = tmp_path / "a"
    path.write_bytes(bytes(100))
    dead.warn_of_dead(str(path))
    path.write_bytes(bytes(199))
    dead.warn_of_dead(str(path))
    assert len(asked) == 1
    path.write_bytes(bytes(200))
    with pytest.warns(UserWarning, match="four times"):
        dead.warn_of_dead(str(path))
    path.write_bytes(bytes(1000))
    dead.warn_of_dead(str(path))
    assert len(asked) == 2


def test_writers_report_long_files(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(writer, "warn_of_dead", lambda path, secret, stacklevel: asked.append(path))
    for append in (False, True, True):
        with en.writer(path, append=append) as w:
            w.write(pd.DataFrame({"a": [1]}))
    assert asked == [str(path)] * 2


def test_info_shows_the_wish(tmp_path: Path) -> None:
    path = tmp_path / "a.entasis"
    en.write(pd.DataFrame({"a": [1]}), path)
    assert en.info(path).keep is None
    assert "keep" not in repr(en.info(path))
    for wish, shown in [(5, "keep: 5"), (timedelta(days=7), "keep: 7 days, 0:00:00")]:
        en.keep(path, wish)
        assert en.info(path).keep == wish
        assert shown in repr(en.info(path)).splitlines()
    en.keep(path, None)
    assert en.info(path).keep is None


def test_appends_and_writers_state_a_wish(tmp_path: Path) -> None:
    path = tmp_path / "a.entasis"
    en.append(frame(3), path, create=True)
    en.append(frame(1), path, keep=1)
    for i in range(700):
        en.append(frame(1, i), path, durable=False)
    assert len(numbers(path)) < 700
    with en.writer(path, append=True, keep=timedelta(days=1)) as w:
        w.write(frame(2))
    n = len(numbers(path))
    for i in range(300):
        en.append(frame(1, i), path, durable=False)
    assert len(numbers(path)) == n + 300
    with pytest.raises(ArgumentError, match="keep="):
        en.append(frame(1), path, keep=0)


def test_widened_objects_keep_the_earlier_generation(tmp_path: Path) -> None:
    path = tmp_path / "a.entasis"
    first = pd.DataFrame({"a": np.array([1, 2], np.int8), "b": pd.Series([{1}, "x"], dtype=object)})
    en.write(first, path)
    en.append(pd.DataFrame({"a": [300], "b": pd.Series([(3,)], dtype=object)}), path, widen=True)
    pd.testing.assert_frame_equal(en.open(path, generation=en.generations(path)[0].number).read(), first)
    assert en.read(path)["a"].tolist() == [1, 2, 300]
