"""The examples of the README and of the guides run, and type checkers accept them."""

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


def write_programs(folder: Path) -> list[str]:
    for page in PAGES:
        name = f"page_{page.parent.name}_{page.stem}".lower().replace("-", "_")
        (folder / f"{name}.py").write_text(program(page), encoding="utf-8")
    return sorted(map(str, folder.iterdir()))


def test_mypy_accepts_the_examples(tmp_path):
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", *write_programs(tmp_path)]
    config = ["--config-file=", f"--cache-dir={tmp_path / 'cache'}"]
    done = subprocess.run([*command, *config], cwd=ROOT / "python", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def pyright(programs: list[str]) -> subprocess.CompletedProcess[str]:
    found = Path(sys.prefix) / "node_modules/.bin/pyright"
    if not found.exists():
        pytest.skip("pyright is not installed (tools/install-pyright.sh)")
    command = [str(found), "--pythonpath", sys.executable, *programs]
    return subprocess.run(command, cwd=ROOT / "python", capture_output=True, text=True, check=False)


def test_pyright_accepts_the_examples(tmp_path):
    done = pyright(write_programs(tmp_path))
    assert done.returncode == 0, done.stdout


def test_checkers_know_what_reading_gives(tmp_path):
    """The type follows the library that is asked for, and a library that is not known is an error."""
    program = tmp_path / "reading.py"
    program.write_text(
        "import entasis as en\n"
        'en.read("a", to="pandas", columns=["b"], rows=(1, 3)).groupby("b").sum()\n'
        'en.open("a").to_polars().select("b")\n'
        'en.open("a")["b"].read(to="polars").select("b")\n'
        'en.read("a", to="numpy")["b"].shape\n'
        'en.read("a").anything\n'
    )
    wrong = tmp_path / "wrong.py"
    wrong.write_text('import entasis as en\nen.read("a", to="duckdb")\nen.write(1, "a", on_unsupported="ignore")\n')
    pytest.importorskip("mypy")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--follow-imports=silent",
        "--ignore-missing-imports",
        "--config-file=",
        f"--cache-dir={tmp_path / 'cache'}",
    ]
    for file, n_errors in ((program, 0), (wrong, 2)):
        done = subprocess.run([*command, str(file)], cwd=ROOT / "python", capture_output=True, text=True, check=False)
        assert done.stdout.count("error:") == n_errors, done.stdout
    assert pyright([str(program)]).returncode == 0
    assert pyright([str(wrong)]).returncode == 1


# Modules of the public functions and classes.
DOCUMENTED = [
    "_api",
    "_buffers",
    "_changes",
    "_file.conversions",
    "_file.described",
    "_file.file",
    "_file.indexers",
    "_file.info",
    "_file.reads",
    "_filter.conditions",
    "_grow.writer",
    "_inspection",
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
    from entasis import torch
    from entasis._grow.writer import Writer

    functions = {name: getattr(en, name) for name in en.__all__ if inspect.isfunction(getattr(en, name))}
    functions["collate"] = torch.collate
    for cls in (en.File, en.Tree, Writer, torch.MapDataset, torch.IterableDataset):
        methods = inspect.getmembers(cls, inspect.isfunction)
        functions |= {f"{cls.__name__}.{name}": f for name, f in methods if not name.startswith("_")}
    assert {"read", "write", "hash", "File.read", "Tree.read"} <= functions.keys()
    for name, function in functions.items():
        found = sections(function.__doc__ or "")
        takes_arguments = len(inspect.signature(function).parameters) > ("." in name)
        assert not takes_arguments or "Parameters" in found, name
        assert not takes_arguments or "Examples" in found, name
    classes = (en.File, en.Tree, Writer, en.Record, en.Info, en.EntasisError)
    for cls in (*classes, torch.MapDataset, torch.IterableDataset):
        assert "Examples" in sections(cls.__doc__ or ""), cls


def test_type_checkers_know_the_exceptions(tmp_path):
    """A list of names that is computed is none for them."""
    pytest.importorskip("mypy")
    import entasis as en

    module = tmp_path / "names.py"
    names = [name for name in dir(en.errors) if name.endswith(("Error", "DamageWarning"))]
    assert sorted(en.errors.__all__) == names
    module.write_text("import entasis as en\n" + "".join(f"print(en.{name})\n" for name in names))
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--follow-imports=silent",
        "--ignore-missing-imports",
        "--config-file=",
        f"--cache-dir={tmp_path / 'cache'}",
        str(module),
    ]
    done = subprocess.run(command, cwd=ROOT / "python", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_hints(tmp_path):
    """Code of users passes strict checks; an unknown library does not."""
    pytest.importorskip("mypy")
    (tmp_path / "good.py").write_text(
        """import pathlib
import entasis as en
import numpy as np

levels: dict[str, int] = {"a": 80}
en.write({"a": np.arange(3)}, pathlib.Path("a"), compression=levels, on_unsupported="skip")
f = en.open("a")
n: int = f.n_rows + en.info("a").n_rows + len(en.info("a").columns)
names: list[str] = f[["a"]].column_names
print("a" in f.keys(), f.take([0], axis=0))
g: en.File = f[1:, "a"].select(2020, ("x", 1)).iloc[0].loc[:, "a"]
en.read("a", rows=np.array([1, 2]), columns=[1, "a", None], to="polars")
en.read("a", rows=(-5, None), columns=slice(1))
en.read("a", rows=[True, False, None])
try:
    f["a"][0].read(to="pandas", index=False)
except (en.CorruptFileError, en.NotAFrameError) as error:
    print(error.file)
with en.open("a") as h:
    print(h.head(), h.closed)
""",
        encoding="utf-8",
    )
    (tmp_path / "bad.py").write_text(
        """import entasis as en

en.read("a", to="duckdb")
en.write(1, "a", on_unsupported="ignore")
en.read("a", rows={1, 2})
for row in en.open("a"):
    pass
""",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--config-file="]
    for name, n_errors in (("good", 0), ("bad", 4)):
        done = subprocess.run(
            [*command, f"--cache-dir={tmp_path / 'cache'}", str(tmp_path / f"{name}.py")],
            cwd=ROOT / "python",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.count(": error:") == n_errors, done.stdout


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


PLACES = re.compile(r"`((?:bench|crates|docs|examples|python|r|tests|tools)/[\w./*-]+)`")


def test_files_that_pages_name_exist():
    """Files and folders in the text of the pages about the code, so that moves take the pages along."""
    named = [ROOT / "CONTRIBUTING.md", *(page for page in pages() if ROOT / "docs" in page.parents)]
    gone = [
        f"{page.relative_to(ROOT)}: {place}"
        for page in named
        for place in PLACES.findall(page.read_text(encoding="utf-8"))
        if not any(ROOT.glob(place.rstrip("/")))
    ]
    assert gone == []
