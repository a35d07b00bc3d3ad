"""Many files as one table, against the same rows in memory, and against files that were appended."""

from __future__ import annotations

import datetime
import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import duckdb
import grow_hosts
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
import test_dataset
import test_lazy
from polars.testing import assert_frame_equal

import entasis as en
from entasis._filter.where import where

if TYPE_CHECKING:
    from pathlib import Path

LONG = os.environ.get("ENTASIS_TEST_LONG") == "1"


def cut(n: int, random: np.random.Generator) -> list[int]:
    """Ends of parts of n rows, some of them empty."""
    return [*sorted(random.integers(0, n + 1, 4).tolist()), n]


@pytest.fixture(scope="module", params=[0, 1, 70_000])
def tables(request, tmp_path_factory) -> tuple[pa.Table, en.FolderScan]:
    """A table of pyarrow, and the same rows in five files with two keys."""
    whole = test_dataset.table(request.param)
    folder, random = tmp_path_factory.mktemp("tables"), np.random.default_rng(request.param)
    start, parts = 0, []
    for number, stop in enumerate(cut(request.param, random)):
        part = whole.slice(start, stop - start)
        path = (
            folder / f"year={2020 + number}" / ("k=__HIVE_DEFAULT_PARTITION__" if number == 2 else f"k=v{number % 2}")
        )
        path.mkdir(parents=True)
        en.write(test_dataset.with_views(part), path / "part.entasis")
        year = pa.array([2020 + number] * len(part), pa.int64())
        k = pa.array([None if number == 2 else f"v{number % 2}"] * len(part), pa.large_string())
        parts.append(part.append_column("year", year).append_column("k", k))
        start = stop
    return pa.concat_tables(parts), en.scan(folder)


KEYS: dict[str, pc.Expression] = {
    "key": pc.field("year") == 2021,
    "key and column": (pc.field("year") >= 2021) & (pc.field("i") > 3),
    "key or column": (pc.field("year") == 2024) | (pc.field("i") > 3),
    "not key": ~(pc.field("k") == "v0"),
    "missing key": pc.field("k").is_null(),
    "not key, not column": ~((pc.field("k") == "v1") | (pc.field("i") > 3)),
    "keys": pc.field("k").isin(["v1", "v7"]) & (pc.field("year") < 2023),
    "arithmetic of a key": pc.field("year") + pc.field("i") > 2025,
    "no such key": pc.field("year") > 3000,
}
FILTERS = test_dataset.FILTERS | KEYS


@pytest.mark.parametrize("name", FILTERS)
def test_filters_of_pyarrow(tables, name: str) -> None:
    whole, scan = tables
    dataset, condition = scan.to_dataset(), FILTERS[name]
    expected = ds.dataset(whole).to_table(filter=condition)
    test_dataset.assert_same(dataset.to_table(filter=condition), expected)
    assert dataset.count_rows(filter=condition) == len(expected)
    test_dataset.assert_same(dataset.to_table(columns=["k", "id"], filter=condition), expected.select(["k", "id"]))
    assert len(dataset.to_table(columns=[], filter=condition)) == len(expected)


