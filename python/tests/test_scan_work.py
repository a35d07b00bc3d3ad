"""The work of filters: memory, bytes read, damage, orders of operations, threads, forks, Ctrl-C."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from io_counts import bytes_read

import entasis as en
from entasis import col

BLOCK = 65_536
counts_bytes = pytest.mark.skipif(not os.access("/proc/self/io", os.R_OK), reason="the system does not count bytes")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n = 3 * BLOCK + 17
    return pd.DataFrame(
        {"id": np.arange(n), "value": rng.random(n), "small": rng.integers(0, 9, n)},
        index=pd.Index(rng.permutation(n), name="key"),
    )


@pytest.fixture(scope="module")
def file(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> en.File:
    path = tmp_path_factory.mktemp("scan") / "frame.entasis"
    en.write(frame, path)
    return en.open(path)


# Each batch decodes to 24 MB, and the file has 64 of them.
LITTLE_MEMORY = """
import resource, sys
import numpy as np
import entasis as en
from entasis import col

path, batch, more = sys.argv[1], 1_000_000, 140 << 20
condition = (col("id") >= 1_000_000) & (col("step") == 7) & (col("value") < 0)
rows = np.arange(batch)

def batches():
    for i in range(64):
        yield {"id": rows + i * batch, "step": rows % 1000 + i, "value": np.full(batch, float(i % 2 - 1))}

with en.writer(path, durable=False) as writer:
    for part in batches():
        writer.write(part)
# Libraries load code at their first use, which takes memory too.
en.write({"id": rows[:9], "step": rows[:9], "value": rows[:9] * 1.0}, path + ".small")
small = en.open(path + ".small").filter(condition)
small.count(), small.read(), list(small.batches())
# Threads of a pool have memory of their own.
f = en.open(path)
f.count(col("step") == -1)
with open("/proc/self/statm") as statm:
    now = int(statm.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + more,) * 2)

decoded = f.n_rows * 24
assert decoded > 10 * more, decoded
scan = f.filter(condition)
# Step i of 1,000 is 7 in batch i for rows with i + (row % 1000) == 7.
wanted = [i * batch + 7 - i + k for i in range(1, 8) if i % 2 == 0 for k in range(0, batch, 1000)]
assert scan.count() == len(wanted)
assert scan.row_numbers().tolist() == wanted
assert scan.read()["id"].tolist() == wanted
assert np.concatenate([part["id"] for part in scan.batches(batch)]).tolist() == wanted
en.write(scan, path + ".kept", durable=False)
assert en.read(path + ".kept")["id"].tolist() == wanted
try:
    f.read()
except MemoryError:
    print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_AS and /proc")
def test_a_filter_needs_less_memory_than_the_table(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LITTLE_MEMORY, str(tmp_path / "a.entasis")]
    env = os.environ | {"RUST_BACKTRACE": "0"}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=env, timeout=120)
    assert done.stdout == "done\n", done.stderr
    assert (tmp_path / "a.entasis").stat().st_size < 100_000_000


