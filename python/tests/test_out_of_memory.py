"""Little memory and few descriptors: calls succeed, or raise an error that says what is missing.

Each call runs in a process of its own, whose address space is limited to a little more than it has.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tiers import by_tier

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_AS and /proc")

# MiB beyond the memory before the call: from too little for anything to enough.
LIMITS = by_tier([0, 6, 24, 400], [0, 2, 6, 12, 24, 400])
HOSTS = ["numpy", "pandas", "polars", "pyarrow", "static_frame", "tree"]

VALUES = """
import resource, sys
import entasis as en

def value(host, n):
    import numpy as np
    r = np.arange(n)
    columns = {"a": r * 1.5, "b": r % 1000, "c": (r * 2654435761) % 2**40}
    texts = [f"name {i % 5000}" for i in range(n)]
    if host == "numpy":
        return columns | {"s": np.array(texts)}
    if host == "pandas":
        import pandas as pd
        return pd.DataFrame(columns | {"s": texts})
    if host == "polars":
        import polars as pl
        return pl.DataFrame(columns | {"s": texts})
    if host == "pyarrow":
        import pyarrow as pa
        return pa.table(columns | {"s": texts})
    if host == "static_frame":
        import static_frame as sf
        return sf.Frame.from_items((columns | {"s": np.array(texts)}).items())
    return {"rows": [{"id": i, "name": texts[i], "x": i * 0.5} for i in range(n // 4)], "array": columns["a"]}

N = 200_000
"""

# Prints a line for each limit. Each call has a process of its own, forked from one that has loaded
# the libraries and made the value. Threads of Polars do not survive a fork: it has one limit alone.
CALL = (
    VALUES
    + """
import os
host, call, path, *limits = sys.argv[1:]
written = value(host, N) if call == "write" else None

# Libraries load code at their first use. In each new thread, glibc allocates the thread-local
# variables of the extension, and ends the process without memory for them. So the limit is set
# while the pool's threads still wait for more work (decision 11).
def warm_up(small):
    en.write(value(host, 10), small)
    en.read(small)
    en.verify(small)

def outcome(more):
    warm_up(f"{path}.{more}.small")
    with open("/proc/self/statm") as statm:
        now = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + (more << 20),) * 2)
    try:
        if call == "write":
            en.write(written, f"{path}.{more}.written")
        elif call == "verify":
            en.verify(path)
        else:
            en.read(path)
        return "done"
    except MemoryError as error:
        return f"{type(error).__name__}: {error}"

warm_up(path + ".small")
for more in map(int, limits):
    if len(limits) > 1:
        child = os.fork()
        if child:
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if status:
                sys.exit(f"{more} MiB: exit code {status}")
            continue
    print(outcome(more), flush=True)
    os._exit(0)
"""
)

DESCRIPTORS = """
import resource, sys
import entasis as en
path = sys.argv[1]
en.read(path)
resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
for call in (lambda: en.read(path), lambda: en.verify(path), lambda: en.write({"a": [1]}, path)):
    try:
        call()
        print("done")
    except en.FileError as error:
        print(f"{error.errno}: {error}")
"""


def run(code: str, *arguments: str) -> list[str]:
    # Rust's backtraces need memory themselves, and wait for ever if there is none.
    env = os.environ | {"RUST_BACKTRACE": "0"}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=env, timeout=300)
    assert done.returncode == 0, f"{arguments}: exit code {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    code = VALUES + 'for host in sys.argv[2:]: en.write(value(host, N), f"{sys.argv[1]}/{host}")'
    run(code, str(folder), *HOSTS)
    return folder


# `verify` makes no values of a library: one file of columns and one of a tree are enough.
CALLS = [*((host, call) for host in HOSTS for call in ("read", "write")), ("numpy", "verify"), ("tree", "verify")]


@pytest.mark.slow
@pytest.mark.parametrize(("host", "call"), CALLS)
def test_calls_with_little_memory(host: str, call: str, files: Path) -> None:
    limits = [str(more) for more in LIMITS]
    batches = [[more] for more in limits] if host == "polars" else [limits]
    said = [line for batch in batches for line in run(CALL, host, call, str(files / host), *batch)]
    outcomes = dict(zip(LIMITS, said, strict=True))
    for more, outcome in outcomes.items():
        assert outcome == "done" or outcome.startswith("OutOfMemoryError: "), (more, outcome)
        assert outcome == "done" or "memory" in outcome, (more, outcome)
    assert outcomes[LIMITS[-1]] == "done"


def test_calls_with_few_descriptors(path: Path) -> None:
    en.write({"a": [1, 2, 3]}, path)
    said = run(DESCRIPTORS, str(path))
    assert len(said) == 3
    for line in said:
        assert line.startswith("24: "), line
        assert "ulimit -n" in line, line
    assert en.read(path) == {"a": [1, 2, 3]}


def test_out_of_memory_is_a_memory_error() -> None:
    assert issubclass(en.OutOfMemoryError, MemoryError)
    assert not issubclass(en.LimitError, MemoryError)
