"""Ctrl-C ends the reading and writing of texts soon, leaves nothing, and the next call works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

import entasis as en

LONG = bool(os.environ.get("ENTASIS_TEST_LONG"))

# Each work takes much longer than the test, if it is not interrupted.
CODE = """
import io, itertools, os, sys, time
import entasis as en, numpy as np

folder = sys.argv[1]
text, long, packed, target = (os.path.join(folder, name) for name in ("t.csv", "l.csv", "l.csv.gz", "o.csv"))
frame = {"a": np.arange(4_000_000) / 7}
class Slow:
    def write(self, data):
        time.sleep(0.01)
class Endless:
    def read(self, n):
        return b"1,x\\\\n" * 20_000

def repeat(call):
    while True:
        call()

print("ready", flush=True)
try:
    WORK
except KeyboardInterrupt:
    print("stopped", time.time(), flush=True)
assert en.scan_csv(text).limit(3).count() == 3
assert en.read_csv(b"a\\n1\\n", "numpy")["a"].tolist() == [1]
assert en.write_csv({"a": np.arange(3)}, io.BytesIO()).names == ["a"]
print("works", flush=True)
"""
WORK = {
    "write": "repeat(lambda: en.write_csv(frame, target))",
    "write_gzip": "repeat(lambda: en.write_csv(frame, target + '.gz'))",
    "write_one_thread": "repeat(lambda: en.write_csv(frame, target, threads=1))",
    "write_object": "repeat(lambda: en.write_csv(frame, Slow()))",
    "append": "repeat(lambda: en.write_csv({'a': frame['a'][:9]}, long, append=True, header=False))",
    "write_scan": "en.write_csv(en.scan_csv([long] * 400), target)",
    "read": "repeat(lambda: en.read_csv(long, 'numpy'))",
    "read_short_texts": "en.read_csv([text] * 10_000, 'numpy')",
    "read_gzip": "repeat(lambda: en.read_csv(packed, 'numpy'))",
    "read_stream": "en.read_csv(Endless(), 'numpy', header=False, spill_limit=0)",
    "count": "en.scan_csv([long] * 400).count()",
    "count_short_texts": "en.scan_csv([text] * 10_000).count()",
    "count_filter": "en.scan_csv([long] * 400).filter(en.col('a') == 7).count()",
    "batches": "[None for _ in en.scan_csv([long] * 400).batches(1000, to='numpy')]",
    "one_batch": "[None for _ in en.scan_csv([long] * 400).filter(en.col('a') == 7).batches(1 << 40, to='numpy')]",
    "convert": "en.convert([long] * 400, target + '.entasis')",
    "convert_short_texts": "en.convert([text] * 10_000, target + '.entasis')",
    "sniff": "repeat(lambda: en.sniff_csv(long, rows='all'))",
}
QUICK = ("write", "append", "read", "count", "batches")


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is for POSIX")
@pytest.mark.parametrize("work", WORK if LONG else QUICK)
def test_ctrl_c_ends_it(work, tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + b"1,x\n" * 100_000)
    (tmp_path / "l.csv").write_bytes(b"a,b\n" + b"1,x\n" * 10_000_000)
    if work == "read_gzip":
        en.write_csv(en.scan_csv(tmp_path / "l.csv"), tmp_path / "l.csv.gz")
    names = {child.name for child in tmp_path.iterdir()}
    command = [sys.executable, "-c", CODE.replace("WORK", WORK[work]), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.4)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")
    stopped, works = out.splitlines()
    assert works == "works"
    assert float(stopped.split()[1]) - sent < 2
    # Nothing but what whole calls wrote before.
    assert {child.name for child in tmp_path.iterdir()} <= names | {"o.csv", "o.csv.gz", "o.csv.entasis"}
