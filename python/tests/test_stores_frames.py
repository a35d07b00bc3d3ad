"""Frames and folders on a store, against the same frames in memory, with counted requests."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import entasis as en
from entasis._stores.address import parse
from entasis._stores.listing import Folder
from entasis._stores.options import Options

pytest.importorskip("moto")
pytest.importorskip("flask")

from moto_server import SECRET, MotoServer

URL = "s3://tables/folder/frame.entasis"
N = 300_000


@pytest.fixture(autouse=True)
def environment(moto: MotoServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables with the options of the server."""
    for name, value in moto.environment.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    numbers = {f"c{i}": np.round(rng.random(N) * 1000, i) for i in range(8)}
    words = [f"w{i}" for i in rng.integers(0, 1000, N)]
    return pd.DataFrame({"id": np.arange(N), "s": words, "b": rng.random(N) < 0.5, **numbers})


def gets(moto: MotoServer) -> int:
    """The requests for bytes so far, which are forgotten."""
    n = sum(method in ("GET", "HEAD") for method, _ in moto.requests)
    moto.requests.clear()
    return n


def test_reads_take_few_requests(moto: MotoServer, library: str, frame: pd.DataFrame) -> None:
    en.write(frame, URL)
    moto.requests.clear()
    file = en.open(URL)
    # fsspec has no size in the reply to a range, and asks for it.
    at_open = 2 if library == "obstore" else 3
    assert gets(moto) == at_open
    assert file[:3][["id", "c3"]].read().equals(frame.loc[:2, ["id", "c3"]])
    assert gets(moto) == 2
    found = en.open(URL).read(columns=["id", "c3"], filter=en.col("id") == 150_000)
    assert found.equals(frame.loc[[150_000], ["id", "c3"]])
    assert gets(moto) <= at_open + 2
    assert file.read().equals(frame)
    # Neighbouring columns are read together, in requests of a mebibyte and more.
    assert gets(moto) <= 12
    scattered = [299_999, 5, 70_000]
    assert file[scattered]["s"].read()["s"].tolist() == frame["s"][scattered].tolist()
    assert gets(moto) <= 3


@pytest.mark.parametrize("to", ["pandas", "polars", "pyarrow", "numpy"])
def test_values_are_those_of_a_local_file(moto: MotoServer, frame: pd.DataFrame, to: Any, tmp_path: Path) -> None:
    en.write(frame, URL, metadata={"author": "Ada"})
    en.write(frame, tmp_path / "local.entasis", metadata={"author": "Ada"})
    local, remote = en.open(tmp_path / "local.entasis"), en.open(URL)
    assert remote.metadata == {"author": "Ada"}
    for rows in (None, (100, 200), [7, 299_999, 7], slice(0, None, 1000)):
        ours, expected = remote.read(rows=rows, to=to), local.read(rows=rows, to=to)
        if to == "numpy":
            assert all(np.array_equal(ours[name], expected[name]) for name in expected)
        else:
            assert ours.equals(expected)
    condition = (en.col("c0") > 900) & (en.col("s") == "w7")
    assert remote.scan(filter=condition).read(to="pandas").equals(local.scan(filter=condition).read(to="pandas"))
    assert remote.scan(filter=condition).count() == local.scan(filter=condition).count()
    assert en.verify(URL).n_values == en.verify(tmp_path / "local.entasis").n_values
    assert en.info(URL).n_rows == N


def test_engines_read_objects(moto: MotoServer, frame: pd.DataFrame) -> None:
    import duckdb
    import pyarrow.compute as pc

    en.write(frame, URL)
    file = en.open(URL)
    assert file.lazy().filter(pl.col("s") == "w3").select(pl.sum("id")).collect().item() == int(
        frame["id"][frame["s"] == "w3"].sum()
    )
    rows = file.to_dataset()
    assert rows.count_rows(pc.field("c0") > 500) == int((frame["c0"] > 500).sum())
    assert duckdb.sql("SELECT count(*) FROM rows WHERE b").fetchall() == [(int(frame["b"].sum()),)]
    assert sum(len(batch) for batch in pa.RecordBatchReader.from_stream(file)) == N


