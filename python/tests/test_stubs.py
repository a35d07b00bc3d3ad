"""The stub of the extension says what the extension has."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.release
def test_stub_of_the_extension(tmp_path: Path) -> None:
    # PyO3 adds `__all__`; a stub exports every name without an underscore anyway.
    allowed = tmp_path / "allowed"
    allowed.write_text("entasis._entasis.__all__\n")
    command = [sys.executable, "-m", "mypy.stubtest", "--concise", "--allowlist", str(allowed), "entasis._entasis"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
