"""The suite `encryption` of the benchmarks: its records and targets."""

import pytest
from bench.compare.context import Context, Options
from bench.compare.peers import Pool
from bench.compare.suites import encryption
from bench.compare.targets import evaluate


@pytest.mark.release
def test_the_suite_runs(tmp_path):
    options = Options(data=tmp_path, rounds=1, scale=0.0002)
    context = Context(options, Pool(None, 1), tmp_path, suite="encryption")
    encryption.run(context)
    assert not context.failed
    assert list(context.work.iterdir()) == []
    records = context.sections["encryption"]
    assert {record["kind"] for record in records} == {"write", "read", "rows", "append"}
    assert all(record["median_s"] is not None for record in records), records
    assert len(evaluate(context.sections)) == 4
