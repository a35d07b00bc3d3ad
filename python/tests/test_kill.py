"""A process that changes a file and is killed leaves the state of its last change or of the next."""

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

# Each column follows from its name and length, and each change from its number.
RULES = """
import numpy as np

def column(name, n):
    return np.arange(n) * (int(name[1:]) + 1)

def after(k, names, n):
    kind = k % 7
    if kind in (0, 3):
        return names, n + 1 + k * 37 % 4000
    if kind == 1:
        return [*names, f"c{k}"], n
    if kind == 2 and len(names) > 2:
        return [name for i, name in enumerate(names) if i != k % len(names)], n
    if kind == 5 and n > 400_000:
        return names, 150_000
    return names, n
"""
CODE = (
    RULES
    + """
import sys
import entasis as en

path, k, durable = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "True"
names, n = en.open(path).column_names, len(en.open(path))
while True:
    k += 1
    new, rows = after(k, names, n)
    kind = k % 7
    if kind in (0, 3):
        en.append({name: column(name, rows)[n:] for name in names}, path, durable=durable)
    elif len(new) > len(names):
        en.add_columns({new[-1]: column(new[-1], n)}, path, durable=durable)
    elif len(new) < len(names):
        en.drop_columns(path, [name for name in names if name not in new], durable=durable)
    elif rows < n:
        en.write({name: column(name, rows) for name in names}, path, durable=durable)
    elif kind == 6:
        en.compact(path, durable=durable)
    else:
        en.set_metadata({"k": k}, path, durable=durable)
    names, n = new, rows
    print(k, flush=True)
"""
)

rules: dict[str, object] = {}
exec(RULES, rules)
column, after = rules["column"], rules["after"]
assert callable(column)
assert callable(after)


@pytest.mark.skipif(sys.platform == "win32", reason="a process gets no signal there")
@pytest.mark.parametrize("durable", [True, False])
def test_a_killed_process_leaves_a_committed_state(durable: bool, tmp_path: Path) -> None:
    path = tmp_path / "file.entasis"
    names, n = ["c0"], 150_000
    en.write({"c0": column("c0", n)}, path)
    n_kills = 500 if os.environ.get("ENTASIS_TEST_LONG") else 8
    k, n_changes = 0, 0
    for i in range(n_kills):
        command = [sys.executable, "-c", CODE, str(path), str(k), str(durable)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline()]
            time.sleep((i * 7919 % 100) / 1000)
            assert process.poll() is None, "the process made all its changes without an error"
            process.send_signal(signal.SIGKILL)
            lines += process.stdout.readlines()
        done = int([line for line in lines if line.endswith("\n")][-1])
        n_changes += done - k
        while k < done:
            k += 1
            names, n = after(k, names, n)
        found = en.read(path)
        state = list(found), len(found[names[0]]) if names[0] in found else len(next(iter(found.values())))
        if state != (names, n):
            # The next change was committed, and the process could not report it.
            k += 1
            names, n = after(k, names, n)
        assert state == (names, n)
        for name, array in found.items():
            np.testing.assert_array_equal(array, column(name, n), strict=True)
        # Bytes of the interrupted change don't count as damage.
        en.verify(path)
        # The next writer goes on.
        en.set_metadata({"i": i}, path, wait=0)
        en.verify(path)
    assert n_changes > n_kills
    # A file that was not complete stays until the next one replaces it.
    en.write({"c0": column("c0", 10)}, path)
    assert {entry.name for entry in tmp_path.iterdir()} == {"file.entasis"}
