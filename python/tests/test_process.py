"""Tests with processes of their own: Ctrl-C, memory, the time of an import, the command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tiers import by_tier

import entasis as en


def run(code: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True)
    return done.stdout


WRITE = """
import sys, time
import numpy as np
import entasis as en
data = np.random.default_rng(0).zipf(1.5, 4_000_000).clip(0, 10**6)
print("ready", flush=True)
try:
    # Takes seconds.
    en.write({"a": data, "b": data}, sys.argv[1], compression=100)
except KeyboardInterrupt:
    print(f"stopped {time.time()}", flush=True)
"""

APPEND = """
import sys, time
import numpy as np
import entasis as en
data = np.random.default_rng(0).zipf(1.5, 8_000_000).clip(0, 10**6)
print("ready", flush=True)
try:
    # Takes seconds.
    en.append({"old": data}, sys.argv[1], compression=100)
except KeyboardInterrupt:
    print(f"stopped {time.time()}", flush=True)
"""

BATCHES = """
import sys, time
import numpy as np
import entasis as en
data = np.arange(1_000_000)
print("ready", flush=True)
try:
    with en.writer(sys.argv[1], append=True) as writer:
        while True:
            writer.write({"old": data})
except KeyboardInterrupt:
    print(f"stopped {time.time()}", flush=True)
"""

READ = """
import sys, time
import entasis as en
print("ready", flush=True)
try:
    while True:
        en.read(sys.argv[1], threads=1)
except KeyboardInterrupt:
    print(f"stopped {time.time()}", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize("code", [WRITE, READ, APPEND, BATCHES], ids=["write", "read", "append", "batches"])
def test_ctrl_c(code, path):
    old = {"old": np.arange({READ: 20_000_000, APPEND: 200_000, BATCHES: 200_000}.get(code, 3))}
    en.write(old, path)
    process = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.4)
    sent = time.time()
    process.send_signal(signal.SIGINT)
    answer = process.stdout.readline().split()
    assert process.wait(20) == 0
    assert answer[0] == "stopped"
    # 150 ms is the promise for an idle machine.
    assert float(answer[1]) - sent < 1.0
    assert [child.name for child in path.parent.iterdir()] == [path.name]
    np.testing.assert_array_equal(en.read(path)["old"], old["old"])


MEMORY = """
import resource, sys
import numpy as np
import entasis as en
n = int(sys.argv[2])
data = {f"c{i}": np.empty(n) for i in range(5)}
for i, array in enumerate(data.values()):
    for start in range(0, n, 1_000_000):
        array[start : start + 1_000_000] = np.arange(1_000_000) * 0.01 + i + start
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
en.write(data, sys.argv[1], compression=20, durable=False)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux")
def test_memory_of_writing(path):
    # 0.6 or 2 GB.
    assert float(run(MEMORY, str(path), str(by_tier(15_000_000, 50_000_000)))) <= 256


def test_import_is_light_and_alone():
    code = """
import sys
before = set(sys.modules)
import entasis
loaded = set(sys.modules) - before
print(len(loaded), [m for m in ("numpy", "pandas", "polars", "pyarrow", "html", "asyncio") if m in loaded])
"""
    n, libraries = run(code).split(" ", 1)
    assert libraries.strip() == "[]"
    # Modules make an import slow: each is a file to find, read and run.
    assert int(n) <= 70


def test_pandas_alone(path):
    """Frames of numbers need neither pyarrow nor Polars; strings come without them too."""
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan], "c": pd.Categorical([1, 2]), "s": ["x", None]})
    en.write(frame, path)
    code = """
import sys
sys.modules["pyarrow"] = None
sys.modules["polars"] = None
import entasis as en
frame = en.read(sys.argv[1])
assert str(frame["s"].dtype) == "str" and frame["s"].tolist()[0] == "x", frame.dtypes
en.write(frame, sys.argv[1])
print(en.read(sys.argv[1]).to_csv(index=False))
"""
    assert run(code, str(path)).split() == ["a,b,c,s", "1,0.5,1,x", "2,,2,"]


def test_versions():
    assert en.__version__.count(".") == 2
    shown = run("import entasis; entasis.show_versions()")
    assert "entasis" in shown
    assert "pandas" in shown
    assert "huge pages" in shown
    assert "thread pool" in shown


def test_versions_report_switches(monkeypatch):
    monkeypatch.setenv("ENTASIS_HUGE_PAGES", "off")
    shown = run("import entasis; entasis.show_versions()")
    states = dict(line.split("  ", 1) for line in shown.splitlines())
    assert states["huge pages"].strip() == "off (ENTASIS_HUGE_PAGES)"
    assert states["thread pool"].strip() == "on"


def test_command(path):
    en.write(pd.DataFrame({"a": [1]}), path)

    def said(*words):
        return subprocess.run([sys.executable, "-m", "entasis", *words], capture_output=True, text=True, check=False)

    assert "a" in said("schema", str(path)).stdout
    assert said("schema", os.devnull).returncode in (1, 2)
    assert "Usage: entasis" in said("--help").stdout


def test_typed():
    package = Path(en.__file__).parent
    assert (package / "py.typed").exists()
    assert (package / "_entasis.pyi").exists()
