"""Scans of folders on a store have several requests on their way, and the rows of local scans."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import entasis as en
from entasis._dataset.ahead import OPENED, in_turn
from entasis._stores.address import parse
from entasis._stores.listing import Folder
from entasis._stores.options import Options

pytest.importorskip("moto")
pytest.importorskip("flask")

if TYPE_CHECKING:
    from moto_server import MotoServer

N_FILES, N_ROWS = 50, 50
DELAY_S = 0.02
URL = "s3://tables/many"


class Slow:
    """Delays requests for bytes, and counts them and how many are on their way at once."""

    def __init__(self, moto: MotoServer) -> None:
        self.n, self.n_now, self.n_most = 0, 0, 0
        self._lock = threading.Lock()
        moto.before = self._answer

    def _answer(self, method: str, target: str) -> None:
        if method not in ("GET", "HEAD"):
            return
        with self._lock:
            self.n += 1
            self.n_now += 1
            self.n_most = max(self.n_most, self.n_now)
        time.sleep(DELAY_S)
        with self._lock:
            self.n_now -= 1

    def counted(self) -> tuple[int, int]:
        """The requests since the last call, and the most at once."""
        found, self.n, self.n_most = (self.n, self.n_most), 0, 0
        return found


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    n = N_FILES * N_ROWS
    return pd.DataFrame({"n": range(n), "s": [f"w{i % 7}" for i in range(n)], "x": [i * 0.5 for i in range(n)]})


@pytest.fixture(scope="module")
def local(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("local") / "many")
    en.write_dataset(frame, path, rows_per_file=N_ROWS)
    return path


@pytest.fixture
def slow(moto: MotoServer, local: str, monkeypatch: pytest.MonkeyPatch) -> Slow:
    """A server that has the data set, and answers each request late."""
    for name, value in moto.environment.items():
        monkeypatch.setenv(name, value)
    folder = Folder(parse(URL, is_folder=True), Options(moto.options))
    for path in Path(local).rglob("*.entasis"):
        folder.put(path.relative_to(local).as_posix(), path)
    return Slow(moto)


def to_frame(found: Any) -> pd.DataFrame:
    """Batches, tables and frames of any library as one frame of pandas."""
    if isinstance(found, Iterator):
        return pd.concat([to_frame(part) for part in found], ignore_index=True)
    return found if isinstance(found, pd.DataFrame) else found.to_pandas()


WAYS: dict[str, Callable[[en.FolderScan], Any]] = {
    "read": lambda scan: scan.read(),
    "to_polars": lambda scan: scan.to_polars(),
    "batches": lambda scan: scan.batches(20),
    "lazy": lambda scan: scan.lazy().collect(),
    "to_dataset": lambda scan: scan.to_dataset().to_table(),
    "stream": lambda scan: pa.RecordBatchReader.from_stream(scan),
    "filter": lambda scan: scan.filter(en.col("n") >= 0).read(),
    "lazy filter": lambda scan: scan.lazy().filter(pl.col("n") >= 0).collect(),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("manifest", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_files_are_read_side_by_side(
    slow: Slow, library: str, local: str, frame: pd.DataFrame, way: str, manifest: bool
) -> None:
    scan = en.scan(URL, manifest=manifest)
    slow.counted()
    found = WAYS[way](scan)
    found = to_frame(found.read_all() if isinstance(found, pa.RecordBatchReader) else found)
    pd.testing.assert_frame_equal(found.reset_index(drop=True), frame)
    n, n_most = slow.counted()
    # A list has the identity of an object, which fsspec asks for otherwise.
    each = 2 if library == "fsspec" and manifest else 1
    assert n <= each * N_FILES
    assert 4 <= n_most <= OPENED + 2


def test_counts_and_infos_open_files_side_by_side(slow: Slow, frame: pd.DataFrame) -> None:
    scan = en.scan(URL, filter=en.col("s") == "w3", manifest=False)
    slow.counted()
    assert scan.count() == int((frame["s"] == "w3").sum())
    n, n_most = slow.counted()
    assert n == N_FILES - 1
    assert n_most >= 4
    plain = en.scan(URL, manifest=False)
    slow.counted()
    assert plain.count() == len(frame)
    n, n_most = slow.counted()
    assert n == N_FILES - 1
    assert n_most >= 4


def test_folders_are_verified_side_by_side(slow: Slow, library: str, local: str) -> None:
    assert en.verify(URL) == en.verify(local)
    n, n_most = slow.counted()
    # Each file is opened once, and all of it is there then.
    assert n <= (2 if library == "fsspec" else 1) * N_FILES + 4
    assert n_most >= 4


def test_tasks_open_files_side_by_side(slow: Slow, library: str, frame: pd.DataFrame) -> None:
    scan = en.scan(URL, filter=en.col("n") >= 40 * N_ROWS)
    slow.counted()
    tasks = scan.splits(30)
    n, n_most = slow.counted()
    # The files with these rows, and the first one.
    assert n <= (2 if library == "fsspec" else 1) * (N_FILES - 40 + 1)
    assert n_most >= 4
    assert len(tasks) == 2 * (N_FILES - 40)
    assert tasks[3].read()["n"].tolist() == list(range(41 * N_ROWS + 30, 42 * N_ROWS))
    assert sum(task.count() for task in tasks[:4]) == 2 * N_ROWS
    some = en.scan(URL, rows=(N_ROWS // 2, 2 * N_ROWS + 1)).splits()
    assert [task.count() for task in some] == [N_ROWS // 2, N_ROWS, 1]


def test_few_rows_open_few_files(slow: Slow, library: str, frame: pd.DataFrame) -> None:
    scan = en.scan(URL)
    slow.counted()
    assert scan.head(3).equals(frame[:3])
    n, _ = slow.counted()
    assert n <= (4 if library == "fsspec" else 2)
    some = en.scan(URL, rows=(20 * N_ROWS + 7, 21 * N_ROWS + 3))
    slow.counted()
    assert some.read()["n"].tolist() == list(range(20 * N_ROWS + 7, 21 * N_ROWS + 3))
    n, _ = slow.counted()
    # The first file, and both of the rows.
    assert n <= (6 if library == "fsspec" else 3)
    batches = scan.batches()
    assert next(batches)["n"].tolist() == list(range(N_ROWS))
    batches.close()
    n, _ = slow.counted()
    assert n <= (2 if library == "fsspec" else 1) * (OPENED + 6)


def test_one_object_is_scanned(slow: Slow, moto: MotoServer, frame: pd.DataFrame) -> None:
    en.write(frame, "s3://tables/one.entasis")
    scan = en.scan("s3://tables/one.entasis")
    for way in ("read", "batches", "lazy", "to_dataset"):
        assert to_frame(WAYS[way](scan)).reset_index(drop=True).equals(frame)
    assert scan.filter(en.col("s") == "w3").count() == int((frame["s"] == "w3").sum())


def test_long_files_are_not_collected(slow: Slow, frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each file is longer than those that other threads read whole.
    monkeypatch.setattr("entasis._dataset.query.SHORT", 10)
    for way in ("read", "batches", "lazy"):
        assert to_frame(WAYS[way](en.scan(URL))).reset_index(drop=True).equals(frame)


def test_a_failure_ends_the_scan(slow: Slow, moto: MotoServer, frame: pd.DataFrame) -> None:
    folder = Folder(parse(URL, is_folder=True), Options(moto.options))
    names = [entry.path for entry in folder.list("part")]
    folder.delete(names[30])
    scan = en.scan(URL)
    with pytest.raises(en.errors.MissingFileError, match="names"):
        scan.read()
    with pytest.raises(en.errors.MissingFileError, match="names"):
        for _ in scan.batches():
            pass
    with pytest.raises(Exception, match="does not exist"):
        scan.lazy().collect()
    assert scan.limit(30 * N_ROWS).read().equals(frame[: 30 * N_ROWS])


def test_progress_counts_all_values(slow: Slow, frame: pd.DataFrame) -> None:
    seen: list[tuple[int, int]] = []
    found = en.scan(URL).read(progress=lambda done, total, unit: seen.append((done, total)))
    assert found.equals(frame)
    assert seen[-1] == (frame.size, frame.size)
    assert seen == sorted(seen)


def test_jobs_keep_their_order_and_bounds() -> None:
    running, most = 0, 0
    lock = threading.Lock()

    def job(number: int) -> list[int]:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.001 * (number % 5))
        with lock:
            running -= 1
        return [number] * (number % 3)

    jobs = (lambda number=number: job(number) for number in range(50))
    assert list(in_turn(jobs, 4, 1)) == [number for number in range(50) for _ in range(number % 3)]
    assert 2 <= most <= 4
    begun = []

    def noted(number: int) -> list[int]:
        begun.append(number)
        return [number]

    few = in_turn((lambda number=number: noted(number) for number in range(50)), 8, 1)
    assert next(few) == 0
    few.close()
    assert begun == [0]
    assert list(in_turn(iter(()), 4, 4)) == []
