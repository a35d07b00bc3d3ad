"""All cases of a library through all formats."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .cases import panel

ROOT = Path(__file__).parents[2]
# Seconds without a result after which a format hangs.
_PATIENCE = 120.0

# Outcome and reason, by the key of the case.
Results = dict[str, tuple[str, str]]


def results(library: str, key: str) -> Results:
    """The outcome of each case of a library in a format."""
    cases = [case.key for case in panel(library)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results"
        path.touch()
        while True:
            found = _read(path)
            if len(found) == len(cases):
                return found
            ended = _run(library, key, len(found), path)
            if len(_read(path)) < len(cases):
                # The case that ended or blocked the process.
                case = cases[len(_read(path))]
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([case, "ended", ended]) + "\n")


def _read(path: Path) -> Results:
    lines = path.read_text(encoding="utf-8").splitlines()
    return {case: (found, why) for case, found, why in map(json.loads, lines)}


def _run(library: str, key: str, first: int, path: Path) -> str:
    command = [sys.executable, "-m", "bench.fidelity.child", library, key, str(first), str(path)]
    child = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    size, since = -1, time.monotonic()
    while child.poll() is None:
        time.sleep(0.05)
        if path.stat().st_size != size:
            size, since = path.stat().st_size, time.monotonic()
        elif time.monotonic() - since > _PATIENCE:
            child.kill()
            child.wait()
            return "hangs"
    return f"exit code {child.returncode}"
