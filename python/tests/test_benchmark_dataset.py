"""The suite `dataset` of the benchmarks: its folders, equality, records and targets."""

import os

import pyarrow as pa
import pytest
from bench.compare.context import Context, Options
from bench.compare.hosts import WrongData
from bench.compare.peers import Pool
from bench.compare.suites import dataset
from bench.compare.suites.dataset import files, queries, tables, write
from bench.compare.suites.engines import tpch
from bench.compare.targets import evaluate

import entasis as en

# The queries of two engines over three formats take a minute.
LONG = bool(os.environ.get("ENTASIS_TEST_LONG"))


@pytest.fixture
def context(tmp_path):
    options = Options(data=tmp_path, rounds=1, scale=0.0005)
    return Context(options, Pool(None, 1), tmp_path, suite="dataset")


@pytest.mark.release
def test_the_suite_runs(context, monkeypatch):
    for module in ("duckdb", "polars"):
        pytest.importorskip(module)
    monkeypatch.setattr(write, "_child", lambda *given: 1 << 20)
    monkeypatch.setattr(tpch, "tables", lambda *given: _tables_of_tpch())
    if not LONG:
        monkeypatch.setattr(queries, "run", lambda context: None)
        monkeypatch.setattr(queries, "tpch", lambda context: None)
    dataset.run(context)
    assert not context.failed
    assert list(context.work.iterdir()) == []
    records = context.sections["dataset"]
    assert all(record["median_s"] is not None for record in records), records
    found = {(record["kind"], record["host"], record["format"]) for record in records}
    formats = ("entasis", "parquet-zstd")
    assert found >= {(kind, "polars", format) for kind in ("open", "count", "key") for format in formats}
    assert found >= {("write", "arrow", "entasis"), ("write", "arrow", "pyarrow")}
    if not LONG:
        return
    assert found >= {("query", engine, format) for engine in ("duckdb", "polars") for format in (*formats, "memory")}
    assert {host for kind, host, _ in found if kind == "tpch"} == {"duckdb"}
    targets = {target["what"] for target in evaluate(context.sections)}
    assert "memory of write 10^8 rows by 100 keys <= 1 GiB" in targets
    assert "filter and group over 100 files, each engine, geometric mean <= 0.8 x parquet-zstd" in targets
    assert "count the rows of 1,000 files, Polars <= 1 x parquet-zstd" in targets
    assert len(targets) == 8


def _tables_of_tpch():
    """The columns of TPC-H that the queries use, in a few rows."""
    import datetime
    from decimal import Decimal

    day, money = datetime.date(1994, 3, 1), pa.decimal128(15, 2)
    lineitem = {
        "l_orderkey": [1, 2, 3, 4],
        "l_partkey": [1, 2, 1, 2],
        "l_quantity": pa.array([Decimal("7.00")] * 4, money),
        "l_extendedprice": pa.array([Decimal("10.50")] * 4, money),
        "l_discount": pa.array([Decimal("0.06")] * 4, money),
        "l_tax": pa.array([Decimal("0.02")] * 4, money),
        "l_returnflag": ["A", "N", "A", "R"],
        "l_linestatus": ["F", "O", "F", "F"],
        "l_shipdate": [day, day, day, datetime.date(1995, 9, 5)],
        "l_commitdate": [day + datetime.timedelta(3)] * 4,
        "l_receiptdate": [day + datetime.timedelta(9)] * 4,
        "l_shipmode": ["MAIL", "SHIP", "AIR", "MAIL"],
    }
    orders = {"o_orderkey": [1, 2, 3, 4], "o_orderpriority": ["1-URGENT", "5-LOW", "2-HIGH", "5-LOW"]}
    part = {"p_partkey": [1, 2], "p_type": ["PROMO TIN", "SMALL TIN"]}
    return {"lineitem": pa.table(lineitem), "orders": pa.table(orders), "part": pa.table(part)}


def test_rows_that_differ_are_found(tmp_path):
    given = write.base(1000)
    expected = write._expected(given, 2500)
    write.WRITERS["entasis"](given, 2500, tmp_path / "entasis", 1)
    write.WRITERS["pyarrow"](given, 2500, tmp_path / "pyarrow", 1)
    for key in ("entasis", "pyarrow"):
        assert write._check(expected, tmp_path / key, key) == []
    en.append(given.slice(0, 1), tmp_path / "entasis")
    with pytest.raises(WrongData):
        write._check(expected, tmp_path / "entasis", "entasis")
    rows = tables.with_key(tables.table(1, 10), 1)
    assert files._check(rows, rows) == []
    with pytest.raises(WrongData):
        files._check(rows, rows.slice(1))
