"""A process that changes a file and is killed leaves one of the states that it committed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path

# The state after k changes: `number` says which, and each column follows from its name and length.
CODE = """
import sys
import numpy as np
import entasis as en

path, k, durable = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "True"
def column(name, n):
    return np.arange(n) * (int(name[1:]) + 1)
names, n = en.open(path).column_names, len(en.open(path))
print("ready", flush=True)
while True:
    k += 1
    kind = k % 7
    if kind in (0, 3):
        more = 1 + k * 37 % 4000
        en.append({name: column(name, n + more)[n:] for name in names}, path, durable=durable)
        n += more
    elif kind == 1:
        names.append(f"c{k}")
        en.add_columns(path, {names[-1]: column(names[-1], n)}, durable=durable)
    elif kind == 2 and len(names) > 2:
        en.drop_columns(path, names.pop(k % len(names)), durable=durable)
    elif kind == 4:
        en.set_metadata(path, {"k": k}, durable=durable)
    elif kind == 5 and n > 400_000:
        n = 150_000
        en.write({name: column(name, n) for name in names}, path, durable=durable)
    elif kind == 6:
        en.compact(path, durable=durable)
"""


def column(name: str, n: int) -> np.ndarray:
    return np.arange(n) * (int(name[1:]) + 1)


@pytest.mark.skipif(sys.platform == "win32", reason="a process gets no signal there")
@pytest.mark.parametrize("durable", [True, False])
def test_a_killed_process_leaves_a_committed_state(durable: bool, tmp_path: Path) -> None:
    path = tmp_path / "file.entasis"
    en.write({"c0": column("c0", 150_000)}, path)
    n_kills = 500 if os.environ.get("ENTASIS_TEST_LONG") else 8
    generation, k = 1, 0
    for i in range(n_kills):
        command = [sys.executable, "-c", CODE, str(path), str(k), str(durable)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep((i * 7919 % 100) / 1000)
            assert process.poll() is None, "the process made all its changes without an error"
            process.send_signal(signal.SIGKILL)
        found = en.read(path)
        lengths = {len(array) for array in found.values()}
        assert len(lengths) == 1
        for name, array in found.items():
            np.testing.assert_array_equal(array, column(name, lengths.copy().pop()), strict=True)
        now = en.generations(path)[-1].number
        assert now >= generation or now == 1, "a committed state was lost"
        generation, k = now, k + 7 * i + 1
        # The next writer goes on.
        en.set_metadata(path, {"i": i}, wait=0)
        en.verify(path)
    # A file that was not complete stays until the next one takes its place.
    en.write({"c0": column("c0", 10)}, path)
    assert {entry.name for entry in tmp_path.iterdir()} == {"file.entasis"}
