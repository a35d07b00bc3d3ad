"""Bytes in memory: compressed, decompressed and hashed."""

from __future__ import annotations

import array
import json
import mmap
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import entasis as en

FOLDER = Path(__file__).parents[2] / "tests" / "golden" / "buffers"
VECTORS = json.loads((FOLDER / "vectors.json").read_text())

NOISE = np.random.default_rng(1).integers(0, 256, 3_000_000, np.uint8).tobytes()
TEXT = b"a column of numbers, " * 200_000


def decoded(parts):
    """Content of a golden container, by the description in the vectors."""
    result = b""
    for kind, n in parts:
        if kind == "zero":
            result += bytes(n)
        elif kind == "text":
            text = b"column of numbers, "
            result += (text * (n // len(text) + 1))[:n]
        else:
            assert kind == "noise"
            state, noise = 1, bytearray()
            for _ in range(n):
                state = (state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
                noise.append(state >> 56)
            result += noise
    return result


@pytest.mark.parametrize("vector", VECTORS["containers"], ids=lambda vector: vector["file"])
def test_golden_containers(vector):
    content = (FOLDER / vector["file"]).read_bytes()
    expected = decoded(vector["parts"])
    assert en.decompress(content) == expected
    assert f"{en.hash(expected):016x}" == vector["hash"]
    assert en.decompress(en.compress(expected, vector["codec"])) == expected


def test_golden_hashes():
    assert len(VECTORS["hashes"]) >= 72
    for vector in VECTORS["hashes"]:
        data = (np.arange(vector["len"], dtype=np.uint32) * np.uint32(2_654_435_761) >> np.uint32(24)).astype(np.uint8)
        for buffer in (data, data.tobytes()):
            assert f"{en.hash(buffer, seed=int(vector['seed'], 16)):016x}" == vector["hash"], vector


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
@pytest.mark.parametrize("data", [b"", b"x", NOISE, TEXT, NOISE[:300_000] + TEXT], ids=range(5))
def test_round_trip(codec, data):
    packed = en.compress(data, codec)
    assert type(packed) is bytes
    assert len(packed) <= len(data) + 40 + 16 * (len(data) // 262_144 + 1)
    result = en.decompress(packed)
    assert type(result) is bytes
    assert result == data
    assert en.decompress(bytearray(packed)) == data


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_threads_make_no_difference(codec):
    data = NOISE + TEXT * 8
    packed = [en.compress(data, codec, threads=threads) for threads in (1, 2, 5, None)]
    assert len(set(packed)) == 1
    assert all(en.decompress(packed[0], threads=threads) == data for threads in (1, 2, 5, None))
    assert len({en.hash(data, threads=threads) for threads in (1, 2, 5, None)}) == 1


def test_levels():
    sizes = {
        level: len(en.compress(TEXT[:1000] + NOISE[:3000] + TEXT[:50_000], "zstd", level)) for level in (-50, 1, 22)
    }
    assert sizes[22] <= sizes[1] <= sizes[-50]
    assert en.compress(TEXT, "zstd") == en.compress(TEXT, "zstd", 3) == en.compress(TEXT, "zstd", np.int64(3))
    assert en.compress(TEXT) == en.compress(TEXT, "lz4")


def test_buffers_of_all_kinds(tmp_path):
    data = np.arange(60_000, dtype=np.int64).tobytes()
    (tmp_path / "data").write_bytes(data)
    with open(tmp_path / "data", "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        words = np.frombuffer(data, np.int64)
        fortran = np.asfortranarray(words.reshape(200, 300))
        buffers = [
            data,
            bytearray(data),
            memoryview(data),
            memoryview(bytearray(data)),
            words,
            words.copy().view("M8[ns]"),
            words.copy().view("m8[s]"),
            words.reshape(200, 300),
            words.view([("O", "i4"), ("b", "f4")]),
            words.view("V8"),
            words.view("U2"),
            array.array("q", data),
            mapped,
            type("Bytes", (bytes,), {})(data),
        ]
        for buffer in buffers:
            assert en.hash(buffer) == en.hash(data), type(buffer)
            assert en.compress(buffer) == en.compress(data), type(buffer)
        # In Fortran order: the bytes as they lie in memory.
        assert en.hash(fortran) == en.hash(fortran.T.tobytes())
        assert en.decompress(en.compress(fortran)) == fortran.T.tobytes()
        packed = en.compress(data, "zstd")
        for wrap in (bytearray, memoryview, lambda content: np.frombuffer(content, np.uint8)):
            assert en.decompress(wrap(packed)) == data
    assert en.hash(np.float64(1.5)) == en.hash(np.array(1.5)) == en.hash(np.array([1.5]))
    for empty in (b"", bytearray(), np.empty((0, 3)), np.empty((3, 0), order="F"), memoryview(b"")):
        assert en.hash(empty) == 0x2D06_8005_38D3_94C2
        assert en.decompress(en.compress(empty)) == b""


def test_what_is_lent_is_given_back():
    data = bytearray(b"x" * 1000)
    en.hash(data)
    packed = bytearray(en.compress(data))
    en.decompress(packed)
    with pytest.raises(en.CorruptFileError):
        en.decompress(packed[:-1])
    for buffer in (data, packed):
        buffer.append(1)  # raises BufferError while a view of it is held


def test_what_is_no_buffer():
    for data in ("text", None, 3, [1, 2], object()):
        for call in (en.compress, en.decompress, en.hash):
            with pytest.raises(en.UnsupportedTypeError, match=type(data).__name__):
                call(data)
    for objects in (np.array([None, "a"]), np.zeros(3, [("a", "i4"), ("b", "O")])):
        for call in (en.compress, en.hash):
            with pytest.raises(en.UnsupportedTypeError):
                call(objects)
    words = np.arange(100)
    released = memoryview(b"abc")
    released.release()
    for pieces in (words[::2], words.reshape(10, 10)[:, :5], memoryview(b"abcdef")[::2], released):
        for call in (en.compress, en.decompress, en.hash):
            with pytest.raises(en.ArgumentError):
                call(pieces)


def test_wrong_arguments():
    for arguments in (
        {"codec": "gzip"},
        {"codec": None},
        {"codec": "none"},
        {"level": 1},
        {"codec": "zstd", "level": 0},
        {"codec": "zstd", "level": 23},
        {"codec": "zstd", "level": -(10**30)},
        {"codec": "zstd", "level": "3"},
        {"codec": "zstd", "level": True},
        {"codec": "zstd", "level": 1.0},
        {"threads": 0},
    ):
        with pytest.raises(en.ArgumentError):
            en.compress(b"abc", **arguments)
    for arguments in ({"seed": -1}, {"seed": 2**64}, {"seed": 1.0}, {"seed": None}, {"threads": -1}):
        with pytest.raises(en.ArgumentError):
            en.hash(b"abc", **arguments)
    packed = en.compress(b"abc")
    for arguments in ({"max_len": -1}, {"max_len": 1.5}, {"threads": "2"}):
        with pytest.raises(en.ArgumentError):
            en.decompress(packed, **arguments)


def test_max_len():
    packed = en.compress(bytes(10_000_000), "zstd")
    assert len(packed) < 2000
    with pytest.raises(en.LimitError, match="max_len") as caught:
        en.decompress(packed, max_len=9_999_999)
    assert not isinstance(caught.value, MemoryError)
    assert en.decompress(packed, max_len=10_000_000) == bytes(10_000_000)
    assert len(en.decompress(packed, max_len=10**30)) == 10_000_000


def test_damage(path):
    data = NOISE[:300_000] + TEXT
    packed = en.compress(data)
    for at in (20, 41, 60, 400, len(packed) - 1):
        damaged = bytearray(packed)
        damaged[at] ^= 1
        for buffer in (damaged, bytes(damaged)):
            with pytest.raises(en.CorruptFileError) as caught:
                en.decompress(buffer)
            assert caught.value.offset is not None
    with pytest.raises(en.CorruptFileError) as caught:
        en.decompress(packed[:-1] + b"\0" if packed[-1] else packed[:-1] + b"\1")
    assert caught.value.block == (len(data) - 1) // 262_144
    for short in (packed[:-1], packed[:39], packed[:5], b""):
        with pytest.raises(en.CorruptFileError, match="truncated"):
            en.decompress(short)
    en.write({"a": np.arange(3)}, path)
    for other in (b"something else", path.read_bytes()):
        with pytest.raises(en.NotEntasisError):
            en.decompress(other)


def test_memory_that_changes_meanwhile():
    """Each block holds its bytes of some moment. Nothing else is promised."""
    data = np.zeros(20_000_000, np.uint8)
    done = threading.Event()

    def change():
        value = 0
        while not done.is_set():
            value = (value + 1) % 256
            data[:] = value

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for codec in ("lz4", "zstd"):
            result = en.decompress(en.compress(data, codec, threads=2))
            assert len(result) == len(data)
            assert 0 <= en.hash(data, threads=2) < 2**64
    finally:
        done.set()
        thread.join()


def test_other_threads_run_meanwhile():
    data = np.random.default_rng(2).integers(0, 30, 4_000_000, np.uint8).tobytes()
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    en.compress(data, "zstd", 15, threads=1)
    stop = time.perf_counter()
    done.set()
    thread.join()
    assert sum(start < at < stop for at in ticks) >= 5


COMPRESS = """
import sys, time
import entasis as en
data = bytes(range(256)) * 400_000
print("ready", flush=True)
try:
    while True:
        en.compress(data, "zstd", 19, threads=1)
except KeyboardInterrupt:
    print(f"stopped {time.time()}", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_ctrl_c():
    process = subprocess.Popen([sys.executable, "-c", COMPRESS], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.4)
    sent = time.time()
    process.send_signal(signal.SIGINT)
    answer = process.stdout.readline().split()
    assert process.wait(20) == 0
    assert answer[0] == "stopped"
    assert float(answer[1]) - sent < 2.0


MEMORY = """
import resource
import numpy as np
import entasis as en
data = np.random.default_rng(0).integers(0, 16, 200_000_000, np.uint8).tobytes()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
packed = en.compress(data)
compressing = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
del data
en.decompress(packed)
print(compressing / 1024 / (len(packed) / 2**20))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux")
def test_memory_of_compressing():
    done = subprocess.run([sys.executable, "-c", MEMORY], check=True, capture_output=True, text=True)
    assert float(done.stdout) < 2.3
