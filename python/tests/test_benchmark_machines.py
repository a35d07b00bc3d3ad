"""The suite `machines` of the benchmarks: equality, records and targets."""

import pandas as pd
import pytest
from bench.compare.context import Context, Options
from bench.compare.hosts import WrongData
from bench.compare.suites import machines
from bench.compare.suites.machines import by_dask, by_ray, rows
from bench.compare.targets import evaluate


@pytest.mark.release
def test_the_suite_runs(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    # Ray takes a quarter of a minute to start: `make bench SUITES=machines` runs it.
    monkeypatch.setattr(by_ray, "run", lambda context: None)
    monkeypatch.setattr(by_dask, "ARE_PROCESSES", False)
    context = Context(Options(data=tmp_path, rounds=1, scale=0.0001), None, tmp_path, suite="machines")
    machines.run(context)
    assert not context.failed
    assert list(context.work.iterdir()) == []
    records = context.sections["machines"]
    found = {(record["kind"], record["host"], record["format"]) for record in records}
    assert found == {
        ("write", "dask", "entasis"),
        ("write", "dask", "parquet"),
        ("sum", "dask", "entasis"),
        ("sum", "dask", "parquet"),
        ("memory", "dask", "entasis"),
        ("memory", "dask", "partition"),
    }
    assert all(record["failure"] is None for record in records)
    targets = {target["what"] for target in evaluate(context.sections)}
    assert targets == {
        "sum of one of ten columns of 10^8 rows, Dask <= 0.6 x parquet",
        "write 10^8 rows, Dask <= 0.8 x parquet",
        "memory of a worker, Dask <= 2 x partition",
    }


def test_wrong_rows_are_found(tmp_path):
    dd = pytest.importorskip("dask.dataframe")
    given = rows.expected(2, 100)
    whole = pd.concat([rows.partition(number, 100) for number in range(2)])
    assert (
        by_dask._check_sums(given, tmp_path, lambda path: dd.from_pandas(whole, npartitions=2, sort=False), None) == []
    )
    for name in ("id", "price", "flag", "word"):
        wrong = whole.copy()
        wrong[name] = wrong[name].to_numpy()[::-1] if name == "word" else wrong[name] * 2
        with pytest.raises(WrongData, match=name):
            by_dask._check_sums(
                given, tmp_path, lambda path, of=wrong: dd.from_pandas(of, npartitions=2, sort=False), None
            )
    with pytest.raises(WrongData):
        by_dask._check_sum(1.0, 1.1)