QUERIES = [
    *test_dataset.QUERIES,
    "select year, k, count(*), sum(i::hugeint) from {} group by all",
    "select count(*) from {} where year = 2021",
    "select id from {} where k is null and i > 3",
    "select id from {} where k <> 'v1' or i = 4",
    "select max(year), min(k) from {} where id > 100",
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("query", QUERIES)
def test_queries_of_duckdb(tables, query: str) -> None:
    whole, scan = tables
    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'")
    connection.register("memory", whole)
    connection.register("dataset", scan.to_dataset())

    def rows(name: str) -> list[Any]:
        found = connection.sql(query.replace("{}", name)).fetchall()
        return [repr(row) for row in found] if "order by" in query else sorted(map(repr, found))

    if " limit " in query and "order by" not in query:
        assert len(rows("dataset")) == len(rows("memory"))
    else:
        assert rows("dataset") == rows("memory")


@pytest.fixture(scope="module", params=[0, 1, 200_000])
def frames(request, tmp_path_factory) -> tuple[pl.DataFrame, en.FolderScan]:
    """A frame of Polars, and the same rows in five files with two keys."""
    whole = test_lazy.frame(request.param)
    folder, random = tmp_path_factory.mktemp("frames"), np.random.default_rng(request.param + 1)
    start, parts = 0, []
    for number, stop in enumerate(cut(request.param, random)):
        part = whole.slice(start, stop - start)
        path = (
            folder / f"day=2024-01-0{number + 1}" / ("k=__HIVE_DEFAULT_PARTITION__" if number == 3 else f"k=v{number}")
        )
        path.mkdir(parents=True)
        en.write(part, path / "part.entasis")
        day, k = datetime.date(2024, 1, number + 1), None if number == 3 else f"v{number}"
        parts.append(part.with_columns(day=pl.lit(day), k=pl.lit(k, pl.String)))
        start = stop
    return pl.concat(parts), en.scan(folder)


CONDITIONS: dict[str, pl.Expr] = test_lazy.CONDITIONS | {
    "key": pl.col("day") == datetime.date(2024, 1, 2),
    "key and column": (pl.col("day") > datetime.date(2024, 1, 2)) & (pl.col("i") > 3),
    "key or column": (pl.col("k") == "v1") | (pl.col("i") > 3),
    "not key": ~(pl.col("k") == "v1"),
    "missing key": pl.col("k").is_null(),
    "arithmetic of a key": pl.col("day").dt.day() + pl.col("i") > 6,
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions_of_polars(frames, name: str) -> None:
    whole, scan = frames
    condition = CONDITIONS[name]
    assert_frame_equal(scan.lazy().filter(condition).collect(), whole.lazy().filter(condition).collect())
    assert scan.lazy().filter(condition).select(pl.len()).collect().item() == len(whole.filter(condition))


LAZY = test_lazy.QUERIES | {
    "keys alone": lambda q: q.select("k", "day"),
    "groups of keys": lambda q: q.group_by("k", "day").agg(pl.len(), pl.col("id").sum()).sort("day"),
    "slice, filter on a key": lambda q: q.slice(10, 100_000).filter(pl.col("k") == "v1").select("id"),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("name", LAZY)
def test_queries_of_polars(frames, name: str, streaming: bool) -> None:
    whole, scan = frames
    query = LAZY[name]
    engine: Any = "streaming" if streaming else "in-memory"
    expected = query(whole.lazy()).collect()
    assert_frame_equal(query(scan.lazy()).collect(engine=engine), expected, check_row_order=name != "self join")


@pytest.mark.parametrize("host", list(grow_hosts.HOSTS))
@pytest.mark.parametrize("seed", range(40 if LONG else 6))
def test_a_scan_equals_files_that_were_appended(tmp_path, host: str, seed: int) -> None:
    random = np.random.default_rng((seed, list(grow_hosts.HOSTS).index(host)))
    maker = grow_hosts.HOSTS[host](random)
    kinds = {f"c{i}": str(kind) for i, kind in enumerate(random.permutation(grow_hosts.KINDS))}
    lacks = [name for name, kind in kinds.items() if kind in maker.can_fill][:1] if seed % 2 else []
    paths, start = [], 0
    for number in range(4):
        n = int(random.choice([1, 2, 30, 500]))
        frame = maker.frame(random, kinds, n, start)
        names = [grow_hosts.ID, *random.permutation(list(kinds)).tolist()] if number else [grow_hosts.ID, *kinds]
        if number == 2:
            names = [name for name in names if name not in lacks]
        paths.append(tmp_path / f"{number}.entasis")
        en.write(maker.take(frame, names), paths[-1])
        start += n
    whole = tmp_path / "whole.entasis"
    en.write(en.read(paths[0]), whole)
    for path in paths[1:]:
        en.append(en.read(path), whole, widen=True, fill=bool(lacks))
    options: Any = {"missing_columns": "missing"} if lacks else {}
    scan, expected = en.scan(paths, **options), en.read(whole)
    maker.check(scan.read(), expected)
    assert scan.count() == start
    maker.check(scan.select("c1", "id").read(), maker.take(expected, ["c1", "id"]))
    condition = (en.col("id") > start // 3) & (en.col("id") < start - 1)
    rows = (start // 4, start // 2 + 1)
    for found, wanted in (
        (scan.filter(condition).read(), en.read(whole, filter=condition)),
        (en.scan(paths, rows=rows, **options).read(), en.read(whole, rows=rows)),
        (scan.limit(3).read(), en.read(whole, rows=(0, 3))),
        (scan.filter(en.col("id") < 0).read(), en.read(whole, rows=(0, 0))),
    ):
        # Categories and wider types of files without such rows are not in the frame.
        names = (
            list(wanted)
            if isinstance(wanted, dict)
            else wanted.column_names
            if host == "pyarrow"
            else list(wanted.columns)
        )
        assert names == (
            list(found) if isinstance(found, dict) else found.column_names if host == "pyarrow" else list(found.columns)
        )
        for name in names:
            assert maker.plain(found, name) == maker.plain(wanted, name)
        if host == "pandas":
            assert found.index.tolist() == wanted.index.tolist()
            assert found.index.names == wanted.index.names
    assert scan.limit(start // 2).count() == start // 2
    if host == "pandas":
        pd.testing.assert_index_equal(scan.read().index, expected.index, exact=True)
        parts = list(scan.batches(100))
        assert sum(map(len, parts)) == start
        assert [row for part in parts for row in part["id"]] == list(range(start))


def test_filters_open_the_files_that_can_match(tmp_path, monkeypatch) -> None:
    for number in range(10):
        path = tmp_path / f"k={number}"
        path.mkdir()
        en.write(pl.DataFrame({"id": range(number * 10, number * 10 + 10)}), path / "a.entasis")
    scan = en.scan(tmp_path)
    table = scan._query.table
    before = table.n_opened
    assert scan.filter(en.col("k") == 7).read()["id"].to_list() == list(range(70, 80))
    assert table.n_opened - before == 1
    assert scan.filter((en.col("k") > 7) & (en.col("id") < 85)).count() == 5
    assert table.n_opened - before == 3
    lazy = scan.lazy()
    before = table.n_opened
    assert lazy.filter(pl.col("k") == 3, pl.col("id") > 34).collect().height == 5
    assert table.n_opened - before == 1
    connection = duckdb.connect()
    connection.register("dataset", scan.to_dataset())
    before = table.n_opened
    assert connection.sql("select sum(id) from dataset where k in (4, 5)").fetchall() == [(sum(range(40, 60)),)]
    assert table.n_opened - before == 2
    assert "files: 1 of 10" in scan.filter(en.col("k") == 2).explain()


def test_order_and_names_of_files(tmp_path) -> None:
    for name in ["b.entasis", "a/x.entasis", "a.entasis", "_hidden.entasis", ".dot.entasis", "_entasis/m.entasis"]:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        en.write({"name": np.array([name])}, path)
    (tmp_path / "other.parquet").write_bytes(b"PAR1")
    read = lambda source: en.scan(source).read()["name"].tolist()  # noqa: E731
    assert read(tmp_path) == ["a.entasis", "a/x.entasis", "b.entasis"]
    assert read(str(tmp_path / "*.entasis")) == ["_hidden.entasis", "a.entasis", "b.entasis"]
    assert read(str(tmp_path / "**" / "[ab].entasis")) == ["a.entasis", "b.entasis"]
    assert read([tmp_path / "b.entasis", str(tmp_path / "a*.entasis")]) == ["b.entasis", "a.entasis"]
    assert read(tmp_path / "b.entasis") == ["b.entasis"]
    with pytest.raises(en.MissingFileError, match="no file whose name ends"):
        en.scan(make(tmp_path / "empty"))
    with pytest.raises(en.MissingFileError, match="no file matches"):
        en.scan(str(tmp_path / "z*.entasis"))
    with pytest.raises(en.ArgumentError, match="is a folder"):
        en.scan([tmp_path])
    with pytest.raises(en.ArgumentError, match="list of files is empty"):
        en.scan([])


def make(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.parametrize("value", [None, "", "01", "7", "a/b", "a=b", "A", "é", "x y", "100%", "2024-02-29", "nul"])
def test_keys_of_other_writers(tmp_path, value) -> None:
    table = pa.table({"n": [1, 2], "k": pa.array([value, value], pa.string())})
    ds.write_dataset(
        table,
        tmp_path / "arrow",
        format="ipc",
        partitioning=ds.partitioning(pa.schema([("k", pa.string())]), flavor="hive"),
    )
    (folder,) = (tmp_path / "arrow").iterdir()
    ours = tmp_path / "ours" / folder.name
    ours.mkdir(parents=True)
    en.write(table.select(["n"]), ours / "part.entasis")
    scan = en.scan(tmp_path / "ours", hive={"k": "string"})
    assert scan.read(to="pyarrow")["k"].to_pylist() == [value, value]
    assert scan.filter(en.col("k") == "zz" if value is None else en.col("k") == value).count() == (
        0 if value is None else 2
    )


def test_types_of_keys(tmp_path) -> None:
    for number, (zip_, day) in enumerate([("08001", "2024-01-01"), ("8002", "2024-02-29")]):
        path = tmp_path / f"zip={zip_}" / f"day={day}" / f"n={number}"
        path.mkdir(parents=True)
        en.write({"x": np.arange(2)}, path / "part.entasis")
    table = en.scan(tmp_path).read(to="pyarrow")
    assert table.schema.types[1:] == [pa.large_string(), pa.date32(), pa.int64()]
    assert table["zip"].to_pylist() == ["08001", "08001", "8002", "8002"]
    assert en.scan(tmp_path, hive={"n": "string"}).schema["n"] == "utf8"
    assert en.scan(tmp_path, hive=False).column_names == ["x"]
    assert en.scan(str(tmp_path / "**" / "*.entasis")).column_names == ["x"]
    with pytest.raises(en.ArgumentError, match="'2024-01-01', which is not an integer"):
        en.scan(tmp_path, hive={"day": "int64"})
    with pytest.raises(en.ArgumentError, match="a key is 'int64', 'date' or 'string'"):
        en.scan(tmp_path, hive={"n": "float"})
    for host in ("pandas", "polars", "numpy", "static_frame"):
        # Rows of frames, and arrays of a dict.
        assert len(en.scan(tmp_path).read(to=host)) == 4, host


def test_files_that_do_not_fit(tmp_path) -> None:
    en.write({"a": np.arange(2), "b": np.arange(2)}, tmp_path / "0.entasis")
    en.write({"a": np.arange(2)}, tmp_path / "1.entasis")
    en.write({"a": np.arange(2), "b": np.arange(2), "c": np.arange(2)}, tmp_path / "2.entasis")
    scan = en.scan(tmp_path)
    with pytest.raises(en.ArgumentError) as caught:
        scan.count()
    for text in ("1.entasis' lacks 'b'", "2.entasis' also has 'c'", "missing_columns='missing'"):
        assert text in str(caught.value)
    (tmp_path / "k=1").mkdir()
    en.write({"a": np.arange(2)}, tmp_path / "k=1" / "3.entasis")
    with pytest.raises(en.ArgumentError, match="different keys"):
        en.scan(tmp_path)
    folder = tmp_path / "both" / "a=1"
    folder.mkdir(parents=True)
    en.write({"a": np.arange(2)}, folder / "x.entasis")
    with pytest.raises(en.ArgumentError, match="the key 'a' is a column"):
        en.scan(tmp_path / "both")
    en.write([1, 2], tmp_path / "list.entasis")
    with pytest.raises(en.ArgumentError, match="holds no table"):
        en.scan(tmp_path / "list.entasis")
    en.write({"a": np.array(["x"])}, tmp_path / "text.entasis")
    with pytest.raises(en.ArgumentError, match=r"text.entasis' does not follow the files before it"):
        en.scan([tmp_path / "1.entasis", tmp_path / "text.entasis"]).read()
    for way in (lambda scan: scan.lazy().collect(), lambda scan: scan.to_dataset().to_table()):
        with pytest.raises(Exception, match="in the first file"):
            way(en.scan([tmp_path / "1.entasis", tmp_path / "text.entasis"]))


def test_missing_columns(tmp_path) -> None:
    en.write(pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}), tmp_path / "0.entasis")
    en.write(pl.DataFrame({"a": [3], "c": [0.5]}), tmp_path / "1.entasis")
    scan = en.scan(tmp_path, missing_columns="missing")
    expected = pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None], "c": [None, None, 0.5]})
    assert_frame_equal(scan.read(), expected)
    assert_frame_equal(scan.lazy().collect(), expected)
    assert_frame_equal(pl.from_arrow(scan.to_dataset().to_table()), expected)
    assert scan.column_names == ["a", "b", "c"]
    for condition, rows in (
        (en.col("b") == "x", [1]),
        (~(en.col("b") == "x"), [2]),
        (en.col("b").is_missing(), [3]),
        ((en.col("c") > 0) | (en.col("a") == 1), [1, 3]),
        (~en.col("c").is_missing(), [3]),
    ):
        assert scan.filter(condition).read()["a"].to_list() == rows, condition
    lazy = scan.lazy()
    assert lazy.filter(pl.col("b").is_null()).collect()["a"].to_list() == [3]
    assert lazy.filter(pl.col("c") < 1).select("b").collect()["b"].to_list() == [None]
    connection = duckdb.connect()
    connection.register("found", scan.to_dataset())
    assert connection.sql("select a from found where b is null or c = 0.5").fetchall() == [(3,)]


def test_pickles_splits_and_samples(tmp_path) -> None:
    for number in range(3):
        path = tmp_path / f"k={number}"
        path.mkdir()
        en.write(pl.DataFrame({"id": range(number * 1000, number * 1000 + 1000)}), path / "a.entasis")
    scan = en.scan(tmp_path, filter=en.col("id") >= 500)
    again = pickle.loads(pickle.dumps(scan))
    assert_frame_equal(again.read(), scan.read())
    splits = scan.splits(400)
    assert len(splits) == 9
    parts = [pickle.loads(pickle.dumps(split)).read() for split in splits]
    assert_frame_equal(pl.concat([part for part in parts if part.height]), scan.read())
    assert len(scan.splits()) == 3
    sample = scan.sample(100, seed=1)
    assert sample.height == 100
    assert sample["id"].is_sorted()
    assert sample["id"].min() >= 500
    assert sample.join(scan.read(), on=["id", "k"]).height == 100
    assert scan.sample(fraction=0.5, seed=2).height == 1250
    with pytest.raises(en.ArgumentError, match="limit"):
        scan.limit(3).splits()
    script = f"import entasis as en; print(en.scan({str(tmp_path)!r}).count())"
    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "3000"


def test_streams_of_arrow(tables) -> None:
    whole, scan = tables
    some = scan.select("id", "year", "i")
    assert pa.table(some).equals(whole.select(["id", "year", "i"]))
    assert pl.DataFrame(some).height == len(whole)
    assert scan.to_pyarrow().num_rows == len(whole)


def of_parts(tmp_path: Path, frames: list[Any]) -> Path:
    for number, frame in enumerate(frames):
        path = tmp_path / "parts" / f"k={number}"
        path.mkdir(parents=True)
        en.write(frame, path / "part.entasis")
    return tmp_path / "parts"


@pytest.mark.parametrize("end", ["entasis", "parquet", "feather", "csv", "jsonl", "rds"])
def test_many_files_are_converted_into_one(tmp_path, end: str) -> None:
    folder = of_parts(tmp_path, [pl.DataFrame({"id": [1, 2], "x": ["a", None]}), pl.DataFrame({"id": [3], "x": ["b"]})])
    expected = pl.DataFrame({"id": [1, 2, 3], "x": ["a", None, "b"], "k": [0, 0, 1]})
    target = tmp_path / f"whole.{end}"
    en.convert(folder, target, verify=True)
    found = pl.from_arrow(en.read(target, to="pyarrow")) if end != "csv" else en.read_csv(target, to="polars")
    assert_frame_equal(found, expected, check_dtypes=end != "rds")
    assert sorted(os.listdir(tmp_path)) == sorted(["parts", target.name])
    en.convert(folder, target, filter=en.col("k") == 1, columns=["x", "id"])
    some = en.read(target, to="polars") if end != "csv" else en.read_csv(target, to="polars")
    assert some.columns == ["x", "id"]
    assert some.height == 1


def test_indexes_and_types_of_many_files(tmp_path) -> None:
    paths = [tmp_path / f"{number}.entasis" for number in range(2)]
    en.write(pd.DataFrame({"a": [1]}, index=pd.Index(["x"], name="label")), paths[0])
    en.write(pd.DataFrame({"a": [2.5]}, index=pd.Index(["y"], name="label")), paths[1])
    expected = pd.DataFrame({"a": [1.0, 2.5]}, index=pd.Index(["x", "y"], name="label"))
    en.convert(paths, tmp_path / "whole.entasis", verify=True)
    pd.testing.assert_frame_equal(en.read(tmp_path / "whole.entasis"), expected)
    en.convert(str(tmp_path / "[01].entasis"), tmp_path / "whole.parquet", verify=True)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "whole.parquet"), expected)
    en.write(pd.DataFrame({"a": ["z"]}, index=pd.Index(["y"], name="label")), paths[1])
    with pytest.raises(en.ArgumentError, match="column 'a'"):
        en.convert(paths, tmp_path / "whole.entasis")
    pd.testing.assert_frame_equal(en.read(tmp_path / "whole.entasis"), expected)
    assert not list(tmp_path.glob("*.tmp"))


