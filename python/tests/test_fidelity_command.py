"""`python -m bench.fidelity` refuses what it cannot measure."""

import sys

import pytest
from bench.fidelity import __main__ as fidelity
from bench.fidelity import formats


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--library", "pandas", "--format", "npz"], "pandas: no format npz"),
        (["--format", "vortex"], "Vortex needs the module absent_module"),
        (["--write"], "Vortex needs the module absent_module"),
        (["--write", "--format", "npz"], "--write is for all"),
    ],
)
def test_command_refuses(arguments, message, monkeypatch, capsys):
    monkeypatch.setitem(formats._NEEDS, "vortex", "absent_module")
    monkeypatch.setattr(sys, "argv", ["fidelity", *arguments])
    monkeypatch.setattr(fidelity, "results", None)
    with pytest.raises(SystemExit, match="2"):
        fidelity.main()
    assert message in capsys.readouterr().err
