"""Folders in Ray Data. `make test-release` installs Ray for these tests."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import entasis as en

ray = pytest.importorskip("ray")
pytest.importorskip("ray.data")

import entasis.ray  # noqa: E402
from entasis._machines.ray_read import EntasisDatasource  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

N = 200_000
same = pd.testing.assert_frame_equal


@pytest.fixture(scope="module", autouse=True)
def _engine() -> Iterator[None]:
    """Two worker processes."""
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=300 << 20)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def frame(n: int = N) -> pd.DataFrame:
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "k": random.integers(0, 4, n),
            "x": random.normal(size=n),
            "s": random.choice(["v", "w", None], n),
            "t": pd.date_range("2024-01-01", periods=n, freq="min"),
        }
    )


def read(folder: Path, **how: Any) -> Any:
    return ray.data.read_datasource(entasis.ray.datasource(folder, **how))


def rows(dataset: Any) -> pd.DataFrame:
    """The rows in the order of `id`."""
    found = pd.concat([pa.table(block).to_pandas() for block in map(ray.get, dataset.to_arrow_refs())])
    return found.sort_values("id", ignore_index=True) if "id" in found else found.reset_index(drop=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The frame by keys."""
    path = tmp_path_factory.mktemp("ray") / "set"
    en.write_dataset(frame(), path, partition_by="k", rows_per_file=30_000)
    return path


def expected(folder: Path, **how: Any) -> pd.DataFrame:
    found = en.scan(folder, **how).to_dataset().to_table().to_pandas()
    return found.sort_values("id", ignore_index=True)


def test_rows_equal_those_of_pandas(folder: Path) -> None:
    dataset = read(folder)
    assert dataset.count() == N
    same(rows(dataset), expected(folder))
    same(rows(dataset)[list(frame())], frame(), check_dtype=False)
    some = read(folder, columns=["id", "k"], filter=(en.col("k") == 2) & (en.col("x") > 0))
    assert some.schema().names == ["id", "k"]
    same(rows(some), expected(folder, columns=["id", "k"], filter=(en.col("k") == 2) & (en.col("x") > 0)))
    assert dataset.sum("id") == N * (N - 1) // 2


def test_what_ray_asks_for_is_pushed_down(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ray.data.expressions import col

    asked: list[Any] = []
    given = EntasisDatasource.get_read_tasks

    def seen(self: Any, *of: Any, **by: Any) -> Any:
        tasks = given(self, *of, **by)
        asked.append((self._names(), self.get_current_predicate() is not None, len(tasks)))
        return tasks

    monkeypatch.setattr(EntasisDatasource, "get_read_tasks", seen)
    whole = frame()
    found = read(folder).filter(expr=(col("x") > 1) & (col("k") == 1)).select_columns(["id", "s"])
    same(rows(found), whole[(whole.x > 1) & (whole.k == 1)][["id", "s"]].reset_index(drop=True), check_dtype=False)
    assert {"id", "s"} <= set(asked[-1][0]) <= {"id", "s", "x", "k"}
    assert asked[-1][1]
    # The same source in another query has no condition.
    source = entasis.ray.datasource(folder)
    dataset = ray.data.read_datasource(source)
    assert dataset.filter(expr=col("id") < 10).count() == 10
    assert dataset.count() == N
    assert dataset.filter(expr=(col("id") < 10) | (col("id") >= N - 5)).count() == 15
    assert dataset.limit(7).count() == 7
    assert dataset.filter(expr=col("k") == 3).limit(5).count() == 5


def test_limits(folder: Path) -> None:
    assert read(folder, limit=10).count() == 10
    assert read(folder, limit=50_000).count() == 50_000
    assert rows(read(folder, limit=100))["id"].tolist() == en.scan(folder, limit=100).read()["id"].tolist()
    some = rows(read(folder, limit=100, filter=en.col("x") > 2))
    same(some, expected(folder, limit=100, filter=en.col("x") > 2))
    from ray.data.expressions import col

    # The condition follows the limit.
    first = en.scan(folder, limit=100).read(to="pandas")
    assert read(folder, limit=100).filter(expr=col("x") > 0).count() == (first.x > 0).sum()
    with pytest.raises(en.ColumnNotFoundError):
        entasis.ray.datasource(folder, columns=["y"])


def test_writes_have_one_commit(tmp_path: Path) -> None:
    whole = frame(20_000)
    dataset = ray.data.from_pandas([whole[:7000], whole[7000:]])
    dataset.write_datasink(entasis.ray.datasink(tmp_path / "set", partition_by="k"))
    found = en.scan(tmp_path / "set").read(to="pandas").sort_values("id", ignore_index=True)
    same(found[list(whole)], whole, check_dtype=False)
    assert len(list((tmp_path / "set/_entasis").iterdir())) == 1
    dataset.write_datasink(entasis.ray.datasink(tmp_path / "set", mode="append"))
    assert en.scan(tmp_path / "set").count() == 40_000
    dataset.write_datasink(entasis.ray.datasink(tmp_path / "set", mode="overwrite", rows_per_file=1000))
    assert en.scan(tmp_path / "set").count() == 20_000
    en.verify(tmp_path / "set")
    with pytest.raises(en.ExistingFileError):
        entasis.ray.datasink(tmp_path / "set")


def test_a_worker_that_is_killed(tmp_path: Path) -> None:
    whole = frame(20_000)
    mark = tmp_path / "killed"

    def dying(table: pa.Table) -> pa.Table:
        from entasis._dataset.files_of_job import Job

        def killed(self: Any, texts: Any) -> None:
            writer, _, _ = self._open[texts]
            writer.close()
            os.kill(os.getpid(), signal.SIGKILL)

        if not mark.exists():
            mark.touch()
            Job._end = killed  # type: ignore[method-assign]
        return table

    dataset = ray.data.from_pandas([whole[:5000], whole[5000:]]).map_batches(dying, batch_format="pyarrow")
    dataset.write_datasink(entasis.ray.datasink(tmp_path / "set"))
    assert mark.exists()
    found = en.scan(tmp_path / "set").read(to="pandas").sort_values("id", ignore_index=True)
    same(found, whole, check_dtype=False)


def test_a_task_that_fails_leaves_the_old_state(tmp_path: Path) -> None:
    old = pd.DataFrame({"id": [1, 2]})
    en.write_dataset(old, tmp_path / "set")

    def failing(table: pa.Table) -> pa.Table:
        if table["id"][0].as_py():
            raise ValueError("no such row")
        return table

    dataset = ray.data.from_pandas([frame(1000), frame(2000)[1000:]]).map_batches(failing, batch_format="pyarrow")
    with pytest.raises(Exception, match="no such row"):
        dataset.write_datasink(entasis.ray.datasink(tmp_path / "set", mode="overwrite"))
    same(en.read(tmp_path / "set"), old)
    # Another job came between.
    sink = entasis.ray.datasink(tmp_path / "set", mode="overwrite")
    en.write_dataset(old, tmp_path / "set", mode="append")
    with pytest.raises(en.ConflictError):
        ray.data.from_pandas(old).write_datasink(sink)
    assert en.read(tmp_path / "set")["id"].tolist() == [1, 2, 1, 2]
    # Blocks whose columns differ.
    other = ray.data.from_arrow([pa.table({"id": [1]}), pa.table({"id": ["a"]})])
    with pytest.raises(Exception, match="id"):
        other.write_datasink(entasis.ray.datasink(tmp_path / "set", mode="overwrite"))
    assert en.read(tmp_path / "set")["id"].tolist() == [1, 2, 1, 2]
