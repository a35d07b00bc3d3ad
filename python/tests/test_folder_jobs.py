"""Jobs that write a folder at once, fail or are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import polars as pl
import pytest
from folder_frames import in_order
from polars.testing import assert_frame_equal

import entasis as en
from entasis._dataset import manifest as _manifest
from entasis._dataset import write as _write


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
