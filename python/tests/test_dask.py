"""Folders in Dask: partitions and divisions, writes with one commit, and workers that die."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, KilledWorker, LocalCluster
from moto_server import SECRET

import entasis as en
import entasis.dask
from entasis._dataset import table as _table
from entasis._dataset.files_of_job import Job
from entasis._machines import installed
from entasis._machines.rows import Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

N = 3_000
same = pd.testing.assert_frame_equal


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Tasks run here unless a test asks for a cluster, and strings stay as they are."""
    with dask.config.set({"scheduler": "synchronous", "dataframe.convert-string": False}):
        yield


@pytest.fixture(scope="module")
def cluster() -> Iterator[Client]:
    """Two worker processes, which `scheduler="distributed"` takes.

    The client is not put into the settings of Dask, which a new worker gets as a pickle.
    """
    with (
        # A task that kills two workers has failed.
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as processes,
        Client(processes) as client,
    ):
        yield client


def frame(n: int = N) -> pd.DataFrame:
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "k": random.integers(0, 5, n),
            "c": pd.Categorical(random.choice(["a", "b", "c"], n)),
            "x": random.normal(size=n),
            "s": random.choice(["v", "w", None], n),
            "o": pd.Series([None] * (n // 2) + ["late"] * (n - n // 2), dtype=object),
            "t": pd.date_range("2024-01-01", periods=n, freq="min", tz="Europe/Oslo"),
        }
    )


def check_divisions(found: Any) -> None:
    """Each partition has the labels that the divisions promise."""
    assert found.known_divisions
    for number in range(found.npartitions):
        labels = found.get_partition(number).compute().index
        assert len(labels) == 0 or found.divisions[number] <= labels.min()
        is_last = number == found.npartitions - 1
        end = found.divisions[number + 1]
        assert len(labels) == 0 or (labels.max() <= end if is_last else labels.max() < end)


@pytest.mark.parametrize("partition_by", [None, "k"])
def test_partitions_equal_a_read(tmp_path: Path, partition_by: str | None) -> None:
    en.write_dataset(frame(), tmp_path / "set", partition_by=partition_by, rows_per_file=700)
    expected = en.read(tmp_path / "set")
    found = entasis.dask.read(tmp_path / "set", blocksize=20_000)
    assert found.npartitions > len(en.scan(tmp_path / "set").paths)
    assert not found["c"].cat.known
    check_divisions(found)
    same(found.compute(), expected)
    same(found[["s", "c"]].compute(), expected[["s", "c"]])
    pd.testing.assert_series_equal(found["x"].compute(), expected["x"])
    same(found.loc[100:1500].compute(), expected.loc[100:1500])
    condition = (en.col("x") > 0.5) & (en.col("k") != 2)
    some = entasis.dask.read(tmp_path / "set", filter=condition, columns=["s", "k"])
    same(some.compute(), en.read(tmp_path / "set", filter=condition, columns=["s", "k"]))
    check_divisions(some)
    none = entasis.dask.read(tmp_path / "set", filter=en.col("x") > 1e9)
    same(none.compute(), expected[:0], check_index_type=False)


def test_a_filter_on_a_key_opens_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n = 10_000
    whole = pd.DataFrame({"k": np.arange(n) % 100, "x": np.arange(n)})
    en.write_dataset(whole, tmp_path / "set", partition_by="k")
    opened: list[str] = []

    open_value = _table.open_value

    def counted(source: Any, secret: Any = None) -> Any:
        opened.append(str(source))
        return open_value(source, secret)

    monkeypatch.setattr(_table, "open_value", counted)
    found = entasis.dask.read(tmp_path / "set", filter=en.col("k") == 73)
    planned = len(opened)
    assert found["x"].sum().compute() == whole.x[whole.k == 73].sum()
    assert len(set(opened)) == 1
    assert "k=73" in opened[0]
    # The client opens it for the types, and the task for its rows.
    assert (planned, len(opened) - planned) == (1, 1)


def test_columns_are_pushed_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from entasis._machines import dask_read

    en.write_dataset(frame(), tmp_path / "set", rows_per_file=1000)
    found = entasis.dask.read(tmp_path / "set")
    asked: list[Any] = []

    def seen(query: Any, *of: Any, _read: Any = dask_read.read_query, **by: Any) -> Any:
        asked.append(query.columns)
        return _read(query, *of, **by)

    monkeypatch.setattr(dask_read, "read_query", seen)
    assert found["x"].sum().compute() == pytest.approx(frame().x.sum())
    (found["x"] + found["k"]).sum().compute()
    assert asked == [["x"]] * 3 + [["k", "x"]] * 3


