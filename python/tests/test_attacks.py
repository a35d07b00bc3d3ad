"""Each attack in `attacks/` has the verdict that its table says."""

from __future__ import annotations

import re
from pathlib import Path

import forks
import pytest

ATTACKS = Path(__file__).parents[2] / "attacks"
ROW = re.compile(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$", re.MULTILINE)
TABLE = dict(ROW.findall((ATTACKS / "README.md").read_text(encoding="utf-8")))


def test_the_table_is_complete() -> None:
    programs = {path.stem for path in ATTACKS.glob("*.py")} - {"run", "tools"}
    assert set(TABLE) == programs


# Texts of 80 MiB and more take a quarter of a minute.
LONG = {"text"}
PARAMETERS = [pytest.param(name, marks=pytest.mark.release if name in LONG else ()) for name in TABLE]


@pytest.mark.parametrize("name", PARAMETERS)
def test_attack(name: str) -> None:
    # Audit hooks cannot be removed, so each attack has a process of its own.
    done = forks.script(ATTACKS / "run.py", name)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().rstrip("\n") == f"{name}: {TABLE[name]}"


def test_unknown_attacks_are_refused() -> None:
    done = forks.script(ATTACKS / "run.py", "nothing")
    assert done.returncode == 2
    assert "there are archive" in done.stderr.decode()
