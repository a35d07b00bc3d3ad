"""Mypy and Pyright accept the examples of the pages and the code of users, and find wrong calls.

Each checker runs once for all programs: it takes most of its time to read the libraries.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from test_docs import PAGES, ROOT, program

import entasis as en

# The type follows the library that is asked for.
READING = """import entasis as en
en.read("a", to="pandas", columns=["b"], rows=(1, 3)).groupby("b").sum()
en.open("a").to_polars().select("b")
en.open("a")["b"].read(to="polars").select("b")
en.read("a", to="numpy")["b"].shape
en.read("a").anything
"""

USING = """import pathlib
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
en.convert("a.csv", pathlib.Path("a.parquet"), sep=";", filter=en.col("a") > 1, compression="zstd")
d: en.Diff = en.diff("a.parquet", {"a": np.arange(3)}, key=["a"], tolerance=0.5)
print(bool(d), d.columns, d.to_json())
with en.open("a") as h:
    print(h.head(), h.closed)
"""

# Lines 3 to 6 have an error each.
WRONG = """import entasis as en

en.read("a", to="duckdb")
en.write(1, "a", on_unsupported="ignore")
en.read("a", rows={1, 2})
for row in en.open("a"):
    pass
"""

# Names that `errors` makes at run time; checkers do not see a computed list of names.
EXCEPTIONS = [
    name
    for name in dir(en.errors)
    if name.endswith(("Error", "ConversionWarning", "CsvWarning", "DamageWarning", "ProblemWarning"))
]


def programs(folder: Path) -> list[str]:
    """Write all programs; the wrong one is `wrong.py`."""
    for page in PAGES:
        name = f"page_{page.parent.name}_{page.stem}".lower().replace("-", "_")
        (folder / f"{name}.py").write_text(program(page), encoding="utf-8")
    names = "import entasis as en\n" + "".join(f"print(en.{name})\n" for name in EXCEPTIONS)
    for name, code in {"reading": READING, "using": USING, "wrong": WRONG, "names": names}.items():
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
    return sorted(map(str, folder.glob("*.py")))


def test_exceptions_are_listed() -> None:
    assert sorted(en.errors.__all__) == EXCEPTIONS


@pytest.mark.release
def test_mypy(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--config-file="]
    # Dask has few types.
    command += ["--untyped-calls-exclude=dask"]
    command += [f"--cache-dir={tmp_path / 'cache'}", *programs(tmp_path)]
    done = subprocess.run(command, cwd=ROOT / "python", capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    errors = re.findall(r"^(.*?):(\d+): error:", done.stdout, re.M)
    found = Counter((Path(file).stem, int(line)) for file, line in errors)
    assert found == dict.fromkeys([("wrong", line) for line in (3, 4, 5, 6)], 1), done.stdout


def test_pyright(tmp_path: Path) -> None:
    pyright = Path(sys.prefix) / "node_modules/.bin/pyright"
    if not pyright.exists():
        pytest.skip("pyright is not installed (tools/install-pyright.sh)")
    command = [str(pyright), "--outputjson", "--pythonpath", sys.executable, *programs(tmp_path)]
    done = subprocess.run(command, cwd=ROOT / "python", capture_output=True, text=True, check=False)
    found = [each for each in json.loads(done.stdout)["generalDiagnostics"] if each["severity"] == "error"]
    lines = [(Path(each["file"]).stem, each["range"]["start"]["line"] + 1) for each in found]
    assert {file for file, _ in lines} == {"wrong"}, found
    assert {line for _, line in lines} >= {3, 4}, found
