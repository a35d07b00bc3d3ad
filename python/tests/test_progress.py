"""Progress of long work: counts grow and end with all, and an exception ends the work."""

from __future__ import annotations

import io
import os
import signal

import numpy as np
import pandas as pd
import pytest

import entasis as en
from entasis._arguments import progress as bars

N = 3_000_000
OLD = b"an old file"


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(0)
    words = pd.Categorical.from_codes(random.integers(0, 3, N), ["Oslo", "Rome", "Bern"])
    texts = pd.Series([f"text {i}" for i in range(N // 10)], dtype="str").repeat(10)
    return pd.DataFrame({"a": random.integers(0, 10**6, N), "b": random.random(N), "c": words, "d": texts.to_numpy()})


@pytest.fixture(scope="module")
def file(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("progress") / "file.entasis"
    en.write(frame, path)
    return path


def follow(calls):
    return lambda done, total, unit: calls.append((done, total, unit))


def check(call, unit, total=None, least=1):
    """Call with a function for progress, and check what it got.

    Reports come every 0.05 s: with `least` the work takes longer also in a release build.
    """
    calls = []
    result = call(follow(calls))
    assert len(calls) >= least, calls
    assert {call[2] for call in calls} == {unit}
    totals = {call[1] for call in calls}
    assert len(totals) == 1, calls
    if total is not None:
        assert totals == {total}
    done = [call[0] for call in calls]
    assert done == sorted(done)
    assert done[-1] == next(iter(totals))
    return result


def objects():
    return [{"a": i, "b": [i, str(i)]} for i in range(200_000)]


def test_writing_reports_values(frame, tmp_path):
    path = tmp_path / "t.entasis"
    check(lambda show: en.write(frame, path, threads=1, compression=80, progress=show), "values", least=3)
    assert en.read(path).equals(frame)
    check(lambda show: en.write(frame, path, progress=show, compression=90), "values", least=3)
    check(lambda show: en.write(frame, io.BytesIO(), progress=show), "values")
    check(lambda show: en.write({"a": np.arange(1000)}, path, progress=show), "values", 1000)
    check(lambda show: en.write(objects(), path, progress=show), "values")
    check(lambda show: en.write([frame, {"x": frame}], path, progress=show), "values")
    check(lambda show: en.write(frame, path, metadata={"a": [1, 2]}, progress=show), "values")
    for to in ("polars", "pyarrow", "static_frame"):
        pytest.importorskip(to)
        value = en.read(en.to_bytes(frame[:100_000]), to=to)
        check(lambda show, value=value: en.write(value, path, progress=show), "values")


def test_writing_files_and_streams_reports_rows(frame, file, tmp_path):
    path = tmp_path / "t.entasis"
    check(lambda show: en.write(en.open(file), path, progress=show), "rows", N, least=2)
    check(lambda show: en.write(en.open(file)[:10], path, progress=show), "rows", 10)
    check(lambda show: en.write(en.open(file).filter(en.col("a") < 1000), path, progress=show), "rows")
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": np.arange(N)})
    calls = []
    en.write(pa.RecordBatchReader.from_batches(table.schema, table.to_batches(100_000)), path, progress=follow(calls))
    assert calls == [(100_000 * (i + 1), None, "rows") for i in range(30)]
    # Dictionaries can differ from batch to batch, so the stream is collected.
    table = pa.table({"a": pa.array(["x", "y"]).dictionary_encode()})
    stream = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    check(lambda show: en.write(stream, path, progress=show), "values")


def test_writing_a_scan_of_a_text_reports_bytes(tmp_path):
    text = b"a,b\n" + b"1,x\n" * 1_000_000
    path = tmp_path / "t.entasis"
    check(lambda show: en.write(en.scan_csv(text), path, progress=show), "bytes", len(text))
    check(lambda show: en.write(en.scan_csv(text), io.BytesIO(), progress=show), "values")
    assert len(en.read(path)) == 1_000_000


@pytest.mark.parametrize("to", ["pandas", "polars", "pyarrow", "numpy", "static_frame"])
def test_reading_reports_values(to, frame, file):
    pytest.importorskip(to)
    found = check(lambda show: en.read(file, to=to, threads=1, progress=show), "values", 4 * N)
    assert len(found if to != "numpy" else found["a"]) == N
    check(lambda show: en.read(file, to=to, columns=["a", "d"], progress=show), "values", 2 * N)
    check(lambda show: en.read(file, to=to, rows=(10, 20), progress=show), "values", 40)
    check(lambda show: en.read(file, to=to, columns=["b"], filter=en.col("a") < 1000, progress=show), "values", 2 * N)


def test_reading_other_values(frame, file, tmp_path):
    path = tmp_path / "t.entasis"
    en.write(objects(), path)
    assert check(lambda show: en.read(path, progress=show), "values") == objects()
    en.write({"x": frame, "y": [frame["b"].to_numpy()]}, path)
    check(lambda show: en.read(path, threads=1, progress=show), "values")
    en.write(frame[:0], path)
    check(lambda show: en.read(path, progress=show), "values", 0)
    en.write({"a": np.arange(10)}, path, compression=0)
    check(lambda show: en.read(path, memory_map=True, progress=show), "values", 10)
    content = bytearray(en.to_bytes({"n": np.random.default_rng(0).random(N)}))
    content[20_000] ^= 1
    with pytest.warns(en.DamageWarning):
        check(lambda show: en.read(content, on_damage="missing", progress=show), "values", N)
    pa = pytest.importorskip("pyarrow")
    nested = pa.table({"a": pa.array([[1, 2], None, []] * 100_000), "b": pa.array([{"x": 1, "y": "z"}] * 300_000)})
    en.write(nested, path)
    assert check(lambda show: en.read(path, progress=show), "values", 600_000).equals(nested)


def test_functions_may_read(frame, file):
    seen = []

    def read(done, total, unit):
        seen.append(len(en.read(file, columns="a", rows=(0, 10), progress=lambda *n, unit: None)))

    check(lambda show: en.read(file, threads=1, progress=show), "values", 4 * N)
    assert en.read(file, threads=1, progress=read).equals(frame)
    assert seen == [10] * len(seen)
    calls = []
    en.read(file, progress=lambda done, total, unit: calls.append(done))
    assert calls[-1] == 4 * N


def test_appending_reports_values(frame, file, tmp_path):
    path = tmp_path / "t.entasis"
    check(lambda show: en.append(frame, path, create=True, progress=show), "values")
    check(lambda show: en.append(frame, path, threads=1, progress=show), "values")
    check(lambda show: en.append(frame[:10], path, progress=show), "values")
    wider = frame[:1000].assign(a=0.5, e=1)
    anew = check(lambda show: en.append(wider, path, widen=True, fill=True, progress=show), "values", least=2)
    assert anew == ["a"]
    en.write(pd.DataFrame({"a": [{}, 1]}), path)
    check(lambda show: en.append(pd.DataFrame({"a": [[], 2]}), path, progress=show), "values")
    en.write(np.arange(10), path)
    check(lambda show: en.append(np.arange(10), path, progress=show), "values")


def grown(frame, path):
    en.write(frame, path)
    for i in range(3):
        en.append(frame[: 1000 + i], path)
    en.replace_columns(frame[["a"]].iloc[:0].reindex(range(len(en.open(path)))).fillna(0), path)


def test_verifying_compacting_and_repairing(frame, tmp_path):
    path, out = tmp_path / "t.entasis", tmp_path / "out.entasis"
    grown(frame, path)
    size = path.stat().st_size
    report = check(lambda show: en.verify(path, threads=1, progress=show), "bytes", size, least=2)
    assert report.n_generations > 1
    check(lambda show: en.verify(path, generation=1, progress=show), "bytes")
    check(lambda show: en.repair(path, out, progress=show), "bytes", 2 * size, least=2)
    check(lambda show: en.compact(path, progress=show), "values")
    assert path.stat().st_size < size
    check(lambda show: en.verify(en.to_bytes(objects()), progress=show), "bytes")


def test_encrypting_and_decrypting(frame, tmp_path):
    path = tmp_path / "t.entasis"
    grown(frame, path)
    for call in (en.encrypt, en.decrypt):
        check(lambda show, call=call: call(path, key=KEY, progress=show), "bytes", least=2)


KEY = en.Key(bytes(range(32)))
CALLS = {
    "write": lambda path, frame, **options: en.write(frame, path, **options),
    "write a tree": lambda path, frame, **options: en.write([frame], path, **options),
    "write a file": lambda path, frame, **options: en.write(en.open(en.to_bytes(frame)), path, **options),
    "write a scan": lambda path, frame, **options: en.write(en.scan_csv(b"a,b\n1,x\n"), path, **options),
    "append": lambda path, frame, **options: en.append(frame, path, **options),
    "widen": lambda path, frame, **options: en.append(frame.assign(a=0.5), path, widen=True, **options),
    "compact": lambda path, frame, **options: en.compact(path, **options),
    "encrypt": lambda path, frame, **options: en.encrypt(path, path.parent / "sealed", key=KEY, **options),
    "repair": lambda path, frame, **options: en.repair(en.to_bytes(frame), path, **options),
    "verify": lambda path, frame, **options: en.verify(path, **options),
    "read": lambda path, frame, **options: en.read(path, **options),
}


@pytest.fixture(params=CALLS)
def call(request):
    return CALLS[request.param]


@pytest.mark.parametrize("error", [ZeroDivisionError, ValueError, KeyError, AttributeError, en.ArgumentError])
@pytest.mark.parametrize("host", ["pandas", "polars", "pyarrow"])
def test_an_exception_of_the_function_stays_as_it_is(file, host, error):
    """Such errors of libraries mean damage or a defect where a reader calls these."""
    raised = error("stop")

    def stop(done, total, unit):
        raise raised from OSError("cause")

    with pytest.raises(error) as caught:
        en.read(file, to=host, progress=stop)
    assert caught.value is raised
    assert type(raised.__cause__) is OSError


@pytest.mark.sampled(3)
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("at", [1, 2])
def test_an_exception_ends_the_work(call, error, at, frame, tmp_path):
    path = tmp_path / "t.entasis"
    frame = frame[:500_000]
    grown(frame, path)
    old, seen = path.read_bytes(), []

    def fail(done, total, unit):
        seen.append(done)
        if len(seen) == at or done == total:
            raise error("stop")

    with pytest.raises(error, match="stop"):
        call(path, frame, progress=fail)
    assert len(seen) <= at
    assert path.read_bytes()[: len(old)] == old
    assert list(tmp_path.iterdir()) == [path]
    en.verify(path)
    # The lock is free, and the value is the old one.
    assert len(en.read(path)) == len(frame) + 3003


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_ctrl_c_ends_the_work(call, frame, tmp_path):
    path = tmp_path / "t.entasis"
    frame = frame[:500_000]
    grown(frame, path)
    old = path.read_bytes()

    def interrupt(done, total, unit):
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        call(path, frame, progress=interrupt)
    assert path.read_bytes()[: len(old)] == old
    assert list(tmp_path.iterdir()) == [path]


def test_without_progress_nothing_is_called(call, frame, tmp_path, monkeypatch):
    path = tmp_path / "t.entasis"
    grown(frame[:1000], path)

    def fail(*args):
        raise AssertionError("called")

    monkeypatch.setattr(bars, "_Bar", fail)
    monkeypatch.setattr(bars, "Steady", fail)
    for progress in (None, False):
        call(path, frame[:1000], progress=progress)
    call(path, frame[:1000])


def test_other_values_are_refused(call, frame, tmp_path):
    path = tmp_path / "t.entasis"
    grown(frame[:1000], path)
    with pytest.raises(en.ArgumentError, match="progress=3"):
        call(path, frame[:1000], progress=3)


def test_true_shows_a_bar(call, frame, tmp_path, monkeypatch, capsys):
    path = tmp_path / "t.entasis"
    grown(frame[:1000], path)
    call(path, frame[:1000], progress=True)
    # It is shown after a second.
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(bars, "_PATIENCE", 0)
    grown(frame[:1000], path)
    call(path, frame[:1000], progress=True)
    assert "100" in capsys.readouterr().err
