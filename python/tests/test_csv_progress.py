"""Progress of scans and of writing texts: it grows, ends with all, and an exception ends the work."""

from __future__ import annotations

import io
import sys

import pytest

import entasis as en
from entasis._arguments import progress as bars

pl = pytest.importorskip("polars")

TEXT = b"a,b\n" + b"1,x\n" * 1_000_000

WORK = {
    "count": lambda scan, path, show: scan.count(progress=show),
    "filtered": lambda scan, path, show: scan.filter(en.col("a") > 1).count(progress=show),
    "read": lambda scan, path, show: scan.read(to="polars", progress=show),
    "limited": lambda scan, path, show: scan.read(to="polars", limit=3, progress=show),
    "batches": lambda scan, path, show: list(scan.batches(to="polars", progress=show)),
    "write_csv": lambda scan, path, show: en.write_csv(scan, path, progress=show),
    "objects": lambda scan, path, show: en.write_csv(scan, io.BytesIO(), progress=show),
}


def follow(calls):
    return lambda done, total, unit: calls.append((done, total, unit))


@pytest.mark.parametrize("work", WORK)
def test_scans_report_the_bytes_of_all_texts(work, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(TEXT)
    for source, n in ((path, 1), (TEXT, 1), ([path, path], 2)):
        calls = []
        WORK[work](en.scan_csv(source, threads=2), tmp_path / "o.csv", follow(calls))
        whole = n * len(TEXT)
        assert calls[-1] == (whole, whole, "bytes")
        assert {call[1:] for call in calls} == {(whole, "bytes")}
        assert sorted(calls) == calls


def test_a_stream_has_no_whole():
    calls = []
    assert en.scan_csv(io.BytesIO(TEXT)).filter(en.col("a") == 1).count(progress=follow(calls)) == 1_000_000
    assert {call[1:] for call in calls} <= {(None, "bytes")}
    assert sorted(calls) == calls


@pytest.mark.parametrize("work", WORK)
def test_an_exception_ends_a_scan(work, tmp_path):
    seen = []

    def fail(done, total, unit):
        seen.append(done)
        raise RuntimeError("stop")

    path = tmp_path / "o.csv"
    path.write_bytes(b"old")
    scan = en.scan_csv(TEXT)
    with pytest.raises(RuntimeError, match="stop"):
        WORK[work](scan, path, fail)
    assert len(seen) == 1
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    assert scan.count() == 1_000_000


@pytest.mark.parametrize("n", [1, 65_536, 300_000])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_writing_reports_all_rows_once(n, threads, tmp_path):
    frame = pl.DataFrame({"a": range(n)})
    en.write(frame, tmp_path / "t.entasis")
    for source in (frame, en.open(tmp_path / "t.entasis")):
        for target in (tmp_path / "t.csv", tmp_path / "t.csv.gz", io.BytesIO()):
            calls = []
            en.write_csv(source, target, threads=threads, progress=follow(calls))
            assert calls[-1] == (n, n, "rows")
            assert {call[1:] for call in calls} == {(n, "rows")}
            assert [done for done, *_ in calls] == sorted({done for done, *_ in calls})


# The last report comes before the file replaces the old one.
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("append", [False, True])
def test_an_exception_leaves_the_old_text(last, append, tmp_path):
    def fail(done, total, unit):
        if done == total or not last:
            raise RuntimeError("stop")

    path = tmp_path / "t.csv"
    en.write_csv(pl.DataFrame({"a": [7]}), path)
    for n in (1, 300_000):
        with pytest.raises(RuntimeError, match="stop"):
            en.write_csv(pl.DataFrame({"a": range(n)}), path, append=append, progress=fail)
    assert path.read_bytes() == b"a\n7\n"
    assert list(tmp_path.iterdir()) == [path]


def test_an_exception_leaves_the_old_file_of_a_conversion(tmp_path):
    def fail(done, total, unit):
        if done == total:
            raise RuntimeError("stop")

    path = tmp_path / "t.entasis"
    en.write(pl.DataFrame({"a": [7]}), path)
    before = path.read_bytes()
    for text in (b"a,b\n1,x\n", TEXT):
        with pytest.raises(RuntimeError, match="stop"):
            en.convert(text, path, progress=fail)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_other_values_are_refused(tmp_path):
    scan = en.scan_csv(b"a\n1\n")
    for call in (
        lambda: scan.count(progress=3),
        lambda: scan.read(progress="x"),
        lambda: list(scan.batches(progress=3)),
        lambda: en.write_csv(scan, tmp_path / "t.csv", progress=3),
        lambda: en.write_csv(pl.DataFrame({"a": [1]}), tmp_path / "t.csv", progress=3),
    ):
        with pytest.raises(en.ArgumentError, match="progress"):
            call()
    assert list(tmp_path.iterdir()) == []


def test_bars_are_named_after_the_work(monkeypatch, capsys):
    monkeypatch.setattr(bars, "_PATIENCE", 0)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    scan = en.scan_csv(b"a\n1\n")
    scan.count(progress=True)
    assert "counting: 100 %" in capsys.readouterr().err
    scan.to_polars()
    assert capsys.readouterr().err == ""
    list(scan.batches(progress=True))
    assert "reading: 100 %" in capsys.readouterr().err
    en.write_csv(scan, io.BytesIO(), progress=True)
    assert "writing: 100 %" in capsys.readouterr().err