def test_trees_and_other_formats(moto: MotoServer, frame: pd.DataFrame, tmp_path: Path) -> None:
    tree = {"run": 7, "scores": np.arange(5.0), "frame": frame[:10], "text": "é" * 100_000}
    en.write(tree, "s3://tables/tree.entasis")
    found = en.read("s3://tables/tree.entasis")
    assert found["run"] == 7
    assert found["frame"].equals(frame[:10])
    assert found["text"] == tree["text"]
    frame[:5].to_parquet(tmp_path / "x.parquet")
    Folder(parse("s3://tables", is_folder=True), Options(moto.options)).put("x.parquet", tmp_path / "x.parquet")
    assert en.read("s3://tables/x.parquet").equals(frame[:5])
    for options in ({"types": {}}, {"generation": 1}):
        with pytest.raises(en.ArgumentError, match="are for Entasis files"):
            en.read("s3://tables/x.parquet", **options)
    en.convert("s3://tables/x.parquet", tmp_path / "x.entasis")
    assert en.read(tmp_path / "x.entasis").equals(frame[:5])
    en.convert(tmp_path / "x.entasis", "s3://tables/y.csv")
    assert en.read_csv("s3://tables/y.csv", to="pandas")["id"].tolist() == list(range(5))
    with pytest.raises(en.NotEntasisError, match=r"s3://tables/x\.parquet"):
        en.open("s3://tables/x.parquet")


def test_folders_on_a_store(moto: MotoServer, library: str, frame: pd.DataFrame, tmp_path: Path) -> None:
    local = str(tmp_path / "rows")
    en.write_dataset(frame.assign(k=frame["id"] % 4), local, partition_by="k")
    folder = Folder(parse("s3://tables/rows", is_folder=True), Options(moto.options))
    for path in Path(local).rglob("*.entasis"):
        folder.put(path.relative_to(local).as_posix(), path)
    moto.requests.clear()
    scan = en.scan("s3://tables/rows")
    first = gets(moto)
    assert scan.count() == N
    assert gets(moto) == 0
    # The list of manifests, the manifest, and the first file.
    assert first <= (5 if library == "obstore" else 8)
    assert (
        scan.filter(en.col("k") == 3)
        .read(to="pandas")
        .equals(en.scan(local, filter=en.col("k") == 3).read(to="pandas"))
    )
    groups = scan.lazy().group_by("k").agg(pl.sum("id")).sort("k").collect()
    assert groups.equals(en.scan(local).lazy().group_by("k").agg(pl.sum("id")).sort("k").collect())
    assert scan.to_dataset().count_rows() == N
    plain = en.scan("s3://tables/rows", manifest=False)
    assert plain.count() == N
    with pytest.raises(en.errors.MissingFileError, match="no object"):
        en.scan("s3://tables/nothing")


def test_counts_take_the_list_and_the_manifest(moto: MotoServer, library: str, tmp_path: Path) -> None:
    n, local = 1_000, str(tmp_path / "many")
    rows = pl.DataFrame({"k": np.arange(n), **{f"c{i}": np.arange(n) * 1.5 for i in range(10)}})
    en.write_dataset(rows, local, partition_by="k")
    folder = Folder(parse("s3://tables/many", is_folder=True), Options(moto.options))
    [manifest] = Path(local, "_entasis").iterdir()
    folder.put(f"_entasis/{manifest.name}", manifest)
    moto.requests.clear()
    assert en.scan("s3://tables/many").count() == n
    assert gets(moto) == 2
    assert en.scan("s3://tables/many", filter=en.col("k") == 7).paths[7].startswith("s3://tables/many/k=")
    assert gets(moto) == 2


def test_data_sets_are_written_to_a_store(moto: MotoServer, library: str, frame: pd.DataFrame) -> None:
    rows, url = frame.assign(k=frame["id"] % 3), "s3://tables/sales"
    if library == "fsspec":
        # Jobs could replace each other's manifests.
        with pytest.raises(en.ArgumentError, match="manifest"):
            en.write_dataset(rows, url, partition_by="k")
        return
    en.write_dataset(rows[:100_000], url, partition_by="k", rows_per_file=20_000)
    assert en.scan(url).count() == 100_000
    en.write_dataset(rows[100_000:], url, mode="append")
    found = en.scan(url, filter=en.col("k") == 1).read(to="pandas").sort_values("id", ignore_index=True)
    assert found.equals(rows[rows["k"] == 1].reset_index(drop=True))
    with pytest.raises(en.errors.ExistingFileError):
        en.write_dataset(rows, url, partition_by="k")
    with pytest.raises(en.ArgumentError, match="int64 in the file and str"):
        en.write_dataset(rows.astype({"id": str}), url, mode="append")
    assert en.scan(url).count() == N
    en.write_dataset(rows[:10], url, partition_by="k", mode="overwrite")
    assert en.scan(url).count() == 10
    # A failed job removes the files that it sent.
    entries = Folder(parse(url, is_folder=True), Options(moto.options)).list()
    n = len(entries)
    moto.before = lambda method, target: "503" if method == "PUT" and "_entasis" in target else None
    with pytest.raises(en.errors.FileError):
        en.write_dataset(
            rows[:10], url, mode="append", storage_options={"max_retries": 0, "retry_timeout": 1, **moto.options}
        )
    moto.before = lambda method, target: None
    assert len(Folder(parse(url, is_folder=True), Options(moto.options)).list()) == n
    assert en.scan(url).count() == 10


