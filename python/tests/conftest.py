"""What all tests share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import entasis as en

# The panels are in `bench/fidelity`, whose folder is the root of the repository.
sys.path.insert(0, str(Path(__file__).parents[2]))

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test writes its file; nothing else may be left beside it."""
    return tmp_path / "frame.entasis"


@pytest.fixture
def round_trip(path: Path) -> Callable[..., Any]:
    """Writes a value and reads it back; the directory has nothing but the file then."""

    def run(value: Any, **how: Any) -> Any:
        en.write(value, path, **how)
        assert [child.name for child in path.parent.iterdir()] == [path.name]
        return en.read(path)

    return run