def test_folders_are_read_and_not_opened(tmp_path) -> None:
    folder = of_parts(tmp_path, [pl.DataFrame({"id": [1, 2]}), pl.DataFrame({"id": [3]})])
    assert en.read(folder, filter=en.col("k") == 1, columns="id")["id"].to_list() == [3]
    assert len(en.read(folder, to="pandas")) == 3
    with pytest.raises(en.DirectoryError, match=r"scan its files with en.scan\(path\)"):
        en.open(folder)


def test_lines_of_json_of_several_files(tmp_path) -> None:
    for number, text in enumerate(['{"a": 1}\n', '{"a": 2.5, "b": "x"}', '{"a": null}\n\n']):
        (tmp_path / f"{number}.jsonl").write_text(text)
    en.convert(str(tmp_path / "*.jsonl"), tmp_path / "whole.entasis")
    expected = pl.DataFrame({"a": [1.0, 2.5, None], "b": [None, "x", None]})
    assert_frame_equal(en.read(tmp_path / "whole.entasis", to="polars"), expected)


def test_labels_of_files_follow_those_of_appended_rows(tmp_path) -> None:
    rows = pd.DataFrame({"a": np.arange(9)})
    parts = [rows[:2], rows[2:4], rows[4:6].reset_index(drop=True), rows[6:8].set_axis([7, 9]), rows[:1]]
    for number, part in enumerate(parts):
        en.write(part, tmp_path / f"{number}.entasis")
    en.write(parts[0], tmp_path / "whole")
    for part in parts[1:]:
        en.append(part, tmp_path / "whole")
    expected = en.read(tmp_path / "whole")
    pd.testing.assert_frame_equal(en.read(tmp_path), expected)
    pd.testing.assert_frame_equal(en.scan(tmp_path, rows=(3, 9)).read(), expected[3:9])
    pd.testing.assert_frame_equal(en.scan(tmp_path, filter=en.col("a") > 6).read(), expected[expected["a"] > 6])
    assert [label for part in en.scan(tmp_path).batches(3) for label in part.index] == expected.index.tolist()


