"""The suite `convert` of the benchmarks: its files, equality, records and targets."""

import pyarrow as pa
import pytest
from bench.compare.context import Context, Options
from bench.compare.frames.headline import headline
from bench.compare.fwrite import rscript
from bench.compare.hosts import WrongData
from bench.compare.suites import convert
from bench.compare.suites.convert import frames, fst, qs2, r_files
from bench.compare.suites.convert.r_process import run_script
from bench.compare.targets import evaluate

import entasis as en

needs_r = pytest.mark.skipif(rscript("base") is None, reason="R is not installed")


@needs_r
@pytest.mark.parametrize("form", ["rds", "gzip", "qs2"])
@pytest.mark.parametrize("frame", frames.FRAMES)
def test_files_of_r_hold_the_frame(frame, form, tmp_path):
    path, expected = frames.saved(tmp_path, frame, form, 10_000)
    assert frames.saved(tmp_path, frame, form, 10_000)[0] == path
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    got = en.read(path, to="pyarrow")
    assert r_files._differences(expected, got) == []
    other = expected.set_column(0, expected.column_names[0], pa.nulls(len(expected), expected.schema[0].type))
    with pytest.raises(WrongData):
        r_files._differences(other, got)


@pytest.mark.parametrize("n_rows", [32, 4096 * 3 + 64])
def test_a_file_of_fst_holds_the_frame(n_rows, tmp_path):
    frame = headline(n_rows)
    (tmp_path / "x.fst").write_bytes(fst.content(frame))
    got = en.read(tmp_path / "x.fst", to="pandas")
    assert fst._differences(frame, got) == []
    with pytest.raises(WrongData):
        fst._differences(frame.assign(Real=-frame["Real"]), got)


@needs_r
@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_of_qs2_are_decompressed(threads, tmp_path):
    stream = tmp_path / "stream"
    code = "to <- file(commandArgs(TRUE), 'wb'); serialize(1:1e6 + 0, to, xdr = FALSE); close(to)"
    run_script(code, str(stream))
    qs2.pack(stream, tmp_path / "x.qs2")
    assert qs2.unpacked(tmp_path / "x.qs2", threads) == stream.stat().st_size
    assert en.read(tmp_path / "x.qs2")["value"].tolist() == list(range(1, 1_000_001))


@pytest.mark.release
@needs_r
def test_the_suite_runs(tmp_path, monkeypatch):
    pytest.importorskip("polars")
    monkeypatch.setattr(r_files, "FILES", [("numbers", "rds", 1000), ("texts", "gzip", 1000)])
    monkeypatch.setattr(convert.fst, "N_ROWS", 1000)
    monkeypatch.setattr(convert.parquet.peak, "of_conversion", lambda *given: 1 << 20)
    frame = pa.table({"a": [1, 2], "b": ["x", None]})
    monkeypatch.setattr(convert.parquet.tpch, "table", lambda *given: _stored(tmp_path, frame))
    context = Context(Options(data=tmp_path, rounds=1), None, tmp_path, suite="convert")
    convert.run(context)
    assert not context.failed
    records = context.sections["convert"]
    assert {(record["kind"], record["format"]) for record in records} == {
        ("read-fst", "entasis"),
        ("read-rds", "entasis"),
        ("read-rds", "readRDS"),
        ("read-gzip", "entasis"),
        ("read-gzip", "readRDS"),
        ("read-gzip", "inflate"),
        ("from-parquet", "entasis"),
        ("from-parquet", "polars"),
        ("to-parquet", "entasis"),
        ("to-parquet", "polars"),
    }
    found = evaluate(context.sections)
    assert "memory of Parquet to Entasis <= 512 MiB" in {target["what"] for target in found}
    assert all(record["write_peak_bytes"] is not None for record in records if record["format"] == "entasis")


def _stored(folder, frame):
    import pyarrow.parquet as pq

    pq.write_table(frame, folder / "frame.parquet")
    return folder / "frame.parquet"
