"""The `entasis` command."""

from __future__ import annotations

import sys

from . import _entasis


def main() -> int:
    """Run the command line and return its exit code."""
    import signal

    # The command line handles Ctrl-C and closed pipes itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _entasis.cli_main(sys.argv[1:])
