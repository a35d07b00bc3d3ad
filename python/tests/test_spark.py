"""Folders in Spark, in local mode. `make test-release` installs PySpark for these tests."""

from __future__ import annotations

import datetime
import decimal
import os
import shutil
import signal
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import entasis as en

pyspark = pytest.importorskip("pyspark")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java", allow_module_level=True)

from pyspark.sql import SparkSession  # noqa: E402

import entasis.spark  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

N = 20_000
same = pd.testing.assert_frame_equal


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """A session with two threads, which tries a task twice."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2,2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    entasis.spark.register(session)
    yield session
    session.stop()


def frame(n: int = N) -> pd.DataFrame:
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "k": random.integers(0, 4, n),
            "x": random.normal(size=n),
            "s": random.choice(["v", "w", None], n),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The frame by keys."""
    path = tmp_path_factory.mktemp("spark") / "set"
    en.write_dataset(frame(), path, partition_by="k", rows_per_file=3000)
    return str(path)


def read(spark: Any, folder: Any, **options: str) -> Any:
    reader = spark.read.format("entasis")
    for name, value in options.items():
        reader = reader.option(name, value)
    return reader.load(str(folder))


def rows(found: Any) -> pd.DataFrame:
    table = pa.Table.from_batches(found.toArrow().to_batches())
    return table.to_pandas().sort_values("id", ignore_index=True)


def test_rows_equal_those_of_pandas(spark: Any, folder: str) -> None:
    whole = frame()
    found = read(spark, folder)
    assert found.columns == ["id", "x", "s", "k"]
    same(rows(found)[list(whole)], whole, check_dtype=False)
    some = read(spark, folder, columns="id, s", filter="x > 1 and s = 'v'")
    assert some.columns == ["id", "s"]
    expected = whole[(whole.x > 1) & (whole.s == "v")][["id", "s"]].reset_index(drop=True)
    same(rows(some), expected, check_dtype=False)
    some = read(spark, folder, columns="id", keys="k in (1, 3)", filter="x > 1")
    same(rows(some), whole[whole.k.isin([1, 3]) & (whole.x > 1)][["id"]].reset_index(drop=True), check_dtype=False)


def test_queries_in_turn(spark: Any, folder: str) -> None:
    """Each query has its own conditions: those of an earlier one are not kept."""
    whole = frame()
    found = read(spark, folder)
    assert found.filter("id >= 19990").count() == 10
    assert found.count() == N
    assert found.filter("id < 10 or id >= 19995").count() == 15
    assert found.filter("k = 2").select("id").count() == (whole.k == 2).sum()
    assert found.filter("id < 7").join(found, "id").count() == 7
    assert found.limit(3).count() == 3
    assert found.agg({"id": "sum"}).collect()[0][0] == whole.id.sum()


def test_types(spark: Any, tmp_path: Path) -> None:
    day = datetime.date(2024, 1, 2)
    time = datetime.datetime(2024, 1, 2, 3, 4, 5, 678901)
    given = pl.DataFrame(
        {
            "b": [True, None],
            "u": pl.Series([2**64 - 1, 0], dtype=pl.UInt64),
            "small": pl.Series([200, None], dtype=pl.UInt8),
            "d": [day, None],
            "t": [time, None],
            "z": pl.Series([time, None]).dt.replace_time_zone("UTC"),
            "n": [decimal.Decimal("1.25"), None],
            "c": pl.Series(["a", None], dtype=pl.Categorical),
            "l": [[1, None], None],
            "bytes": [b"x", None],
        }
    )
    en.write_dataset(given, tmp_path / "set")
    first, second = read(spark, tmp_path / "set").collect()
    assert first.asDict() == {
        "b": True,
        "u": decimal.Decimal(2**64 - 1),
        "small": 200,
        "d": day,
        "t": time,
        "z": time,
        "n": decimal.Decimal("1.25"),
        "c": "a",
        "l": [1, None],
        "bytes": bytearray(b"x"),
    }
    assert [name for name, value in second.asDict().items() if value is not None] == ["u"]
    en.write_dataset(pl.DataFrame({"t": pl.Series([1], dtype=pl.Datetime("ns"))}), tmp_path / "ns")
    with pytest.raises(Exception, match="column 't' is timestamp"):
        read(spark, tmp_path / "ns").collect()
    en.write_dataset(pl.DataFrame({"a": [1], "s": [{"f": 1}]}), tmp_path / "struct")
    with pytest.raises(Exception, match="column 's' is struct"):
        read(spark, tmp_path / "struct")
    assert read(spark, tmp_path / "struct", columns="a").count() == 1


def test_errors_name_the_option(spark: Any, folder: str, tmp_path: Path) -> None:
    for options, said in (
        ({"colums": "id"}, "option 'colums'"),
        ({"columns": "id,y"}, "no column or key 'y'"),
        ({"filter": "x >"}, "needs a value at character 4"),
        ({"filter": "y > 1"}, 'column "y"'),
        ({"filter": "k > 1 and x > 0"}, "names a key can't name columns"),
        ({"keys": "k > 1 and x > 0"}, "names a key can't name columns"),
    ):
        with pytest.raises(Exception, match=said):
            read(spark, folder, **options).count()
    with pytest.raises(Exception, match="MissingFileError"):
        read(spark, tmp_path / "nothing").count()


def test_writes_have_one_commit(spark: Any, tmp_path: Path) -> None:
    whole = frame()
    found = spark.createDataFrame(whole.astype({"s": object}).where(whole.notna(), None)).repartition(3)
    target = tmp_path / "set"
    found.write.format("entasis").mode("append").option("partition_by", "k").save(str(target))
    back = en.scan(target).read(to="pandas").sort_values("id", ignore_index=True)
    same(back[list(whole)], whole, check_dtype=False)
    assert len(list((target / "_entasis").iterdir())) == 1
    found.write.format("entasis").mode("append").save(str(target))
    assert en.scan(target).count() == 2 * N
    found.write.format("entasis").mode("overwrite").option("rows_per_file", 1000).save(str(target))
    assert en.scan(target).count() == N
    en.verify(target)


def test_a_worker_that_is_killed(spark: Any, tmp_path: Path) -> None:
    mark = str(tmp_path / "killed")

    def dying(batches: Any) -> Any:
        for batch in batches:
            if not os.path.exists(mark) and batch["id"][0].as_py() > 0:
                open(mark, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
            yield batch

    whole = spark.range(0, N, 1, 4)
    target = tmp_path / "set"
    whole.mapInArrow(dying, whole.schema).write.format("entasis").mode("append").save(str(target))
    assert os.path.exists(mark)
    assert sorted(en.scan(target).read(to="pandas")["id"]) == list(range(N))


def test_a_task_that_fails_leaves_the_old_state(spark: Any, tmp_path: Path) -> None:
    old = pl.DataFrame({"id": [1, 2]})
    target = tmp_path / "set"
    en.write_dataset(old, target)

    def failing(batches: Any) -> Any:
        for batch in batches:
            if batch["id"][0].as_py() > 0:
                raise ValueError("no such row")
            yield batch

    whole = spark.range(0, N, 1, 4)
    with pytest.raises(Exception, match="no such row"):
        whole.mapInArrow(failing, whole.schema).write.format("entasis").mode("overwrite").save(str(target))
    assert en.read(target)["id"].to_list() == [1, 2]
    assert len(list(target.glob("part-*"))) == 1