def test_equal_labels_are_in_one_partition(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    for n_labels in (3, 30, 300, 3000):
        folder = tmp_path / str(n_labels)
        labels = pd.Index(np.sort(random.integers(0, n_labels, N)), name="label")
        whole = frame().set_index(labels)
        en.write_dataset(whole, folder, rows_per_file=700)
        expected = en.read(folder)
        for blocksize in (8_000, 30_000, "1 MiB"):
            found = entasis.dask.read(folder, blocksize=blocksize)
            same(found.compute(), expected)
            if found.known_divisions:
                check_divisions(found)
                some = slice(n_labels // 3, n_labels // 2)
                same(found.loc[some].compute(), expected.loc[some])
            if n_labels >= 300 or blocksize == "1 MiB":
                assert found.known_divisions
            elif (n_labels, blocksize) == (3, 8_000):
                # A label takes about eight partitions.
                assert not found.known_divisions
    # Files that begin with the last label of the file before.
    whole = pd.DataFrame({"x": np.arange(9)}, index=pd.Index(list("abbbbbcdd"), name="label"))
    en.write_dataset(whole, tmp_path / "short", rows_per_file=2)
    found = entasis.dask.read(tmp_path / "short", blocksize="1 MiB")
    assert found.divisions == ("a", "b", "c", "d", "d")
    check_divisions(found)
    same(found.compute(), whole)


def test_labels_without_order_have_no_divisions(tmp_path: Path) -> None:
    for name, index in (
        ("unsorted", pd.Index([3, 1, 2, 4])),
        ("files", pd.Index([3, 4, 1, 2])),
        ("missing", pd.Index([1.0, 2.0, 3.0, np.nan])),
        ("levels", pd.MultiIndex.from_product([[1, 2], ["a", "b"]])),
    ):
        whole = pd.DataFrame({"x": np.arange(4)}, index=index)
        en.write_dataset(whole, tmp_path / name, rows_per_file=2)
        found = entasis.dask.read(tmp_path / name)
        assert not found.known_divisions, name
        same(found.compute(), whole)
    en.write_dataset(frame().set_index("t"), tmp_path / "times")
    assert entasis.dask.read(tmp_path / "times").known_divisions
    assert not entasis.dask.read(tmp_path / "times", divisions=False).known_divisions


def test_a_column_or_no_index(tmp_path: Path) -> None:
    whole = frame()
    en.write_dataset(whole, tmp_path / "set", rows_per_file=700)
    found = entasis.dask.read(tmp_path / "set", index="t", columns=["x", "c"])
    check_divisions(found)
    same(found.compute(), whole.set_index("t")[["x", "c"]])
    same(found[["c"]].compute(), whole.set_index("t")[["c"]])
    assert not entasis.dask.read(tmp_path / "set", index="x").known_divisions
    en.write_dataset(whole.set_index("t"), tmp_path / "times", rows_per_file=700)
    found = entasis.dask.read(tmp_path / "times", index=False)
    check_divisions(found)
    same(found.compute(), whole.drop(columns="t"))
    some = entasis.dask.read(tmp_path / "times", index=False, filter=en.col("x") > 0)
    assert not some.known_divisions
    expected = whole[whole.x > 0].drop(columns="t").reset_index(drop=True)
    same(some.compute().reset_index(drop=True), expected)
    en.write_dataset(whole, tmp_path / "keys", partition_by="k")
    found = entasis.dask.read(tmp_path / "keys", index="k")
    assert found.divisions == (0, 1, 2, 3, 4, 4)
    with pytest.raises(en.ColumnNotFoundError, match="'y'"):
        entasis.dask.read(tmp_path / "set", index="y")
    with pytest.raises(en.ColumnNotFoundError, match="'z'"):
        entasis.dask.read(tmp_path / "set", filter=en.col("z") == 1)
    for size in ("much", 0, -1, 1.5):
        with pytest.raises(en.ArgumentError, match="blocksize"):
            entasis.dask.read(tmp_path / "set", blocksize=size)


def test_files_without_a_manifest(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    for number, part in enumerate((frame(5), frame(3)[["x", "k", "c", "s", "o", "t"]], frame(4))):
        en.write(part, tmp_path / f"set/{number}.entasis")
    found = entasis.dask.read(tmp_path / "set")
    assert found.divisions == (0, 5, 8, 11)
    same(found.compute(), en.read(tmp_path / "set"))
    en.write(pd.DataFrame({"x": [1, 2]}), tmp_path / "0.entasis")
    en.write(pd.DataFrame({"x": [3.0]}), tmp_path / "1.entasis")
    paths = [tmp_path / f"{number}.entasis" for number in range(2)]
    same(entasis.dask.read(paths).compute(), pd.DataFrame({"x": [1, 2, 3]}))
    en.write(pd.DataFrame({"x": [3.5]}), tmp_path / "1.entasis")
    with pytest.raises(en.ArgumentError, match=r"'x' is float64 in .*1\.entasis"):
        entasis.dask.read(paths).compute()
    en.write(pd.DataFrame({"x": [1], "y": [2.5]}), tmp_path / "2.entasis")
    with pytest.raises(en.ArgumentError, match=r"2\.entasis' also has 'y'"):
        entasis.dask.read([paths[0], tmp_path / "2.entasis"])


def test_writes_equal_the_data_frame(tmp_path: Path) -> None:
    whole = frame()
    parts = dd.from_pandas(whole, npartitions=4, sort=False)
    entasis.dask.write(parts, tmp_path / "set")
    found = en.read(tmp_path / "set")
    same(found, whole)
    assert type(found.index) is pd.RangeIndex
    assert len(en.scan(tmp_path / "set").paths) == 4
    entasis.dask.write(parts, tmp_path / "set", mode="append")
    same(en.read(tmp_path / "set"), pd.concat([whole, whole], ignore_index=True))
    with pytest.raises(en.ExistingFileError, match="mode='append'"):
        entasis.dask.write(parts, tmp_path / "set")
    entasis.dask.write(parts, tmp_path / "set", mode="overwrite", partition_by="k", rows_per_file=100)
    found = en.read(tmp_path / "set")
    same(found.sort_values("t", ignore_index=True)[list(whole)], whole)
    assert found.index.equals(pd.RangeIndex(N))
    assert max(len(en.open(path)) for path in en.scan(tmp_path / "set").paths) <= 100
    en.verify(tmp_path / "set")
    with pytest.raises(en.ArgumentError, match="data frame of Dask"):
        entasis.dask.write(whole, tmp_path / "other")  # type: ignore[arg-type]


def test_labels_and_categories_are_written(tmp_path: Path) -> None:
    whole = frame()
    for name, index in (
        ("times", pd.Index(whole.t, name="when")),
        ("categories", pd.CategoricalIndex(whole.c, name="kind")),
        ("levels", pd.MultiIndex.from_arrays([whole.k, whole.x])),
        ("late", pd.RangeIndex(7, 7 + N)),
    ):
        labelled = whole.set_index(index)
        # Dask has no partitions by several levels of an index.
        parts = dd.from_map(lambda i, of=labelled: of[i : i + 1000], range(0, N, 1000), meta=labelled[:0])
        entasis.dask.write(parts, tmp_path / name)
        same(en.read(tmp_path / name), labelled)
    # Some partitions have labels that count rows, and others have labels of their own.
    whole.loc[1000:1999, "x"] = 9.0
    parts = dd.from_map(lambda i: whole[i : i + 1000], range(0, N, 1000), meta=whole[:0])
    entasis.dask.write(parts[parts.x > 0], tmp_path / "some")
    same(en.read(tmp_path / "some"), whole[whole.x > 0])
    assert len(list((tmp_path / "some").glob("part-*"))) == 3
    entasis.dask.write(parts[parts.x > 99], tmp_path / "none")
    same(en.read(tmp_path / "none"), whole[:0], check_index_type=False)
    own = parts.assign(d=parts["s"].astype("category"))
    assert not own["d"].cat.known
    entasis.dask.write(own, tmp_path / "own")
    same(en.read(tmp_path / "own"), whole.assign(d=whole["s"].astype("category")))
    entasis.dask.write(own[own.x > 99], tmp_path / "no categories")
    assert list(en.read(tmp_path / "no categories")["d"].cat.categories) == []


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (pd.DataFrame({"a": [1.5], "b": [1]}), r"part 2 .*'a' is int64 .* float64 .* 1\.5"),
        (pd.DataFrame({"a": [1], "c": [1]}), r"part 2 .*'c'"),
        (pd.DataFrame({"a": [1]}), r"part 2 .*'b'"),
        (pd.DataFrame({"a": [1], "b": ["x"]}), r"part 2 .*'b'"),
    ],
)
def test_a_partition_with_another_schema(tmp_path: Path, other: pd.DataFrame, said: str) -> None:
    first = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    parts = dd.from_map(lambda i: other if i == 2 else first, range(3), meta=first[:0])
    with pytest.raises(en.ArgumentError, match=said) as caught:
        entasis.dask.write(parts, tmp_path / "set")
    assert "widen" not in str(caught.value)
    assert "fill=" not in str(caught.value)
    assert not (tmp_path / "set").exists()
    en.write_dataset(first, tmp_path / "old")
    with pytest.raises(en.ArgumentError, match=said):
        entasis.dask.write(parts, tmp_path / "old", mode="overwrite")
    same(en.read(tmp_path / "old"), first)
    assert len(list((tmp_path / "old").glob("part-*"))) == 1


def test_columns_of_objects_that_differ(tmp_path: Path) -> None:
    """Their type has no name, so that only the commit sees the difference."""
    kinds = [pd.Series(["a"], dtype=object), pd.Series([1.5], dtype=object)]
    parts = dd.from_map(lambda i: pd.DataFrame({"o": kinds[i]}), range(2), meta=pd.DataFrame({"o": kinds[0][:0]}))
    with pytest.raises(en.ArgumentError, match=r"'o' is .* in part 1 of the rows"):
        entasis.dask.write(parts, tmp_path / "set")
    assert not (tmp_path / "set").exists()


@pytest.mark.usefixtures("cluster")
def test_two_processes(tmp_path: Path) -> None:
    whole = frame()
    with dask.config.set(scheduler="distributed"):
        parts = dd.from_pandas(whole, npartitions=4, sort=False)
        entasis.dask.write(parts, tmp_path / "set", partition_by="k")
        expected = en.read(tmp_path / "set")
        same(entasis.dask.read(tmp_path / "set", blocksize=20_000).compute(), expected)
        condition = en.col("x") > 0
        found = entasis.dask.read(tmp_path / "set", filter=condition)
        same(found.compute(), en.read(tmp_path / "set", filter=condition))
        assert found["x"].sum().compute() == pytest.approx(whole.x[whole.x > 0].sum())


def _dying(part: pd.DataFrame, first: Path, *, forever: bool) -> pd.DataFrame:
    """A partition whose worker is killed when its file is written, but not named yet: once, or always."""
    if part["n"].iloc[0] != 2000:
        return part

    def killed(self: Any, texts: Any) -> None:
        writer, _, _ = self._open[texts]
        writer.close()
        os.kill(os.getpid(), signal.SIGKILL)

    if forever or not first.exists():
        first.touch()
        Job._end = killed  # type: ignore[method-assign]
    return part


@pytest.mark.usefixtures("cluster")
def test_a_worker_that_is_killed_in_a_write(tmp_path: Path) -> None:
    whole = pd.DataFrame({"n": np.arange(4000), "c": pd.Categorical(["a", "b"] * 2000)})
    parts = dd.from_pandas(whole, npartitions=4, sort=False)
    dying = parts.map_partitions(_dying, tmp_path / "killed", forever=False, meta=whole[:0])
    with dask.config.set(scheduler="distributed"):
        entasis.dask.write(dying, tmp_path / "set")
    assert (tmp_path / "killed").exists()
    same(en.read(tmp_path / "set"), whole)
    assert len(en.scan(tmp_path / "set").paths) == 4
    # The file of the killed worker is there, and not in the table. Others that it wrote may be too.
    assert len(list((tmp_path / "set").glob("part-*"))) > 4
    en.clean(tmp_path / "set", older_than="0s")
    assert len(list((tmp_path / "set").glob("part-*"))) == 4
    same(en.read(tmp_path / "set"), whole)


@pytest.mark.usefixtures("cluster")
def test_a_worker_that_dies_for_ever(tmp_path: Path) -> None:
    old = pd.DataFrame({"n": [1, 2, 3]})
    en.write_dataset(old, tmp_path / "set")
    parts = dd.from_pandas(pd.DataFrame({"n": np.arange(4000)}), npartitions=4, sort=False)
    dying = parts.map_partitions(_dying, tmp_path / "killed", forever=True, meta=old[:0])
    with dask.config.set(scheduler="distributed"), pytest.raises(KilledWorker):
        entasis.dask.write(dying, tmp_path / "set", mode="overwrite")
    same(en.read(tmp_path / "set"), old)
    en.verify(tmp_path / "set")
    assert len(list((tmp_path / "set/_entasis").iterdir())) == 1


def test_two_jobs_that_overwrite_one_folder(tmp_path: Path) -> None:
    en.write_dataset(pd.DataFrame({"n": [0]}), tmp_path / "set")

    def other(part: pd.DataFrame) -> pd.DataFrame:
        if len(list((tmp_path / "set/_entasis").iterdir())) == 1:
            en.write_dataset(pd.DataFrame({"n": [7]}), tmp_path / "set", mode="overwrite")
        return part

    parts = dd.from_pandas(pd.DataFrame({"n": np.arange(4)}), npartitions=2)
    slow = parts.map_partitions(other, meta=pd.DataFrame({"n": pd.Series([], dtype="int64")}))
    with pytest.raises(en.ConflictError, match="another job"):
        entasis.dask.write(slow, tmp_path / "set", mode="overwrite")
    same(en.read(tmp_path / "set"), pd.DataFrame({"n": [7]}))
    entasis.dask.write(parts, tmp_path / "set", mode="append")
    assert en.read(tmp_path / "set")["n"].tolist() == [7, 0, 1, 2, 3]


def test_names_of_tasks_are_those_of_their_rows(tmp_path: Path) -> None:
    """Dask takes tasks of one name for the same, also those of an earlier call."""
    en.write_dataset(frame(), tmp_path / "set", rows_per_file=1000)

    def name(**how: Any) -> str:
        return dask.base.tokenize(entasis.dask.read(tmp_path / "set", **how))

    texts = ["a" * 1000, "a" * 999 + "b"]
    names = [
        name(),
        name(index="t"),
        name(index=False),
        name(columns=["x"]),
        name(blocksize=20_000),
        name(filter=en.col("x") > 0),
        name(filter=en.col("x") > 1),
        *(name(filter=en.col("s") == text) for text in texts),
    ]
    assert len(set(names)) == len(names)
    assert name() == names[0]
    assert name(filter=en.col("s") == texts[0]) == names[-2]
    en.write_dataset(frame().assign(x=1.0), tmp_path / "set", rows_per_file=1000, mode="overwrite")
    assert name() != names[0]


@pytest.mark.parametrize("library", ["obstore"], indirect=True)
def test_stores(moto: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in moto.environment.items():
        monkeypatch.setenv(name, value)
    whole = frame()
    parts = dd.from_pandas(whole, npartitions=3, sort=False)
    entasis.dask.write(parts, "s3://tables/set", partition_by="k", storage_options=moto.options)
    expected = en.scan("s3://tables/set", storage_options=moto.options).read()
    found = entasis.dask.read("s3://tables/set", filter=en.col("k") > 2, storage_options=moto.options)
    (part,) = Source.of("s3://tables/set", None, en.col("k") == 1, moto.options, None).parts([(0, 0)])
    assert SECRET.encode() not in pickle.dumps(part)
    assert pickle.loads(pickle.dumps(part)).n_rows == (whole.k == 1).sum()
    with dask.config.set(scheduler="processes", num_workers=1):
        # The process has the names of options, and their values from its environment.
        same(found.compute(), expected[expected.k > 2])
    failing = parts.map_partitions(lambda part: part if part["x"].iloc[0] == whole.x[0] else 1 / 0, meta=whole[:0])
    n_objects = len(en.scan("s3://tables/set", storage_options=moto.options).paths)
    with pytest.raises(ZeroDivisionError):
        entasis.dask.write(failing, "s3://tables/set", mode="append", storage_options=moto.options)
    assert len(en.scan("s3://tables/set", storage_options=moto.options, manifest=False).paths) == n_objects
    same(en.scan("s3://tables/set", storage_options=moto.options).read(), expected)


def test_a_missing_or_old_engine_is_named() -> None:
    code = """
import sys
import entasis
assert not {"dask", "entasis.dask"} & set(sys.modules)
sys.modules["dask"] = None
try:
    import entasis.dask
except entasis.MissingLibraryError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'dask[dataframe]'" in done.stdout
    with pytest.raises(en.MissingLibraryError, match=r"dask .* is too old, 9999\.1 or later .* --upgrade"):
        installed.required("dask.dataframe", "dask[dataframe]", (9999, 1))