def test_years_that_dates_of_python_lack(tmp_path) -> None:
    (tmp_path / "day=0000-01-01").mkdir()
    en.write({"a": np.arange(2)}, tmp_path / "day=0000-01-01" / "part.entasis")
    with pytest.raises(en.ArgumentError, match="dates begin with the year 1"):
        en.read(tmp_path)
    assert en.scan(tmp_path, hive={"day": "string"}).read(to="polars")["day"].to_list() == ["0000-01-01"] * 2


def test_text_conditions_on_keys(tmp_path: Path) -> None:
    whole = pl.DataFrame({"x": [1, 2, 3, 4], "k": [1, 2, 3, None]})
    en.write_dataset(whole, tmp_path / "set", partition_by="k")
    scan = en.scan(tmp_path / "set")

    def found(condition: Any) -> list[int]:
        rows = scan.filter(condition)
        values = sorted(rows.read(to="polars")["x"].to_list())
        assert rows.count() == len(values)
        assert sorted(rows.to_dataset().to_table()["x"].to_pylist()) == values
        return values

    assert found(where("k > 1")) == [2, 3]
    assert found(where("not (k > 1)")) == found(~where("k > 1")) == [1]
    assert found(where("k in (1, 3)") & where("x > 1")) == [3]
    assert found(where("k is missing") | (en.col("x") == 1)) == [1, 4]
    before = scan._query.table.n_opened
    assert scan.filter(where("k = 2")).count() == 1
    assert scan._query.table.n_opened - before <= 1
    for text in ("k > 1 and x > 0", "k > 1 or y = 2"):
        with pytest.raises(en.ArgumentError, match="names a key can't name columns of the files too"):
            scan.filter(where(text)).count()
