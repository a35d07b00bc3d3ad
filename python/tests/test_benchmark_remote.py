"""The suite `remote` of the benchmarks: its server, equality, records and targets."""

import pytest
from bench.compare.context import Context, Options
from bench.compare.hosts import WrongData
from bench.compare.suites import remote
from bench.compare.targets import evaluate

pytest.importorskip("moto")
pytest.importorskip("flask")
pytest.importorskip("obstore")
pl = pytest.importorskip("polars")


@pytest.mark.release
def test_the_suite_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(remote, "N_ROWS", 1000)
    monkeypatch.setattr(remote, "N_SCANNED", 1000)
    # Without versitygw, whose requests are not counted.
    monkeypatch.setattr(remote, "program", lambda: None)
    context = Context(Options(data=tmp_path, rounds=1), None, tmp_path, suite="remote")
    remote.run(context)
    assert not context.failed
    records = context.sections["remote"]
    kinds = {"first", "first-20ms", "filter", "filter-20ms", "scan"}
    assert {record["kind"] for record in records} == kinds
    for record in records:
        assert record["failure"] is None
        n = int(record["notes"][0].split()[0])
        assert 1 <= n <= 12
        assert not record["kind"].endswith("20ms") or record["median_s"] > 0.02
    assert len(evaluate(context.sections)) == 3


def test_wrong_rows_are_found():
    rows = pl.DataFrame({"a": [1.0, 2.0]})
    assert remote._check(rows, rows) == []
    for wrong in (rows + 1, rows.rename({"a": "b"})):
        with pytest.raises(WrongData):
            remote._check(rows, wrong)