@counts_bytes
def test_a_filter_reads_the_pages_of_one_block(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    path, n_blocks = tmp_path / "a.entasis", 40
    n = n_blocks * BLOCK
    ids = np.arange(n)
    # At compression 0, a block of 8-byte values has 8 bytes for each.
    en.write({"id": ids, "value": rng.random(n), "other": rng.random(n)}, path, compression=0)
    f = en.open(path)
    in_block = (col("id") >= 7 * BLOCK + 100) & (col("id") < 7 * BLOCK + 300)

    def read_by(work: Any) -> int:
        work()
        before = bytes_read()
        work()
        return bytes_read() - before

    nothing, one_block = read_by(lambda: None), 8 * BLOCK
    # Statistics decide.
    assert read_by(lambda: f.count(col("id") < 7 * BLOCK)) <= nothing
    # The ids of the block.
    assert read_by(lambda: f.count(in_block)) <= nothing + one_block
    assert read_by(lambda: f.count(in_block & (col("value") < 2))) <= nothing + one_block
    # And a page of one column more, which has 64 KiB.
    assert read_by(lambda: f.count(in_block & (col("value") < 0.5))) <= nothing + one_block + 2 * 65_536
    assert read_by(lambda: f.read(columns="other", filter=in_block)) <= nothing + one_block + 2 * 65_536
    # A file that was not open before: its end, and the records of 120 blocks.
    assert read_by(lambda: en.open(path).count(in_block)) <= nothing + one_block + 100_000


def test_damage_in_a_pruned_block_goes_unnoticed(tmp_path: Path) -> None:
    n = 4 * BLOCK
    rng = np.random.default_rng(1)
    df = pd.DataFrame({"id": np.arange(n), "value": rng.random(n)})
    path = tmp_path / "a.entasis"
    en.write(df, path, compression=0)
    sound = path.read_bytes()
    for block in range(4):
        # The bytes of one value that is in the middle of the block.
        at = sound.index(df.value[block * BLOCK + BLOCK // 2].tobytes())
        path.write_bytes(sound[:at] + bytes([sound[at] ^ 1]) + sound[at + 1 :])
        f = en.open(path)
        for other in range(4):
            condition = (col("id") >= other * BLOCK) & (col("id") < (other + 1) * BLOCK) & (col("value") < 0.5)
            part = df[other * BLOCK : (other + 1) * BLOCK]
            if other == block:
                for work in (f.filter(condition).count, f.filter(condition).read, f.filter(condition).row_numbers):
                    with pytest.raises(en.CorruptFileError, match="value"):
                        work()
            else:
                pd.testing.assert_frame_equal(f.read(filter=condition), part[part.value < 0.5])
                assert f.count(condition) == (part.value < 0.5).sum()


def test_orders_of_operations(file: en.File, frame: pd.DataFrame) -> None:
    some, mask = col("small") > 4, frame.small > 4
    same = pd.testing.assert_frame_equal
    same(file.filter(some).head(7), frame[mask].head(7))
    same(file[:700].filter(some).read(), frame[:700][mask[:700]])
    same(file[:700].filter(some).head(7), frame[:700][mask[:700]].head(7))
    same(file.filter(some).view()[:7].read(), frame[mask][:7])
    same(file.filter(some).view().tail(9), frame[mask].tail(9))
    same(file[-700:].filter(some).read(), frame[-700:][mask[-700:]])
    same(file.filter(some).view()[[5, 1, 1]].read(), frame[mask].iloc[[5, 1, 1]])
    same(file.filter(some).view()["value"].read(), frame[mask][["value"]])
    same(file.select("value").filter(some).head(3), frame[mask][["value"]].head(3))
    same(file.filter(some).select("value", "id").head(3), frame[mask][["value", "id"]].head(3))
    chained = frame[mask & (frame.value < 0.25)]
    same(file.filter(some).filter(col("value") < 0.25).read(), chained)
    same(file.filter(col("value") < 0.25).filter(some).read(), chained)
    same(file.filter(some).view().filter(col("value") < 0.25).read(), chained)
    inside = frame[mask][10:-10]
    same(file.filter(some).view()[10:-10].filter(col("value") < 0.25).read(), inside[inside.value < 0.25])
    same(file.scan(filter=some, rows=(100, 900), limit=11).read(), frame[100:900][mask[100:900]][:11])
    same(file[::3].filter(some).head(4), frame[::3][mask[::3]][:4])
    assert file.filter(some).row_numbers().tolist() == np.flatnonzero(mask).tolist()
    assert file[1000:2000].filter(some).row_numbers().tolist() == (1000 + np.flatnonzero(mask[1000:2000])).tolist()
    assert file[5000:4000:-2].filter(some).row_numbers().tolist() == [i for i in range(5000, 4000, -2) if mask.iloc[i]]
    assert file.scan(filter=some, limit=3).row_numbers().tolist() == np.flatnonzero(mask)[:3].tolist()
    assert file.scan(filter=some, limit=3).count() == 3
    assert file.filter(some).view().count(col("value") < 0.25) == len(chained)


def test_batches_close_early(file: en.File, frame: pd.DataFrame) -> None:
    descriptors = Path("/proc/self/fd")
    before = len(list(descriptors.iterdir())) if descriptors.is_dir() else 0
    for _ in range(3):
        batches = file.filter(col("small") == 3).batches(1000)
        first = next(batches)
        pd.testing.assert_frame_equal(first, frame[:1000][frame.small[:1000] == 3])
        batches.close()  # type: ignore[attr-defined]
        assert list(batches) == []
    for part in file.filter(col("small") == 3).batches(1000):
        assert len(part)
        break
    if descriptors.is_dir():
        assert len(list(descriptors.iterdir())) <= before
    assert file.count(col("small") == 3) == (frame.small == 3).sum()


def test_threads_share_a_handle(file: en.File, frame: pd.DataFrame) -> None:
    sums = {k: (int((frame.small == k).sum()), float(frame.value[frame.small == k].sum())) for k in range(9)}

    def work(k: int) -> bool:
        k %= 9
        scan = file.filter(col("small") == k)
        found = scan.read()
        parts = sum(len(part) for part in scan.batches(50_000))
        return (scan.count(threads=1 + k % 3), float(found.value.sum())) == sums[k] and parts == sums[k][0]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(48)))


def child(path: str, queue: Any) -> None:
    queue.put(en.open(path).count(col("small") == 3))


def child_of_handle(file: en.File, queue: Any) -> None:
    queue.put(file.filter(col("small") == 3).read().id.sum())


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_filters(file: en.File, frame: pd.DataFrame) -> None:
    mask = frame.small == 3
    assert file.count(col("small") == 3) == mask.sum()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    for work, given, wanted in [(child, file.path, mask.sum()), (child_of_handle, file, frame.id[mask].sum())]:
        process = context.Process(target=work, args=(given, queue))
        process.start()
        assert queue.get(timeout=60) == wanted
        process.join(60)
        assert process.exitcode == 0


SCAN = """
import sys, time
import entasis as en
f = en.open(sys.argv[1])
condition = en.col("value") < 0
for i in range(40):
    condition |= en.col("text").contains(f"no such text {i}")
print("ready", flush=True)
try:
    while True:
        # A count takes seconds.
        started = time.time()
        f.count(condition, threads=1)
        print(f"finished after {time.time() - started}", flush=True)
except KeyboardInterrupt:
    print(f"stopped {time.time()}", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_ctrl_c_stops_a_scan(tmp_path: Path) -> None:
    path = tmp_path / "a.entasis"
    rng = np.random.default_rng(0)
    texts = pd.Series([f"comment {i} on a row, with some more words" for i in rng.integers(0, 10**9, 200_000)])
    with en.writer(path, durable=False) as writer:
        for _ in range(20):
            writer.write(pd.DataFrame({"text": texts, "value": rng.random(len(texts))}))
    process = subprocess.Popen([sys.executable, "-c", SCAN, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    sent = time.time()
    process.send_signal(signal.SIGINT)
    answer = process.stdout.readline().split()
    assert process.wait(20) == 0
    assert answer[0] == "stopped"
    assert float(answer[1]) - sent < 1.0


def test_errors_say_what_to_write_instead(file: en.File, tmp_path: Path) -> None:
    with pytest.raises(en.ColumnNotFoundError, match=r"smal.*'small'"):
        file.count(col("smal") == 3)
    with pytest.raises(TypeError, match=r"\(a < x\) & \(x < b\)"):
        file.count(1 < col("id") < 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="combine conditions with &"):
        file.filter((col("id") > 1) or (col("small") == 3))
    with pytest.raises(TypeError, match="~ in place of"):
        file.filter(not (col("id") > 1))  # type: ignore[arg-type]
    with pytest.raises(en.ArgumentError, match="parentheses"):
        file.filter((col("id") == 1) & 3)  # type: ignore[operator]
    times = pd.DataFrame({"t": pd.date_range("2024", periods=3), "d": pd.to_timedelta([1, 2, 3], unit="h")})
    en.write(times, tmp_path / "t.entasis")
    f = en.open(tmp_path / "t.entasis")
    for text in ("2024-13-01", "2024-02-30", "01.02.2024", "2024-01-01T25:00", "", "2024-01-01+01:00"):
        with pytest.raises(en.ArgumentError, match=r"is not a time|without a time zone"):
            f.count(col("t") == text)
    with pytest.raises(en.ArgumentError, match="does not compare"):
        f.count(col("t") == 2024)
    with pytest.raises(en.ArgumentError, match="does not compare"):
        f.count(col("t") == pd.Timedelta(hours=1))
    with pytest.raises(en.ArgumentError, match="does not compare"):
        f.count(col("d") == "1 h")
    with pytest.raises(en.ArgumentError, match="nothing equals"):
        f.count(col("t").between("2024-01-01", None))
    with pytest.raises(en.ArgumentError, match="is_nan"):
        file.count(col("value").is_in([0.5, float("nan")]))
    others = {"isin": "is_in", "startswith": "starts_with", "notna": "~ and is_missing", "dt": "date"}
    for name, instead in others.items():
        with pytest.raises(AttributeError, match=instead):
            getattr(col("id"), name)
