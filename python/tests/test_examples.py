"""The programs in `examples/` run, and the page of R shows what they do."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = sorted((ROOT / "examples/python").glob("*.py"))
R = sorted((ROOT / "examples/r").glob("*.R"))


def test_there_are_examples():
    assert len(PYTHON) >= 3
    assert len(R) >= 2


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: path.stem)
def test_examples_of_python_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    runpy.run_path(str(path), run_name="__main__")
    assert list(tmp_path.iterdir()) == []


def has_r() -> bool:
    if shutil.which("Rscript") is None:
        return False
    command = ["Rscript", "-e", "quit(status = !requireNamespace('entasis', quietly = TRUE))"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("path", R, ids=lambda path: path.stem)
def test_examples_of_r_run(path, tmp_path):
    if not has_r():
        pytest.skip("R or its package entasis is not installed; R's own tests run the examples too")
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        ["Rscript", "--vanilla", str(path)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_index_names_every_example():
    text = (ROOT / "examples/README.md").read_text(encoding="utf-8")
    linked = {(ROOT / "examples" / link).resolve() for link in re.findall(r"\]\(([^)]+)\)", text)}
    assert all(path.is_file() for path in linked)
    assert set(PYTHON) | set(R) <= linked


def test_the_guide_of_r_shows_code_that_runs():
    """Each block of the guide is a part of an example, line by line."""
    guide = (ROOT / "docs/guides/r.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```r\n(.*?)^```", guide, re.M | re.S)
    assert blocks
    programs = [path.read_text(encoding="utf-8") for path in R]
    for block in blocks:
        assert any(block in program for program in programs), block
