"""Runs the attacks of this folder and prints their verdicts.

Usage: python attacks/run.py [NAME ...]
"""

from __future__ import annotations

import runpy
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def names() -> list[str]:
    """The attacks, in alphabetical order."""
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem not in ("run", "tools"))


def verdict(name: str) -> str:
    """Run one attack in a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        return runpy.run_path(str(HERE / f"{name}.py"))["attack"](Path(folder))


def main(wanted: list[str]) -> int:
    unknown = set(wanted) - set(names())
    if unknown:
        print(
            f"no such attack: {', '.join(sorted(unknown))}; there are {', '.join(names())}",
            file=sys.stderr,
        )
        return 2
    for name in wanted or names():
        print(f"{name}: {verdict(name)}")
    return 0


sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "python/tests")]

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
