"""Sources and targets: paths, bytes, open files, streams."""

from __future__ import annotations

import errno
import gzip
import io
import mmap
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
from typing import ClassVar

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import entasis as en

FRAME = pd.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"]}, index=pd.Index([5, 6, 7], name="k"))


class Minimal:
    """A binary file with nothing but what is needed."""

    def __init__(self, content: bytes) -> None:
        self._file = io.BytesIO(content)

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)


@pytest.fixture
def content() -> bytes:
    return en.to_bytes(FRAME)


def sources(content: bytes, folder: pathlib.Path):
    path = folder / "source.entasis"
    path.write_bytes(content)
    at_its_end = io.BytesIO(content)
    at_its_end.read()
    spooled = tempfile.SpooledTemporaryFile()  # noqa: SIM115
    spooled.write(content)
    mapped = path.open("rb")
    yield from {
        "str": str(path),
        "pathlib": path,
        "bytes": content,
        "bytearray": bytearray(content),
        "memoryview": memoryview(content),
        "strided memoryview": memoryview(b"".join(bytes([byte, 0]) for byte in content))[::2],
        "BytesIO": io.BytesIO(content),
        "BytesIO at its end": at_its_end,
        "open file": path.open("rb"),
        "unbuffered file": path.open("rb", buffering=0),
        "file of a few methods": Minimal(content),
        "spooled file": spooled,
        "gzip": gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(content))),
        "mmap": mmap.mmap(mapped.fileno(), 0, access=mmap.ACCESS_READ),
    }.items()


def test_all_sources_give_the_same(tmp_path, content):
    for name, source in sources(content, tmp_path):
        assert en.read(source).equals(FRAME), name
        f = en.open(source)
        assert f[1:3].read(columns=["b"]).equals(FRAME[["b"]].iloc[1:3]), name
        assert en.info(source).n_rows == 3, name
        assert en.verify(source).n_columns >= 3, name


def test_the_content_is_that_of_the_file(tmp_path):
    for i, value in enumerate([FRAME, {"a": [1, FRAME], "b": np.arange(5)}, pl.DataFrame({"x": [1.5]}), [1, "a"]]):
        path = tmp_path / f"{i}.entasis"
        en.write(value, path, metadata={"m": 1}, compression=80)
        assert en.to_bytes(value, metadata={"m": 1}, compression=80) == path.read_bytes()


@pytest.mark.parametrize("value", [FRAME, {"t": [1, 2.5, "x"]}], ids=["frame", "tree"])
def test_open_files_take_the_content(tmp_path, value):
    expected = en.to_bytes(value)
    memory = io.BytesIO()
    en.write(value, memory)
    assert memory.getvalue() == expected
    with (tmp_path / "f").open("wb") as file:
        file.write(b"before")
        en.write(value, file)
    assert (tmp_path / "f").read_bytes() == b"before" + expected

    class OneByteAtATime:
        def __init__(self) -> None:
            self.taken = b""

        def write(self, data) -> int:
            self.taken += bytes(data[:1])
            return 1

    slow = OneByteAtATime()
    en.write(value, slow)
    assert slow.taken == expected


def test_a_file_on_the_disk_is_not_read_whole(tmp_path):
    path = tmp_path / "big.entasis"
    en.write({f"x{i}": np.random.default_rng(i).random(300_000) for i in range(8)}, path, compression=0)
    with path.open("rb") as file:
        f = en.open(file)
        assert f.path == str(path)
        assert f["x3"][:10].read()["x3"].shape == (10,)
        # A file that was replaced meanwhile is the one that is open.
        old = en.read(file, columns=["x0"], rows=(0, 5))["x0"]
        en.write({"x0": np.zeros(10)}, path)
        assert (en.read(file, columns=["x0"], rows=(0, 5))["x0"] == old).all()


