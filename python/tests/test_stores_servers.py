"""The same work on each server of stores that `tools/test-stores.py` starts."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import entasis as en
from entasis._stores.address import parse
from entasis._stores.listing import Folder
from entasis._stores.options import Options

# For each server its name, the address of an empty bucket, and storage options, as JSON.
SERVERS = json.loads(os.environ.get("ENTASIS_TEST_STORES", "[]"))
N = 200_000
_numbers = count()

if not SERVERS:
    pytest.skip("tools/test-stores.py starts servers", allow_module_level=True)


@pytest.fixture(params=SERVERS, ids=lambda server: server["name"])
def server(request: pytest.FixtureRequest, library: str) -> dict[str, Any]:
    if library == "fsspec" and request.param["url"].startswith("az:"):
        pytest.importorskip("adlfs")
    return dict(request.param)


@pytest.fixture
def options(server: dict[str, Any]) -> dict[str, Any]:
    return dict(server["options"])


@pytest.fixture
def url(server: dict[str, Any]) -> str:
    """A folder that no other test uses."""
    return f"{server['url']}/test{next(_numbers)}"


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    numbers = {f"c{i}": rng.random(N) for i in range(14)}
    return pd.DataFrame({"id": np.arange(N), "s": [f"w{i}" for i in rng.integers(0, 999, N)], **numbers})


def test_objects(url: str, options: dict[str, Any], frame: pd.DataFrame) -> None:
    path = f"{url}/a b/frame é.entasis"
    # 20 MB are sent in several parts.
    en.write(frame, path, storage_options=options)
    file = en.open(path, storage_options=options)
    assert file[:3][["id", "c3"]].read().equals(frame.loc[:2, ["id", "c3"]])
    assert file.read().equals(frame)
    assert file[[N - 1, 0, 77]]["s"].read()["s"].tolist() == frame["s"][[N - 1, 0, 77]].tolist()
    found = en.read(path, columns=["id", "c1"], filter=en.col("id") == 1234, storage_options=options)
    assert found.equals(frame.loc[[1234], ["id", "c1"]])
    assert file.lazy().select(pl.sum("id")).collect().item() == N * (N - 1) // 2
    assert en.verify(path, storage_options=options).n_values == N * 16
    assert en.info(path, storage_options=options).n_rows == N
    again = en.open(path, storage_options=options, footer=file.footer)
    assert again._view.table.content.n_requests == 0
    assert again["c5"].read().equals(frame[["c5"]])


def test_short_objects(url: str, options: dict[str, Any], frame: pd.DataFrame) -> None:
    for n in (0, 1, 100):
        path = f"{url}/{n}.entasis"
        en.write(frame[:n], path, storage_options=options)
        assert en.read(path, storage_options=options).equals(frame[:n])
    en.write({"run": 7}, f"{url}/tree.entasis", storage_options=options)
    assert en.read(f"{url}/tree.entasis", storage_options=options) == {"run": 7}


def test_objects_are_not_replaced(url: str, options: dict[str, Any], library: str, frame: pd.DataFrame) -> None:
    path = f"{url}/new.entasis"
    if library == "fsspec":
        with pytest.raises(en.ArgumentError, match="only obstore"):
            en.write(frame[:5], path, overwrite=False, storage_options=options)
        return
    en.write(frame[:5], path, overwrite=False, storage_options=options)
    with pytest.raises(en.errors.ExistingFileError):
        en.write(frame[:6], path, overwrite=False, storage_options=options)
    assert len(en.read(path, storage_options=options)) == 5
    with ThreadPoolExecutor(4) as pool:
        jobs = [
            pool.submit(en.write, frame[:n], f"{url}/race.entasis", overwrite=False, storage_options=options)
            for n in range(1, 9)
        ]
    failed = [job.exception() for job in jobs]
    assert sum(error is None for error in failed) == 1
    assert all(error is None or isinstance(error, en.errors.ExistingFileError) for error in failed)


def test_replaced_objects_are_found(url: str, options: dict[str, Any], frame: pd.DataFrame) -> None:
    path = f"{url}/frame.entasis"
    en.write(frame, path, storage_options=options)
    file = en.open(path, storage_options=options)
    footer = file.footer
    en.write(frame[::-1], path, storage_options=options)
    for opened in (file, en.open(path, storage_options=options, footer=footer)):
        with pytest.raises(en.errors.FileError, match="replaced"):
            opened.read()


def test_folders(url: str, options: dict[str, Any], library: str, frame: pd.DataFrame, tmp_path: Any) -> None:
    rows = frame[:3_000].assign(k=frame["id"][:3_000] % 3)
    folder = Folder(parse(url, is_folder=True), Options(options))
    if library == "fsspec":
        with pytest.raises(en.ArgumentError, match="manifest"):
            en.write_dataset(rows, url, partition_by="k", storage_options=options)
        local = tmp_path / "rows"
        en.write_dataset(rows[:1_000], local, partition_by="k")
        en.write_dataset(rows[1_000:], local, mode="append")
        for path in local.rglob("*.entasis"):
            folder.put(path.relative_to(local).as_posix(), path)
    else:
        en.write_dataset(rows[:1_000], url, partition_by="k", storage_options=options)
        en.write_dataset(rows[1_000:], url, mode="append", storage_options=options)
        with pytest.raises(en.errors.ExistingFileError):
            en.write_dataset(rows, url, storage_options=options)
    scan = en.scan(url, storage_options=options)
    assert scan.count() == 3_000
    found = scan.filter(en.col("k") == 1).read(to="pandas").sort_values("id", ignore_index=True)
    assert found.equals(rows[rows["k"] == 1].reset_index(drop=True))
    assert scan.lazy().select(pl.sum("id")).collect().item() == 3_000 * 2_999 // 2
    assert scan.to_dataset().count_rows() == 3_000
    assert en.info(url, storage_options=options).n_files == 6
    assert en.verify(url, storage_options=options).n_values > 3_000 * 16
    assert en.clean(url, storage_options=options) == []
    if library == "obstore":
        en.compact(url, storage_options=options)
        assert en.info(url, storage_options=options).n_files == 3
        assert len(en.clean(url, older_than="0s", storage_options=options)) == 6 + 2
        assert en.scan(url, storage_options=options).count() == 3_000
        assert len(folder.list()) == 4


def test_jobs_lose_no_rows(url: str, options: dict[str, Any], library: str, frame: pd.DataFrame) -> None:
    if library == "fsspec":
        pytest.skip("fsspec creates no manifests")
    en.write_dataset(frame[:5], url, storage_options=options)

    def append(i: int) -> None:
        en.write_dataset(frame[5 * i : 5 * i + 5], url, mode="append", wait=60, storage_options=options)

    with ThreadPoolExecutor(4) as pool:
        for job in [pool.submit(append, i) for i in range(1, 9)]:
            job.result()
    assert sorted(en.scan(url, storage_options=options).read(to="pandas")["id"]) == list(range(45))

    def conflict(done: int, total: int, unit: str) -> None:
        if en.scan(url, storage_options=options).count() == 45:
            append(9)

    with pytest.raises(en.errors.ConflictError):
        en.compact(url, progress=conflict, storage_options=options)
    assert en.scan(url, storage_options=options).count() == 50


def test_failures_have_no_secret(server: dict[str, Any], url: str, options: dict[str, Any]) -> None:
    with pytest.raises(en.errors.MissingFileError):
        en.read(f"{url}/nothing.entasis", storage_options=options)
    with pytest.raises(en.errors.MissingFileError):
        en.scan(url, storage_options=options)
    name = "aws_secret_access_key" if "aws_secret_access_key" in options else "account_key"
    wrong = {**options, name: "d3Jvbmctc2VjcmV0"}
    with pytest.raises(en.errors.FileError) as error:
        en.read(f"{url}/nothing.entasis", storage_options=wrong)
    assert "d3Jvbmctc2VjcmV0" not in str(error.value)
