"""Threads: the same bytes from any number of them, calls from several of Python's, and forks."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import entasis as en
from entasis import _entasis


@pytest.fixture(scope="module")
def frame():
    n = 300_000
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "f": rng.random(n),
            "i": rng.integers(0, 1000, n),
            "s": pd.array([f"s{i % 1000}" for i in range(n)], dtype="str"),
            "c": pd.Categorical(rng.integers(0, 9, n)),
            "b": rng.random(n) < 0.5,
        }
    )


def test_same_bytes(frame, tmp_path):
    files = []
    for threads in (1, 2, 5):
        path = tmp_path / f"{threads}.entasis"
        en.write(frame, path, threads=threads)
        files.append(path.read_bytes())
    en.write(frame.copy(), path)
    assert len({*files, path.read_bytes()}) == 1
    pd.testing.assert_frame_equal(en.read(path, threads=1), en.read(path, threads=4))


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_labels_are_made_meanwhile(path, threads):
    values = np.random.default_rng(1).random((20_000, 70))
    labels = [f"column {i}" for i in range(70)]
    frame = pd.DataFrame(values, index=[f"row {i}" for i in range(20_000)], columns=labels)
    for other in (frame, frame.iloc[:0], frame.iloc[:9].astype(str)):
        en.write(other, path)
        pd.testing.assert_frame_equal(en.read(path, threads=threads), other)
        calls: list[bool] = []
        handle = _entasis.Handle(os.fspath(path))
        _entasis.read_blocks(handle, [], threads, calls.append, pandas=True)
        assert len(calls) == 1
        assert not calls[0] or threads > 1

        def fail(_: bool) -> None:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            _entasis.read_blocks(handle, [], threads, fail, pandas=True)


def test_set_threads(frame, path):
    try:
        en.set_threads(3)
        en.write(frame, path)
        pd.testing.assert_frame_equal(en.read(path), frame)
    finally:
        en.set_threads(None)
    with pytest.raises(en.ArgumentError):
        en.set_threads(-1)


def test_from_several_threads(frame, tmp_path):
    path = tmp_path / "shared.entasis"
    en.write(frame, path)
    file = en.open(path)

    def work(i):
        own = tmp_path / f"{i}.entasis"
        part = frame.iloc[i * 1000 :]
        en.write(part, own)
        return en.read(own).equals(part) and file.read(rows=(i, 200_000)).equals(frame.iloc[i:200_000])

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(12)))


def child(path, queue):
    queue.put(int(en.read(path)["i"].sum()))


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork(frame, path):
    en.write(frame, path)
    en.read(path)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=child, args=(os.fspath(path), queue))
    process.start()
    assert queue.get(timeout=60) == frame["i"].sum()
    process.join(60)
    assert process.exitcode == 0


_FIRST = """
import sys, threading
import {library}
import entasis as en
sys.setswitchinterval(1e-6)
start, failed = threading.Barrier(8), []

def work(k):
    start.wait()
    try:
        if {is_write}:
            en.write(value, f"{path}.{{k}}")
        else:
            en.read({path!r})
    except BaseException as error:
        failed.append(error)

if {is_write}:
    value = {value}
threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit(repr(failed) if failed else 0)
"""


@pytest.mark.parametrize(
    ("library", "value"),
    [
        ("pandas", "pandas.DataFrame({'a': [1, 2], 's': ['x', 'y']})"),
        ("polars", "polars.DataFrame({'a': [1, 2], 's': ['x', 'y']})"),
        ("pyarrow", "pyarrow.table({'a': [1, 2], 's': ['x', 'y']})"),
        ("numpy", "{'a': numpy.arange(3), 's': numpy.array(['x', 'y', 'z'])}"),
    ],
)
@pytest.mark.parametrize("is_write", [True, False])
def test_first_calls_of_many_threads(library, value, is_write, path):
    """Modules are imported when they are needed, by one thread, while others need them too."""
    pytest.importorskip(library)
    made = eval(value, {library: __import__(library)})
    en.write(made, path)
    code = _FIRST.format(library=library, value=value, is_write=is_write, path=str(path))
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_frame_of_several_threads_is_not_locked(path, monkeypatch):
    """Polars locks a frame while it makes a stream: threads with the same frame could deadlock."""
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1, 2], "s": ["x", "y"]})
    streamed = []
    stream = polars.DataFrame.__arrow_c_stream__
    monkeypatch.setattr(
        polars.DataFrame,
        "__arrow_c_stream__",
        lambda self, *asked: streamed.append(self) or stream(self, *asked),
    )
    en.write(frame, path)
    en.write({"deep": [frame]}, path)
    assert len(streamed) == 2
    assert all(other is not frame and other._df is not frame._df for other in streamed)


def test_reading_looks_no_label_up(path):
    """pandas makes its hash table for the first look-up of a caller, and finds the labels."""

    def read(values, threads, columns):
        index = np.random.default_rng(1).permutation(len(values))
        frame = pd.DataFrame(values, index=index, columns=columns)
        en.write(frame, path)
        got = en.read(path, threads=threads)
        pd.testing.assert_frame_equal(got, frame)
        assert got.columns.get_loc(columns[-1]) == len(columns) - 1
        fresh = en.read(path, threads=threads)
        engines = (axis._cache.get("_engine") for axis in (fresh.index, fresh.columns))
        return tuple(engine is not None and engine.is_mapping_populated for engine in engines)

    tall, wide = np.random.default_rng(1).random((5000, 100)), np.random.default_rng(1).random((300, 2000))
    few, many = ([f"column {i}" for i in range(n)] for n in (100, 2000))
    for threads in (1, 2):
        assert read(tall, threads, few) == (False, False)
        assert read(wide, threads, many) == (False, False)
        assert read(wide, threads, pd.Index(many, dtype=object)) == (False, False)
        assert read(wide, threads, [*many[1:], ("a", 1)]) == (False, False)


def test_labels_that_pandas_cannot_find(path):
    """pandas cannot look up integers of the other byte order; frames with such labels are read."""
    index = pd.Index(np.arange(5000, dtype=">i8"))
    frame = pd.DataFrame(np.random.default_rng(1).random((5000, 100)), index=index)
    en.write(frame, path)
    for threads in (1, 2):
        got = en.read(path, threads=threads)
        assert got.index.dtype == index.dtype
        assert got.index.to_numpy().tolist() == index.to_numpy().tolist()


_SIGNAL = """
import os, signal, sys
import entasis as en
en.read({path!r}, threads=3, to="numpy")
signal.pthread_sigmask(signal.SIG_BLOCK, {{signal.SIGTERM}})
os.kill(os.getpid(), signal.SIGTERM)
print(signal.sigwait({{signal.SIGTERM}}).name)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="signals")
def test_threads_that_wait_take_no_signals(frame, path):
    en.write({name: frame[name].to_numpy() for name in ("f", "i", "b")}, path)
    code = _SIGNAL.format(path=str(path))
    # Those of other libraries do.
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60, env=alone
    )
    assert done.stdout == "SIGTERM\n"