def test_sources_that_are_none(tmp_path, content):
    cases = {
        3: "a path is str or os.PathLike, not int",
        None: "not NoneType",
        io.StringIO("text"): "binary mode",
        "ftp://host/a.entasis": "ftp",
        "s3://": "s3",
        "file:///a.entasis": "pass the path alone",
    }
    for source, message in cases.items():
        for function in (en.read, en.open, en.info, en.verify):
            with pytest.raises(en.errors.ArgumentError, match=message):
                function(source)
    for target, message in {
        "ftp://host/key": "ftp",
        "https://host/key": "https",
        b"x": "to_bytes",
        io.StringIO(): "text",
    }.items():
        with pytest.raises(en.errors.ArgumentError, match=message):
            en.write(FRAME, target)
    with pytest.raises(en.errors.ArgumentError, match="memory_map"):
        en.open(content, memory_map=True)
    pipe, end = os.pipe()
    os.close(end)
    with os.fdopen(pipe, "rb") as stream, pytest.raises(en.errors.ArgumentError, match=r"read\(\) returns"):
        en.read(stream)


def test_content_that_is_no_file():
    with pytest.raises(en.errors.NotEntasisError) as caught:
        en.read(b"carrier,delay\n" * 1000)
    assert len(str(caught.value)) < 300
    assert "<bytes>" in str(caught.value)
    with pytest.raises(en.errors.CorruptFileError):
        en.read(en.to_bytes(FRAME)[:-1])


