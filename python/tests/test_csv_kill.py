"""A process that writes a text and is killed leaves the text before or after a whole writing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import entasis as en

# A text has the numbers below n. Every second writing adds rows, and the others write all anew.
CODE = """
import sys
import entasis as en, numpy as np

path, n, durable = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "True"
def rows(start, stop):
    i = np.arange(start, stop)
    return {"i": i, "x": i / 7}
while True:
    if n == 600_000:
        n = 0
        en.write_csv(rows(0, n), path, durable=durable)
    elif n % 120_000 == 0:
        n += 60_000
        en.write_csv(rows(0, n), path, durable=durable)
    else:
        n += 60_000
        en.write_csv(rows(n - 60_000, n), path, append=True, durable=durable)
    print(n, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process gets no signal there")
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.csv.zst"])
@pytest.mark.parametrize("durable", [True, False])
def test_a_killed_writer_leaves_a_whole_text(tmp_path, name, durable):
    path = tmp_path / name
    spec = en.write_csv({"i": np.arange(0), "x": np.arange(0.0)}, path)
    n = 0
    for i in range(100 if os.environ.get("ENTASIS_TEST_LONG") else 2):
        command = [sys.executable, "-c", CODE, str(path), str(n), str(durable)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline()]
            time.sleep((i * 7919 % 100) / 2000)
            assert process.poll() is None, "the process ended with an error"
            process.send_signal(signal.SIGKILL)
            lines += process.stdout.readlines()
        n = int([line for line in lines if line.endswith("\n")][-1])
        found = en.read_csv(path, "numpy", spec=spec)
        if len(found["i"]) != n:
            # The next writing was done, and the process could not report it.
            n = 0 if n == 600_000 else n + 60_000
        np.testing.assert_array_equal(found["i"], np.arange(n))
        np.testing.assert_array_equal(found["x"], np.arange(n) / 7)
    # The next writer removes what killed ones left. One process looks for it now and then.
    code = "import sys, entasis as en, numpy as np; en.write_csv({'i': np.arange(3)}, sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, path], check=True)
    assert [child.name for child in tmp_path.iterdir()] == [name]
