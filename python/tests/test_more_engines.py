"""DataFusion and ibis on datasets over files, against the same on a table in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import datafusion
import ibis
import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from io_counts import bytes_read

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path

N = 150_000
FLOATS = [0.0, -0.0, 1.0, float("nan"), None, float("inf"), -2.5]


def whole() -> pa.Table:
    random = np.random.default_rng(1)
    return pa.table(
        {
            "id": np.arange(N),
            "f": pa.array([FLOATS[k] for k in random.integers(0, len(FLOATS), N)], pa.float64()),
            "s": pa.array([None if k % 7 == 0 else f"text {k % 30}" for k in range(N)]),
            "c": pa.array([["u", "v", None][k % 3] for k in range(N)]).dictionary_encode(),
            "b": pa.array([[True, False, None][k] for k in random.integers(0, 3, N)]),
        }
    )


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[pa.Table, en.File]:
    path = tmp_path_factory.mktemp("engines") / "table.entasis"
    table = whole()
    en.write(table, path)
    return table, en.open(path)


@pytest.mark.parametrize(
    "where",
    [
        "true",
        "id between 70000 and 70010",
        "id in (5, 65535, 65536, 149999)",
        "f > 1",
        "f >= 'nan'::double",
        "f = 'nan'::double",
        "f <> 1",
        "f = -0.0",
        "f in (0.0, 1.0)",
        "not (f > 0)",
        "f is null or b",
        "s = 'text 3' and id < 70000",
        "s like 'text 1%'",
        "c = 'u' and not b",
        "id % 2 = 0 and abs(f) > 0",
    ],
)
def test_conditions_of_datafusion(both: tuple[pa.Table, en.File], where: str) -> None:
    table, f = both
    context = datafusion.SessionContext()
    context.register_record_batches("memory", [table.to_batches()])
    context.register_dataset("file", f.to_dataset(nan="largest"))

    def rows(name: str) -> list[int]:
        batches = context.sql(f"select id from {name} where {where}").collect()
        return sorted(row for batch in batches for row in batch["id"].to_pylist())

    assert rows("file") == rows("memory")


def test_queries_of_datafusion(both: tuple[pa.Table, en.File]) -> None:
    table, f = both
    context = datafusion.SessionContext()
    context.register_record_batches("memory", [table.to_batches()])
    context.register_dataset("file", f.to_dataset(nan="largest"))
    for query in (
        "select count(*) as n from {}",
        "select c, count(*) as n, sum(id) as total from {} group by c order by c nulls first",
        "select a.id from {} a join {} b on a.id = b.id where a.f > 1 and b.b order by a.id limit 20",
        "select id, s from {} order by id desc limit 3",
    ):
        of_file, of_memory = (
            [row for batch in context.sql(query.replace("{}", name)).collect() for row in batch.to_pylist()]
            for name in ("file", "memory")
        )
        assert of_file == of_memory, query
    plan = context.sql("explain select id from file where id > 3").collect()[0].to_pylist()
    assert any("filter_expr=(id > 3)" in line["plan"] for line in plan)


def test_datafusion_reads_few_bytes(tmp_path: Path) -> None:
    n = 1_000_000
    columns = {f"c{i}": np.random.default_rng(i).integers(0, 2**40, n) for i in range(4)}
    en.write(pa.table({"id": np.arange(n), **columns}), tmp_path / "table.entasis")
    context = datafusion.SessionContext()
    context.register_dataset("file", en.open(tmp_path / "table.entasis").to_dataset(nan="largest"))
    for query, most in [
        ("select c1 from file where id = 123456", 2 * 65_536 * 5),
        ("select id from file where id < 0", 10_000),
    ]:
        context.sql(query).collect()
        before = bytes_read()
        context.sql(query).collect()
        assert bytes_read() - before <= most, query


@pytest.mark.filterwarnings("ignore")
def test_ibis(both: tuple[pa.Table, en.File]) -> None:
    table, f = both
    _ = ibis._
    found, expected = (
        ibis.memtable(source)
        .filter(_.id < 1000, _.s == "text 3")
        .group_by(_.c)
        .agg(n=_.count(), total=_.id.sum())
        .order_by(_.c)
        for source in (f.to_dataset(), ds.dataset(table))
    )
    assert found.to_pyarrow().to_pylist() == expected.to_pyarrow().to_pylist()
    assert ibis.memtable(f.to_dataset()).count().execute() == N