def test_the_home_folder_is_expanded(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    en.write(FRAME, "~/a.entasis")
    assert (tmp_path / "a.entasis").exists()
    assert en.read(pathlib.Path("~/a.entasis")).equals(FRAME)


def test_a_path_that_looks_like_an_address_and_exists(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "s3:" / "b"
    folder.mkdir(parents=True)
    (folder / "k").write_bytes(en.to_bytes([1]))
    assert en.read("s3://b/k") == [1]


TABLE = pa.table({"i": pa.array(range(10_000)), "t": pa.array([str(i) for i in range(10_000)])})


def streams():
    yield "RecordBatchReader", pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches(max_chunksize=1000))
    yield "DuckDB relation", duckdb.from_arrow(TABLE)
    yield "dataset", pa.dataset.dataset(TABLE)
    yield "scanner", pa.dataset.dataset(TABLE).scanner()
    of_file = en.open(en.to_bytes(TABLE)).to_dataset()
    yield "dataset of a file", of_file
    yield "scanner of a file", of_file.scanner()
    yield "fragment of a file", next(of_file.get_fragments())
    for module, name in [("nanoarrow", "ArrayStream"), ("arro3.core._core", "Table")]:
        yield module, type(name, (Labelled,), {"__module__": module})()


class Labelled:
    """An array with labels, which it streams as a table."""

    attrs: ClassVar = {"unit": "K"}

    def __arrow_c_stream__(self, requested_schema=None):
        return TABLE.__arrow_c_stream__(requested_schema)


class Geometries(pd.DataFrame):
    """A frame with geometries, which has a stream of its own."""

    def to_arrow(self):
        return pa.RecordBatchReader.from_stream(self)


def test_what_streams_is_written():
    for name, value in streams():
        found = en.read(en.to_bytes(value))
        assert isinstance(found, pa.Table), name
        assert found.equals(TABLE), name


def test_what_streams_is_appended(tmp_path):
    path = tmp_path / "rows.entasis"
    for frame in (TABLE, pl.DataFrame(TABLE), TABLE.to_pandas()):
        for name, value in streams():
            en.write(frame, path)
            en.append(value, path)
            assert en.open(path).n_rows == 20_000, name


def test_what_streams_is_written_in_batches(tmp_path):
    path = tmp_path / "batches.entasis"
    with en.writer(path) as writer:
        for _, value in streams():
            writer.write(value)
    assert en.read(path).equals(pa.concat_tables([TABLE] * len(list(streams()))).combine_chunks())


def test_objects_that_stream_but_may_be_more_are_refused(tmp_path):
    """Their labels and attributes would be gone without a word."""
    path = tmp_path / "refused.entasis"
    for value, advice in [
        (Labelled(), r"Labelled.*pass pa\.RecordBatchReader\.from_stream\(x\)"),
        (Geometries({"i": [1]}), r"Geometries.*pass x\.to_arrow\(\), as gdf\.to_arrow\(\)"),
    ]:
        for refused in (value, [1, {"t": value}]):
            with pytest.raises(en.UnsupportedTypeError, match=advice):
                en.write(refused, path)
            with pytest.raises(en.UnsupportedTypeError, match=advice):
                en.to_bytes(refused)
        assert os.listdir(tmp_path) == []
        with pytest.raises(en.ArgumentError, match=advice), en.writer(path) as writer:
            writer.write(value)
        for frame in (TABLE, pl.DataFrame(TABLE), FRAME, {"i": np.arange(3)}):
            en.write(frame, path)
            before = path.read_bytes()
            with pytest.raises(en.ArgumentError, match=advice), en.writer(path, append=True) as writer:
                writer.write(value)
            with pytest.raises(en.ArgumentError, match=advice):
                en.append(value, path)
            with pytest.raises(en.ArgumentError, match=advice):
                en.add_columns(value, path)
            with pytest.raises(en.ArgumentError, match=advice):
                en.replace_columns(value, path)
            assert path.read_bytes() == before
        os.remove(path)


def test_readers_of_refused_objects_are_written():
    reader = pa.RecordBatchReader.from_stream(Labelled())
    assert en.read(en.to_bytes(reader)).equals(TABLE)
    geometries = Geometries({"i": [1, 2]})
    assert en.read(en.to_bytes(geometries.to_arrow())).to_pydict() == {"i": [1, 2]}


def test_open_files_and_views_are_written():
    f = en.open(en.to_bytes(FRAME))
    assert en.read(en.to_bytes(f)).equals(FRAME)
    assert en.read(en.to_bytes(f[1:3])).equals(FRAME.iloc[1:3])
    assert en.read(en.to_bytes(f[["b"]])).equals(FRAME[["b"]])
    tree = en.open(en.to_bytes({"a": [1, 2], "f": FRAME}))
    assert en.read(en.to_bytes(tree["a"])) == [1, 2]
    assert en.read(en.to_bytes(tree["f"])).equals(FRAME)


def test_subclasses_of_frames_are_refused_still():
    class Subclass(pd.DataFrame):
        pass

    with pytest.raises(en.errors.UnsupportedTypeError, match="Subclass"):
        en.to_bytes(Subclass({"a": [1]}))


# --- writers that meet


HOLD = """
import fcntl, sys
file = open(sys.argv[1], "rb")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def held(tmp_path):
    """A file that another process works on, and that process."""
    path = tmp_path / "held.entasis"
    en.write(FRAME, path)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], text=True, **pipes)
    try:
        assert process.stdout.readline() == "held\n"
        yield path, process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="locks bind readers there")
def test_a_second_writer_is_told_who_is_at_work(held):
    path, process = held
    started = time.monotonic()
    with pytest.raises(en.errors.BusyError) as caught:
        en.write([1], path, wait=0.2)
    assert time.monotonic() - started >= 0.2
    assert isinstance(caught.value, BlockingIOError)
    assert isinstance(caught.value, en.errors.FileError)
    assert caught.value.errno == errno.EAGAIN
    assert caught.value.filename == str(path)
    if sys.platform == "linux":
        assert f"process {process.pid}" in str(caught.value)
    assert en.read(path).equals(FRAME)


@pytest.mark.skipif(sys.platform == "win32", reason="locks bind readers there")
def test_a_second_writer_waits(held):
    path, process = held
    writer = threading.Thread(target=en.write, args=([1, 2], path))
    writer.start()
    time.sleep(0.2)
    assert writer.is_alive()
    process.stdin.write("\n")
    process.stdin.flush()
    writer.join(timeout=30)
    assert not writer.is_alive()
    assert en.read(path) == [1, 2]


def test_many_writers_of_one_path(tmp_path):
    path = tmp_path / "a.entasis"
    failed = []

    def work(i: int) -> None:
        try:
            for _ in range(5):
                en.write({"writer": i, "x": np.full(10_000, i)}, path)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    found = en.read(path)
    assert (found["x"] == found["writer"]).all()


@pytest.mark.parametrize("wait", [-1, "10", None, float("nan"), True])
def test_waits_that_are_none(tmp_path, wait):
    with pytest.raises(en.errors.ArgumentError, match="wait="):
        en.write([1], tmp_path / "a.entasis", wait=wait)
