"""The examples of the README, the guides and docstrings run; links of pages lead somewhere."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "python/README.md", *sorted((ROOT / "docs/guides").glob("*.md"))]


def program(page: Path) -> str:
    """The blocks of Python of a page, as one module."""
    return "\n".join(re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = program(page)
    assert code, f"{page.name} has no example"
    exec(compile(code, page.name, "exec", dont_inherit=True), {"__name__": page.stem})


def test_the_shell_block_of_the_readme_runs(tmp_path, monkeypatch):
    """It uses the file that the lines before it made. Programs that it pipes to need not be installed."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"^```\n(entasis info .*?)^```", text, re.M | re.S)
    assert block is not None
    exec(compile(program(ROOT / "README.md"), "README.md", "exec", dont_inherit=True), {"__name__": "readme"})
    for line in block[1].splitlines():
        arguments = shlex.split(line.partition("|")[0], comments=True)
        assert arguments[0] == "entasis", line
        done = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}: {done.stderr}"


def test_docstrings_name_no_page_that_is_not_installed():
    package = ROOT / "python/entasis"
    named = [
        f"{path.relative_to(package)}: {node.body[0].lineno}"
        for path in sorted(package.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and "docs/" in (ast.get_docstring(node) or "")
    ]
    assert named == []


# Modules of the public functions and classes.
DOCUMENTED = [
    "_api",
    "_buffers",
    "_changes",
    "_encryption",
    "_convert.convert",
    "_convert.diff",
    "_convert.differences",
    "_csv.read",
    "_csv.scan",
    "_csv.sniff",
    "_csv.spec",
    "_csv.write",
    "_file.conversions",
    "_file.described",
    "_file.file",
    "_file.indexers",
    "_file.info",
    "_file.reads",
    "_filter.conditions",
    "_grow.writer",
    "_history",
    "_inspection",
    "_machines.dask_read",
    "_machines.dask_write",
    "_npz",
    "_record",
    "_torch.batches",
    "_torch.iterable_dataset",
    "_torch.map_dataset",
    "_tree.tree",
    "_versions",
    "errors",
]


@pytest.mark.parametrize("module", DOCUMENTED)
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


def sections(text: str) -> set[str]:
    """The titles of the NumPy sections of a docstring."""
    return set(re.findall(r"^ *(\w+)\n *---+$", text, re.M))


def test_public_functions_have_sections():
    """Each public function and method documents its parameters, and has an example."""
    import entasis as en
    from entasis import dask, torch
    from entasis._grow.writer import Writer

    functions = {name: getattr(en, name) for name in en.__all__ if inspect.isfunction(getattr(en, name))}
    functions |= {"collate": torch.collate, "dask.read": dask.read, "dask.write": dask.write}
    for cls in (en.File, en.CsvScan, en.Tree, Writer, torch.MapDataset, torch.IterableDataset):
        methods = inspect.getmembers(cls, inspect.isfunction)
        functions |= {f"{cls.__name__}.{name}": f for name, f in methods if not name.startswith("_")}
    assert {"read", "write", "hash", "File.read", "Tree.read"} <= functions.keys()
    for name, function in functions.items():
        found = sections(function.__doc__ or "")
        takes_arguments = len(inspect.signature(function).parameters) > ("." in name)
        assert not takes_arguments or "Parameters" in found, name
        assert not takes_arguments or "Examples" in found, name
    classes = (en.File, en.CsvScan, en.Tree, Writer, en.Record, en.Info, en.EntasisError)
    for cls in (*classes, torch.MapDataset, torch.IterableDataset):
        assert "Examples" in sections(cls.__doc__ or ""), cls


def pages() -> list[Path]:
    """All pages of Markdown that git knows or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as web sites that show Markdown make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def test_links_of_pages_lead_somewhere():
    if not pages():
        pytest.skip("not a checkout of git")
    broken = []
    for page in pages():
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if link.startswith(("http:", "https:", "mailto:")):
                continue
            name, _, anchor = link.partition("#")
            target = (page.parent / name).resolve() if name else page
            if not target.exists() or (anchor and anchor not in anchors(target)):
                broken.append(f"{page.relative_to(ROOT)}: {link}")
    assert broken == []


PATHS = re.compile(r"`((?:bench|crates|docs|examples|python|r|tests|tools)/[\w./*-]+)`")


def test_files_that_pages_name_exist():
    """Files and folders in the text of the pages about the code, so that moves take the pages along."""
    named = [ROOT / "CONTRIBUTING.md", *(page for page in pages() if ROOT / "docs" in page.parents)]
    gone = [
        f"{page.relative_to(ROOT)}: {path}"
        for page in named
        for path in PATHS.findall(page.read_text(encoding="utf-8"))
        if not any(ROOT.glob(path.rstrip("/")))
    ]
    assert gone == []
