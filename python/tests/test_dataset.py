"""Datasets of pyarrow over files, for pyarrow and DuckDB, against the same on a table in memory."""

from __future__ import annotations

import datetime
import decimal
import os
import pickle
import threading
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from io_counts import bytes_read

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FLOATS = [0.0, -0.0, 1.0, 0.1, 2.5, -3.0, float("inf"), float("-inf"), float("nan"), 5e-324, 1e300, None]
TEXTS = ["", "a", "ab", "é", "x" * 14, "x" * 15, "x" * 15 + "a", "x" * 15 + "b", "\U0010ffff" * 5, None]
BLOCK = 65_536
DAY = datetime.datetime(2024, 1, 1)


def table(n: int) -> pa.Table:
    """A table with every kind of column that is compared. Each kind is sorted for some blocks."""
    random = np.random.default_rng(n)

    def some(values: list[Any]) -> list[Any]:
        return [values[i] for i in random.integers(0, len(values), n)]

    times = [None, *(DAY + datetime.timedelta(hours=5 * i) for i in range(9))]
    rows = np.arange(n)
    return pa.table(
        {
            "id": pa.array(rows, pa.int64()),
            "i": pa.array(some([None, *range(-3, 9), 2**62]), pa.int64()),
            "u": pa.array(some([0, 2**64 - 1]), pa.uint64()),
            "f": pa.array(some(FLOATS), pa.float64()),
            "g": pa.array(np.where(rows % 70_000 == 5, np.nan, rows / 7.0)),
            "f32": pa.array(some(FLOATS), pa.float32()),
            "s": pa.array(some(TEXTS), pa.string()),
            "name": pa.array([f"name {row // 1000:06d}" for row in rows], pa.large_string()),
            "v": pa.array(some(TEXTS), pa.large_string()),
            "b": pa.array(some([True, False, None]), pa.bool_()),
            "t": pa.array(some(times), pa.timestamp("ms")),
            "z": pa.array(some(times), pa.timestamp("us", "Europe/Zurich")),
            "d": pa.array(some([None, datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)]), pa.date32()),
            "when": pa.array(DAY + datetime.timedelta(seconds=int(row)) for row in rows),
            "m": pa.array(some([None, decimal.Decimal("1.50"), decimal.Decimal("-2.25")]), pa.decimal128(10, 2)),
            "c": pa.array(some(["u", "v", None]), pa.string()).dictionary_encode(),
            "p": pa.array(some([None, {"x": 1}, {"x": None}, {"x": 3}]), pa.struct([("x", pa.int64())])),
            "l": pa.array(some([None, [], [1, 2]]), pa.list_(pa.int8())),
            "none": pa.array([None] * n, pa.int32()),
        }
    )


def with_views(whole: pa.Table) -> pa.Table:
    """The table with a column of views, which pyarrow can't filter."""
    position = whole.column_names.index("v")
    # pyarrow 21 can't export what it casts.
    return whole.set_column(position, "v", pa.array(whole["v"].to_pylist(), pa.string_view()))


@pytest.fixture(scope="module", params=[0, 1, BLOCK, BLOCK + 1, 200_000])
def both(request, tmp_path_factory) -> tuple[pa.Table, en.File]:
    whole = table(request.param)
    path = tmp_path_factory.mktemp("dataset") / "table.entasis"
    en.write(with_views(whole), path)
    return whole, en.open(path)


def assert_same(found: pa.Table, expected: pa.Table) -> None:
    """Compare tables by value: NaN equals NaN."""
    assert found.column_names == expected.column_names
    assert len(found) == len(expected)
    for name in expected.column_names:
        a, b = found[name], expected[name]
        if pa.types.is_dictionary(b.type):
            a, b = a.cast(pa.large_string()), b.cast(pa.large_string())
        a, b = a.combine_chunks(), b.combine_chunks()
        if pa.types.is_floating(a.type):
            assert a.is_null().equals(b.is_null()), name
            np.testing.assert_array_equal(a.to_numpy(zero_copy_only=False), b.to_numpy(zero_copy_only=False))
        else:
            assert a.equals(b), name


