"""Panels of `bench/fidelity`: values come back the same or are refused, as the page says."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from bench.fidelity import across
from bench.fidelity.cases import LIBRARIES, panel
from bench.fidelity.golden import versions
from bench.fidelity.page import PAGE, expected, written
from bench.fidelity.same import check

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path

    from bench.fidelity.case import Case

CASES = [pytest.param(case, id=f"{library}: {case.key}") for library in LIBRARIES for case in panel(library)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES)
def test_case(case: Case, path: Path) -> None:
    value = case.make()
    if case.refused is not None:
        with pytest.raises(en.UnsupportedTypeError) as error:
            en.write(value, path)
        assert re.search(case.refused, str(error.value)), str(error.value)
        assert list(path.parent.iterdir()) == []
        return
    en.write(value, path)
    assert [child.name for child in path.parent.iterdir()] == [path.name]
    check(case.make(), en.read(path))
    # Writing changes nothing.
    check(case.make(), value)


GOLDEN = [pytest.param(path, id=f"{path.parent.name}, {path.stem}") for v in versions() for path in sorted(v.iterdir())]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", GOLDEN)
def test_every_file_version(path: Path) -> None:
    """Files of each version of the format are read as they were written."""
    en.verify(path)
    cases, tree = panel(path.stem), en.open(path)
    assert len(tree) >= 100
    for key in list(tree.keys()):
        check(cases[key].make(), tree[key].read())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", [case for case in GOLDEN if case.id is not None and case.id.startswith("v0.2, ")])
def test_compacted_file_of_0_2(path: Path, tmp_path: Path) -> None:
    """The details of a file of 0.2 are taken apart when it is stored in the current version."""
    new = tmp_path / path.name
    shutil.copy(path, new)
    en.compact(new)
    en.verify(new)
    cases, old, tree = panel(path.stem), en.open(path), en.open(new)
    assert list(tree.keys()) == list(old.keys())
    for key in list(tree.keys()):
        check(cases[key].make(), tree[key].read())


@pytest.mark.parametrize("library", LIBRARIES)
def test_page(library: str) -> None:
    found = expected(library)
    assert written(library) == found, "docs/fidelity.md is not up to date: make fidelity"
    n, kept = found["**all**"]
    readme = (PAGE.parents[1] / "README.md").read_text(encoding="utf-8")
    assert f"| {library}, {n} | **{kept.partition(' /')[0]}** |" in readme


ROWS = [pytest.param(host, name, id=f"{host}, {name}") for host, found in across.sources().items() for name in found]


@pytest.mark.parametrize(("host", "name"), ROWS)
def test_row_of_conversions(host: str, name: str) -> None:
    """The page has the right type of a column, and the values are equal."""
    assert across.line(across.row(host, name)) in PAGE.read_text().splitlines(), "make fidelity"


def test_panels_are_large() -> None:
    for library in LIBRARIES:
        assert len(panel(library)) >= 250, library
