"""`python -m bench.cpython`: the gain of each feature that depends on CPython.

Each feature is measured with and without it, in processes that take turns (`docs/cpython.md`
lists the features). The time is the least of many reads, the memory the sum of the sizes of all
rows. The exit code is 1 if a feature gains less than 10 % or is not available.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import entasis as en
from entasis import _entasis

TURNS = 7
LEAST_GAIN = 0.1

SECONDS = """
import sys, time
import entasis as en

best = float("inf")
for _ in range(15):
    start = time.perf_counter()
    value = en.read(sys.argv[1])
    best = min(best, time.perf_counter() - start)
    del value
print(best)
"""

BYTES = """
import sys
import entasis as en

print(sum(map(sys.getsizeof, en.read(sys.argv[1]))))
"""

# The feature, its variable, the value that is read, and the program that measures it.
CASES = [
    ("arenas", "ENTASIS_ARENAS", list(range(1_000_000)), SECONDS),
    ("keyword dicts", "ENTASIS_KEYWORD_DICTS", {f"key {i}": i / 2 for i in range(65_536)}, SECONDS),
    (
        "shared keys",
        "ENTASIS_SHARED_KEYS",
        [{f"k{j}": i for j in range(8)} for i in range(50_000)],
        BYTES,
    ),
]


def measure(program: str, path: Path, variable: str) -> tuple[float, float]:
    """The least figures of several runs, with the feature and without it."""
    found: dict[str, list[float]] = {"1": [], "0": []}
    for _ in range(TURNS if program is SECONDS else 1):
        for value, figures in found.items():
            command = [sys.executable, "-c", program, str(path)]
            environment = os.environ | {variable: value}
            figures.append(float(subprocess.check_output(command, env=environment, text=True)))
    return min(found["1"]), min(found["0"])


def main() -> int:
    """Print a line for each feature."""
    states = dict(_entasis.cpython_features())
    is_worth_it = True
    with tempfile.TemporaryDirectory() as folder:
        for name, variable, value, program in CASES:
            if states[name] == "not available":
                print(f"{name}: not available")
                is_worth_it = False
                continue
            path = Path(folder) / "value.entasis"
            en.write(value, path)
            on, off = measure(program, path, variable)
            gain = 1 - on / off
            unit, scale = ("ms", 1e3) if program is SECONDS else ("MB", 1e-6)
            figures = f"{on * scale:.2f} {unit} with it, {off * scale:.2f} without"
            print(f"{name}: {figures}, {gain:.0%} gained")
            is_worth_it = is_worth_it and gain >= LEAST_GAIN
    return 0 if is_worth_it else 1


if __name__ == "__main__":
    sys.exit(main())
