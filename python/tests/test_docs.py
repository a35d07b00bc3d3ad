"""The examples of the README and of the guides run, and type checkers accept them."""

from __future__ import annotations

import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/guides").glob("*.md"))]


def program(page: Path) -> str:
    """The blocks of Python of a page, as one module."""
    return "\n".join(re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = program(page)
    assert code, f"{page.name} has no example"
    exec(compile(code, page.name, "exec"), {"__name__": page.stem})


def test_examples_type_check(tmp_path):
    pytest.importorskip("mypy")
    for page in PAGES:
        (tmp_path / f"page_{page.stem.lower().replace('-', '_')}.py").write_text(program(page), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--ignore-missing-imports",
        *sorted(map(str, tmp_path.iterdir())),
    ]
    config = ["--config-file=", f"--cache-dir={tmp_path / 'cache'}"]
    done = subprocess.run([*command, *config], cwd=ROOT / "python", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("module", ["_api", "_file", "_indexers"])
def test_examples_of_docstrings(module, tmp_path, monkeypatch):
    import numpy as np
    import pandas as pd

    import entasis as en

    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(
        importlib.import_module(f"entasis.{module}"),
        extraglobs={"en": en, "np": np, "pd": pd},
        optionflags=doctest.NORMALIZE_WHITESPACE,
    )
    assert found.attempted > 0
    assert found.failed == 0


def test_type_checkers_know_the_exceptions(tmp_path):
    """A list of names that is computed is none for them."""
    pytest.importorskip("mypy")
    import entasis as en

    module = tmp_path / "names.py"
    names = [name for name in dir(en.errors) if name.endswith("Error")]
    assert sorted(en.errors.__all__) == names
    module.write_text("import entasis as en\n" + "".join(f"print(en.{name})\n" for name in names))
    command = [sys.executable, "-m", "mypy", "--config-file=", f"--cache-dir={tmp_path / 'cache'}", str(module)]
    done = subprocess.run(command, cwd=ROOT / "python", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