def test_jobs_on_a_store_lose_no_rows(moto: MotoServer, library: str, frame: pd.DataFrame) -> None:
    if library == "fsspec":
        pytest.skip("fsspec creates no manifests")
    from concurrent.futures import ThreadPoolExecutor

    url = "s3://tables/jobs"
    en.write_dataset(frame[:5], url)
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(en.write_dataset, frame[5 * i : 5 * i + 5], url, mode="append") for i in range(1, 9)]
        for job in jobs:
            job.result()
    assert sorted(en.scan(url).read(to="pandas")["id"]) == list(range(45))


def test_a_replaced_object_is_found(moto: MotoServer, frame: pd.DataFrame) -> None:
    en.write(frame, URL)
    file = en.open(URL)
    en.write(frame[::-1], URL)
    with pytest.raises(en.errors.FileError, match="replaced"):
        file.read()


def test_a_damaged_object_is_found(moto: MotoServer, frame: pd.DataFrame) -> None:
    content = bytearray(en.to_bytes(frame))
    content[len(content) // 2] ^= 1
    Folder(parse("s3://tables", is_folder=True), Options(moto.options)).put("bad.entasis", bytes(content))
    with pytest.raises(en.CorruptFileError, match=r"s3://tables/bad\.entasis"):
        en.read("s3://tables/bad.entasis")
    with pytest.raises(en.CorruptFileError):
        en.verify("s3://tables/bad.entasis")


def test_failures_come_from_the_store(moto: MotoServer, library: str, frame: pd.DataFrame) -> None:
    with pytest.raises(en.errors.MissingFileError, match="does not exist"):
        en.read("s3://tables/nothing.entasis")
    en.write(frame[:10], URL)
    # Only obstore writes on a condition.
    refused = en.errors.ExistingFileError if library == "obstore" else en.ArgumentError
    with pytest.raises(refused):
        en.write(frame[:5], URL, overwrite=False)
    assert len(en.read(URL)) == 10
    for change in (
        lambda: en.append(frame, URL),
        lambda: en.compact(URL),
    ):
        with pytest.raises(en.ArgumentError, match="is an address"):
            change()
    with pytest.raises(en.ArgumentError, match="are for addresses"):
        en.read("x.entasis", storage_options={"aws_region": "x"})
    with pytest.raises(en.ArgumentError, match="are for addresses"):
        en.write(frame, "x.entasis", storage_options={"aws_region": "x"})
    assert not os.path.exists("x.entasis")


def test_the_command_reads_objects(moto: MotoServer, frame: pd.DataFrame, capfd: pytest.CaptureFixture[str]) -> None:
    from entasis._entasis import cli_main

    en.write(frame, URL)
    for words, expected in (
        (["count", URL], f"{N:,}".replace(",", "")),
        (["count", URL, "--where", "id < 5"], "5"),
        (["verify", URL], ""),
        (["schema", URL], "c7"),
        (["head", "-n", "2", URL], "id"),
        (["info", URL], "s3://tables/folder/frame.entasis"),
    ):
        assert cli_main(words) == 0, words
        assert expected in capfd.readouterr().out
    assert cli_main(["count", "s3://tables/nothing.entasis"]) != 0
    said = capfd.readouterr().err
    assert "s3://tables/nothing.entasis does not exist" in said
    assert SECRET not in said


def test_pickles_have_no_secret(moto: MotoServer, frame: pd.DataFrame) -> None:
    en.write(frame, URL, storage_options=moto.options)
    file = en.open(URL, storage_options=moto.options)
    view = file[10:20]["s"]
    content = pickle.dumps(view)
    assert SECRET.encode() not in content
    assert SECRET not in repr(file)
    assert pickle.loads(content).read().equals(view.read())


def test_objects_of_other_libraries(moto: MotoServer, frame: pd.DataFrame) -> None:
    class Ranged:
        def __init__(self, content: bytes) -> None:
            self.content, self.n = content, 0

        def size(self) -> int:
            return len(self.content)

        def read_at(self, offset: int, length: int) -> bytes:
            self.n += 1
            return self.content[offset : offset + length]

    ranged = Ranged(en.to_bytes(frame))
    assert en.open(ranged)[:5].read().equals(frame[:5])
    assert ranged.n < 20

    class Liar(Ranged):
        def read_at(self, offset: int, length: int) -> bytes:
            return super().read_at(offset, length)[:-1]

    with pytest.raises(en.EntasisError):
        en.read(Liar(en.to_bytes(frame)))