FILTERS: dict[str, pc.Expression] = {
    "range": (pc.field("id") >= 70_000) & (pc.field("id") < 70_020),
    "one": pc.field("id") == 65_536,
    "one of": pc.field("id").isin([0, 65_535, 131_072, -5]),
    "not": ~(pc.field("id") < 65_536),
    "unequal": pc.field("id") != 3,
    "missing": pc.field("i").is_null(),
    "there": pc.field("i").is_valid(),
    "unsigned": pc.field("u") > pa.scalar(2**63, pa.uint64()),
    "floats": pc.field("f") > 2.5,
    "not floats": ~(pc.field("f") > 2.5),
    "nan": pc.field("g").is_nan(),
    "beside nan": pc.field("g") < 100.0,
    "zero": pc.field("f") == -0.0,
    "infinity": pc.field("f") < float("inf"),
    "float32": pc.field("f32") <= 0.5,
    "text": pc.field("s") == "x" * 15 + "a",
    "text order": pc.field("s") > "x" * 15,
    "sorted text": pc.field("name") == "name 000070",
    "prefix": pc.starts_with(pc.field("name"), "name 00010"),
    "boolean": pc.field("b"),
    "time": pc.field("when") >= pa.scalar(DAY + datetime.timedelta(seconds=100_000), pa.timestamp("us")),
    "zoned": pc.field("z") < pa.scalar(DAY, pa.timestamp("us", "Europe/Zurich")),
    "date": pc.field("d") == datetime.date(2024, 1, 2),
    "decimal": pc.field("m") == pa.scalar(decimal.Decimal("1.50"), pa.decimal128(10, 2)),
    "field": pc.field("p", "x") == 3,
    "arithmetic": pc.field("id") + pc.field("i") > 100_000,
    "and, or": (pc.field("id") < 10) & pc.field("b") | (pc.field("s") == "a") & (pc.field("id") > 131_000),
    "all missing": pc.field("none") > 1,
    "none missing": pc.field("none").is_null(),
    "constant": pc.scalar(True),
    "nothing": pc.field("id") < 0,
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", FILTERS)
def test_filters_of_pyarrow(both: tuple[pa.Table, en.File], name: str) -> None:
    whole, f = both
    dataset, memory, condition = f.to_dataset(), ds.dataset(whole), FILTERS[name]
    expected = memory.to_table(filter=condition)
    assert_same(dataset.to_table(filter=condition), expected)
    assert dataset.count_rows(filter=condition) == len(expected)
    columns = ["s", "id"]
    assert_same(dataset.to_table(columns=columns, filter=condition), expected.select(columns))
    assert len(dataset.to_table(columns=[], filter=condition)) == len(expected)


def test_methods_of_pyarrow(both: tuple[pa.Table, en.File]) -> None:
    whole, f = both
    dataset, memory = f.to_dataset(), ds.dataset(whole)
    assert isinstance(dataset, ds.Dataset)
    assert dataset.schema.names == whole.schema.names
    assert dataset.schema.field("v").type == pa.large_string()
    assert dataset.count_rows() == len(whole)
    assert_same(dataset.to_table(), whole)
    assert_same(dataset.head(7), whole.slice(0, 7))
    assert_same(
        dataset.head(2, columns=["id"], filter=pc.field("b")), memory.head(2, columns=["id"], filter=pc.field("b"))
    )
    projection = {"twice": pc.field("id") * 2, "s": pc.field("s"), "x": pc.field("p", "x")}
    assert_same(dataset.to_table(columns=projection), memory.to_table(columns=projection))
    assert_same(
        pa.Table.from_batches(dataset.to_batches(columns=["id"]), pa.schema([("id", pa.int64())])), whole.select(["id"])
    )
    if len(whole):
        positions = [len(whole) - 1, 0, len(whole) // 2]
        assert_same(dataset.take(positions), whole.take(positions))
    assert_same(dataset.filter(pc.field("b")).to_table(), memory.filter(pc.field("b")).to_table())
    assert_same(dataset.sort_by([("id", "descending")]).to_table(), whole.sort_by([("id", "descending")]))
    some = f.select("id", "i").to_dataset()
    joined = some.join(f.select("id", "b").to_dataset(), "id", join_type="inner")
    assert joined.count_rows() == len(whole)
    assert sum(fragment.count_rows() for fragment in dataset.get_fragments()) == len(whole)
    assert_same(pickle.loads(pickle.dumps(dataset)).head(3), whole.slice(0, 3))
    with pytest.raises(en.ArgumentError, match="keep their types"):
        dataset.replace_schema(whole.schema)
    with pytest.raises(en.ArgumentError, match="no column 'q'"):
        dataset.to_table(columns=["q"])
    with pytest.raises(pa.ArrowInvalid, match="No match"):
        dataset.to_table(filter=pc.field("q") > 1)


def test_nothing_of_the_base_class_sees_an_empty_dataset(tmp_path: Path) -> None:
    en.write(table(10), tmp_path / "table.entasis")
    dataset: Any = en.open(tmp_path / "table.entasis").to_dataset()
    own = {name for cls in type(dataset).__mro__ if cls.__module__.startswith("entasis") for name in vars(cls)}
    public = {name for name in dir(ds.Dataset) if not name.startswith("_")}
    assert public <= own
    with pytest.raises(FileNotFoundError, match="by the methods of the dataset"):
        ds.Scanner.from_dataset(dataset).to_table()


QUERIES = [
    "select count(*) from {}",
    "select * from {} where id between 70000 and 70010",
    "select id, s from {} where s = 'a' and id < 70000",
    "select sum(id), count(i), min(t), max(s), avg(g) from {} where i > 3",
    "select id from {} where i in (1, 2, 5) and b",
    "select id from {} where f > 1 or f < -1",
    "select id from {} where f = 'nan'::double",
    "select id from {} where f >= 'nan'::double or f in ('nan'::double, 2.5)",
    "select id from {} where f between 1 and 'inf'::double",
    "select id from {} where not (f > 1)",
    "select id from {} where f is not distinct from 'nan'::double",
    "select id from {} where s like 'x%a' or s is null",
    "select id from {} where v = 'ab'",
    "select id from {} where t >= timestamp '2024-01-01 10:00:00' and t <= timestamp '2024-01-02'",
    "select id from {} where z < timestamptz '2024-01-01 00:00:00+00'",
    "select id from {} where \"when\" >= timestamp '2024-01-02 12:00:00'",
    "select id from {} where d = date '2024-01-02'",
    "select id from {} where m = 1.50",
    "select id from {} where c = 'u'",
    "select id from {} where p.x = 3",
    "select id from {} where u = 18446744073709551615",
    "select id from {} where none is null and i is not null",
    "select id from {} where id > 65530 limit 10",
    "select id from {} limit 3",
    "select c, count(*), sum(i::hugeint) from {} group by c",
    "select a.id from {} a join {} b on a.id = b.id where a.i > 3 and b.b",
    "select id from {} order by id desc limit 3",
    "select count(*) from (select distinct i, s from {})",
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("query", QUERIES)
def test_queries_of_duckdb(both: tuple[pa.Table, en.File], query: str) -> None:
    whole, f = both
    memory, dataset = whole, f.to_dataset()
    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'")
    connection.register("memory", memory)
    connection.register("dataset", dataset)

    def rows(name: str) -> list[Any]:
        found = connection.sql(query.replace("{}", name)).fetchall()
        return [repr(row) for row in found] if "order by" in query else sorted(map(repr, found))

    assert len(memory) == f.n_rows
    if " limit " in query and "order by" not in query:
        assert len(rows("dataset")) == len(rows("memory"))
    else:
        assert rows("dataset") == rows("memory")
    # The same dataset answers again.
    assert connection.sql("select count(*) from dataset").fetchall() == [(len(whole),)]
    assert dataset.count_rows() == len(whole)


def test_duckdb_hands_over_columns_and_filters(tmp_path: Path) -> None:
    en.write(table(10), tmp_path / "table.entasis")
    dataset = en.open(tmp_path / "table.entasis").to_dataset()
    with duckdb.connect() as connection:
        plan = connection.sql("explain select s from dataset where id = 3").fetchall()[0][1]
    assert "Filters" in plan
    assert "Projections: s" in plan
    assert dataset.count_rows() == 10


def test_few_rows_read_few_bytes(tmp_path: Path) -> None:
    n = 3_000_000
    columns = {f"c{i}": np.random.default_rng(i).integers(0, 2**40, n) for i in range(4)}
    en.write(pa.table({"id": np.arange(n), **columns}), tmp_path / "table.entasis")
    dataset = en.open(tmp_path / "table.entasis").to_dataset()
    connection = duckdb.connect()
    block = 65_536 * 5
    for query, most in [
        ("select c1 from dataset where id = 1234567", 2 * block),
        ("select c1 from dataset where id = -1", 10_000),
        ("select count(*) from dataset where id < 100", 10_000),
        # Two blocks of the columns, and one that is asked for ahead.
        ("select c1, c2 from dataset limit 1", 10 * block),
    ]:
        connection.sql(query).fetchall()
        before = bytes_read()
        connection.sql(query).fetchall()
        assert bytes_read() - before <= most, query
    assert dataset.count_rows() == n


def test_views_scans_and_frames_of_pandas(tmp_path: Path) -> None:
    whole = table(150_000)
    en.write(with_views(whole), tmp_path / "table.entasis")
    f = en.open(tmp_path / "table.entasis")
    condition = pc.field("i") > 3
    some = np.random.default_rng(1).permutation(150_000)[:30_000]
    for view, part in [
        (f[60_000:140_000], whole.slice(60_000, 80_000)),
        (f[60_000:140_000:7], whole.take(np.arange(60_000, 140_000, 7))),
        (f[some], whole.take(some)),
        (f.select("s", "id", "i"), whole.select(["s", "id", "i"])),
        (f.filter(en.col("s") == "a"), whole.filter(pc.field("s") == "a")),
    ]:
        dataset = view.to_dataset()
        assert_same(dataset.to_table(), part)
        assert_same(dataset.to_table(filter=condition), part.filter(condition))
    df = pd.DataFrame({"f": [1.5, np.nan] * 100, "s": ["a", None] * 100}, index=pd.RangeIndex(7, 207, name="k"))
    df.index = pd.Index(np.arange(7, 207), name="k")
    en.write(df, tmp_path / "pandas.entasis")
    frame = en.open(tmp_path / "pandas.entasis").to_dataset()
    assert frame.schema.names == ["k", "f", "s"]
    with duckdb.connect() as connection:
        found = connection.sql("select k from frame where k > 200 and s is not null").fetchall()
    assert found == [(201,), (203,), (205,)]
    assert len(frame.schema) == 3
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])
    en.write(twice, tmp_path / "twice.entasis")
    with pytest.raises(en.DuplicateColumnError, match="two columns named 'a'"):
        en.open(tmp_path / "twice.entasis").to_dataset()


def test_damage_is_reported_where_it_is_read(tmp_path: Path) -> None:
    whole = pa.table({"id": np.arange(200_000), "x": np.random.default_rng(1).random(200_000)})
    path = tmp_path / "table.entasis"
    en.write(whole, path, compression=0)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    dataset = en.open(path).to_dataset()
    assert_same(dataset.to_table(filter=pc.field("id") < 9), whole.slice(0, 9))
    with pytest.raises(en.CorruptFileError, match="checksum"):
        dataset.to_table()
    with duckdb.connect() as connection, pytest.raises(Exception, match="checksum"):
        connection.sql("select sum(id) from dataset").fetchall()


def test_threads_share_a_dataset(tmp_path: Path) -> None:
    whole = table(150_000)
    en.write(whole, tmp_path / "table.entasis")
    dataset = en.open(tmp_path / "table.entasis").to_dataset()
    expected = len(whole.filter(pc.field("i") > 3))
    failures: list[BaseException] = []

    def run(ask: Callable[[], int]) -> None:
        try:
            for _ in range(3):
                assert ask() == expected
        except BaseException as error:
            failures.append(error)

    def by_pyarrow() -> int:
        return dataset.count_rows(filter=pc.field("i") > 3)

    def by_duckdb() -> int:
        lines = dataset
        with duckdb.connect() as connection:
            found = connection.sql("select count(*) from lines where i > 3").fetchall()
        return int(found[0][0]) if lines is dataset else -1

    threads = [threading.Thread(target=run, args=[ask]) for ask in (by_pyarrow, by_duckdb) * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    # A reader that is given up early leaves the dataset as it is.
    reader = dataset.scanner(columns=["id"]).to_reader()
    assert reader.read_next_batch().num_rows
    del reader
    assert dataset.count_rows() == len(whole)


def test_columns_by_their_numbers(tmp_path: Path) -> None:
    whole = pa.table({"a": range(10), "b": range(0, 100, 10), "c": range(0, 1000, 100)})
    en.write(whole, tmp_path / "table.entasis")
    dataset, memory = en.open(tmp_path / "table.entasis").to_dataset(), ds.dataset(whole)
    for condition in ((pc.field("c") >= 0) & (pc.field(0) > 5), pc.field(1) < 30, pc.field("b") > 80):
        assert_same(dataset.to_table(filter=condition), memory.to_table(filter=condition))
    columns = {"s": pc.add(pc.field("c"), pc.field(0))}
    assert_same(dataset.to_table(columns=columns), memory.to_table(columns=columns))


def test_comparisons_with_nan(tmp_path: Path) -> None:
    rows = np.arange(150_000)
    whole = pa.table({"f": np.where(rows < BLOCK, np.nan, rows / 7).astype("f4"), "finance": rows / 3})
    en.write(whole, tmp_path / "table.entasis")
    dataset, memory = en.open(tmp_path / "table.entasis").to_dataset(), ds.dataset(whole)
    f, nan = pc.field("f"), float("nan")
    for condition in (f < nan, ~(f < nan), ~(f <= nan), f != nan, ~(f > nan), f.isin([nan, 9362.5]), ~(f == nan)):
        assert dataset.count_rows(filter=condition) == memory.count_rows(filter=condition), str(condition)


class Reads:
    """Records how many rows and columns a dataset reads at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from entasis._engines.dataset import Dataset

        self.rows: list[int] = []
        self.cells: list[int] = []
        read = Dataset._read

        def spy(dataset: Dataset, names: list[str], rows: Any) -> pa.Table:
            self.rows.append(len(rows))
            self.cells.append(len(names) * len(rows))
            return read(dataset, names, rows)

        monkeypatch.setattr(Dataset, "_read", spy)


def test_missing_values_do_not_hinder_pruning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n = 1_000_000
    rows = np.arange(n)
    texts = pa.array([f"{row // 1000:06d}" for row in rows], mask=rows % 1000 == 7)
    whole = pa.table({"x": pa.array(rows, mask=rows % 1000 == 7), "s": texts, "y": rows})
    en.write(whole, tmp_path / "table.entasis")
    dataset, reads = en.open(tmp_path / "table.entasis").to_dataset(), Reads(monkeypatch)
    for condition in (pc.field("x") > n - 10, pc.field("s") == "000500", pc.field("x").isin([5, 70_000])):
        reads.rows.clear()
        found = dataset.to_table(columns=["y"], filter=condition)
        assert_same(found, ds.dataset(whole).to_table(columns=["y"], filter=condition))
        assert sum(reads.rows) <= 3 * BLOCK, str(condition)


def test_wide_tables_are_read_in_small_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n = 400_000
    columns = {f"c{i}": np.full(n, i % 200, "u1") for i in range(300)}
    en.write(pa.table({"k": np.arange(n) % 100, **columns}), tmp_path / "table.entasis")
    dataset, reads = en.open(tmp_path / "table.entasis").to_dataset(), Reads(monkeypatch)
    assert sum(batch.num_rows for batch in dataset.to_batches(filter=pc.field("k") >= 50)) == n // 2
    assert sum(batch.num_rows for batch in dataset.to_batches()) == n
    assert max(reads.cells) <= 1 << 22


def test_odd_columns_and_numbers(tmp_path: Path) -> None:
    whole = pa.table({"entasis row": range(10), "a b": range(10), "c": ["x", "y"] * 5})
    en.write(whole, tmp_path / "table.entasis")
    dataset, memory = en.open(tmp_path / "table.entasis").to_dataset(), ds.dataset(whole)
    for condition in (pc.field("entasis row") > 5, pc.field("a b") < 3, pc.field("c") == "x"):
        assert_same(dataset.to_table(filter=condition), memory.to_table(filter=condition))
    assert dataset.to_table(columns=["c", "c"]).column_names == ["c", "c"]
    with pytest.raises(en.ArgumentError, match="a number of rows"):
        dataset.head(-1)
    with pytest.raises(IndexError, match="from 0 to 9"):
        dataset.take([-1])


def test_closed_and_mapped_files(tmp_path: Path) -> None:
    whole = pa.table({"a": np.arange(100_000), "b": np.arange(100_000) % 1000 / 3})
    en.write(whole, tmp_path / "table.entasis", compression=0)
    with en.open(tmp_path / "table.entasis") as f:
        dataset, scan = f.to_dataset(), f.filter(en.col("a") < 10)
    assert dataset.count_rows(filter=pc.field("a") < 10) == scan.count() == 10
    mapped = en.open(tmp_path / "table.entasis", memory_map=True)
    condition = pc.field("b") > 300.0
    assert_same(mapped.to_dataset().to_table(filter=condition), ds.dataset(whole).to_table(filter=condition))


# --- long strings


@pytest.fixture
def short_windows(monkeypatch):
    """Windows of strings end after 1 kB, as they do after 256 MiB otherwise."""
    from entasis._engines import windows

    monkeypatch.setattr(windows, "_BYTES", 1_000)


@pytest.mark.parametrize("host", ["pyarrow", "pandas", "polars"])
def test_windows_end_before_strings_are_too_long(tmp_path, short_windows, host):
    path = tmp_path / "long.entasis"
    table = pa.table({"i": range(300), "s": ["x" * (k % 40) for k in range(300)], "t": [None, "y"] * 150})
    en.write({"pyarrow": table, "pandas": table.to_pandas(), "polars": pl.DataFrame(table)}[host], path)
    f = en.open(path)
    dataset = f.to_dataset()
    lens = [sum(len(text) for text in batch["s"].to_pylist()) for batch in dataset.to_batches()]
    assert len(lens) > 5
    assert max(lens) <= 2_000
    assert sum(lens) == sum(k % 40 for k in range(300))
    some = pc.bit_wise_and(pc.field("i"), 7) == 3
    for condition in (None, pc.field("i") > 5, pc.field("i") < 250, some, some & (pc.field("t") == "y")):
        found = dataset.to_table(filter=condition)
        assert found.to_pydict() == (table if condition is None else table.filter(condition)).to_pydict()
    assert dataset.to_table(columns=["i"]).num_rows == 300
    assert duckdb.sql("select sum(length(s)) from dataset").fetchall() == [(sum(lens),)]
    sizes = [batch.num_rows for batch in pa.RecordBatchReader.from_stream(f)]
    assert len(sizes) > 5
    assert pa.table(f).to_pydict() == table.to_pydict()
    assert f.lazy().filter(pl.col("i") >= 3).collect().to_dict(as_series=False) == table.slice(3).to_pydict()
    picked = f[[250, 3, 3, 170]]
    assert picked.to_dataset().to_table().to_pydict() == table.take([250, 3, 3, 170]).to_pydict()


def test_columns_that_would_need_wider_offsets_are_cut(tmp_path, monkeypatch):
    """A window whose strings do not fit offsets of 32 bits is read in halves."""
    from entasis._engines import dataset as engine

    table = pa.table({"i": range(100), "s": ["x" * k for k in range(100)], "b": [b"y"] * 100, "l": [["z"]] * 100})
    en.write(table, tmp_path / "wide.entasis")
    whole, found = engine._table, []

    def wider(view):
        read = whole(view)
        found.append(read.num_rows)
        if read.num_rows <= 30 or "s" not in read.schema.names:
            return read
        position = read.schema.names.index("s")
        return read.set_column(position, "s", read["s"].cast(pa.large_string()))

    monkeypatch.setattr(engine, "_table", wider)
    dataset = en.open(tmp_path / "wide.entasis").to_dataset()
    for condition in (None, pc.field("i") > 20, pc.bit_wise_and(pc.field("i"), 1) == 0):
        wanted = table if condition is None else table.filter(condition)
        assert dataset.to_table(filter=condition).equals(wanted)
        assert dataset.to_table(["s"], filter=condition).equals(wanted.select(["s"]))
    assert max(batch.num_rows for batch in dataset.to_batches()) <= 30

    def always(view):
        return whole(view).cast(pa.schema([("s", pa.large_string())]))

    monkeypatch.setattr(engine, "_table", always)
    with pytest.raises(en.UnsupportedTypeError, match="row 0: a value of more than 2 GiB does not fit"):
        dataset.to_table(["s"])


@pytest.mark.skipif(not os.environ.get("ENTASIS_TEST_LONG"), reason="takes 6 GB of memory")
def test_strings_of_more_than_2_gib(tmp_path):
    path = tmp_path / "long.entasis"
    part = pa.array(["x" * 1_000_000] * 110)
    en.write(pa.table({"i": np.arange(2200), "s": pa.chunked_array([part] * 20)}), path)
    dataset = en.open(path).to_dataset()
    assert dataset.to_table(columns=["i"]).num_rows == 2200
    assert sum(batch.num_rows for batch in dataset.to_batches()) == 2200
    assert max(batch.nbytes for batch in dataset.to_batches()) < 1 << 29
    assert duckdb.sql("select sum(length(s)) from dataset").fetchall() == [(2_200_000_000,)]
    stream = en.open(path)  # noqa: F841
    assert duckdb.sql("select sum(length(s)) from stream").fetchall() == [(2_200_000_000,)]
    assert (
        en.scan_polars(path).select(pl.col("s").str.len_bytes().sum()).collect(engine="streaming").item()
        == 2_200_000_000
    )
