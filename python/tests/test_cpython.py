"""Features that depend on CPython can be switched off, without a change of values."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import entasis as en
from entasis import _entasis

FEATURES = {
    "arenas": "ENTASIS_ARENAS",
    "keyword dicts": "ENTASIS_KEYWORD_DICTS",
    "shared keys": "ENTASIS_SHARED_KEYS",
}

PROGRAM = """
import sys
import entasis as en
from test_cpython import VALUE

back = en.read(sys.argv[1])
assert back == VALUE
assert [[*row] for row in back["rows"]] == [[*row] for row in VALUE["rows"]]
assert [*back["dict"]] == [*VALUE["dict"]]
shared = {key: 0 for key in back["rows"][0]}
print(sys.getsizeof(back["rows"][0]) < sys.getsizeof(shared))
en.show_versions()
"""

VALUE = {
    "rows": [{"id": i, "x": i / 2, "s": None} for i in range(5000)],
    "dict": {f"key {i}": i for i in range(100_000)},
    "list": list(range(100_000)),
}


def run(path: Path, **environment: str) -> tuple[bool, dict[str, str]]:
    """Reads the value in a process of its own.

    Returns whether rows share their keys, and the state of each feature.
    """
    found = {name: value for name, value in os.environ.items() if name not in FEATURES.values()}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
        env=found | environment,
    )
    first, *lines = done.stdout.splitlines()
    states = {name.strip(): state.strip() for name, state in (line.split("  ", 1) for line in lines)}
    return first == "True", {name: states[name] for name in FEATURES}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    en.write(VALUE, tmp_path / "a")
    return tmp_path / "a"


def test_states() -> None:
    states = dict(_entasis.cpython_features())
    assert list(states) == list(FEATURES)
    assert all(state in ("on", "not available") or state.startswith("off") for state in states.values())


def test_all_are_on_by_default(file: Path) -> None:
    are_shared, states = run(file)
    assert are_shared
    is_linux = sys.platform == "linux"
    are_available = (is_linux and sys.version_info < (3, 15), is_linux, True)
    assert states == {
        name: "on" if is_available else "not available"
        for name, is_available in zip(FEATURES, are_available, strict=True)
    }


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("value", ["off", "0"])
def test_each_can_be_switched_off(feature: str, value: str, file: Path) -> None:
    _, default = run(file)
    are_shared, states = run(file, **{FEATURES[feature]: value})
    assert states == default | {feature: f"off ({FEATURES[feature]})"}
    assert are_shared == (feature != "shared keys")


def test_all_can_be_switched_off(file: Path) -> None:
    are_shared, states = run(file, **dict.fromkeys(FEATURES.values(), "0"))
    assert not are_shared
    assert states == {name: f"off ({variable})" for name, variable in FEATURES.items()}


def test_other_values_change_nothing(file: Path) -> None:
    assert run(file, ENTASIS_ARENAS="on") == run(file)
