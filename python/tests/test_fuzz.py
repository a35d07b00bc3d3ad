"""The targets of `fuzz/python` without Atheris: seeds, regressions and random changes of both."""

from __future__ import annotations

import importlib
import os
import random
from pathlib import Path
from typing import Any

import pytest
from fuzz.python import checksums, seeds
from fuzz.python.mutate import mutate
from fuzz.python.outcome import attempt
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import entasis as en

LONG = bool(os.environ.get("ENTASIS_TEST_LONG"))
REGRESSIONS = Path(__file__).parents[2] / "fuzz" / "regressions"
TARGETS = ("read", "open", "decompress", "read_npz")
KINDS = {"page", "directory", "part 2", "part 6", "part 8", "root", "slot", "header"}


def target(name: str) -> Any:
    return importlib.import_module(f"fuzz.python.{name}")


@pytest.mark.parametrize("name", TARGETS)
def test_seeds(name: str) -> None:
    found = target(name).seeds()
    assert len(found) >= 7
    for content in found.values():
        target(name).check(content)


KEPT = [
    pytest.param(name, path, id=f"{name}, {path.name}")
    for name in TARGETS
    for path in sorted((REGRESSIONS / f"python-{name}").glob("*"))
]


@pytest.mark.parametrize(("name", "path"), KEPT)
def test_regressions(name: str, path: Path) -> None:
    target(name).check(path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_changes(name: str) -> None:
    check, found = target(name).check, target(name).seeds()

    @settings(
        deadline=None,
        max_examples=20_000 if LONG else 200,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(st.sampled_from(sorted(found)), st.integers(0, 2**32 - 1))
    def run(seed: str, number: int) -> None:
        check(mutate(found[seed], random.Random(number)))

    run()


def test_repair_changes_no_sound_file() -> None:
    for name, content in (seeds.files() | seeds.buffers()).items():
        assert checksums.find(content), name
        repaired = bytearray(content)
        checksums.repair(repaired)
        assert repaired == content, name


def test_repair_makes_other_bytes_readable() -> None:
    """Each kind of range is repaired: a changed byte in it is no longer an error of a checksum."""
    content = seeds.files()["trees/kinds.entasis"]
    assert {found.what for found in checksums.find(content)} >= KINDS
    for found in checksums.find(content):
        changed = bytearray(content)
        changed[found.at + found.len - 1] ^= 255
        with pytest.raises(en.CorruptFileError):
            en.verify(bytes(changed))
        checksums.repair(changed)
        assert "checksum" not in str(attempt(en.verify, bytes(changed))), found


def test_changes_reach_the_values() -> None:
    """Many changed files are read as other values: their checksums were repaired."""
    content, n_read = seeds.files()["trees/kinds.entasis"], 0
    for number in range(300):
        changed = mutate(content, random.Random(number))
        try:
            en.read(changed)
            n_read += changed != content
        except en.EntasisError as error:
            n_read += "checksum" not in str(error) and not isinstance(error, en.NotEntasisError)
    assert n_read > 200
