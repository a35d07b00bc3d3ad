"""The figures of the guide about many machines: what is measured, and what is computed from it."""

import pytest
from bench import many_machines


def test_the_figures_are_computed(capsys):
    for module in ("dask", "moto", "obstore"):
        pytest.importorskip(module)
    many_machines.main(["--machines", "10", "--files", "200", "--rows", "1000"])
    printed = capsys.readouterr().out
    rows = dict(line.strip("| \n").rsplit(" | ", 1) for line in printed.splitlines()[2:])
    tasks = int(rows["requests of a task that reads a column of a file"])
    assert 1 <= tasks <= 5
    assert rows["requests of all tasks"] == f"{200 * tasks:,}"
    assert rows["requests of a machine"] == str(20 * tasks)
    # A small file is sent in one request.
    assert rows["requests of a task that writes a file"] == "1"
    assert rows["requests of a write"] == str(200 + int(rows["requests of the client of a write"]))
    assert rows["requests of the client before a reading"] == rows["the same, with a filter on a key"]


def test_appends_follow_each_other():
    assert many_machines.commits(1, 0.02) == (1, pytest.approx(0.08))
    attempts, seconds = many_machines.commits(50, 0.02)
    # Each attempt that succeeds ends all others that had read the same manifest.
    assert 50 < attempts < 50 * 51 / 2
    assert seconds > 50 * 0.02
    assert many_machines.commits(50, 0.002)[1] < seconds


def test_manifests_grow_with_their_files():
    pytest.importorskip("pyarrow")
    few, many = (many_machines.manifest_bytes(n, 1000) for n in (100, 1000))
    assert 4 * few < many < 11 * few
